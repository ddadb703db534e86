package surgery

import (
	"cmp"
	"context"
	"iter"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/parallel"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// Skim creates a ROOT file at out with the entries of the inputs that satisfy a condition. Schemas
// are combined as by Merge. Clusters are copied page by page if all their entries are selected, and
// skipped if none is. In other clusters, fully selected pages are copied, unless they contain
// offsets, and partially selected pages are decoded and rewritten. Compression works as for Slim.
// o.Keep and o.Drop select fields; the condition may use others.
//
// The condition is evaluated in o.Read.Workers goroutines.
//
// o.Define adds fields, which are computed only for selected entries.
//
// Attribute sets are kept: an attribute keeps those of its entries that are selected, and is
// dropped if there are none, even if its range was empty before. If all entries of an input are
// selected, all its attributes are kept.
func Skim(ctx context.Context, out string, inputs []Input, c rntuple.Condition, o *SkimOptions) (*Report, error) {
	pieces := make([]Piece, len(inputs))
	for i, in := range inputs {
		pieces[i].Input = in
	}
	return SkimPieces(ctx, out, pieces, c, o)
}

// SkimPieces is like Skim for pieces, in the given order. If the condition is nil, all of their
// entries are selected.
func SkimPieces(ctx context.Context, out string, pieces []Piece, c rntuple.Condition, o *SkimOptions) (*Report, error) {
	o = cmp.Or(o, new(SkimOptions))
	merge := MergeOptions{o.Options, o.Name, o.Keep, o.Drop, o.Mode, o.ConvertTypes}
	g := merge.config()
	g.define = o.Define
	return g.concat(ctx, out, pieces, c)
}

// maxEvaluated limits the number of entries for which a condition is evaluated at a time.
const maxEvaluated = 1 << 20

// farPart is the minimum of this number for a remote file.
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
