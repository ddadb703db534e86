package pagecopy

import (
	"fmt"
	"math"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/wire"
)

// recoder returns a function that appends the n elements of a page of format in as a
// page of format out, shifted as Chunk says.
func recoder(in, out column.Format, shift []uint64) (func(dst, page []byte, n uint32) ([]byte, error), error) {
	if shift != nil && out.Kind() != column.KindTagged {
		return recode(in, out, func(elements []uint64) error { return raise(elements, shift[0]) })
	}
	switch out.Kind() {
	case column.KindBool:
		return recode[bool](in, out, nil)
	case column.KindInt8:
		return recode[int8](in, out, nil)
	case column.KindUint8:
		return recode[uint8](in, out, nil)
	case column.KindInt16:
		return recode[int16](in, out, nil)
	case column.KindUint16:
		return recode[uint16](in, out, nil)
	case column.KindInt32:
		return recode[int32](in, out, nil)
	case column.KindUint32:
		return recode[uint32](in, out, nil)
	case column.KindInt64:
		return recode[int64](in, out, nil)
	case column.KindUint64:
		return recode[uint64](in, out, nil)
	case column.KindFloat32:
		return recode[float32](in, out, nil)
	case column.KindFloat64:
		return recode[float64](in, out, nil)
	}
	return recode(in, out, func(elements []column.Tagged) error {
		if shift == nil {
			return nil
		}
		for i := range elements {
			e := &elements[i]
			if e.Tag == 0 {
				continue
			}
			if uint64(e.Tag) > uint64(len(shift)) {
				return wire.Corrupt("tag %d of %d", e.Tag, len(shift))
			}
			e.Index += shift[e.Tag-1]
		}
		return nil
	})
}

// raise adds n to each element.
func raise(elements []uint64, n uint64) error {
	for i, e := range elements {
		if e > math.MaxUint64-n {
			return fmt.Errorf("element %d: %w: %d and %d do not fit 64 bits", i, column.ErrRange, e, n)
		}
		elements[i] += n
	}
	return nil
}

// recode is recoder for elements of type T, which change, if not nil, modifies.
func recode[T column.Element](in, out column.Format, change func([]T) error) (func(dst, page []byte, n uint32) ([]byte, error), error) {
	decoder, err := column.NewDecoder[T](in)
	if err != nil {
		return nil, err
	}
	encoder, err := column.NewEncoder[T](out)
	if err != nil {
		return nil, err
	}
	return func(dst, page []byte, n uint32) ([]byte, error) {
		elements := pagesource.Borrow[T](int(n))
		defer pagesource.GiveBack(elements)
		if err := decoder.Decode(elements, page); err != nil {
			return dst, err
		}
		if change != nil {
			if err := change(elements); err != nil {
				return dst, err
			}
		}
		return encoder.Append(dst, elements)
	}, nil
}
