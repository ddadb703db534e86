package pagesource

import (
	"reflect"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/bounds"
	"github.com/go-rntuple/go-rntuple/internal/lent"
)

// PartOf returns what bounds say of the n elements of a page that is not compressed.
func PartOf(f column.Format, page []byte, n int) (*bounds.Part, error) {
	var p bounds.Part
	var err error
	switch f.Kind() {
	case reflect.Bool:
		p, err = decoded(f, page, n, bounds.Elements[bool])
	case reflect.Int8:
		p, err = decoded(f, page, n, bounds.Elements[int8])
	case reflect.Int16:
		p, err = decoded(f, page, n, bounds.Elements[int16])
	case reflect.Int32:
		p, err = decoded(f, page, n, bounds.Elements[int32])
	case reflect.Int64:
		p, err = decoded(f, page, n, bounds.Elements[int64])
	case reflect.Uint8:
		p, err = decoded(f, page, n, bounds.Elements[uint8])
	case reflect.Uint16:
		p, err = decoded(f, page, n, bounds.Elements[uint16])
	case reflect.Uint32:
		if f.Type.IsIndex() {
			p, err = decoded(f, page, n, bounds.Offsets[uint32])
		} else {
			p, err = decoded(f, page, n, bounds.Elements[uint32])
		}
	case reflect.Uint64:
		if f.Type.IsIndex() {
			p, err = decoded(f, page, n, bounds.Offsets[uint64])
		} else {
			p, err = decoded(f, page, n, bounds.Elements[uint64])
		}
	case reflect.Float32:
		p, err = decoded(f, page, n, bounds.Elements[float32])
	case reflect.Float64:
		p, err = decoded(f, page, n, bounds.Elements[float64])
	}
	return &p, err
}

// decoded returns what part makes of the elements of a page.
func decoded[T column.Element](f column.Format, page []byte, n int, part func([]T) bounds.Part) (p bounds.Part, err error) {
	d, err := column.NewDecoder[T](f)
	if err != nil {
		return p, err
	}
	elements := lent.Borrow[T](n)
	defer lent.GiveBack(elements)
	if err := d.Decode(elements, page); err != nil {
		return p, err
	}
	return part(elements), nil
}
