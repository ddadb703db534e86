package surgery

import (
	"cmp"
	"context"
)

// An Encoding is an encoding for all columns.
type Encoding string

const (
	// DefaultEncoding is ROOT's encoding for compressed pages: split bytes, with zigzag encoding of
	// integers and delta encoding of offsets.
	DefaultEncoding Encoding = "default"
	// UnsplitEncoding is ROOT's encoding for uncompressed pages: elements as in memory.
	UnsplitEncoding Encoding = "unsplit"
)

// Repack creates a ROOT file at out with the entries of one input, stored differently:
//
//   - Write.Compression recompresses pages (the level Recompress);
//   - Encode and EncodeAll re-encode them (Reseal);
//   - AtLeast: Rewrite writes new clusters and pages with the sizes in Write.
//
// All other data is copied. Schema and attribute sets do not change. An existing file at out is
// replaced on success; it must not be the input.
func Repack(ctx context.Context, out string, in Input, o *RepackOptions) (*Report, error) {
	o = cmp.Or(o, new(RepackOptions))
	c := o.config()
	c.Name = o.Name
	encode := func(s *shape) error { return s.encode(o.EncodeAll, o.Encode) }
	return c.asStored().create(ctx, out, &job{inputs: []Input{in}, edit: encode})
}
