package convert

import (
	"math"
	"reflect"
	"unsafe"
)

// types lists the number types by their kind.
var types = [...]reflect.Type{
	reflect.Bool: reflect.TypeFor[bool](),
	reflect.Int8: reflect.TypeFor[int8](), reflect.Int16: reflect.TypeFor[int16](),
	reflect.Int32: reflect.TypeFor[int32](), reflect.Int64: reflect.TypeFor[int64](),
	reflect.Uint8: reflect.TypeFor[uint8](), reflect.Uint16: reflect.TypeFor[uint16](),
	reflect.Uint32: reflect.TypeFor[uint32](), reflect.Uint64: reflect.TypeFor[uint64](),
	reflect.Float32: reflect.TypeFor[float32](), reflect.Float64: reflect.TypeFor[float64](),
}

// Type returns the number type of a kind, or nil if the kind is not one of bool,
// the integers of a definite size, float32 and float64.
func Type(k reflect.Kind) reflect.Type {
	if int(k) >= len(types) {
		return nil
	}
	return types[k]
}

// KindOf returns the kind of t; for int and uint, that of the integers of the same
// size.
func KindOf(t reflect.Type) reflect.Kind {
	switch k := t.Kind(); {
	case k == reflect.Int && t.Size() == 4:
		return reflect.Int32
	case k == reflect.Int:
		return reflect.Int64
	case k == reflect.Uint && t.Size() == 4:
		return reflect.Uint32
	case k == reflect.Uint:
		return reflect.Uint64
	default:
		return k
	}
}

// IsInteger reports whether k is the kind of an integer type of a definite size.
func IsInteger(k reflect.Kind) bool { return isSigned(k) || isUnsigned(k) }

func isSigned(k reflect.Kind) bool   { return reflect.Int8 <= k && k <= reflect.Int64 }
func isUnsigned(k reflect.Kind) bool { return reflect.Uint8 <= k && k <= reflect.Uint64 }
func isFloat(k reflect.Kind) bool    { return k == reflect.Float32 || k == reflect.Float64 }

// digits returns the number of binary digits of the greatest value of k, a bool or
// an integer.
func digits(k reflect.Kind) int {
	switch {
	case k == reflect.Bool:
		return 1
	case isSigned(k):
		return types[k].Bits() - 1
	}
	return types[k].Bits()
}

// IsExact reports whether each value of the kind from converts to one of the kind
// to that is equal to it. No other conversion is exact; those to bool are not, even
// though they never fail.
func IsExact(from, to reflect.Kind) bool {
	switch {
	case from == to:
		return true
	case isFloat(from) || isFloat(to):
		return from == reflect.Float32 && to == reflect.Float64
	case to == reflect.Bool || !IsInteger(to) || from != reflect.Bool && !IsInteger(from):
		return false
	}
	return digits(to) >= digits(from) && (isSigned(to) || !isSigned(from))
}

// Memory says where numbers are: the first one at At, and each of the others
// Stride bytes after the one before it.
type Memory struct {
	At     unsafe.Pointer
	Stride uintptr
}

// Slice returns the memory of the elements of s.
func Slice[T any](s []T) Memory {
	var t T
	return Memory{unsafe.Pointer(unsafe.SliceData(s)), unsafe.Sizeof(t)}
}

// Bytes returns the memory b of numbers of the given size.
func Bytes(b []byte, size int) Memory {
	return Memory{unsafe.Pointer(unsafe.SliceData(b)), uintptr(size)}
}

// Offset returns the memory of the numbers from number i on, which must be one of
// them.
func (m Memory) Offset(i int) Memory {
	return Memory{unsafe.Add(m.At, uintptr(i)*m.Stride), m.Stride}
}

// Value returns number i, which is of kind k.
func (m Memory) Value(k reflect.Kind, i int) any {
	return reflect.NewAt(types[k], m.Offset(i).At).Elem().Interface()
}

// A Func converts n numbers at src and stores them at dst, which may not overlap.
// It returns the index of the first number that the type at dst cannot hold, or
// -1. In the former case, what it has stored from that index on has no meaning.
//
// A Func keeps no state and is safe for concurrent use.
type Func func(dst, src Memory, n int) (lost int)

// Between returns what converts numbers of one kind to another one, or nil if that
// is not allowed. Integers must be in the range of the other type; as bool, all but
// 0 are true. A float64 becomes the nearest float32, which must be finite if the
// float64 is.
func Between(from, to reflect.Kind) Func {
	if int(from) >= len(table) || table[from] == nil || Type(to) == nil {
		return nil
	}
	return table[from](from, to)
}

