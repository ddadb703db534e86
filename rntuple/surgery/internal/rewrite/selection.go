package rewrite

import (
	"context"
	"fmt"
	"iter"

	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Range is the entries from First to End, End excluded.
type Range struct{ First, End int64 }

// Len returns the number of entries.
func (r Range) Len() int64 { return r.End - r.First }

// A Selection is the entries of an input to be taken.
type Selection struct {
	Within Range
	// Ranges yields ranges within that one in order. They may be empty, and adjacent.
	// Nil takes all of it.
	Ranges iter.Seq2[Range, error]
	// Fields are new fields of the output, the same for all inputs, with the values
	// that Begin begins to compute for the entries to be taken. Begin is called in the
	// second pass only.
	Fields []*schema.FieldDocument
	Begin  func(out *field.Outlets, fields []*schema.Field) (Values, error)
}

// selection returns the entries of a step to be taken, of the only source if there
// is a choice.
func (r *run) selection(ctx context.Context, n int, src *source) (s Selection, err error) {
	s = Selection{Within: Range{End: src.Source.Entries}}
	if r.Select != nil {
		s, err = r.Select(ctx, n, src.Reader)
	}
	return s, src.fail(err)
}

// all returns the ranges of the selection. Those that adjoin each other are one; it
// is an error if they are not in order or not within so many entries.
func (s Selection) all(entries int64) iter.Seq2[Range, error] {
	ranges := s.Ranges
	if ranges == nil {
		ranges = func(yield func(Range, error) bool) { yield(s.Within, nil) }
	}
	return func(yield func(Range, error) bool) {
		var last Range
		for r, err := range ranges {
			if err == nil && r.Len() != 0 && (r.First < last.End || r.End < r.First || r.End > entries) {
				err = fmt.Errorf("entries %d to %d cannot come after entry %d of %d", r.First, r.End, last.End, entries)
			}
			switch {
			case err != nil:
				yield(Range{}, err)
				return
			case r.Len() == 0:
			case r.First == last.End && last.Len() > 0:
				last.End = r.End
			default:
				if last.Len() > 0 && !yield(last, nil) {
					return
				}
				last = r
			}
		}
		if last.Len() > 0 {
			yield(last, nil)
		}
	}
}
