package field

import (
	"cmp"
	"fmt"
	"reflect"
	"time"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// Outlets are where the fields of one RNTuple write to: the buffers of its
// columns, which every plan for writing shares. They serve one goroutine.
//
// They know fields and columns by ID, which stays when the schema is extended.
type Outlets struct {
	sink    *pagesink.Sink
	active  map[schema.FieldID]*int  // representation that is written
	columns map[schema.ColumnID]any  // *pagesink.Buffer[T]
	items   map[counted]*uint64      // in the current cluster
	most    map[schema.ColumnID]*int // items of the largest collection, by index column
}

// counted is what the items of a cluster are counted of: the items of a
// collection or string, or its own items where it is an alternative of a variant.
type counted struct {
	field       schema.FieldID
	alternative bool
}

// NewOutlets returns the outlets of the columns of sink.
func NewOutlets(sink *pagesink.Sink) *Outlets {
	return &Outlets{sink, map[schema.FieldID]*int{}, map[schema.ColumnID]any{}, map[counted]*uint64{},
		map[schema.ColumnID]*int{}}
}

// Fork returns the outlets of the columns of a fork of the sink, which write in the same
// representations.
func (o *Outlets) Fork(sink *pagesink.Sink) *Outlets {
	fork := NewOutlets(sink)
	for id, active := range o.active {
		fork.active[id] = new(*active)
	}
	return fork
}

// Activate selects the representation that the field's values are written in from
// now on. The sink must be at the beginning of a cluster.
func (o *Outlets) Activate(f *schema.Field, representation int) {
	*o.representation(f) = representation
	o.sink.Activate(f, representation)
}

func (o *Outlets) representation(f *schema.Field) *int { return numberOf(o.active, f.ID) }

// numberOf returns the number for a key, which is 0 at first.
func numberOf[K comparable](numbers map[K]*int, key K) *int {
	if numbers[key] == nil {
		numbers[key] = new(int)
	}
	return numbers[key]
}

func (o *Outlets) counter(f *schema.Field, alternative bool) *uint64 {
	key := counted{f.ID, alternative}
	if o.items[key] == nil {
		o.items[key] = o.sink.Counter()
	}
	return o.items[key]
}

// mostItems returns where the number of items of the largest value of f is counted.
// Projected fields share that of their source.
func (o *Outlets) mostItems(f *schema.Field) *int { return numberOf(o.most, f.Columns[0][0].ID) }

// writeCompiler makes the nodes of a plan for writing. See compiler.
type writeCompiler struct {
	*Outlets
	mismatches []schema.Mismatch
	err        error
	unit       time.Duration // of times in the member that is compiled, 0 for the default
	fallible   bool          // there are values that cannot be written
}

// A WritePlan writes values of one Go type as the values of one field, or of
// all top-level fields. It serves one goroutine.
type WritePlan struct {
	root out
	size uintptr

	// Infallible is set if Write never fails.
	Infallible bool
}

// Write appends the n values at src.
func (p *WritePlan) Write(src unsafe.Pointer, n int) error {
	if _, members := p.root.(recordOut); members && n > 1 && uintptr(n)*p.size <= mostTouched {
		touch(src, uintptr(n)*p.size)
	}
	return p.root.write(src, n, p.size)
}

const (
	mostTouched = 256 << 10 // bytes that fit into the second cache of any processor
	cacheLine   = 64        // bytes
)

// touch reads one byte of each cache line of the n bytes at src, which brings them into the
// cache before one member after the other is read from all structs there. Processors fetch in
// advance what is read from end to end, but hardly what is read with gaps.
//
//go:noinline
func touch(src unsafe.Pointer, n uintptr) (all byte) {
	for at := uintptr(0); at < n; at += cacheLine {
		all |= *(*byte)(unsafe.Add(src, at))
	}
	return all
}

// CompileEntries makes the plan that writes values of type t, a struct or
// value.Record, as entries with the given fields, the projected ones among them.
func (o *Outlets) CompileEntries(fields []*schema.Field, t reflect.Type) (*WritePlan, error) {
	c := &writeCompiler{Outlets: o}
	return c.plan(c.members(&schema.Field{Shape: schema.Record, Children: fields}, t), t)
}

// CompileField makes the plan that writes values of type t as values of f.
func (o *Outlets) CompileField(f *schema.Field, t reflect.Type) (*WritePlan, error) {
	c := &writeCompiler{Outlets: o}
	return c.plan(c.value(f, t), t)
}

func (c *writeCompiler) plan(root out, t reflect.Type) (*WritePlan, error) {
	switch {
	case c.err != nil:
		return nil, c.err
	case len(c.mismatches) > 0:
		return nil, &schema.MismatchError{Mismatches: c.mismatches}
	}
	return &WritePlan{root, t.Size(), !c.fallible}, nil
}

// A JaggedPlan writes the items of one collection field from flat memory.
type JaggedPlan struct{ c *collectionOut }

// CompileJagged makes the plan that writes items of type t to the collection f.
func (o *Outlets) CompileJagged(f *schema.Field, t reflect.Type) (*JaggedPlan, error) {
	if f.Shape != schema.Collection {
		return nil, fmt.Errorf("field %q of type %s is no collection", f.Path(), f.CppType())
	}
	c := &writeCompiler{Outlets: o}
	node := &collectionOut{c.index(f), c.value(f.Children[0], t), t.Size()}
	if _, err := c.plan(node, t); err != nil {
		return nil, err
	}
	return &JaggedPlan{node}, nil
}

// Write appends entries whose items, which begin at src, end at the given
// places, relative to offsets[0].
func (p *JaggedPlan) Write(offsets []int64, src unsafe.Pointer) error {
	first, last := offsets[0], offsets[len(offsets)-1]
	base := *p.c.end - uint64(first)
	most, before := int64(*p.c.most), first
	var ends [512]uint64
	for i := 1; i < len(offsets); {
		n := 0
		for _, end := range offsets[i:min(len(offsets), i+len(ends))] {
			if end < before {
				return fmt.Errorf("offset %d is %d, after %d", i+n, end, before)
			}
			most = max(most, end-before)
			before = end
			ends[n] = base + uint64(end)
			n++
		}
		p.c.AddAll(ends[:n])
		i += n
	}
	*p.c.end, *p.c.most = base+uint64(last), int(most)
	if n := int(last - first); n > 0 {
		return p.c.elem.write(src, n, p.c.size)
	}
	return nil
}

func (c *writeCompiler) mismatch(f *schema.Field, t reflect.Type) out {
	c.mismatches = append(c.mismatches, schema.Mismatch{Path: f.Path(), Have: f.CppType(), Go: t, Fits: GoType(f)})
	return nil
}

// column returns the buffers of the index-th column of f.
func outColumn[T column.Element](c *writeCompiler, f *schema.Field, index int) buffers[T] {
	b := buffers[T]{active: c.representation(f)}
	for _, rep := range f.Columns {
		id := rep[index].ID
		if c.columns[id] == nil {
			buffer, err := pagesink.NewBuffer[T](c.sink, rep[index])
			c.err = cmp.Or(c.err, err)
			c.columns[id] = buffer
		}
		b.all = append(b.all, c.columns[id].(*pagesink.Buffer[T]))
	}
	return b
}

func (c *writeCompiler) index(f *schema.Field) indexOut {
	return indexOut{outColumn[uint64](c, f, 0), c.counter(f, false), c.mostItems(f)}
}

// value compiles writing values of type t to f.
func (c *writeCompiler) value(f *schema.Field, t reflect.Type) out {
	t = unwrap(t)
	switch t {
	case anyType:
		c.fallible = true
		return anyOut{c.any(f)}
	case timeType:
		c.fallible = true
		return c.time(f)
	}
	switch f.Shape {
	case schema.Scalar:
		return scalars[f.ElementKind()].writer(c, f, t)
	case schema.Wrapper:
		return c.value(f.Children[0], t)
	case schema.String, schema.Streamer:
		if f.Shape == schema.String && t.Kind() == reflect.String || isBytes(t) {
			return c.bytes(f)
		}
	case schema.Bitset:
		if n, ok := c.arrayLen(f, t); ok && t.Elem().Kind() == reflect.Bool {
			return &arrayOut{f.Path(), &leafOut[bool]{outColumn[bool](c, f, 0)}, 1, n, t.Kind() == reflect.Slice}
		}
	case schema.Array:
		if n, ok := c.arrayLen(f, t); ok {
			return &arrayOut{f.Path(), c.value(f.Children[0], t.Elem()), t.Elem().Size(), n, t.Kind() == reflect.Slice}
		}
	case schema.Optional:
		if t.Kind() == reflect.Pointer {
			return &optionalOut{collectionOut{c.index(f), c.value(f.Children[0], t.Elem()), t.Elem().Size()}}
		}
	case schema.Collection:
		switch {
		case t.Kind() == reflect.Map && (f.IsMap() || isSet(f, t)):
			if t.Key() == timeType {
				c.mismatches = append(c.mismatches, schema.Mismatch{Path: f.Path(), Go: t,
					Err: fmt.Errorf("field %q: %w", f.Path(), errTimeKey)})
			}
			d := &dictionaryOut{indexOut: c.index(f), typ: t}
			if isSet(f, t) {
				d.keys = c.value(f.Children[0], t.Key())
			} else {
				pair := f.Children[0].Children
				d.keys, d.values = c.value(pair[0], t.Key()), c.value(pair[1], t.Elem())
			}
			return d
		case t.Kind() == reflect.Slice:
			return &collectionOut{c.index(f), c.value(f.Children[0], t.Elem()), t.Elem().Size()}
		}
	case schema.Record:
		return c.members(f, t)
	}
	return c.mismatch(f, t)
}

// arrayLen returns the length of f if t can hold as many. Slices may turn out to have others.
func (c *writeCompiler) arrayLen(f *schema.Field, t reflect.Type) (int, bool) {
	c.fallible = c.fallible || t.Kind() == reflect.Slice
	ok := t.Kind() == reflect.Slice || t.Kind() == reflect.Array && uint64(t.Len()) == f.ArraySize
	return int(f.ArraySize), ok
}

func (c *writeCompiler) bytes(f *schema.Field) out {
	if f.Shape == schema.String {
		return &bytesOut[int8]{c.index(f), outColumn[int8](c, f, 1)}
	}
	return &bytesOut[uint8]{c.index(f), outColumn[uint8](c, f, 1)}
}

// members compiles writing the members of the struct t to the children of f, which
// must be the same. Projected fields get no values; t may have members for them.
func (c *writeCompiler) members(f *schema.Field, t reflect.Type) out {
	switch {
	case t == recordType:
		c.fallible = true
		return recordValues{c.record(f)}
	case t.Kind() != reflect.Struct:
		return c.mismatch(f, t)
	}
	all, wrong := membersOf(t)
	c.mismatches = append(c.mismatches, wrong...)
	given := map[string]Member{}
	for _, m := range all {
		given[m.Name] = m
	}
	var r recordOut
	for _, child := range f.Children {
		m, ok := given[child.Name]
		delete(given, child.Name)
		switch {
		case child.Source != nil:
			continue
		case !ok:
			c.mismatches = append(c.mismatches, schema.Mismatch{Path: child.Path(), Go: t,
				Err: fmt.Errorf("%v has no field for %q", t, child.Path())})
			continue
		}
		outer := c.unit
		c.unit = m.Unit
		r = append(r, memberOut{c.value(child, m.Type), m.Offset})
		c.unit = outer
	}
	for _, m := range all {
		if _, left := given[m.Name]; left {
			c.mismatches = append(c.mismatches, schema.Mismatch{Path: m.Name, Go: t,
				Err: schema.NoField(f.Children, m.Name, place(f))})
		}
	}
	return r
}

// recordValues writes values of type value.Record.
type recordValues struct{ put putter }

func (r recordValues) write(src unsafe.Pointer, n int, stride uintptr) error {
	for i := range n {
		if err := r.put(*(*value.Record)(unsafe.Add(src, uintptr(i)*stride))); err != nil {
			return err
		}
	}
	return nil
}

// place returns what errors call f, which is the record of all top-level fields if it
// has no name.
func place(f *schema.Field) string {
	if f.Name == "" {
		return "the RNTuple"
	}
	return fmt.Sprintf("field %q", f.Path())
}

func (c *writeCompiler) record(f *schema.Field) putter {
	r := recordPutter{of: f, projected: map[string]bool{}}
	for _, child := range f.Children {
		if child.Source != nil {
			r.projected[child.Name] = true
			continue
		}
		r.names, r.members = append(r.names, child.Name), append(r.members, c.any(child))
	}
	return r.put
}

// any compiles writing dynamic values to f.
func (c *writeCompiler) any(f *schema.Field) putter {
	switch f.Shape {
	case schema.Scalar:
		return scalars[f.ElementKind()].putter(c, f)
	case schema.Wrapper:
		return c.any(f.Children[0])
	case schema.String:
		return typed[string](f, c.bytes(f))
	case schema.Streamer:
		return typed[[]byte](f, c.bytes(f))
	case schema.Bitset:
		bits := &arrayOut{f.Path(), &leafOut[bool]{outColumn[bool](c, f, 0)}, 1, int(f.ArraySize), true}
		return typed[value.Bits](f, bits)
	case schema.Array:
		length := func(n int) error {
			if uint64(n) != f.ArraySize {
				return fmt.Errorf("field %q: %d items in an array of %d", f.Path(), n, f.ArraySize)
			}
			return nil
		}
		return items(f, c.any(f.Children[0]), length)
	case schema.Optional:
		index, elem := c.index(f), c.any(f.Children[0])
		return func(v any) error {
			if v == nil {
				index.add(0)
				return nil
			}
			if some, ok := v.(value.Some); ok {
				v = some.Value
			}
			err := elem(v)
			index.add(1)
			return err
		}
	case schema.Collection:
		index := c.index(f)
		if !f.IsMap() {
			return items(f, c.any(f.Children[0]), func(n int) error { index.add(n); return nil })
		}
		pair := c.record(f.Children[0])
		return func(v any) error {
			m, ok := v.(value.Map)
			if !ok {
				return unexpected(f, v)
			}
			for _, e := range m.Elements {
				if err := pair([]any{e.Key, e.Value}); err != nil {
					return err
				}
			}
			index.add(len(m.Elements))
			return nil
		}
	case schema.Record:
		return c.record(f)
	case schema.Variant:
		o := &variantOut{f: f, tags: outColumn[column.Tagged](c, f, 0)}
		for _, child := range f.Children {
			o.alternatives, o.counts = append(o.alternatives, c.any(child)), append(o.counts, c.counter(child, true))
		}
		return o.put
	}
	return func(v any) error { return unexpected(f, v) }
}
