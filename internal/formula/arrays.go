package formula

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/expr-lang/expr/vm/runtime"
)

// statistic returns a function of all items of all arguments.
func (b *Budget) statistic(name string) call {
	switch name {
	case "min":
		return extreme("<")
	case "max":
		return extreme(">")
	case "mean":
		return ofAll(func(v []float64) float64 { return total(v) / float64(len(v)) })
	}
	return ofAll(b.median)
}

// extreme returns the function that yields the first item to which no other one
// compares as op says, where NaN only counts if it is the first one.
func extreme(op string) call {
	return func(args ...any) (any, error) {
		var best any
		missing := false
		err := each(args, func(v any) error {
			if v == nil {
				missing = true
				return nil
			}
			x, ok := number(v)
			if !ok {
				return fmt.Errorf("%s is no number", noun(v))
			}
			if best == nil {
				best = v
				return nil
			}
			m, ok1 := integer(v)
			n, ok2 := integer(best)
			y, _ := number(best)
			if ok1 && ok2 && compare(op, m, n) || !(ok1 && ok2) && compare(op, x, y) {
				best = v
			}
			return nil
		})
		if err != nil || missing {
			return nil, err
		}
		return best, nil
	}
}

// each calls f for all items of all arguments, and of arrays in them.
func each(args []any, f func(v any) error) error {
	for _, a := range args {
		n, ok := length(a)
		if !ok {
			if err := f(a); err != nil {
				return err
			}
		}
		for i := range n {
			if err := each([]any{item(a, i)}, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// ofAll returns a function of all items, which is missing without any.
func ofAll(f func(v []float64) float64) call {
	return func(args ...any) (any, error) {
		var all []float64
		missing := false
		err := each(args, func(v any) error {
			x, ok := number(v)
			if all = append(all, x); !ok && v != nil {
				return fmt.Errorf("%s is no number", noun(v))
			}
			missing = missing || v == nil
			return nil
		})
		if err != nil || missing || len(all) == 0 {
			return nil, err
		}
		return f(all), nil
	}
}

func total(v []float64) (sum float64) {
	for _, x := range v {
		sum += x
	}
	return sum
}

func (b *Budget) median(v []float64) float64 {
	slices.SortFunc(v, compared(b, cmp.Compare[float64]))
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}

// sum adds numbers in their order. Integers and bools add up to an integer.
func sum(args ...any) (any, error) {
	switch v := args[0].(type) {
	case nil:
		return nil, nil
	case []float64:
		return total(v), nil
	}
	n, ok := length(args[0])
	if !ok {
		return nil, fmt.Errorf("sum takes an array, not %s", noun(args[0]))
	}
	var whole int64
	var parts float64
	floats := false
	for i := range n {
		v := item(args[0], i)
		if b, ok := v.(bool); ok {
			if v = int64(0); b {
				v = int64(1)
			}
		}
		m, isInteger := integer(v)
		x, ok := number(v)
		switch {
		case v == nil:
			return nil, nil
		case !ok:
			return nil, fmt.Errorf("sum takes numbers, not %s", noun(v))
		}
		floats = floats || !isInteger
		whole += m
		parts += x
	}
	if floats {
		return parts, nil
	}
	return whole, nil
}

// sorted returns an array in ascending or descending order. NaN come last.
func (b *Budget) sorted(args ...any) (any, error) {
	if args[0] == nil {
		return nil, nil
	}
	descending := false
	if len(args) == 2 {
		switch args[1] {
		case "asc":
		case "desc":
			descending = true
		default:
			return nil, fmt.Errorf(`sort takes "asc" or "desc", not %v`, args[1])
		}
	}
	array := args[0]
	if items, ok := array.([]any); ok {
		array = pack(items)
	}
	switch v := array.(type) {
	case []float64:
		return sortedBy(b, v, descending), nil
	case []int64:
		return sortedBy(b, v, descending), nil
	case []int:
		return sortedBy(b, v, descending), nil
	case []string:
		return sortedBy(b, v, descending), nil
	}
	all, ok := numbers(array)
	switch {
	case incomplete(array):
		return nil, nil
	case !ok:
		return nil, fmt.Errorf("sort takes an array of numbers or of strings, not %s", noun(array))
	}
	return sortedBy(b, all, descending), nil
}

func sortedBy[T cmp.Ordered](b *Budget, v []T, descending bool) []T {
	v = slices.Clone(v)
	slices.SortStableFunc(v, compared(b, func(x, y T) int {
		if x != x || y != y || descending {
			return cmp.Compare(y, x) // which has NaN first
		}
		return cmp.Compare(x, y)
	}))
	return v
}

func reversed(args ...any) (any, error) {
	n, ok := length(args[0])
	switch {
	case args[0] == nil:
		return nil, nil
	case !ok:
		return nil, fmt.Errorf("reverse takes an array, not %s", noun(args[0]))
	}
	indices := make([]int64, n)
	for i := range indices {
		indices[i] = int64(n - 1 - i)
	}
	return Take(args[0], indices), nil
}

// unique returns the items of an array that are not equal to one before.
func (b *Budget) unique(args ...any) (any, error) {
	n, ok := length(args[0])
	switch {
	case args[0] == nil:
		return nil, nil
	case !ok:
		return nil, fmt.Errorf("uniq takes an array, not %s", noun(args[0]))
	}
	indices := []int64{}
	for i := range n {
		v := item(args[0], i)
		b.Step(product(int64(len(indices)), callSteps+2*b.weigh(v)))
		if !slices.ContainsFunc(indices, func(k int64) bool { return runtime.Equal(v, item(args[0], int(k))) }) {
			indices = append(indices, int64(i))
		}
	}
	return Take(args[0], indices), nil
}

// first returns the first items of an array.
func first(args ...any) (any, error) {
	if n, ok := integer(args[1]); ok {
		args = []any{args[0], int64(0), max(n, 0)}
	} else {
		args = []any{args[0], int64(0), args[1]}
	}
	return slice(args...)
}

func concatenated(args ...any) (any, error) {
	all := []any{}
	for _, a := range args {
		n, ok := length(a)
		switch {
		case a == nil:
			return nil, nil
		case !ok:
			return nil, fmt.Errorf("concat takes arrays, not %s", noun(a))
		}
		for i := range n {
			all = append(all, item(a, i))
		}
	}
	return pack(all), nil
}
