package column

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/go-rntuple/go-rntuple/internal/wire"
)

// A Decoder decodes pages of one format into elements of type T. It is safe for
// concurrent use.
type Decoder[T Element] struct {
	decode func(dst []T, page []byte) error
}

// NewDecoder returns a decoder of the pages of format f, which Check must
// accept. If T is not the type of f's kind, every value is converted: bool and
// integers into each other and floats into each other, as ROOT allows it; other
// combinations are an error that wraps frame.ErrUnsupported.
func NewDecoder[T Element](f Format) (*Decoder[T], error) {
	to, from := kindOf[T](), f.Kind()
	switch {
	case to == from:
		return &Decoder[T]{func(dst []T, page []byte) error { return decode(f, dst, page) }}, nil
	case to.integral() && from.integral() && f.Type != Byte, to.float() && from.float():
	default:
		return nil, wire.Unsupported("column of type %v read as %T", f, *new(T))
	}
	d := &Decoder[T]{}
	switch from {
	case KindBool:
		d.decode = via[T](f, fromBools)
	case KindInt8:
		d.decode = via[T](f, fromInts[int8])
	case KindUint8:
		d.decode = via[T](f, fromInts[uint8])
	case KindInt16:
		d.decode = via[T](f, fromInts[int16])
	case KindUint16:
		d.decode = via[T](f, fromInts[uint16])
	case KindInt32:
		d.decode = via[T](f, fromInts[int32])
	case KindUint32:
		d.decode = via[T](f, fromInts[uint32])
	case KindInt64:
		d.decode = via[T](f, fromInts[int64])
	case KindUint64:
		d.decode = via[T](f, fromInts[uint64])
	case KindFloat32:
		d.decode = via[T](f, widen)
	case KindFloat64:
		d.decode = via[T](f, narrow)
	}
	return d, nil
}

// Decode decodes a page of len(dst) elements. The error wraps frame.ErrCorrupt if
// the page has not the length that they need, ErrRange if T cannot hold a value.
func (d *Decoder[T]) Decode(dst []T, page []byte) error { return d.decode(dst, page) }

// Append appends the page that holds src to dst. T must be the type of f's kind.
// Values outside the range of a Real32Quant column are an error that wraps
// ErrRange.
func Append[T Element](f Format, dst []byte, src []T) ([]byte, error) {
	if kindOf[T]() != f.Kind() {
		return dst, fmt.Errorf("elements of type %T for a column of type %v", *new(T), f)
	}
	return encode(f, dst, src)
}

// An Encoder encodes elements of type T as pages of one format. It keeps no
// state and is safe for concurrent use.
type Encoder[T Element] struct {
	encode func(dst []byte, src []T) ([]byte, error)
}

// NewEncoder returns an encoder of the pages of format f, which Check must
// accept. If T is not the type of f's kind, every value is converted, as
// NewDecoder does it the other way; the same combinations are allowed.
func NewEncoder[T Element](f Format) (*Encoder[T], error) {
	from, to := kindOf[T](), f.Kind()
	switch {
	case from == to:
		return &Encoder[T]{func(dst []byte, src []T) ([]byte, error) { return encode(f, dst, src) }}, nil
	case from.integral() && to.integral() && f.Type != Byte, from.float() && to.float():
	default:
		return nil, wire.Unsupported("column of type %v written from %T", f, *new(T))
	}
	e := &Encoder[T]{}
	switch to {
	case KindBool:
		e.encode = converted[T, bool](f)
	case KindInt8:
		e.encode = converted[T, int8](f)
	case KindUint8:
		e.encode = converted[T, uint8](f)
	case KindInt16:
		e.encode = converted[T, int16](f)
	case KindUint16:
		e.encode = converted[T, uint16](f)
	case KindInt32:
		e.encode = converted[T, int32](f)
	case KindUint32:
		e.encode = converted[T, uint32](f)
	case KindInt64:
		e.encode = converted[T, int64](f)
	case KindUint64:
		e.encode = converted[T, uint64](f)
	case KindFloat32:
		e.encode = converted[T, float32](f)
	case KindFloat64:
		e.encode = converted[T, float64](f)
	}
	return e, nil
}

// Append appends the page that holds src to dst. The error wraps ErrRange if the
// column cannot hold a value.
func (e *Encoder[T]) Append(dst []byte, src []T) ([]byte, error) { return e.encode(dst, src) }

