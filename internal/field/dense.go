package field

import (
	"reflect"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/schema"
)

// dense reads optionals of a pre-release format, which have an item each and a bit
// that says whether it is valid, into pointers, or into slices of at most one item.
type dense struct {
	bits   leaf[bool]
	elem   node
	typ    reflect.Type // of an item
	slices bool
	plain  bool // items have no pointers
}

// dense compiles a dense optional, whose items elem compiles for a given type.
func (c *compiler) dense(f *schema.Field, t reflect.Type, elem func(reflect.Type) node) node {
	if t.Kind() != reflect.Pointer && t.Kind() != reflect.Slice {
		return c.mismatch(f, t)
	}
	c.varying = true
	item := t.Elem()
	return &dense{leaf[bool]{column: open[bool](c, f, 0)}, elem(item), item, t.Kind() == reflect.Slice, !hasPointers(item)}
}

func (d *dense) read(r *run, first, n int64, dst unsafe.Pointer, stride uintptr) error {
	if err := r.Alloc(n, 1); err != nil {
		return err
	}
	if err := d.bits.load(r, first, n); err != nil {
		return err
	}
	items, err := r.make(d.typ, d.plain, n)
	if err != nil {
		return err
	}
	size := d.typ.Size()
	if err := d.elem.read(r, first, n, items, size); err != nil {
		return err
	}
	for i, there := range d.bits.scratch {
		at, item := unsafe.Add(dst, uintptr(i)*stride), unsafe.Add(items, uintptr(i)*size)
		switch {
		case d.slices && there:
			*(*slice)(at) = slice{item, 1, 1}
		case d.slices:
			*(*slice)(at) = slice{}
		case there:
			*(*unsafe.Pointer)(at) = item
		default:
			*(*unsafe.Pointer)(at) = nil
		}
	}
	return nil
}
