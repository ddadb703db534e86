package surgery

import (
	"cmp"
	"context"
	"fmt"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A Piece is a range of entries of an input, from First to End, excluding End. An End of 0 means
// the number of entries, so the zero range is the entire input.
type Piece struct {
	Input
	First, End int64
	Clusters   bool // First and End count clusters, not entries
	// Check, if set, is called with the input before anything is written. The operation fails with
	// its error.
	Check func(*rntuple.Reader) error
}

func (p Piece) String() string {
	switch {
	case p.End > 0:
		return fmt.Sprintf("%v[%d:%d]", p.Input, p.First, p.End)
	case p.First > 0:
		return fmt.Sprintf("%v[%d:]", p.Input, p.First)
	}
	return p.Input.String()
}

// Concat creates a ROOT file at out with one RNTuple, which contains pieces of others in the given
// order. Several pieces of one input may overlap. Schemas are combined as by Merge. Clusters
// entirely inside a piece are copied page by page; others are copied partially or rewritten, as by
// Skim. Compression works as for Slim.
//
// Attribute sets are kept as by Merge, but ranges are cut to the pieces: an attribute keeps those
// of its entries that are in the piece, and is dropped if there are none, even if its range was
// empty before.
func Concat(ctx context.Context, out string, pieces []Piece, o *MergeOptions) (*Report, error) {
	return o.config().concat(ctx, out, pieces, nil)
}

// concat makes a file of the entries of pieces for which a condition holds, all of them if it is
// nil.
func (c *config) concat(ctx context.Context, out string, pieces []Piece, keep rntuple.Condition) (*Report, error) {
	j := &job{choose: func(ctx context.Context, n int, r *ntuple.Reader) (selection, error) {
		within, err := pieces[n].entries(ctx, r)
		if err != nil {
			return selection{}, err
		}
		return c.selection(r, within, keep)
	}}
	for _, p := range pieces {
		j.inputs = append(j.inputs, p.Input)
	}
	return c.asStored().create(ctx, out, j)
}

// entries returns the entries of a piece.
func (p Piece) entries(ctx context.Context, in *ntuple.Reader) (r rntuple.EntryRange, err error) {
	if p.Check != nil {
		if err := p.Check(readerOf(in)); err != nil {
			return r, err
		}
	}
	src := in.Source
	n, unit := src.Entries, "entries"
	border := func(i int64) int64 { return i }
	if p.Clusters {
		clusters, err := src.Clusters(ctx)
		if err != nil {
			return r, err
		}
		unit = "clusters"
		border = func(i int64) int64 {
			if i == n {
				return src.Entries
			}
			return clusters[i].First
		}
		n = int64(len(clusters))
	}
	p.End = cmp.Or(p.End, n)
	if p.First < 0 || p.First > p.End || p.End > n {
		return r, fmt.Errorf("there are no %s from %d to %d, but %d", unit, p.First, p.End, n)
	}
	return rntuple.EntryRange{First: border(p.First), End: border(p.End)}, nil
}
