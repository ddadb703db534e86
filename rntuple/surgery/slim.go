package surgery

import (
	"context"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// Slim makes a ROOT file at out with some fields of an RNTuple, those that the options
// Keep and Drop leave, and with those that Define and DefineColumns add. Pages are copied
// as they are, and stay compressed as they are unless the option Compression is given.
// Entries, clusters and attribute sets stay the same.
//
// Options: Keep, Drop, Define, DefineColumns, Name, AtLeast, AtMost, Compression,
// KeepCompression, JoinClusters, DropAttributes, Read, Write, Progress.
func Slim(ctx context.Context, out string, in Input, opts ...Option) (*Report, error) {
	c, err := configure("Slim", takesSlim, opts)
	if err != nil {
		return nil, err
	}
	j := &job{inputs: []Input{in}}
	if len(c.define) > 0 {
		j.choose = func(_ context.Context, _ int, r *ntuple.Reader) (selection, error) {
			return c.selection(r, rntuple.EntryRange{End: r.Source.Entries}, nil)
		}
	}
	return c.asStored().create(ctx, out, j)
}
