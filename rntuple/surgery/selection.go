package surgery

import (
	"context"
	"fmt"
	"iter"

	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A selection is the entries of an input to be taken.
type selection struct {
	within rntuple.EntryRange
	// ranges yields ranges within that one in order. They may be empty, and adjacent.
	// Nil takes all of it.
	ranges iter.Seq2[rntuple.EntryRange, error]
	// fields are new fields of the output, the same for all inputs, with the values
	// that begin begins to compute for the entries to be taken. begin is called in the
	// second pass only.
	fields []*schema.FieldDocument
	begin  func(out *field.Outlets, fields []*schema.Field) (*stream, error)
}

// selection returns the entries of a step to be taken, of the only source if there
// is a choice.
func (r *run) selection(ctx context.Context, n int, src *source) (s selection, err error) {
	s = selection{within: rntuple.EntryRange{End: src.Source.Entries}}
	if r.choose != nil {
		s, err = r.choose(ctx, n, src.Reader)
	}
	return s, src.fail(err)
}

// all returns the ranges of the selection. Those that adjoin each other are one; it
// is an error if they are not in order or not within so many entries.
func (s selection) all(entries int64) iter.Seq2[rntuple.EntryRange, error] {
	ranges := s.ranges
	if ranges == nil {
		ranges = func(yield func(rntuple.EntryRange, error) bool) { yield(s.within, nil) }
	}
	return func(yield func(rntuple.EntryRange, error) bool) {
		var last rntuple.EntryRange
		for r, err := range ranges {
			if err == nil && r.Len() != 0 && (r.First < last.End || r.End < r.First || r.End > entries) {
				err = fmt.Errorf("entries %d to %d cannot come after entry %d of %d", r.First, r.End, last.End, entries)
			}
			switch {
			case err != nil:
				yield(rntuple.EntryRange{}, err)
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
