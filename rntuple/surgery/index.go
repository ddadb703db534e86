package surgery

import (
	"context"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery/internal/rewrite"
)

// Indexed says what Index has done.
type Indexed struct {
	Fields   []string // paths of the fields that the zone map has bounds of
	Clusters int
}

// Index gives an RNTuple a zone map, in the file that it is in: the least and the greatest
// value, and whether there are NaNs, of fields in each cluster, with which conditions pass
// over clusters unread; see package zonemap. The fields are those that the options Keep and
// Drop leave of all fields of numbers and bools, in collections and records, too, and of
// collections, whose numbers of items have bounds. A zone map that the RNTuple has is
// replaced. Pages stay where they are; if anything fails the file is as it was.
//
// The zone map is an attribute set, so other programs read the file as before.
// docs/reference/zonemaps.md describes it. Merge and the other operations keep it up.
//
// Options: Keep, Drop, Compression, of what is written, Read, Write, Progress, which counts
// clusters.
func Index(ctx context.Context, in Input, opts ...Option) (*Indexed, error) {
	return index(ctx, ntuple.UpdateFile, in, false, opts)
}

// RemoveIndex removes the zone map of an RNTuple, if it has one, in the file that it is in.
//
// Options: Compression, of what is written anew, Read, Write.
func RemoveIndex(ctx context.Context, in Input, opts ...Option) error {
	_, err := index(ctx, ntuple.UpdateFile, in, true, opts)
	return err
}

// index is Index, or RemoveIndex, in the file that open opens.
func index(ctx context.Context, open rewrite.Opener, in Input, remove bool, opts []Option) (*Indexed, error) {
	operation, takes := "Index", []string{"Keep", "Drop", "Compression", "Read", "Write", "Progress"}
	if remove {
		operation, takes = "RemoveIndex", []string{"Compression", "Read", "Write"}
	}
	c, err := configure(operation, takes, opts)
	if err != nil {
		return nil, err
	}
	report, err := rewrite.IndexInPlace(ctx, rewrite.Input(in), open, remove, c.Options)
	if err != nil {
		return nil, err
	}
	return (*Indexed)(report), nil
}
