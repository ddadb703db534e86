package pagesource

import (
	"reflect"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/bounds"
	"github.com/go-rntuple/go-rntuple/internal/bufpool"
)

// measures are by the kind of elements.
var measures = map[reflect.Kind]func(f column.Format, page []byte, n int) (*bounds.Part, error){
	reflect.Bool: measure[bool],
	reflect.Int8: measure[int8], reflect.Int16: measure[int16], reflect.Int32: measure[int32],
	reflect.Int64: measure[int64],
	reflect.Uint8: measure[uint8], reflect.Uint16: measure[uint16], reflect.Uint32: measure[uint32],
	reflect.Uint64:  measure[uint64],
	reflect.Float32: measure[float32], reflect.Float64: measure[float64],
}

// PartOf returns what bounds say of the n elements of a page that is not compressed.
func PartOf(f column.Format, page []byte, n int) (*bounds.Part, error) {
	if measure := measures[f.Kind()]; measure != nil {
		return measure(f, page, n)
	}
	return new(bounds.Part), nil
}

func measure[T column.Element](f column.Format, page []byte, n int) (*bounds.Part, error) {
	d, err := column.NewDecoder[T](f)
	if err != nil {
		return nil, err
	}
	elements, lease := bufpool.Borrow[T](n)
	defer lease.GiveBack()
	if err := d.Decode(elements, page); err != nil {
		return nil, err
	}
	return bounds.PartOf(elements, f.Type.IsIndex()), nil
}
