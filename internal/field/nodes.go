package field

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/bits"
	"github.com/go-rntuple/go-rntuple/internal/convert"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// leaf reads the elements of a column as they are.
type leaf[T column.Element] struct {
	column  *pagesource.Column[T]
	scratch []T
}

func (l *leaf[T]) read(r *run, first, n int64, dst unsafe.Pointer, stride uintptr) error {
	var t T
	if stride == unsafe.Sizeof(t) {
		return l.column.Read(r.ctx, r.cluster, first, unsafe.Slice((*T)(dst), n))
	}
	for done := int64(0); done < n; {
		elements, err := l.column.Next(r.ctx, r.cluster, first+done, n-done)
		if err != nil {
			return err
		}
		at := unsafe.Add(dst, uintptr(done)*stride)
		for i, v := range elements {
			*(*T)(unsafe.Add(at, uintptr(i)*stride)) = v
		}
		done += int64(len(elements))
	}
	return nil
}

// load reads the elements into l.scratch.
func (l *leaf[T]) load(r *run, first, n int64) error {
	l.scratch = resize(l.scratch, int(n))
	return l.column.Read(r.ctx, r.cluster, first, l.scratch)
}

// resize returns a slice of n elements, that of s if it is large enough.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// index reads where the items of collections begin and end.
type index struct {
	path    string
	column  *pagesource.Column[uint64]
	scratch []uint64 // the bounds read last

	cluster *pagesource.Cluster // of the read before
	first   int64               // item that scratch begins with, -1 if it is not up to date
	next    int64               // the first item after those
	end     uint64              // where the collection of the item before next ends

	twins   *twins
	twin    *index // that has the same pages in the cluster twinsIn
	twinsIn *pagesource.Cluster
}

// twins finds index columns of a plan that have the same pages. Collections whose
// items belong together, as in data of struct-of-arrays style, often do; their
// bounds are then read only once.
type twins struct {
	cluster *pagesource.Cluster
	byPage  map[uint64]*index // by the offset of the first page
}

// seek sets x.twin for the run's cluster.
func (x *index) seek(r *run) error {
	if x.twinsIn == r.cluster {
		return nil
	}
	offset, ok, err := x.column.FirstPage(r.cluster)
	if err != nil {
		return err
	}
	x.twin, x.twinsIn = nil, r.cluster
	t := x.twins
	if t.cluster != r.cluster {
		t.cluster = r.cluster
		clear(t.byPage)
	}
	switch other := t.byPage[offset]; {
	case !ok:
	case other == nil:
		t.byPage[offset] = x
	case other.column.SamePages(x.column, r.cluster):
		x.twin = other
	}
	return nil
}

// read returns n+1 bounds: item i has the items of the collection from
// bounds[i] to bounds[i+1], counted in the cluster. They are valid until the
// next call.
func (x *index) read(r *run, first, n int64) ([]uint64, error) {
	if err := x.seek(r); err != nil {
		return nil, err
	}
	if t := x.twin; t != nil && t.cluster == r.cluster && t.first == first && t.next == first+n &&
		int64(len(t.scratch)) == n+1 {
		return t.scratch, nil
	}
	x.scratch = resize(x.scratch, int(n)+1)
	begin, err := x.ends(r, first, x.scratch[1:], nil)
	x.scratch[0], x.first = begin, first
	return x.scratch, err
}

// ends fills dst with the bounds that the collections from item first on end at,
// and returns where the first one begins. If origin is not nil, the bounds are
// counted as if that one began at *origin.
func (x *index) ends(r *run, first int64, dst []uint64, origin *uint64) (begin uint64, err error) {
	if x.cluster == r.cluster && x.next == first {
		begin = x.end
	} else if begin, err = pagesource.BeginOf(r.ctx, x.column, r.cluster, first); err != nil {
		return 0, err
	}
	x.cluster, x.first = nil, -1
	read, err := x.column.Part(r.ctx, r.cluster, first, int64(len(dst)))
	if err != nil {
		return 0, err
	}
	if read == nil {
		read = dst
		if err := x.column.Read(r.ctx, r.cluster, first, dst); err != nil {
			return 0, err
		}
	}
	var shift uint64
	if origin != nil {
		shift = *origin - begin
	}
	end := begin
	if n := len(read); n > 0 {
		end = read[n-1]
	}
	if dst = dst[:len(read)]; !bits.Ends(dst, read, begin, shift) {
		for i, moved := range dst {
			end = moved - shift
			if end < begin {
				return 0, r.corrupt(x.path, "the collection of item %d ends at %d, before it begins at %d",
					first+int64(i), end, begin)
			}
			begin = end
		}
		return 0, r.corrupt(x.path, "a collection ends at %d", end)
	}
	x.cluster, x.next, x.end = r.cluster, first+int64(len(dst)), end
	return begin, nil
}

// cardinality reads the sizes of collections into integers.
type cardinality struct {
	*index
	max     uint64       // that the field's type can hold
	convert convert.Func // from uint64
	to      reflect.Type
	scratch [256]uint64
}