// table has a row for each kind that is converted from. It returns nil for kinds
// that it does not convert to. In memory, a bool is an integer of 0 or 1.
var table = [...]func(from, to reflect.Kind) Func{
	reflect.Bool: fromInt[uint8],
	reflect.Int8: fromInt[int8], reflect.Int16: fromInt[int16], reflect.Int32: fromInt[int32],
	reflect.Int64: fromInt[int64],
	reflect.Uint8: fromInt[uint8], reflect.Uint16: fromInt[uint16], reflect.Uint32: fromInt[uint32],
	reflect.Uint64:  fromInt[uint64],
	reflect.Float32: fromFloat[float32], reflect.Float64: fromFloat[float64],
}

type integer interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64
}

// fromInt converts from F, the type of the kind from.
func fromInt[F integer](from, to reflect.Kind) Func {
	switch {
	case to == reflect.Bool:
		return test[F]
	case isFloat(to):
		return nil
	}
	// Signed and unsigned integers of one size are the same in memory.
	switch Type(to).Size() {
	case 1:
		return toInt[F, uint8](from, to)
	case 2:
		return toInt[F, uint16](from, to)
	case 4:
		return toInt[F, uint32](from, to)
	}
	return toInt[F, uint64](from, to)
}

// toInt converts from F to integers of the size of T.
func toInt[F, T integer](from, to reflect.Kind) Func {
	if IsExact(from, to) {
		return widen[F, T]
	}
	var least F
	most := F(uint64(1)<<min(digits(from), digits(to)) - 1)
	if isSigned(from) && isSigned(to) {
		least = -most - 1
	}
	return narrow[F, T](least, most)
}

// fromFloat converts from F, the type of the kind from.
func fromFloat[F float32 | float64](from, to reflect.Kind) Func {
	switch {
	case to == reflect.Float64:
		return widen[F, float64]
	case from == reflect.Float64 && to == reflect.Float32:
		return round
	case to == reflect.Float32:
		return widen[F, float32]
	}
	return nil
}

// widen converts to T, which can hold all values of F. Numbers without gaps, such
// as those of pages, have a loop of their own, which is a sixth faster.
func widen[F, T integer | float32 | float64](dst, src Memory, n int) int {
	var f F
	if src.Stride == unsafe.Sizeof(f) && dst.Stride == unsafe.Sizeof(T(f)) {
		to := unsafe.Slice((*T)(dst.At), n)
		for i, v := range unsafe.Slice((*F)(src.At), n) {
			to[i] = T(v)
		}
		return -1
	}
	var d, s uintptr
	for range n {
		*(*T)(unsafe.Add(dst.At, d)) = T(*(*F)(unsafe.Add(src.At, s)))
		d, s = d+dst.Stride, s+src.Stride
	}
	return -1
}

// narrow returns what converts numbers from least to most to T, or to an integer
// type of the size of T. It compares the extremes of all numbers with the limits,
// which costs less than comparing every number.
func narrow[F, T integer](least, most F) Func {
	return func(dst, src Memory, n int) int {
		var d, s uintptr
		lo, hi := least, most
		for range n {
			v := *(*F)(unsafe.Add(src.At, s))
			*(*T)(unsafe.Add(dst.At, d)) = T(v)
			lo, hi = min(lo, v), max(hi, v)
			d, s = d+dst.Stride, s+src.Stride
		}
		if lo >= least && hi <= most {
			return -1
		}
		for i := range n {
			if v := *(*F)(unsafe.Add(src.At, uintptr(i)*src.Stride)); v < least || v > most {
				return i
			}
		}
		return -1
	}
}

// round converts to the nearest float32. Only finite numbers that become infinite
// are lost.
func round(dst, src Memory, n int) int {
	var d, s uintptr
	for i := range n {
		v := *(*float64)(unsafe.Add(src.At, s))
		f := float32(v)
		if math.IsInf(float64(f), 0) && !math.IsInf(v, 0) {
			return i
		}
		*(*float32)(unsafe.Add(dst.At, d)) = f
		d, s = d+dst.Stride, s+src.Stride
	}
	return -1
}

// test converts to bool as C++ does: all but 0 is true.
func test[F integer](dst, src Memory, n int) int {
	var d, s uintptr
	for range n {
		*(*bool)(unsafe.Add(dst.At, d)) = *(*F)(unsafe.Add(src.At, s)) != 0
		d, s = d+dst.Stride, s+src.Stride
	}
	return -1
}
