package surgery

import (
	"cmp"
	"context"
)

// Slim creates a ROOT file at out with the fields of an RNTuple that o.Keep and o.Drop select, and
// those that o.Define adds. Pages are copied, and recompressed only if o.Write.Compression is set.
// Entries, clusters and attribute sets do not change.
func Slim(ctx context.Context, out string, in Input, o *SlimOptions) (*Report, error) {
	o = cmp.Or(o, new(SlimOptions))
	c := o.config()
	c.Name, c.Keep, c.Drop, c.define = o.Name, o.Keep, o.Drop, o.Define
	if len(c.define) > 0 {
		return c.concat(ctx, out, []Piece{{Input: in}}, nil)
	}
	return c.asStored().create(ctx, out, &job{inputs: []Input{in}})
}
