package expression

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
)

// A rangeError says that an integer of a field has no place in 64 bits with a sign.
type rangeError struct {
	path  string
	value uint64
}

func (e *rangeError) Error() string {
	return fmt.Sprintf("field %q: %v: %d is beyond 64 bits with a sign", e.path, rntuple.ErrRange, e.value)
}

func (e *rangeError) Unwrap() error { return rntuple.ErrRange }

// kindOf returns the kind of the values of a scalar field: Bool, Int or Float.
func kindOf(a *columnar.Array) Kind {
	switch {
	case a.Shape == schema.String:
		return String
	case a.Shape == schema.Bitset:
		return Bool
	case a.Shape == schema.Cardinality:
		return Int
	case a.Shape != schema.Scalar:
		return Other
	}
	switch a.Values().(type) {
	case []bool:
		return Bool
	case []float32, []float64:
		return Float
	case []int8, []uint8, []int16, []uint16, []int32, []uint32, []int64, []uint64:
		return Int
	}
	return Other
}

// numbersIn returns the values of a field of floats or integers, in buf if they must be converted.
// Integers that have no place are negative.
func numbersIn[T number](a *columnar.Array, buf *[]T) []T {
	switch all := a.Values().(type) {
	case []T:
		return all
	case []float32:
		return widen(buf, all)
	case []int8:
		return widen(buf, all)
	case []uint8:
		return widen(buf, all)
	case []int16:
		return widen(buf, all)
	case []uint16:
		return widen(buf, all)
	case []int32:
		return widen(buf, all)
	case []uint32:
		return widen(buf, all)
	case []uint64:
		return widen(buf, all)
	}
	return nil
}

// widen converts numbers to a type that holds all of them.
func widen[To number, From int8 | uint8 | int16 | uint16 | int32 | uint32 | uint64 | float32](buf *[]To,
	from []From) []To {
	to := resize(buf, len(from))
	for i, v := range from {
		to[i] = To(v)
	}
	return to
}

// resize makes a buffer a slice of n elements, which may be anything, and returns it.
func resize[T any](buf *[]T, n int) []T {
	if cap(*buf) < n {
		*buf = make([]T, n+n/4)
	}
	*buf = (*buf)[:n]
	return *buf
}

// isTuple reports whether a is a record whose members have numbers instead of names.
func isTuple(a *columnar.Array) bool {
	return a.Shape == schema.Record && a.Field != nil && a.Field.IsTuple()
}

// keysIn returns the Array of the keys of a map.
func keysIn(a *columnar.Array) (keys *columnar.Array, ok bool) {
	if a.Shape != schema.Collection || a.Field == nil || !a.Field.IsMap() {
		return nil, false
	}
	pair := a.Children[0]
	if pair.Shape != schema.Record || len(pair.Children) != 2 || pair.Field.Kind() != cpptype.Pair {
		return nil, false // a path led through the map
	}
	return pair.Children[0], true
}