// converted returns how elements T are converted to elements N and encoded.
func converted[T, N Element](f Format) func([]byte, []T) ([]byte, error) {
	return func(dst []byte, src []T) ([]byte, error) {
		native := make([]N, len(src))
		var bad int
		switch s := any(src).(type) {
		case []bool:
			bad = fromBools(native, s)
		case []int8:
			bad = fromInts(native, s)
		case []uint8:
			bad = fromInts(native, s)
		case []int16:
			bad = fromInts(native, s)
		case []uint16:
			bad = fromInts(native, s)
		case []int32:
			bad = fromInts(native, s)
		case []uint32:
			bad = fromInts(native, s)
		case []int64:
			bad = fromInts(native, s)
		case []uint64:
			bad = fromInts(native, s)
		case []float32:
			bad = widen(native, s)
		case []float64:
			bad = narrow(native, s)
		}
		if bad >= 0 {
			return dst, fmt.Errorf("element %d: %w: %v does not fit a column of type %v", bad, ErrRange, src[bad], f)
		}
		return encode(f, dst, native)
	}
}

// Size returns the bytes of an element in memory, as ROOT counts them.
func Size[T Element]() int64 {
	switch kindOf[T]() {
	case KindBool, KindInt8, KindUint8:
		return 1
	case KindInt16, KindUint16:
		return 2
	case KindInt32, KindUint32, KindFloat32:
		return 4
	case KindTagged:
		return 16
	}
	return 8
}

// via returns how pages of elements N are decoded and then converted into
// elements T. convert gets a []T; it returns the index of the first element
// that T cannot hold, or -1.
func via[T, N Element](f Format, convert func(dst any, src []N) int) func([]T, []byte) error {
	pool := sync.Pool{New: func() any { return new([]N) }}
	return func(dst []T, page []byte) error {
		buffer := pool.Get().(*[]N)
		defer pool.Put(buffer)
		*buffer = slices.Grow((*buffer)[:0], len(dst))
		native := (*buffer)[:len(dst)]
		if err := decode(f, native, page); err != nil {
			return err
		}
		if bad := convert(dst, native); bad >= 0 {
			return fmt.Errorf("element %d: %w: %v does not fit %T", bad, ErrRange, native[bad], dst[bad])
		}
		return nil
	}
}

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

func fromInts[N integer](dst any, src []N) int {
	switch d := dst.(type) {
	case []bool:
		for i, v := range src {
			d[i] = v != 0
		}
	case []int8:
		return convertInts(d, src)
	case []uint8:
		return convertInts(d, src)
	case []int16:
		return convertInts(d, src)
	case []uint16:
		return convertInts(d, src)
	case []int32:
		return convertInts(d, src)
	case []uint32:
		return convertInts(d, src)
	case []int64:
		return convertInts(d, src)
	case []uint64:
		return convertInts(d, src)
	}
	return -1
}

func convertInts[T, N integer](dst []T, src []N) int {
	for i, v := range src {
		w := T(v)
		if N(w) != v || (w < 0) != (v < 0) {
			return i
		}
		dst[i] = w
	}
	return -1
}

func fromBools(dst any, src []bool) int {
	ints := make([]uint8, len(src))
	for i, v := range src {
		if v {
			ints[i] = 1
		}
	}
	return fromInts(dst, ints)
}

func widen(dst any, src []float32) int {
	d := dst.([]float64)
	for i, v := range src {
		d[i] = float64(v)
	}
	return -1
}

// narrow rounds, but does not make a finite value infinite.
func narrow(dst any, src []float64) int {
	d := dst.([]float32)
	for i, v := range src {
		d[i] = float32(v)
		if math.IsInf(float64(d[i]), 0) && !math.IsInf(v, 0) {
			return i
		}
	}
	return -1
}

func (k Kind) integral() bool { return k <= KindUint64 }
func (k Kind) float() bool    { return k == KindFloat32 || k == KindFloat64 }

// kindOf returns the kind whose elements are of type T.
func kindOf[T Element]() Kind {
	switch any(*new(T)).(type) {
	case bool:
		return KindBool
	case int8:
		return KindInt8
	case uint8:
		return KindUint8
	case int16:
		return KindInt16
	case uint16:
		return KindUint16
	case int32:
		return KindInt32
	case uint32:
		return KindUint32
	case int64:
		return KindInt64
	case uint64:
		return KindUint64
	case float32:
		return KindFloat32
	case float64:
		return KindFloat64
	}
	return KindTagged
}
