package rntuple

import "iter"

// A Condition selects entries. WhereFunc creates one from a Go function, and package expression
// from an expression. A Condition must be safe for concurrent use.
type Condition interface {
	// Check returns an error if the condition does not fit the fields of s. It must not read
	// entries.
	Check(s Source) error
	// Select yields the entries of s in r that satisfy the condition, as ranges in order, which may
	// be empty or adjacent. The first error ends the sequence.
	Select(s Source, r EntryRange) iter.Seq2[EntryRange, error]
}

// WhereFunc returns the Condition that keep returns true for an entry. T is a struct as for
// Entries, and only its fields are read. An entry, and everything that it points to, is valid until
// keep returns, as with EntriesOptions.Reuse. Calls of keep may be concurrent.
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
