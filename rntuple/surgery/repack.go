package surgery

import (
	"cmp"
	"context"
)

// An Encoding is one for all columns.
type Encoding string

const (
	// DefaultEncoding is what ROOT uses for compressed pages: bytes are split, and
	// integers and offsets made small before that.
	DefaultEncoding Encoding = "default"
	// UnsplitEncoding is what ROOT uses for pages that are not compressed: elements as
	// they are in memory.
	UnsplitEncoding Encoding = "unsplit"
)

// Repack makes a ROOT file at out with the entries of one input, stored in another way,
// as the options say:
//
//   - Write.Compression compresses pages anew (the level Recompress);
//   - Encode and EncodeAll encode them anew (Reseal);
//   - AtLeast: Rewrite makes new clusters and pages, of the sizes that Write says.
//
// What needs none of that is copied; without options, all is. Schema and attribute sets
// stay as they are. A file that was at out is replaced when everything has succeeded; it
// must not be the input.
func Repack(ctx context.Context, out string, in Input, o *RepackOptions) (*Report, error) {
	o = cmp.Or(o, new(RepackOptions))
	c := o.config()
	c.Name = o.Name
	encode := func(s *shape) error { return s.encode(o.EncodeAll, o.Encode) }
	return c.asStored().create(ctx, out, &job{inputs: []Input{in}, edit: encode})
}
