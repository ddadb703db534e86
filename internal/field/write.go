package field

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/convert"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// out is the node of a plan for writing: it appends the values of a field to the
// buffers of its columns. It must be used by one goroutine at a time.
type out interface {
	// write appends the n items at src, stride bytes apart.
	write(src unsafe.Pointer, n int, stride uintptr) error
}

// buffers holds the buffers of one column of a field, by representation.
type buffers[T column.Element] struct {
	all    []*pagesink.Buffer[T]
	active *int
}

func (b *buffers[T]) Add(v T) {
	if to := b.all[*b.active]; !to.Push(v) {
		to.Add(v)
	}
}

func (b *buffers[T]) AddAll(v []T) { b.all[*b.active].AddAll(v) }

// leafOut writes the elements of a column as they are.
type leafOut[T column.Element] struct{ buffers[T] }

func (l *leafOut[T]) write(src unsafe.Pointer, n int, stride uintptr) error {
	var t T
	b := l.all[*l.active]
	switch {
	case n == 1:
		if v := *(*T)(src); !b.Push(v) {
			b.Add(v)
		}
		return nil
	case stride == unsafe.Sizeof(t):
		b.AddAll(unsafe.Slice((*T)(src), n))
		return nil
	}
	for at := uintptr(0); n > 0; {
		to := b.Next(n)
		for i := range to {
			to[i] = *(*T)(unsafe.Add(src, at))
			at += stride
		}
		n -= len(to)
	}
	return nil
}

// indexOut writes where the items of collections end. As in ROOT, this happens after
// the items are written: the order determines which page grows first.
type indexOut struct {
	buffers[uint64]
	end  *uint64 // of the last collection; 0 in a new cluster
	most *int    // items of the largest collection
}

func (x *indexOut) add(items int) {
	*x.end += uint64(items)
	if items > *x.most {
		*x.most = items
	}
	x.Add(*x.end)
}

// bytesOut writes strings and []byte, which begin alike in memory.
type bytesOut[T int8 | uint8] struct {
	indexOut
	bytes buffers[T]
}

func (b *bytesOut[T]) write(src unsafe.Pointer, n int, stride uintptr) error {
	for i := range n {
		s := *(*string)(unsafe.Add(src, uintptr(i)*stride))
		b.put(unsafe.StringData(s), len(s))
	}
	return nil
}

func (b *bytesOut[T]) put(data *byte, n int) {
	if n > 0 {
		b.bytes.AddAll(unsafe.Slice((*T)(unsafe.Pointer(data)), n))
	}
	b.indexOut.add(n)
}

// collectionOut writes slices.
type collectionOut struct {
	indexOut
	elem out
	size uintptr // of an item
}

func (c *collectionOut) write(src unsafe.Pointer, n int, stride uintptr) error {
	ends, end, most := c.all[*c.active], *c.end, *c.most
	for i := range n {
		s := (*slice)(unsafe.Add(src, uintptr(i)*stride))
		if s.len > 0 {
			if err := c.elem.write(s.data, s.len, c.size); err != nil {
				return err
			}
		}
		end += uint64(s.len)
		most = max(most, s.len)
		if !ends.Push(end) {
			ends.Add(end)
		}
	}
	*c.end, *c.most = end, most
	return nil
}

// optionalOut writes pointers as collections of at most one item.
type optionalOut struct{ collectionOut }

func (o *optionalOut) write(src unsafe.Pointer, n int, stride uintptr) error {
	for i := range n {
		p := *(*unsafe.Pointer)(unsafe.Add(src, uintptr(i)*stride))
		if p == nil {
			o.add(0)
			continue
		}
		if err := o.elem.write(p, 1, o.size); err != nil {
			return err
		}
		o.add(1)
	}
	return nil
}

// arrayOut writes Go arrays.
type arrayOut struct {
	path   string
	elem   out
	size   uintptr // of an item
	len    int
	slices bool // the source is slices, which must have len items
}

func (a *arrayOut) write(src unsafe.Pointer, n int, stride uintptr) error {
	if !a.slices && stride == a.size*uintptr(a.len) {
		return a.elem.write(src, n*a.len, a.size)
	}
	for i := range n {
		at := unsafe.Add(src, uintptr(i)*stride)
		if a.slices {
			s := (*slice)(at)
			if s.len != a.len {
				return fmt.Errorf("field %q: %d items in an array of %d", a.path, s.len, a.len)
			}
			at = s.data
		}
		if a.len > 0 {
			if err := a.elem.write(at, a.len, a.size); err != nil {
				return err
			}
		}
	}
	return nil
}

