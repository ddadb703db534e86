package field

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// arrayNode is what all nodes have.
type arrayNode struct{ a *columnar.Array }

func (n arrayNode) array() *columnar.Array { return n.a }

// batch implements scalar.
func (scalarOf[T]) batch(c *batchCompiler, f *schema.Field, a *columnar.Array, domain string) batchNode {
	columnar.SetValues(a, []T(nil))
	if from := c.shared(a, domain, f, 0); from != nil {
		return &sharedNode{arrayNode{a}, from}
	}
	per := int64(1)
	if a.Shape == schema.Bitset {
		per = int64(f.ArraySize)
	}
	return &valuesNode[T]{arrayNode: arrayNode{a}, column: open[T](c.compiler, f, 0), per: per, path: f.Path(),
		lend: domain != alone && !c.fresh}
}

// shared returns the Array of the same shape that has the items of a column already, or nil,
// and notes that a will have them.
func (c *batchCompiler) shared(a *columnar.Array, domain string, f *schema.Field, index int) *columnar.Array {
	if domain == alone {
		return nil
	}
	k := fmt.Sprintf("%s %v %T", key(domain, f, index), a.Shape, a.Values())
	if from := c.leaves[k]; from != nil {
		return from
	}
	c.leaves[k] = a
	return nil
}

// sharedNode shares what another node of the domain has read.
type sharedNode struct {
	arrayNode
	from *columnar.Array
}

func (s *sharedNode) read(*run, int64, int64) error {
	own := *s.a
	*s.a = *s.from
	s.a.Name, s.a.Field, s.a.Children = own.Name, own.Field, own.Children
	return nil
}

// valuesNode reads bools, numbers, characters, bytes and bits.
type valuesNode[T column.Element] struct {
	arrayNode
	column *pagesource.Column[T]
	per    int64 // elements of an item
	path   string

	// lend is set if a batch is read in one step, and only valid until the next one: it can then
	// be a part of a page that is decoded already. If it is not, its memory is own.
	lend bool
	own  []T
}

func (v *valuesNode[T]) read(r *run, first, n int64) error {
	v.a.Len += int(n)
	if v.per != 1 {
		if v.per != 0 && first > math.MaxInt64/v.per-n {
			return r.corrupt(v.path, "item %d of a bitset of %d", first, v.per)
		}
		first, n = first*v.per, n*v.per
	}
	if err := r.Alloc(n, unsafe.Sizeof(*new(T))); err != nil {
		return err
	}
	all := columnar.Elements[T](v.a)
	if v.lend {
		part, err := v.column.Part(r.ctx, r.cluster, first, n)
		if err != nil || part != nil {
			columnar.SetValues(v.a, part[:len(part):len(part)]) // what is appended does not get into the page
			return err
		}
		all = v.own[:0] // not the page that was lent before
	}
	all = extend(all, n)
	if columnar.SetValues(v.a, all); v.lend {
		v.own = all
	}
	return v.column.Read(r.ctx, r.cluster, first, all[len(all)-int(n):])
}

// offsets reads an index column as offsets from 0.
type offsets struct {
	index  *index
	others map[*index]*offsets
	all    []int64

	// of the last read:
	cluster  *pagesource.Cluster
	first, n int64
	at       int   // the place in all of the offset that the first item begins at
	begin    int64 // the number in the cluster of the first item of the collections
}

// An indexOf is offsets as one node uses them.
type indexOf struct {
	*offsets
	owned bool // the node is the one that reads them
}

func (c *batchCompiler) indexOf(f *schema.Field, domain string) indexOf {
	k := ""
	if domain != alone {
		k = key(domain, f, 0)
		if o := c.offsets[k]; o != nil {
			return indexOf{o, false}
		}
	}
	o := &offsets{index: c.index(f), others: c.byIndex}
	c.byIndex[o.index] = o
	if k != "" {
		c.offsets[k] = o
	}
	return indexOf{o, true}
}

// read appends n offsets to begin, those of the node up to now. It returns all of them and
// where the items of the collections are.
func (o *indexOf) read(r *run, first, n int64, begin []int64) (all []int64, item, items int64, err error) {
	if o.owned {
		if err := r.Alloc(n, 8); err != nil {
			return nil, 0, 0, err
		}
		o.at = len(begin) - 1
		o.all = extend(begin, n)
		if err := o.fill(r, first, n); err != nil {
			return nil, 0, 0, err
		}
	}
	return o.all, o.begin, o.all[len(o.all)-1] - o.all[o.at], nil
}

