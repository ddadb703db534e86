package field

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/column"
)

// A ConversionError is a value that the Go type it is to be read into cannot
// hold. It wraps column.ErrRange.
type ConversionError struct {
	Path  string       // of the field
	Entry int64        // of the RNTuple, from 0, that the value belongs to
	Value any          // as the field has it: a number
	Go    reflect.Type // what is asked for
}

func (e *ConversionError) Error() string {
	return fmt.Sprintf("field %q, entry %d: %v: %v does not fit %v", e.Path, e.Entry, column.ErrRange, e.Value, e.Go)
}

// Unwrap returns column.ErrRange.
func (e *ConversionError) Unwrap() error { return column.ErrRange }

// converted reads elements of type F into values of another type.
type converted[F column.Element] struct {
	leaf[F]
	convert converter[F]
	path    string
	to      reflect.Type
}

// A converter stores values made of elements at dst, stride bytes apart. It returns
// the index of an element that gets lost, the first one, or -1.
type converter[F any] func(dst unsafe.Pointer, stride uintptr, elements []F) (lost int)

func (c *converted[F]) read(r *run, first, n int64, dst unsafe.Pointer, stride uintptr) error {
	for done := int64(0); done < n; {
		elements, err := c.column.Next(r.ctx, r.cluster, first+done, n-done)
		if err != nil {
			return err
		}
		if lost := c.convert(unsafe.Add(dst, uintptr(done)*stride), stride, elements); lost >= 0 {
			return &ConversionError{Path: c.path, Value: elements[lost], Go: c.to}
		}
		done += int64(len(elements))
	}
	return nil
}

// widen converts to T, which can hold all values of F.
func widen[F, T number](dst unsafe.Pointer, stride uintptr, elements []F) int {
	for i, v := range elements {
		*(*T)(unsafe.Add(dst, uintptr(i)*stride)) = T(v)
	}
	return -1
}

// narrow returns a converter of numbers from least to most into T, or an integer
// type of the size of T. It looks at the extremes of all elements, as this costs
// less than a look at each.
func narrow[F, T integer](least, most F) converter[F] {
	return func(dst unsafe.Pointer, stride uintptr, elements []F) int {
		lo, hi := least, most
		for i, v := range elements {
			*(*T)(unsafe.Add(dst, uintptr(i)*stride)) = T(v)
			lo, hi = min(lo, v), max(hi, v)
		}
		if lo >= least && hi <= most {
			return -1
		}
		for i, v := range elements {
			if v < least || v > most {
				return i
			}
		}
		return -1
	}
}

// round converts to the nearest float32. Only finite values that become infinite
// are lost.
func round(dst unsafe.Pointer, stride uintptr, elements []float64) int {
	for i, v := range elements {
		f := float32(v)
		if math.IsInf(float64(f), 0) && !math.IsInf(v, 0) {
			return i
		}
		*(*float32)(unsafe.Add(dst, uintptr(i)*stride)) = f
	}
	return -1
}

// test converts to bool as C++ does: all but 0 is true.
func test[F integer](dst unsafe.Pointer, stride uintptr, elements []F) int {
	for i, v := range elements {
		*(*bool)(unsafe.Add(dst, uintptr(i)*stride)) = v != 0
	}
	return -1
}

// count converts bools to 0 and 1.
func count[T integer](dst unsafe.Pointer, stride uintptr, elements []bool) int {
	for i, v := range elements {
		var t T
		if v {
			t = 1
		}
		*(*T)(unsafe.Add(dst, uintptr(i)*stride)) = t
	}
	return -1
}

type integer interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64
}

type number interface{ integer | float32 | float64 }

// fromInts returns the converter of integers to type t.
func fromInts[F integer](t reflect.Type) converter[F] {
	if t.Kind() == reflect.Bool {
		return test[F]
	}
	if !isInteger(t) {
		return nil
	}
	all := holds(t, reflect.TypeFor[F]())
	least, most := common[F](t)
	// Signed and unsigned integers of one size have the same memory.
	switch t.Size() {
	case 1:
		return narrow[F, uint8](least, most)
	case 2:
		if all {
			return widen[F, uint16]
		}
		return narrow[F, uint16](least, most)
	case 4:
		if all {
			return widen[F, uint32]
		}
		return narrow[F, uint32](least, most)
	}
	if all {
		return widen[F, uint64]
	}
	return narrow[F, uint64](least, most)
}

// fromBytes returns the converter of std::byte, which is not a number: where it is
// no matter what its bits mean.
func fromBytes(t reflect.Type) converter[uint8] {
	if isInteger(t) && holds(t, reflect.TypeFor[uint8]()) {
		return fromInts[uint8](t)
	}
	return nil
}

// fromBools returns the converter of bools to type t.
func fromBools(t reflect.Type) converter[bool] {
	if !isInteger(t) {
		return nil
	}
	switch t.Size() {
	case 1:
		return count[uint8]
	case 2:
		return count[uint16]
	case 4:
		return count[uint32]
	}
	return count[uint64]
}

func fromFloat32s(t reflect.Type) converter[float32] {
	if t.Kind() == reflect.Float64 {
		return widen[float32, float64]
	}
	return nil
}

func fromFloat64s(t reflect.Type) converter[float64] {
	if t.Kind() == reflect.Float32 {
		return round
	}
	return nil
}

// holds reports whether the integer type t has all values of the integer type
// from.
func holds(t, from reflect.Type) bool {
	return digits(t) >= digits(from) && (isInt(t) || !isInt(from))
}

// common returns the least and the greatest integer that both F and t have.
func common[F integer](t reflect.Type) (least, most F) {
	from := reflect.TypeFor[F]()
	most = F(uint64(1)<<min(digits(from), digits(t)) - 1)
	if isInt(t) && isInt(from) {
		least = -most - 1
	}
	return least, most
}

// digits returns the number of binary digits of the greatest integer of type t.
func digits(t reflect.Type) int {
	if isInt(t) {
		return t.Bits() - 1
	}
	return t.Bits()
}

func isInteger(t reflect.Type) bool { return isInt(t) || isUint(t) }
func isInt(t reflect.Type) bool     { return t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64 }
func isUint(t reflect.Type) bool    { return t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64 }
