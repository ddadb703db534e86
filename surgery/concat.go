package surgery

import (
	"context"
	"fmt"
	"iter"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A Piece is some of an input: all of it, or the entries from First to End, End
// excluded and at most the number of entries; 0 stands for that.
type Piece struct {
	Input
	First, End int64
	Clusters   bool // First and End count clusters, not entries
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

// Concat makes a ROOT file at out with one RNTuple, which has pieces of others in
// the given order. An input may have several pieces, overlapping ones, too. Schemas
// go together as Merge says. Clusters that a piece has as a whole are copied page
// by page, of the others what is needed is rewritten. Compression is as for Slim.
//
// Attribute sets are kept as Merge keeps them, but those of pieces are cut: an
// attribute belongs to those of its entries that the piece has, and is dropped if
// there are none, also if it had none before.
func Concat(ctx context.Context, out string, pieces []Piece, opts ...Option) (*Report, error) {
	inputs := make([]Input, len(pieces))
	for i, p := range pieces {
		inputs[i] = p.Input
	}
	return cut(ctx, out, inputs, newSettings(opts), func(ctx context.Context, n int, src *source) (iter.Seq2[rntuple.EntryRange, error], error) {
		r, err := pieces[n].entries(ctx, src)
		return one(r), err
	})
}

// entries returns the entries of a piece.
func (p Piece) entries(ctx context.Context, src *source) (r rntuple.EntryRange, err error) {
	n, unit := src.Source.Entries, "entries"
	border := func(i int64) int64 { return i }
	if p.Clusters {
		clusters, err := src.Source.Clusters(ctx)
		if err != nil {
			return r, err
		}
		unit = "clusters"
		border = func(i int64) int64 {
			if i == n {
				return src.Source.Entries
			}
			return clusters[i].First
		}
		n = int64(len(clusters))
	}
	if p.End == 0 {
		p.End = n
	}
	if p.First < 0 || p.First > p.End || p.End > n {
		return r, fmt.Errorf("there are no %s from %d to %d, but %d", unit, p.First, p.End, n)
	}
	return rntuple.EntryRange{First: border(p.First), End: border(p.End)}, nil
}

// one yields a range.
func one(r rntuple.EntryRange) iter.Seq2[rntuple.EntryRange, error] {
	return func(yield func(rntuple.EntryRange, error) bool) { yield(r, nil) }
}