func (c *cardinality) read(r *run, first, n int64, dst unsafe.Pointer, stride uintptr) error {
	bounds, err := c.index.read(r, first, n)
	if err != nil {
		return err
	}
	to := convert.Memory{At: dst, Stride: stride}
	for done := 0; done < int(n); {
		ends := bounds[done:]
		sizes := c.scratch[:min(len(ends)-1, len(c.scratch))]
		for i := range sizes {
			sizes[i] = ends[i+1] - ends[i]
			if sizes[i] > c.max {
				return r.corrupt(c.path, "item %d: a collection of %d items, the type holds at most %d",
					first+int64(done+i), sizes[i], c.max)
			}
		}
		if lost := c.convert(to.Offset(done), convert.Slice(sizes), len(sizes)); lost >= 0 {
			return &schema.ConversionError{Path: c.path, Value: sizes[lost], Go: c.to}
		}
		done += len(sizes)
	}
	return nil
}

// bytes reads strings and streamed objects. A string and a []byte begin alike
// in memory; size tells which one to write.
type bytes[T int8 | uint8] struct {
	*index
	column *pagesource.Column[T]
	slices bool // write slices, not strings
}

func (b *bytes[T]) read(r *run, first, n int64, dst unsafe.Pointer, stride uintptr) error {
	bounds, err := b.index.read(r, first, n)
	if err != nil {
		return err
	}
	base, total := bounds[0], int64(bounds[n]-bounds[0])
	memory, err := b.make(r, total)
	if err != nil {
		return err
	}
	all := unsafe.Slice((*byte)(memory), total)
	if err := b.column.Read(r.ctx, r.cluster, int64(base),
		unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(all))), total)); err != nil {
		return err
	}
	for i := range n {
		lo, hi := bounds[i]-base, bounds[i+1]-base
		at := unsafe.Add(dst, uintptr(i)*stride)
		if b.slices {
			*(*[]byte)(at) = all[lo:hi:hi]
		} else {
			*(*string)(at) = unsafe.String(unsafe.SliceData(all[lo:]), hi-lo)
		}
	}
	return nil
}

// make allocates n bytes: fresh ones for strings, which must not change.
func (b *bytes[T]) make(r *run, n int64) (unsafe.Pointer, error) {
	if b.slices {
		return r.make(byteType, true, n)
	}
	if err := r.Alloc(n, 1); err != nil {
		return nil, err
	}
	return r.arena.take(n), nil
}

var byteType = reflect.TypeFor[byte]()

// collection reads collections into slices.
type collection struct {
	*index
	elem  node
	typ   reflect.Type // of an element
	size  uintptr
	plain bool // elements have no pointers

	single bool // there is one item at most
}

// items reads the items of n collections into one array.
func (c *collection) items(r *run, first, n int64) (bounds []uint64, items unsafe.Pointer, err error) {
	if bounds, err = c.index.read(r, first, n); err != nil {
		return nil, nil, err
	}
	if err := c.check(r, first, bounds[0], bounds[1:]); err != nil {
		return nil, nil, err
	}
	base, total := int64(bounds[0]), int64(bounds[n]-bounds[0])
	if total == 0 {
		return bounds, nil, nil
	}
	if items, err = r.make(c.typ, c.plain, total); err != nil {
		return nil, nil, err
	}
	return bounds, items, c.elem.read(r, base, total, items, c.size)
}

// check makes sure that optional values, from item first on, are not several. The first
// one begins at begin.
func (c *collection) check(r *run, first int64, begin uint64, ends []uint64) error {
	if !c.single {
		return nil
	}
	for i, end := range ends {
		if n := end - begin; n > 1 {
			return r.corrupt(c.path, "item %d has %d values, expected one at most", first+int64(i), n)
		}
		begin = end
	}
	return nil
}

func (c *collection) read(r *run, first, n int64, dst unsafe.Pointer, stride uintptr) error {
	bounds, items, err := c.items(r, first, n)
	if err != nil {
		return err
	}
	putSlices(bounds, []list{{items, c.size, 0}}, dst, stride)
	return nil
}

// A list is an array of items that slices are made of.
type list struct {
	items  unsafe.Pointer
	size   uintptr // of an item
	offset uintptr // at which a slice is stored
}

// putSlices stores slices of several lists, all with the given bounds, at dst and every stride
// bytes behind it. Empty ones are nil.
func putSlices(bounds []uint64, lists []list, dst unsafe.Pointer, stride uintptr) {
	origin := bounds[0]
	begin := origin
	for i, end := range bounds[1:] {
		at, l, first := unsafe.Add(dst, uintptr(i)*stride), int(end-begin), uintptr(begin-origin)
		if l == 0 {
			first = 0 // not behind the last item
		}
		for k := range lists {
			from := &lists[k]
			data := unsafe.Add(from.items, first*from.size)
			if l == 0 {
				data = nil
			}
			*(*slice)(unsafe.Add(at, from.offset)) = slice{data, l, l}
		}
		begin = end
	}
}

