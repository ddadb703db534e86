package surgery

import (
	"context"
	"iter"
	"sync/atomic"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/splice"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// Skim makes a ROOT file at out with the entries of the inputs for which a condition holds.
// Schemas go together as Merge says. Clusters of which all entries are chosen are copied
// page by page, those of which none is are skipped. Of the others, the pages that hold a
// chosen entry are read, and rewritten without the other entries; compression is as for
// Slim. The options Keep and Drop choose fields; the condition may use others.
//
// The condition is evaluated in several goroutines, as rntuple.ReadWorkers says.
//
// Attribute sets are kept: an attribute belongs to those of its entries that are left,
// and is dropped if there are none, even if it had none before. If all entries of an
// input are chosen, all its attributes are kept.
//
// Options: those of Merge.
func Skim(ctx context.Context, out string, inputs []Input, c rntuple.Condition, opts ...Option) (*Report, error) {
	o, err := configure("Skim", takesMerge, opts)
	if err != nil {
		return nil, err
	}
	return o.asStored().create(ctx, out, &splice.Job{
		Inputs: inputsOf(inputs...),
		Select: func(_ context.Context, _ int, r *ntuple.Reader) (splice.Selection, error) {
			in := rntuple.Wrap(r)
			if err := c.Check(in); err != nil {
				return splice.Selection{}, err
			}
			return splice.Selection{Within: splice.Range{End: in.NumEntries()}, Ranges: func(yield func(splice.Range, error) bool) {
				chosen(in, c, r.Source.Workers)(func(e rntuple.EntryRange, err error) bool { return yield(splice.Range(e), err) })
			}}, nil
		},
	})
}

// maxEvaluated limits the entries for which a condition is evaluated at once.
const maxEvaluated = 1 << 20

// chosen yields the entries of r for which c holds. With several workers, the condition is
// evaluated for the next clusters while the loop's body runs.
func chosen(r *rntuple.Reader, c rntuple.Condition, workers int) iter.Seq2[rntuple.EntryRange, error] {
	if workers < 2 {
		return c.Select(r, rntuple.EntryRange{End: r.NumEntries()})
	}
	return func(yield func(rntuple.EntryRange, error) bool) {
		clusters, err := r.Clusters()
		if err != nil {
			yield(rntuple.EntryRange{}, err)
			return
		}
		var parts []rntuple.EntryRange
		for _, part := range clusters {
			for ; part.Len() > maxEvaluated; part.First += maxEvaluated {
				parts = append(parts, rntuple.EntryRange{First: part.First, End: part.First + maxEvaluated})
			}
			parts = append(parts, part)
		}
		type result struct {
			ranges []rntuple.EntryRange
			err    error
		}
		var stopped atomic.Bool
		evaluate := func(part rntuple.EntryRange) <-chan result {
			done := make(chan result, 1)
			go func() {
				var all result
				for e, err := range c.Select(r, part) {
					if all.err = err; err != nil || stopped.Load() {
						break
					}
					all.ranges = append(all.ranges, e)
				}
				done <- all
			}()
			return done
		}
		var next []<-chan result // in progress, in order
		defer func() {
			stopped.Store(true)
			for _, done := range next {
				<-done
			}
		}()
		for len(parts) > 0 || len(next) > 0 {
			for len(parts) > 0 && len(next) < workers {
				next, parts = append(next, evaluate(parts[0])), parts[1:]
			}
			all := <-next[0]
			next = next[1:]
			for _, e := range all.ranges {
				if !yield(e, nil) {
					return
				}
			}
			if all.err != nil {
				yield(rntuple.EntryRange{}, all.err)
				return
			}
		}
	}
}
