package rntuple

import "iter"

// A Condition chooses entries. WhereFunc makes one of a Go function, and package
// expression of an expression. A Condition must be safe for concurrent use.
type Condition interface {
	// Check reports whether the condition fits the fields of s, without reading entries.
	Check(s Source) error
	// Select yields the entries of s in r for which the condition holds, as ranges in
	// order, which may be empty, and adjacent. The first error ends the sequence.
	Select(s Source, r EntryRange) iter.Seq2[EntryRange, error]
}

// WhereFunc returns the Condition that keep accepts an entry. T is a type as Entries takes
// it, and only the fields that it names are read. An entry, and what it points to, is valid
// until keep returns, as with EntriesOptions.Reuse. Calls of keep may be concurrent.
func WhereFunc[T any](keep func(entry *T) bool) Condition { return whereFunc[T](keep) }

type whereFunc[T any] func(entry *T) bool

func (keep whereFunc[T]) Check(s Source) error {
	_, err := ViewOf[T](s, "")
	return err
}

func (keep whereFunc[T]) Select(s Source, r EntryRange) iter.Seq2[EntryRange, error] {
	return func(yield func(EntryRange, error) bool) {
		at, run := r.First, EntryRange{}
		for entry, err := range EntriesIn[T](s, r, &EntriesOptions{Reuse: true}) {
			if err != nil {
				yield(EntryRange{}, err)
				return
			}
			switch {
			case !keep(entry):
			case run.End == at:
				run.End++
			default:
				if run.Len() > 0 && !yield(run, nil) {
					return
				}
				run = EntryRange{at, at + 1}
			}
			at++
		}
		if run.Len() > 0 {
			yield(run, nil)
		}
	}
}
