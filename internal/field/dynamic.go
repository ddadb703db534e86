package field

import (
	"unsafe"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/value"
)

// The nodes of this file write values of type any, as package value describes
// them.

const anySize = unsafe.Sizeof(any(nil))

// boxed reads values of type T and makes an any of each.
type boxed[T any] struct {
	inner   node
	box     func(T) any
	scratch []T
}

func (b *boxed[T]) read(r *run, first, n int64, dst unsafe.Pointer, stride uintptr) error {
	var t T
	if err := r.Alloc(n, unsafe.Sizeof(t)); err != nil {
		return err
	}
	b.scratch = resize(b.scratch, int(n))
	clear(b.scratch)
	if err := b.inner.read(r, first, n, unsafe.Pointer(unsafe.SliceData(b.scratch)), unsafe.Sizeof(t)); err != nil {
		return err
	}
	for i, v := range b.scratch {
		*(*any)(unsafe.Add(dst, uintptr(i)*stride)) = b.box(v)
	}
	clear(b.scratch) // do not keep alive what the values point to
	return nil
}

func box[T any](inner node) node {
	return &boxed[T]{inner: inner, box: func(v T) any { return v }}
}

// optionalAny reads optionals into nil or the item. An item that could be taken for an
// empty optional becomes a value.Some. The node reads optionals into pointers.
type optionalAny struct{ node }

func (o *optionalAny) read(r *run, first, n int64, dst unsafe.Pointer, stride uintptr) error {
	pointers := make([]*any, n)
	if err := o.node.read(r, first, n, unsafe.Pointer(unsafe.SliceData(pointers)), unsafe.Sizeof(dst)); err != nil {
		return err
	}
	for i, p := range pointers {
		var v any
		if p != nil {
			v = some(*p)
		}
		*(*any)(unsafe.Add(dst, uintptr(i)*stride)) = v
	}
	return nil
}

// dynamicRecord reads records into values of type value.Record.
type dynamicRecord struct {
	names   []string
	members []node
}

func (d *dynamicRecord) read(r *run, first, n int64, dst unsafe.Pointer, stride uintptr) error {
	return d.each(r, first, n, func(i int64, values []any) {
		*(*value.Record)(unsafe.Add(dst, uintptr(i)*stride)) = value.Record{Names: d.names, Values: values}
	})
}

// each reads n records and calls store with the values of each.
func (d *dynamicRecord) each(r *run, first, n int64, store func(i int64, values []any)) error {
	k := int64(len(d.members))
	if err := r.Alloc(n, max(1, uintptr(k))*anySize); err != nil {
		return err
	}
	values := make([]any, n*k)
	for j, m := range d.members {
		if n == 0 {
			break
		}
		if err := m.read(r, first, n, unsafe.Pointer(&values[j]), uintptr(k)*anySize); err != nil {
			return err
		}
	}
	for i := range n {
		store(i, values[i*k:(i+1)*k:(i+1)*k])
	}
	return nil
}

// tuple reads pairs and tuples into an any that holds []any.
type tuple struct{ *dynamicRecord }

func (t *tuple) read(r *run, first, n int64, dst unsafe.Pointer, stride uintptr) error {
	return t.each(r, first, n, func(i int64, values []any) {
		*(*any)(unsafe.Add(dst, uintptr(i)*stride)) = values
	})
}

// variantAny reads variants into a value.Alternative, or nil.
type variantAny struct {
	path         string
	tags         leaf[column.Tagged]
	alternatives []node
	where        []int // scratch
	values       []any // scratch
}

func (v *variantAny) read(r *run, first, n int64, dst unsafe.Pointer, stride uintptr) error {
	if err := r.Alloc(n, unsafe.Sizeof(column.Tagged{})+unsafe.Sizeof(value.Alternative{})); err != nil {
		return err
	}
	if err := v.tags.load(r, first, n); err != nil {
		return err
	}
	tags := v.tags.scratch
	for i, t := range tags {
		if t.Tag > uint32(len(v.alternatives)) {
			return r.corrupt(v.path, "item %d has the tag %d, there are %d alternatives", first+int64(i),
				t.Tag, len(v.alternatives))
		}
		if t.Tag == 0 {
			*(*any)(unsafe.Add(dst, uintptr(i)*stride)) = nil
		}
	}
	for a, alternative := range v.alternatives {
		where := v.items(uint32(a + 1))
		// The items of an alternative are numbered one after the other as a
		// rule; they are read in runs.
		for len(where) > 0 {
			begin, l := tags[where[0]].Index, 1
			for l < len(where) && tags[where[l]].Index == begin+uint64(l) {
				l++
			}
			v.values = resize(v.values, l)
			if err := alternative.read(r, int64(begin), int64(l), unsafe.Pointer(unsafe.SliceData(v.values)),
				anySize); err != nil {
				return err
			}
			for j, i := range where[:l] {
				*(*any)(unsafe.Add(dst, uintptr(i)*stride)) = value.Alternative{Index: a, Value: v.values[j]}
			}
			clear(v.values) // do not keep them alive
			where = where[l:]
		}
	}
	return nil
}

// items returns which of the loaded items have the given tag, until the next call.
func (v *variantAny) items(tag uint32) []int {
	v.where = v.where[:0]
	for i, t := range v.tags.scratch {
		if t.Tag == tag {
			v.where = append(v.where, i)
		}
	}
	return v.where
}