func (o *offsets) fill(r *run, first, n int64) error {
	o.cluster = nil
	if err := o.index.seek(r); err != nil {
		return err
	}
	to := o.all[o.at+1:]
	if t := o.others[o.index.twin]; t != nil && t.cluster == r.cluster && t.first == first && t.n == n &&
		t.at == 0 && o.at == 0 {
		copy(to, t.all[1:])
		o.begin = t.begin
	} else {
		zero := uint64(o.all[o.at])
		begin, err := o.index.ends(r, first, unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(to))), n), &zero)
		if err != nil {
			return err
		}
		o.begin = int64(begin)
	}
	o.cluster, o.first, o.n = r.cluster, first, n
	return nil
}

// listNode reads collections.
type listNode struct {
	arrayNode
	index indexOf
	item  batchNode
}

func (l *listNode) read(r *run, first, n int64) error {
	all, item, items, err := l.index.read(r, first, n, l.a.Offsets)
	if err != nil {
		return err
	}
	l.a.Offsets = all
	l.a.Len += int(n)
	if items == 0 {
		return nil
	}
	return l.item.read(r, item, items)
}

// sizesNode reads the sizes of collections.
type sizesNode struct {
	arrayNode
	index indexOf
	max   uint64 // that the field's type can hold

	bounds []int64 // offsets, which collections may share
	fresh  bool
}

func (s *sizesNode) read(r *run, first, n int64) error {
	if s.fresh {
		s.bounds = nil
	}
	all, _, _, err := s.index.read(r, first, n, append(s.bounds[:0], 0))
	if err != nil {
		return err
	}
	if err := r.Alloc(n, 8); err != nil {
		return err
	}
	if s.index.owned {
		s.bounds = all
	}
	sizes := extend(columnar.Elements[uint64](s.a), n)
	all = all[len(all)-int(n)-1:]
	before := len(sizes) - int(n)
	for i, end := range all[1:] {
		size := uint64(end - all[i])
		if size > s.max {
			return r.corrupt(s.index.index.path, "item %d: a collection of %d items, the type holds at most %d",
				first+int64(i), size, s.max)
		}
		sizes[before+i] = size
	}
	columnar.SetValues(s.a, sizes)
	return nil
}

// bytesNode reads strings and streamed objects.
type bytesNode[T int8 | uint8] struct {
	arrayNode
	index  indexOf
	column *pagesource.Column[T]
}

func bytesOf[T int8 | uint8](c *batchCompiler, f *schema.Field, a *columnar.Array, domain string) batchNode {
	if from := c.shared(a, domain, f, 1); from != nil {
		return &sharedNode{arrayNode{a}, from}
	}
	return &bytesNode[T]{arrayNode{a}, c.indexOf(f, domain), open[T](c.compiler, f, 1)}
}

func (b *bytesNode[T]) read(r *run, first, n int64) error {
	all, item, items, err := b.index.read(r, first, n, b.a.Offsets)
	if err != nil {
		return err
	}
	b.a.Offsets = all
	b.a.Len += int(n)
	if err := r.Alloc(items, 1); err != nil {
		return err
	}
	b.a.Bytes = extend(b.a.Bytes, items)
	to := b.a.Bytes[len(b.a.Bytes)-int(items):]
	return b.column.Read(r.ctx, r.cluster, item, unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(to))), items))
}

// recordNode reads records.
type recordNode struct {
	arrayNode
	members []batchNode
}

func (s *recordNode) read(r *run, first, n int64) error {
	if len(s.members) == 0 {
		if err := r.Alloc(n, 1); err != nil { // so that numbers do not overflow
			return err
		}
	}
	s.a.Len += int(n)
	for _, m := range s.members {
		if err := m.read(r, first, n); err != nil {
			return err
		}
	}
	return nil
}

// fixedNode reads arrays of fixed size.
type fixedNode struct {
	arrayNode
	item batchNode
	path string
}

func (f *fixedNode) read(r *run, first, n int64) error {
	size := int64(f.a.Size)
	f.a.Len += int(n)
	if size == 0 {
		return nil
	}
	if first > math.MaxInt64/size-n {
		return r.corrupt(f.path, "item %d of an array of %d", first, size)
	}
	return f.item.read(r, first*size, n*size)
}

