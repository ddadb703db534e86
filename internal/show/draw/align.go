package draw

import (
	"fmt"
	"slices"

	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// An aligner puts the values of several expressions side by side: those of collections item
// by item, with what is not a collection repeated for every item. It reuses its memory. The
// zero value is ready for use.
type aligner struct {
	rows    int64
	columns []column
	steps   []step
	ints    arena[int64]
	floats  arena[float64]
}

// A column is one of the expressions, as far as collections are resolved.
type column struct {
	name  string
	array *columnar.Array
	index []int64 // of the rows in the array; nil if row i is value i
	role  role
}

type role int

const (
	drawn role = iota // x, y or a weight
	condition
)

// A step led from one set of rows to the next.
type step struct {
	kept   []int64 // the rows that were kept, or
	starts []int64 // the row after those that came before the ones of each row
}

// arena lends slices that are returned all at once.
type arena[T any] struct {
	lent [][]T
	n    int
}

// get returns a slice of length n, which is not cleared.
func (a *arena[T]) get(n int64) []T {
	if a.n == len(a.lent) {
		a.lent = append(a.lent, nil)
	}
	s := a.lent[a.n]
	if int64(cap(s)) < n {
		s = make([]T, n)
		a.lent[a.n] = s
	}
	a.n++
	return s[:n]
}

// start begins a batch of n entries. What was returned for the last one is no longer valid.
func (a *aligner) start(n int) {
	*a = aligner{rows: int64(n), columns: a.columns[:0], steps: a.steps[:0], ints: a.ints, floats: a.floats}
	a.ints.n, a.floats.n = 0, 0
}

// add adds an expression, with a value for each entry.
func (a *aligner) add(name string, array *columnar.Array, r role) {
	a.columns = append(a.columns, column{name: name, array: array, role: r})
}

// A lengthError says that two collections do not go together.
type lengthError struct {
	entry  int64 // of the batch
	names  [2]string
	counts [2]int64
}

func (e *lengthError) Error() string {
	return fmt.Sprintf("%s has %d values, %s has %d", e.names[0], e.counts[0], e.names[1], e.counts[1])
}

// align resolves all collections and drops rows for which the condition is not true, or of
// which a value is missing; it returns how many rows there are of the latter. Then there is a
// row for each value of each column. The error is a *lengthError.
func (a *aligner) align() (missing int64, err error) {
	for {
		a.choose()
		missing += a.dropMissing()
		if !slices.ContainsFunc(a.columns, func(c column) bool { return c.array.Shape == schema.Collection }) {
			return missing, nil
		}
		if err := a.expand(); err != nil {
			return 0, err
		}
	}
}

// choose drops the rows for which a condition is not true, as soon as it has a value for each.
func (a *aligner) choose() {
	for i, c := range a.columns {
		if c.role != condition || c.array.Shape == schema.Collection {
			continue
		}
		if c.array.Shape == schema.Optional && c.array.Children[0].Shape == schema.Collection {
			continue // expanded where it is there
		}
		valid, array := []bool(nil), c.array
		if array.Shape == schema.Optional {
			valid, array = array.Valid, array.Children[0]
		}
		holds, _ := array.Values().([]bool)
		kept := a.ints.get(a.rows)[:0]
		for row := range a.rows {
			at := c.at(row)
			if (valid == nil || valid[at]) && holds[at] {
				kept = append(kept, row)
			}
		}
		a.columns = append(a.columns[:i], a.columns[i+1:]...)
		a.keep(kept)
		return
	}
}

func (c *column) at(row int64) int64 {
	if c.index == nil {
		return row
	}
	return c.index[row]
}

// keep drops all rows but those kept.
func (a *aligner) keep(kept []int64) {
	if int64(len(kept)) == a.rows {
		return
	}
	for i := range a.columns {
		c := &a.columns[i]
		if c.index == nil {
			c.index = kept
			continue
		}
		index := a.ints.get(int64(len(kept)))
		for k, row := range kept {
			index[k] = c.index[row]
		}
		c.index = index
	}
	a.rows = int64(len(kept))
	a.steps = append(a.steps, step{kept: kept})
}

// dropMissing drops rows of which a value is missing, and unwraps the optionals. It returns
// the number of rows without a value that was to be drawn.
func (a *aligner) dropMissing() (missing int64) {
	for i := range a.columns {
		c := &a.columns[i]
		if c.array.Shape != schema.Optional || c.role == condition && c.array.Children[0].Shape != schema.Collection {
			continue
		}
		kept := a.ints.get(a.rows)[:0]
		for row := range a.rows {
			if c.array.Valid[c.at(row)] {
				kept = append(kept, row)
			}
		}
		if c.role != condition {
			missing += a.rows - int64(len(kept))
		}
		c.array = c.array.Children[0]
		a.keep(kept)
	}
	return missing
}

// expand replaces every row by one for each of its items.
func (a *aligner) expand() error {
	var first *column // of the collections
	for i := range a.columns {
		c := &a.columns[i]
		if c.array.Shape != schema.Collection {
			continue
		}
		if first == nil {
			first = c
			continue
		}
		p, q := first.array.Offsets, c.array.Offsets
		for row := range a.rows {
			i, k := first.at(row), c.at(row)
			if n, m := p[i+1]-p[i], q[k+1]-q[k]; n != m {
				return &lengthError{a.entry(row), [2]string{first.name, c.name}, [2]int64{n, m}}
			}
		}
	}
	starts := first.array.Offsets[:a.rows+1] // right if all rows are there
	if first.index != nil {
		starts = a.ints.get(a.rows + 1)
		starts[0] = 0
		for row, i := range first.index {
			starts[row+1] = starts[row] + first.array.Offsets[i+1] - first.array.Offsets[i]
		}
	}
	n := starts[a.rows]
	for i := range a.columns {
		c := &a.columns[i]
		isCollection := c.array.Shape == schema.Collection
		if isCollection && c.index == nil {
			c.array = c.array.Children[0]
			continue
		}
		index := a.ints.get(n)
		for row := range a.rows {
			at, items := c.at(row), index[starts[row]:starts[row+1]]
			if isCollection {
				at = c.array.Offsets[at]
			}
			for k := range items {
				items[k] = at
				if isCollection {
					at++
				}
			}
		}
		c.index = index
		if isCollection {
			c.array = c.array.Children[0]
		}
	}
	a.rows = n
	a.steps = append(a.steps, step{starts: starts})
	return nil
}

// entry returns the entry of the batch that a row came from.
func (a *aligner) entry(row int64) int64 {
	for i := len(a.steps) - 1; i >= 0; i-- {
		if s := a.steps[i]; s.kept != nil {
			row = s.kept[row]
		} else {
			from := int64(0)
			for s.starts[from+1] <= row {
				from++
			}
			row = from
		}
	}
	return row
}

// numbers returns the values of a column in all rows, after align: numbers, or 1 and 0 for
// true and false. They may be in memory of the array.
func (a *aligner) numbers(c *column) []float64 {
	switch from := c.array.Values().(type) {
	case []float64:
		if c.index == nil {
			return from[:a.rows]
		}
		to := a.floats.get(a.rows)
		for row, i := range c.index {
			to[row] = from[i]
		}
		return to
	case []int64:
		to := a.floats.get(a.rows)
		for row := range to {
			to[row] = float64(from[c.at(int64(row))])
		}
		return to
	case []bool:
		to := a.floats.get(a.rows)
		for row := range to {
			to[row] = 0
			if from[c.at(int64(row))] {
				to[row] = 1
			}
		}
		return to
	}
	return nil
}

// word returns the value of a column of strings in a row, after align, in memory of the array.
func (c *column) word(row int64) []byte {
	i := c.at(row)
	return c.array.Bytes[c.array.Offsets[i]:c.array.Offsets[i+1]]
}
