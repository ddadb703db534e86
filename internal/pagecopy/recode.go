package pagecopy

import (
	"fmt"
	"math"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/bufpool"
)

// recoder returns a function that appends the n elements of a page of format in as a
// page of format out, shifted as Chunk says.
func recoder(in, out column.Format, shift []uint64) (func(dst, page []byte, n uint32) ([]byte, error), error) {
	switch {
	case shift == nil:
		r, err := column.NewRecoder(in, out)
		return func(dst, page []byte, n uint32) ([]byte, error) { return r.Append(dst, page, int(n)) }, err
	case out.Type != column.Switch:
		return recode(in, out, func(elements []uint64) error { return raise(elements, shift[0]) })
	}
	return recode(in, out, func(elements []column.Tagged) error {
		for i := range elements {
			e := &elements[i]
			if e.Tag == 0 {
				continue
			}
			if uint64(e.Tag) > uint64(len(shift)) {
				return frame.Corrupt("tag %d of %d", e.Tag, len(shift))
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

// recode is recoder for elements of type T, which change modifies.
func recode[T column.Element](in, out column.Format,
	change func([]T) error) (func(dst, page []byte, n uint32) ([]byte, error), error) {
	decoder, err := column.NewDecoder[T](in)
	if err != nil {
		return nil, err
	}
	encoder, err := column.NewEncoder[T](out)
	if err != nil {
		return nil, err
	}
	return func(dst, page []byte, n uint32) ([]byte, error) {
		elements, lease := bufpool.Borrow[T](int(n))
		defer lease.GiveBack()
		if err := decoder.Decode(elements, page); err != nil {
			return dst, err
		}
		if err := change(elements); err != nil {
			return dst, err
		}
		return encoder.Append(dst, elements)
	}, nil
}
