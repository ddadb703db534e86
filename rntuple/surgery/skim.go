package surgery

import (
	"cmp"
	"context"
	"iter"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/parallel"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// Skim makes a ROOT file at out with the entries of the inputs for which a condition holds.
// Schemas go together as Merge says. Clusters of which all entries are chosen are copied
// page by page, those of which none is are skipped. Of the others, pages of which all elements
// are chosen are copied, too, unless they hold offsets, and those that hold some are read, and
// rewritten without the other entries; compression is as for Slim. o.Keep and
// o.Drop choose fields; the condition may use others.
//
// The condition is evaluated in several goroutines, as o.Read.Workers says.
//
// o.Define adds fields, computed for the entries that are chosen.
//
// Attribute sets are kept: an attribute belongs to those of its entries that are left,
// and is dropped if there are none, even if it had none before. If all entries of an
// input are chosen, all its attributes are kept.
func Skim(ctx context.Context, out string, inputs []Input, c rntuple.Condition, o *SkimOptions) (*Report, error) {
	pieces := make([]Piece, len(inputs))
	for i, in := range inputs {
		pieces[i].Input = in
	}
	return SkimPieces(ctx, out, pieces, c, o)
}

// SkimPieces is like Skim for pieces, in the given order. If the condition is nil, all of their
// entries are chosen.
func SkimPieces(ctx context.Context, out string, pieces []Piece, c rntuple.Condition, o *SkimOptions) (*Report, error) {
	o = cmp.Or(o, new(SkimOptions))
	merge := MergeOptions{o.Options, o.Name, o.Keep, o.Drop, o.Mode, o.ConvertTypes}
	g := merge.config()
	g.define = o.Define
	return g.concat(ctx, out, pieces, c)
}

// maxEvaluated limits the entries for which a condition is evaluated at once.
const maxEvaluated = 1 << 20

// farPart is the number of entries of a file far away for which it is evaluated at once, at least.
const farPart = 1 << 19

// evaluated yields the entries of base within a range for which c holds. With several workers, the
// condition is evaluated for the next clusters while the loop's body runs.
func evaluated(base *ntuple.Reader, within rntuple.EntryRange,
	c rntuple.Condition) iter.Seq2[rntuple.EntryRange, error] {
	r, workers := readerOf(base), base.Source.Workers
	if workers < 2 {
		return c.Select(r, within)
	}
	return func(yield func(rntuple.EntryRange, error) bool) {
		clusters, err := r.Clusters()
		if err != nil {
			yield(rntuple.EntryRange{}, err)
			return
		}
		var parts []rntuple.EntryRange
		far := base.Source.Far() // then a page that two parts need would be read twice, and each part takes a request
		for _, part := range clusters {
			if part.First, part.End = max(part.First, within.First), min(part.End, within.End); part.Len() <= 0 {
				continue
			}
			for ; part.Len() > maxEvaluated && !far; part.First += maxEvaluated {
				parts = append(parts, rntuple.EntryRange{First: part.First, End: part.First + maxEvaluated})
			}
			if n := len(parts); far && n > 0 && parts[n-1].Len() < farPart {
				parts[n-1].End = part.End
				continue
			}
			parts = append(parts, part)
		}
		// A part that fails has the entries before the failure, as a loop would.
		ahead := parallel.NewAhead(workers, len(parts), func(i int) (all []rntuple.EntryRange, err error) {
			for e, err := range c.Select(r, parts[i]) {
				if err != nil {
					return all, err
				}
				all = append(all, e)
			}
			return all, nil
		})
		defer ahead.Stop()
		for range parts {
			all, err := ahead.Next()
			for _, e := range all {
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(rntuple.EntryRange{}, err)
				return
			}
		}
	}
}
