package surgery

import (
	"cmp"
	"context"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// Slim makes a ROOT file at out with some fields of an RNTuple, those that o.Keep
// and o.Drop leave, and with those that o.Define adds. Pages are copied
// as they are, and stay compressed as they are unless o.Write.Compression is set.
// Entries, clusters and attribute sets stay the same.
func Slim(ctx context.Context, out string, in Input, o *SlimOptions) (*Report, error) {
	o = cmp.Or(o, new(SlimOptions))
	c, err := o.config()
	if err == nil {
		err = check(o.Define)
	}
	if err != nil {
		return nil, err
	}
	c.name, c.keep, c.drop, c.define = o.Name, o.Keep, o.Drop, o.Define
	j := &job{inputs: []Input{in}}
	if len(c.define) > 0 {
		j.choose = func(_ context.Context, _ int, r *ntuple.Reader) (selection, error) {
			return c.selection(r, rntuple.EntryRange{End: r.Source.Entries}, nil)
		}
	}
	return c.asStored().create(ctx, out, j)
}