// optional reads collections of at most one item into pointers.
type optional struct{ collection }

func (o *optional) read(r *run, first, n int64, dst unsafe.Pointer, stride uintptr) error {
	bounds, items, err := o.items(r, first, n)
	if err != nil {
		return err
	}
	for i := range n {
		var p unsafe.Pointer
		if bounds[i+1] > bounds[i] {
			p = unsafe.Add(items, uintptr(bounds[i]-bounds[0])*o.size)
		}
		*(*unsafe.Pointer)(unsafe.Add(dst, uintptr(i)*stride)) = p
	}
	return nil
}

// array reads fixed-size arrays into Go arrays, or into slices.
type array struct {
	path   string
	elem   node
	typ    reflect.Type // of an element
	len    int64
	slices bool
	plain  bool // elements have no pointers
}

func (a *array) read(r *run, first, n int64, dst unsafe.Pointer, stride uintptr) error {
	if a.len == 0 {
		return nil
	}
	if first+n > math.MaxInt64/a.len {
		return r.corrupt(a.path, "item %d of an array of %d", first, a.len)
	}
	size := a.typ.Size()
	switch {
	case a.slices:
		if n > math.MaxInt64/a.len {
			r.Over = math.MaxInt64 - r.Left
			return columnar.ErrBudget
		}
		items, err := r.make(a.typ, a.plain, n*a.len)
		if err != nil {
			return err
		}
		for i := range n {
			*(*slice)(unsafe.Add(dst, uintptr(i)*stride)) = slice{unsafe.Add(items, uintptr(i*a.len)*size),
				int(a.len), int(a.len)}
		}
		dst = items
	case stride != size*uintptr(a.len):
		for i := range n {
			if err := a.elem.read(r, (first+i)*a.len, a.len, unsafe.Add(dst, uintptr(i)*stride), size); err != nil {
				return err
			}
		}
		return nil
	}
	return a.elem.read(r, first*a.len, n*a.len, dst, size)
}

// record reads its members into the fields of a struct.
type record []recordMember

type recordMember struct {
	node
	offset uintptr
}

func (s record) read(r *run, first, n int64, dst unsafe.Pointer, stride uintptr) error {
	var room [16]list
	lists := room[:0] // of collections that have the same bounds, whose slices lie side by side
	var bounds []uint64
	for _, m := range s {
		c, ok := m.node.(*collection)
		if !ok {
			if err := m.read(r, first, n, unsafe.Add(dst, m.offset), stride); err != nil {
				return err
			}
			continue
		}
		b, items, err := c.items(r, first, n)
		if err != nil {
			return err
		}
		if len(lists) > 0 && (&b[0] != &bounds[0] || len(lists) == len(room)) {
			putSlices(bounds, lists, dst, stride)
			lists = lists[:0]
		}
		bounds, lists = b, append(lists, list{items, c.size, m.offset})
	}
	if len(lists) > 0 {
		putSlices(bounds, lists, dst, stride)
	}
	return nil
}

// dictionary reads maps and sets into Go maps.
type dictionary struct {
	*index
	typ          reflect.Type // of the map
	keys, values node         // there are no values of sets
}

func (d *dictionary) read(r *run, first, n int64, dst unsafe.Pointer, stride uintptr) error {
	bounds, err := d.index.read(r, first, n)
	if err != nil {
		return err
	}
	base, total := bounds[0], int64(bounds[n]-bounds[0])
	part := func(elem node, t reflect.Type) (reflect.Value, error) {
		if err := r.Alloc(total, t.Size()); err != nil {
			return reflect.Value{}, err
		}
		s := reflect.MakeSlice(reflect.SliceOf(t), int(total), int(total))
		if elem == nil {
			return s, nil
		}
		return s, elem.read(r, int64(base), total, s.UnsafePointer(), t.Size())
	}
	keys, err := part(d.keys, d.typ.Key())
	if err != nil {
		return err
	}
	values, err := part(d.values, d.typ.Elem())
	if err != nil {
		return err
	}
	for i := range n {
		lo, hi := int(bounds[i]-base), int(bounds[i+1]-base)
		m := reflect.MakeMapWithSize(d.typ, hi-lo)
		for j := lo; j < hi; j++ {
			if !keys.Index(j).Comparable() { // an any with a slice in it
				return fmt.Errorf("field %q: keys of %v cannot be %T", d.path, d.typ, keys.Index(j).Interface())
			}
			m.SetMapIndex(keys.Index(j), values.Index(j))
		}
		if m.Len() != hi-lo {
			return r.corrupt(d.path, "item %d: %d keys, of which %d are different", first+i, hi-lo, m.Len())
		}
		reflect.NewAt(d.typ, unsafe.Add(dst, uintptr(i)*stride)).Elem().Set(m)
	}
	return nil
}
