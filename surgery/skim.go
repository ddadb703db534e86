package surgery

import (
	"context"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/splice"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// Skim makes a ROOT file at out with the entries of the inputs for which a condition holds.
// Schemas go together as Merge says. Clusters of which all entries are chosen are copied
// page by page, those of which none is are skipped, and of the others what is needed is
// rewritten; compression is as for Slim. The options Keep and Drop choose fields; the
// condition may use others.
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
			all := rntuple.EntryRange{End: in.NumEntries()}
			return splice.Selection{Within: splice.Range(all), Ranges: func(yield func(splice.Range, error) bool) {
				for e, err := range c.Select(in, all) {
					if !yield(splice.Range(e), err) {
						return
					}
				}
			}}, c.Check(in)
		},
	})
}
