package surgery

import (
	"context"

	"github.com/go-rntuple/go-rntuple/internal/splice"
)

// Slim makes a ROOT file at out with some fields of an RNTuple, those that the options
// Keep and Drop leave. Pages are copied as they are, and stay compressed as they are
// unless the option Compression is given. Entries, clusters and attribute sets stay the
// same.
//
// Options: Keep, Drop, Name, AtLeast, AtMost, Compression, KeepCompression,
// JoinClusters, DropAttributes, Read, Write, Progress.
func Slim(ctx context.Context, out string, in Input, opts ...Option) (*Report, error) {
	c, err := configure("Slim", takesCut, opts)
	if err != nil {
		return nil, err
	}
	return c.asStored().create(ctx, out, &splice.Job{Inputs: inputsOf(in)})
}
