package columnar

import (
	"encoding/binary"
	"slices"
	"unsafe"
)

// values are the values of an Array, of one number type.
type values interface {
	slice() any
	size() uintptr // of an element, in bytes
	// empty returns no values, in the same memory unless fresh is set.
	empty(fresh bool) values
	// take appends copies of the spans of src, per elements for each value.
	take(src values, spans []Span, per int) values
}

type numbers[T any] []T

func (v numbers[T]) slice() any    { return []T(v) }
func (v numbers[T]) size() uintptr { return unsafe.Sizeof(*new(T)) }

func (v numbers[T]) empty(fresh bool) values {
	if fresh {
		return numbers[T](nil)
	}
	return v[:0]
}

// Short spans, where there is room, are copied in steps of 32 bytes or 8 offsets; the next spans
// overwrite what is too much. Processors guess wrongly where loops end that are as short as most
// spans.
const stepBytes, stepOffsets = 32, 8

func copyStep(to, from unsafe.Pointer) {
	t, f := (*[stepBytes]byte)(to), (*[stepBytes]byte)(from)
	a, b, c, d := binary.NativeEndian.Uint64(f[:]), binary.NativeEndian.Uint64(f[8:]), binary.NativeEndian.Uint64(f[16:]),
		binary.NativeEndian.Uint64(f[24:])
	binary.NativeEndian.PutUint64(t[:], a)
	binary.NativeEndian.PutUint64(t[8:], b)
	binary.NativeEndian.PutUint64(t[16:], c)
	binary.NativeEndian.PutUint64(t[24:], d)
}

func (v numbers[T]) take(src values, spans []Span, per int) values {
	from := src.(numbers[T])
	step := stepBytes / int(v.size())
	at := len(v)
	v = extend(v, Sum(spans)*int64(per))
	for _, s := range spans {
		first, n := int(s.First)*per, int(s.N)*per
		switch {
		case first < 0:
			clear(v[at:][:n])
		case n <= 4*step && first+n+step <= len(from) && at+n+step <= len(v):
			copyStep(unsafe.Pointer(&v[at]), unsafe.Pointer(&from[first]))
			for k := step; k < n; k += step {
				copyStep(unsafe.Pointer(&v[at+k]), unsafe.Pointer(&from[first+k]))
			}
		default:
			copy(v[at:][:n], from[first:])
		}
		at += n
	}
	return v
}

// extend returns s with n more elements, which are undefined.
func extend[S ~[]T, T any](s S, n int64) S {
	return slices.Grow(s, int(n))[:len(s)+int(n)]
}