// denseNode reads optionals of a pre-release format, which have an item each.
type denseNode struct {
	arrayNode
	bits *pagesource.Column[bool]
	item batchNode
}

func (d *denseNode) read(r *run, first, n int64) error {
	if err := r.Alloc(n, 1); err != nil {
		return err
	}
	d.a.Len += int(n)
	d.a.Valid = extend(d.a.Valid, n)
	if err := d.bits.Read(r.ctx, r.cluster, first, d.a.Valid[len(d.a.Valid)-int(n):]); err != nil {
		return err
	}
	return d.item.read(r, first, n)
}

// optionalNode reads optionals, whose values are stored without gaps. It gives each its
// place.
type optionalNode struct {
	arrayNode
	index  indexOf
	item   batchNode
	bounds []int64
	spans  []columnar.Span
}

func (o *optionalNode) read(r *run, first, n int64) error {
	bounds, item, items, err := o.index.read(r, first, n, append(o.bounds[:0], 0))
	if err != nil {
		return err
	}
	o.bounds = bounds
	if err := r.Alloc(n, 1); err != nil {
		return err
	}
	valid := extend(o.a.Valid, n)
	o.a.Valid = valid
	o.a.Len += int(n)
	valid = valid[len(valid)-int(n):]
	o.spans = o.spans[:0]
	for i, end := range bounds[1:] {
		switch l := end - bounds[i]; l {
		case 0:
			o.spans = columnar.AddSpan(o.spans, columnar.Span{First: -1, N: 1})
		case 1:
			o.spans = columnar.AddSpan(o.spans, columnar.Span{First: bounds[i], N: 1})
		default:
			return r.corrupt(o.index.index.path, "item %d has %d values, expected one at most", first+int64(i), l)
		}
		valid[i] = end > bounds[i]
	}
	values := o.item.array()
	values.Clear(false)
	if items > 0 {
		if err := o.item.read(r, item, items); err != nil {
			return err
		}
	}
	return o.a.Children[0].Append(&r.Budget, values, o.spans)
}

// variantNode reads variants.
type variantNode struct {
	arrayNode
	path         string
	tags         leaf[column.Tagged]
	alternatives []batchNode
}

func (v *variantNode) read(r *run, first, n int64) error {
	if err := r.Alloc(n, unsafe.Sizeof(column.Tagged{})+unsafe.Sizeof(int32(0))+unsafe.Sizeof(int64(0))); err != nil {
		return err
	}
	if err := v.tags.load(r, first, n); err != nil {
		return err
	}
	a := v.a
	a.Len += int(n)
	a.Tags, a.Index = slices.Grow(a.Tags, int(n)), slices.Grow(a.Index, int(n))
	spans := make([][]columnar.Span, len(v.alternatives)) // the items to read, by alternative
	next := make([]int64, len(v.alternatives))            // the place of the next one in the batch
	for i, alternative := range v.alternatives {
		next[i] = int64(alternative.array().Len)
	}
	for i, t := range v.tags.scratch {
		tag, index := int32(-1), int64(0)
		switch {
		case t.Tag > uint32(len(v.alternatives)):
			return r.corrupt(v.path, "item %d has the tag %d, there are %d alternatives", first+int64(i),
				t.Tag, len(v.alternatives))
		case t.Tag == 0:
		case t.Index > math.MaxInt64-1:
			return r.corrupt(v.path, "item %d is item %d of its alternative", first+int64(i), t.Index)
		default:
			tag = int32(t.Tag - 1)
			spans[tag] = columnar.AddSpan(spans[tag], columnar.Span{First: int64(t.Index), N: 1})
			index = next[tag]
			next[tag]++
		}
		a.Tags, a.Index = append(a.Tags, tag), append(a.Index, index)
	}
	// The items of an alternative are numbered one after the other as a rule.
	for i, alternative := range v.alternatives {
		for _, s := range spans[i] {
			if err := alternative.read(r, s.First, s.N); err != nil {
				return err
			}
		}
	}
	return nil
}

// extend returns s with n more elements, which are undefined.
func extend[T any](s []T, n int64) []T { return slices.Grow(s, int(n))[:len(s)+int(n)] }
