package rntuple

import (
	"context"
	"math"
)

// pieceAt calls use with the Reader that has an entry of s, and the function that returns which
// entries of s are those of a range of the Reader's; of a Join they are those of the primary
// source. The Reader stays open until use returns. pieceAt returns where in s the Reader's entries
// end. If the entries are not those of a Reader, in their order, use is not called.
func pieceAt(ctx context.Context, s Source, entry int64,
	use func(ctx context.Context, r *Reader, in func(EntryRange) EntryRange) error) (end int64, err error) {
	// inner is pieceAt for a source whose entries are given numbers by of.
	inner := func(src Source, entry int64, of func(EntryRange) EntryRange) (int64, error) {
		return pieceAt(ctx, src, entry, func(ctx context.Context, r *Reader, in func(EntryRange) EntryRange) error {
			return use(ctx, r, func(e EntryRange) EntryRange { return of(in(e)) })
		})
	}
	switch s := s.(type) {
	case oneWorker:
		return pieceAt(ctx, s.Source, entry, use)
	case *Join:
		return pieceAt(ctx, s.primary, entry, use)
	case *Selection:
		if entry >= s.set.n {
			break
		}
		end, err = inner(s.src, s.set.entry(entry), func(e EntryRange) EntryRange {
			return EntryRange{s.set.rank(e.First), s.set.rank(e.End)}
		})
		return s.set.rank(end), err
	case *Reader:
		return s.NumEntries(), use(ctx, s, func(e EntryRange) EntryRange { return e })
	case *Chain:
		i, entries, ok, err := s.find(ctx, entry)
		if err != nil || !ok {
			return math.MaxInt64, err
		}
		end = entries.End
		err = s.with(ctx, i, func(o *opened) error {
			last, err := inner(o.Source, entry-entries.First, func(e EntryRange) EntryRange {
				return EntryRange{e.First + entries.First, e.End + entries.First}
			})
			if last < entries.End-entries.First {
				end = entries.First + last
			}
			return err
		})
		return end, err
	}
	return math.MaxInt64, nil
}
