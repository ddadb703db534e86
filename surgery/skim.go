package surgery

import (
	"context"
	"iter"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A Selector chooses entries of an RNTuple: it returns ranges in order, which may
// be empty and adjoin each other. An error at once is one that the schema is
// reason enough for. See Where; package where makes selectors of expressions.
type Selector func(r *rntuple.Reader) (iter.Seq2[rntuple.EntryRange, error], error)

// Skim makes a ROOT file at out with the entries of the inputs that a selector
// chooses. Schemas go together as Merge says. Clusters of which all entries are
// chosen are copied page by page, those of which none is are skipped, and of the
// others what is needed is rewritten; compression is as for Slim. The options Keep
// and Drop choose fields; the selector may use others.
//
// Attribute sets are kept: an attribute belongs to those of its entries that are
// left, and is dropped if there are none, also if it had none before. If all
// entries of an input are chosen, its attributes are all kept.
func Skim(ctx context.Context, out string, inputs []Input, choose Selector, opts ...Option) (*Report, error) {
	return cut(ctx, out, inputs, newSettings(opts), func(_ context.Context, _ int, src *source) (iter.Seq2[rntuple.EntryRange, error], error) {
		return choose(rntuple.Wrap(src.Reader))
	})
}

// Where chooses the entries that keep accepts. T is a struct as rntuple.Entries
// takes it: only the fields that it names are read. Entries are not used again, so
// keep may hold on to them; one call follows the other.
func Where[T any](keep func(entry *T) bool) Selector {
	return func(r *rntuple.Reader) (iter.Seq2[rntuple.EntryRange, error], error) {
		if _, err := rntuple.ViewOf[T](r, ""); err != nil {
			return nil, err
		}
		return func(yield func(rntuple.EntryRange, error) bool) {
			var run rntuple.EntryRange
			n := int64(0)
			for entry, err := range rntuple.Entries[T](r) {
				if err != nil {
					yield(rntuple.EntryRange{}, err)
					return
				}
				switch n++; {
				case !keep(entry):
				case run.End == n-1:
					run.End = n
				default:
					if !yield(run, nil) {
						return
					}
					run = rntuple.EntryRange{First: n - 1, End: n}
				}
			}
			yield(run, nil)
		}, nil
	}
}
