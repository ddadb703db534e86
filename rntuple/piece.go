package rntuple

import (
	"context"
	"math"
)

// PieceAt calls use with the Reader that has an entry of s, and the number that the Reader's
// first entry has in s; of a Join it is that of the primary source. The Reader stays open
// until use returns. PieceAt returns where in s the Reader's entries end. If the entries are
// not those of a Reader, in their order, use is not called.
//
// It is for the packages of this module, which find out about parts of the Reader's file.
func PieceAt(s Source, entry int64, use func(ctx context.Context, r *Reader, first int64) error) (end int64, err error) {
	return pieceAt(s.context(), s, entry, use)
}

func pieceAt(ctx context.Context, s Source, entry int64, use func(ctx context.Context, r *Reader, first int64) error) (end int64, err error) {
	switch s := s.(type) {
	case oneWorker:
		return pieceAt(ctx, s.Source, entry, use)
	case *Join:
		return pieceAt(ctx, s.primary, entry, use)
	case *Selection:
		r, ok := s.whole()
		if !ok {
			break
		}
		end, err = pieceAt(ctx, s.src, entry+r.First, func(ctx context.Context, of *Reader, first int64) error { return use(ctx, of, first-r.First) })
		return min(end-r.First, r.Len()), err
	case *Reader:
		return s.NumEntries(), use(ctx, s, 0)
	case *Chain:
		i, entries, ok, err := s.find(ctx, entry)
		if err != nil || !ok {
			return math.MaxInt64, err
		}
		end = entries.End
		err = s.with(ctx, i, func(o *opened) error {
			inner, err := pieceAt(ctx, o.Source, entry-entries.First, func(ctx context.Context, r *Reader, first int64) error {
				return use(ctx, r, first+entries.First)
			})
			if inner < entries.End-entries.First {
				end = entries.First + inner
			}
			return err
		})
		return end, err
	}
	return math.MaxInt64, nil
}
