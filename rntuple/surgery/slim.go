package surgery

import (
	"cmp"
	"context"
)

// Slim makes a ROOT file at out with some fields of an RNTuple, those that o.Keep
// and o.Drop leave, and with those that o.Define adds. Pages are copied
// as they are, and stay compressed as they are unless o.Write.Compression is set.
// Entries, clusters and attribute sets stay the same.
func Slim(ctx context.Context, out string, in Input, o *SlimOptions) (*Report, error) {
	o = cmp.Or(o, new(SlimOptions))
	c := o.config()
	c.Name, c.Keep, c.Drop, c.define = o.Name, o.Keep, o.Drop, o.Define
	if len(c.define) > 0 {
		return c.concat(ctx, out, []Piece{{Input: in}}, nil)
	}
	return c.asStored().create(ctx, out, &job{inputs: []Input{in}})
}
