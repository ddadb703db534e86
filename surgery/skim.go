package surgery

import (
	"context"
	"iter"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/splice"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A Selector chooses entries of an RNTuple: it returns ranges in order, which may be
// empty, and adjacent. It returns an error itself only for what the schema shows; Skim
// checks that for all inputs first. See Where; package where makes selectors of
// expressions.
type Selector func(r *rntuple.Reader) (iter.Seq2[rntuple.EntryRange, error], error)

// Skim makes a ROOT file at out with the entries of the inputs that a selector chooses.
// Schemas go together as Merge says. Clusters of which all entries are chosen are copied
// page by page, those of which none is are skipped, and of the others what is needed is
// rewritten; compression is as for Slim. The options Keep and Drop choose fields; the
// selector may use others.
//
// Attribute sets are kept: an attribute belongs to those of its entries that are left,
// and is dropped if there are none, even if it had none before. If all entries of an
// input are chosen, all its attributes are kept.
//
// Options: those of Merge.
func Skim(ctx context.Context, out string, inputs []Input, choose Selector, opts ...Option) (*Report, error) {
	c, err := configure("Skim", takesMerge, opts)
	if err != nil {
		return nil, err
	}
	return c.asStored().create(ctx, out, &splice.Job{
		Inputs: inputsOf(inputs...),
		Select: func(_ context.Context, _ int, r *ntuple.Reader) (splice.Selection, error) {
			chosen, err := choose(rntuple.Wrap(r))
			return splice.Selection{Within: splice.Range{End: r.Source.Entries}, Ranges: func(yield func(splice.Range, error) bool) {
				for e, err := range chosen {
					if !yield(splice.Range(e), err) {
						return
					}
				}
			}}, err
		},
	})
}

// Where chooses the entries that keep accepts. T is a struct as rntuple.Entries takes
// it: only the fields that it names are read. Entries are not reused, so keep may retain
// them; it is not called concurrently.
func Where[T any](keep func(entry *T) bool) Selector {
	return func(r *rntuple.Reader) (iter.Seq2[rntuple.EntryRange, error], error) {
		if _, err := rntuple.ViewOf[T](r, ""); err != nil {
			return nil, err
		}
		return func(yield func(rntuple.EntryRange, error) bool) {
			n := int64(0)
			for entry, err := range rntuple.Entries[T](r) {
				if err != nil {
					yield(rntuple.EntryRange{}, err)
					return
				}
				if n++; keep(entry) && !yield(rntuple.EntryRange{First: n - 1, End: n}, nil) {
					return
				}
			}
		}, nil
	}
}