// recordOut writes the fields of a struct.
type recordOut []memberOut

type memberOut struct {
	out
	offset uintptr
}

func (r recordOut) write(src unsafe.Pointer, n int, stride uintptr) error {
	for _, m := range r {
		if err := m.write(unsafe.Add(src, m.offset), n, stride); err != nil {
			return err
		}
	}
	return nil
}

// dictionaryOut writes Go maps, in the order of their keys.
type dictionaryOut struct {
	indexOut
	typ          reflect.Type // of the map
	keys, values out          // no values for a set
}

func (d *dictionaryOut) write(src unsafe.Pointer, n int, stride uintptr) error {
	for i := range n {
		m := reflect.NewAt(d.typ, unsafe.Add(src, uintptr(i)*stride)).Elem()
		keys := m.MapKeys()
		slices.SortFunc(keys, compareKeys)
		key, val := reflect.New(d.typ.Key()), reflect.New(d.typ.Elem())
		for _, k := range keys {
			key.Elem().Set(k)
			if err := d.keys.write(key.UnsafePointer(), 1, 0); err != nil {
				return err
			}
			if d.values == nil {
				continue
			}
			val.Elem().Set(m.MapIndex(k))
			if err := d.values.write(val.UnsafePointer(), 1, 0); err != nil {
				return err
			}
		}
		d.add(len(keys))
	}
	return nil
}

// compareKeys orders numbers and strings as std::less does, and other keys by their
// text, so that the order is always the same.
func compareKeys(a, b reflect.Value) int {
	switch {
	case a.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanUint():
		return cmp.Compare(a.Uint(), b.Uint())
	case a.CanFloat():
		return cmp.Compare(a.Float(), b.Float())
	case a.Kind() == reflect.String:
		return cmp.Compare(a.String(), b.String())
	}
	return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

// anyOut writes dynamic values.
type anyOut struct{ put func(v any) error }

func (a anyOut) write(src unsafe.Pointer, n int, stride uintptr) error {
	for i := range n {
		if err := a.put(*(*any)(unsafe.Add(src, uintptr(i)*stride))); err != nil {
			return err
		}
	}
	return nil
}

// putter writes one dynamic value.
type putter func(v any) error

// typed returns a putter of values of type T by means of the node that writes
// values in memory.
func typed[T any](f *schema.Field, node out) putter {
	return func(v any) error {
		t, ok := v.(T)
		if !ok {
			return unexpected(f, v)
		}
		return node.write(unsafe.Pointer(&t), 1, unsafe.Sizeof(t))
	}
}

func unexpected(f *schema.Field, v any) error {
	return fmt.Errorf("field %q: a value of type %T does not fit %s", f.Path(), v, f.CppType())
}

// items returns a putter of []any, which calls end with their number.
func items(f *schema.Field, elem putter, end func(n int) error) putter {
	return func(v any) error {
		all, ok := v.([]any)
		if !ok && v != nil {
			return unexpected(f, v)
		}
		for _, e := range all {
			if err := elem(e); err != nil {
				return err
			}
		}
		return end(len(all))
	}
}

// A recordPutter writes value.Records, and []any as tuples.
type recordPutter struct {
	of        *schema.Field
	names     []string // of the members that are written
	members   []putter
	projected map[string]bool // members that are views on others, which records may have too
}

func (r *recordPutter) put(v any) error {
	switch v := v.(type) {
	case value.Record:
		return r.record(v)
	case []any:
		if !r.of.IsTuple() || len(v) != len(r.members) {
			return fmt.Errorf("field %q: %d values for %d members", r.of.Path(), len(v), len(r.members))
		}
		for i, put := range r.members {
			if err := put(v[i]); err != nil {
				return err
			}
		}
		return nil
	}
	return unexpected(r.of, v)
}

func (r *recordPutter) record(v value.Record) error {
	if len(v.Names) != len(v.Values) {
		return fmt.Errorf("%s: a record of %d names and %d values", place(r.of), len(v.Names), len(v.Values))
	}
	next := 0
	for i, name := range v.Names {
		switch {
		case next < len(r.names) && name == r.names[next]:
			if err := r.members[next](v.Values[i]); err != nil {
				return err
			}
			next++
		case !r.projected[name]:
			return r.misfit(v.Names)
		}
	}
	if next < len(r.names) {
		return r.misfit(v.Names)
	}
	return nil
}

// misfit returns the error about a record whose members are not those that are
// written.
func (r *recordPutter) misfit(names []string) error {
	missing := slices.DeleteFunc(slices.Clone(r.names), func(name string) bool { return slices.Contains(names, name) })
	unknown := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.Contains(r.names, name) || r.projected[name]
	})
	where := place(r.of)
	switch {
	case len(missing)+len(unknown) == 0:
		return fmt.Errorf("%s: a record with the members %q, expected the order %q", where, names, r.names)
	case len(unknown) == 0:
		return fmt.Errorf("%s: a record without the members %q", where, missing)
	case len(missing) == 0:
		return fmt.Errorf("%s: a record with other members: %q", where, unknown)
	}
	return fmt.Errorf("%s: a record with other members, %q, and without %q", where, unknown, missing)
}

// variantOut writes variants.
type variantOut struct {
	f            *schema.Field
	tags         buffers[column.Tagged]
	alternatives []putter
	counts       []*uint64 // of items, by alternative; 0 in a new cluster
}

func (o *variantOut) put(v any) error {
	if v == nil {
		o.tags.Add(column.Tagged{})
		return nil
	}
	a, ok := v.(value.Alternative)
	if !ok {
		var err error
		if a, err = o.find(v); err != nil {
			return err
		}
	}
	i := a.Index
	if i < 0 || i >= len(o.alternatives) {
		return fmt.Errorf("field %q: there is no alternative %d in %s", o.f.Path(), i, o.f.CppType())
	}
	o.tags.Add(column.Tagged{Index: *o.counts[i], Tag: uint32(i + 1)})
	*o.counts[i]++
	return o.alternatives[i](a.Value)
}

// find returns the only alternative that takes v.
func (o *variantOut) find(v any) (found value.Alternative, _ error) {
	found.Index = -1
	for i, child := range o.f.Children {
		switch {
		case !takes(child, v):
		case found.Index >= 0:
			return found, fmt.Errorf("field %q: alternatives %d and %d of %s take this %T, a value.Alternative tells which is meant",
				o.f.Path(), found.Index, i, o.f.CppType(), v)
		default:
			found = value.Alternative{Index: i, Value: v}
		}
	}
	if found.Index < 0 {
		return found, unexpected(o.f, v)
	}
	return found, nil
}

// takes reports whether v is a dynamic value of field f.
func takes(f *schema.Field, v any) bool {
	switch f.Shape {
	case schema.Wrapper:
		return takes(f.Children[0], v)
	case schema.Optional:
		if some, ok := v.(value.Some); ok {
			return takes(f.Children[0], some.Value)
		}
		return v == nil || takes(f.Children[0], v)
	case schema.Scalar:
		return convert.Type(f.ElementKind()) == reflect.TypeOf(v)
	case schema.String:
		_, ok := v.(string)
		return ok
	case schema.Streamer:
		_, ok := v.([]byte)
		return ok
	case schema.Bitset:
		b, ok := v.(value.Bits)
		return ok && uint64(len(b)) == f.ArraySize
	case schema.Variant:
		if a, ok := v.(value.Alternative); ok {
			return a.Index >= 0 && a.Index < len(f.Children) && takes(f.Children[a.Index], a.Value)
		}
		return v == nil || slices.ContainsFunc(f.Children, func(c *schema.Field) bool { return takes(c, v) })
	case schema.Record:
		switch v := v.(type) {
		case value.Record:
			return !f.IsTuple() && slices.EqualFunc(f.Children, v.Names,
				func(c *schema.Field, name string) bool { return c.Name == name }) &&
				slices.EqualFunc(f.Children, v.Values, takes)
		case []any:
			return f.IsTuple() && slices.EqualFunc(f.Children, v, takes)
		}
		return false
	}
	if m, ok := v.(value.Map); ok {
		return f.IsMap() && !slices.ContainsFunc(m.Elements, func(e value.KeyValue) bool {
			return !slices.EqualFunc(f.Children[0].Children, []any{e.Key, e.Value}, takes)
		})
	}
	all, ok := v.([]any)
	return ok && !f.IsMap() && (f.Shape == schema.Collection || uint64(len(all)) == f.ArraySize) &&
		!slices.ContainsFunc(all, func(e any) bool { return !takes(f.Children[0], e) })
}
