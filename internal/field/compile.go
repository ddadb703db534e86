package field

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/convert"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
	"github.com/go-rntuple/go-rntuple/value"
)

// compiler makes the nodes of a plan. It collects mismatches and goes on, so
// that one error can list them all; a plan with mismatches is never run.
type compiler struct {
	src        *pagesource.Source
	ahead      *pagesource.ReadAhead
	twins      *twins
	budget     int64 // bytes that the values of one entry may need besides
	mismatches []schema.Mismatch
	err        error         // of another kind
	varying    bool          // values need memory besides that of the Go type
	missing    bool          // members may have no field
	merging    bool          // a conversion was compiled that makes different values equal
	unit       time.Duration // of times in the member that is compiled, 0 for the default
}

var (
	anyType      = reflect.TypeFor[any]()
	recordType   = reflect.TypeFor[value.Record]()
	keyValueType = reflect.TypeFor[value.KeyValue]()
)

// Options are what plans for reading have in common.
type Options struct {
	Budget int64 // bytes of memory that the values of one entry may need
	// AllowMissing makes members of structs zero if the file has no field for them.
	AllowMissing bool
}

// Compile makes the plan that reads the last field of chain, a path as
// schema.Lookup returns it, into values of type t; without a chain, whole
// entries. Every collection above the field adds a slice to the type, every
// optional a pointer.
func Compile(src *pagesource.Source, chain []*schema.Field, t reflect.Type, opts Options) (*Plan, error) {
	c := newCompiler(src, opts)
	var root node
	if len(chain) == 0 {
		root = c.members(entry(src.Schema), t)
	} else {
		root = c.path(chain, t)
	}
	return c.plan(root, t)
}

func newCompiler(src *pagesource.Source, opts Options) *compiler {
	return &compiler{src: src, budget: opts.Budget, missing: opts.AllowMissing, ahead: src.NewReadAhead(),
		twins: &twins{byPage: map[uint64]*index{}}}
}

func (c *compiler) plan(root node, t reflect.Type) (*Plan, error) {
	switch {
	case c.err != nil:
		return nil, c.err
	case len(c.mismatches) > 0:
		return nil, &schema.MismatchError{Mismatches: c.mismatches}
	}
	p := &Plan{src: c.src, root: root, size: t.Size(), budget: c.budget, batch: firstBatch, varying: c.varying,
		ahead: c.ahead, next: -1, end: math.MaxInt64}
	if !c.varying {
		p.batch = math.MaxInt64
	}
	return p, nil
}

// entry returns the record that the top-level fields are the members of.
func entry(s *schema.Schema) *schema.Field {
	return &schema.Field{Shape: schema.Record, Children: s.Fields}
}

func (c *compiler) mismatch(f *schema.Field, t reflect.Type) node {
	c.mismatches = append(c.mismatches, schema.Mismatch{Path: f.Path(), Have: f.CppType(), Go: t, Fits: GoType(f)})
	return nil
}

func (c *compiler) fail(err error) { c.err = cmp.Or(c.err, err) }

// path compiles the way from chain[0], whose items are wanted, to the last
// field of chain.
func (c *compiler) path(chain []*schema.Field, t reflect.Type) node {
	f, rest := chain[0], chain[1:]
	if len(rest) == 0 {
		return c.value(f, t)
	}
	switch f.Shape {
	case schema.Record, schema.Wrapper:
		return c.path(rest, t)
	case schema.Collection, schema.Optional, schema.Array:
		return c.nested(f, t, func(t reflect.Type) node { return c.path(rest, t) })
	}
	c.fail(fmt.Errorf("field %q: paths do not lead through a %v", rest[0].Path(), f.Shape))
	return nil
}

// value compiles reading items of f into t.
func (c *compiler) value(f *schema.Field, t reflect.Type) node {
	t = unwrap(t)
	if t == timeType {
		return c.time(f)
	}
	if t.Kind() == reflect.Pointer && f.Shape != schema.Optional && f.Shape != schema.Wrapper {
		return c.engaged(f, t)
	}
	switch f.Shape {
	case schema.Scalar:
		return scalars[f.ElementKind()].reader(c, f, t)
	case schema.Wrapper:
		return c.value(f.Children[0], t)
	case schema.String, schema.Streamer:
		text := f.Shape == schema.String
		switch {
		case t == anyType && text:
			return box[string](c.bytes(f, false))
		case t == anyType:
			return box[[]byte](c.bytes(f, true))
		case text && t.Kind() == reflect.String, isBytes(t):
			return c.bytes(f, isBytes(t))
		}
		return c.mismatch(f, t)
	case schema.Bitset:
		if t == anyType {
			bits := func(v []bool) any { return value.Bits(v) }
			return &boxed[[]bool]{inner: c.array(f, reflect.TypeFor[[]bool](), c.bits(f)), box: bits}
		}
		return c.nested(f, t, c.bits(f))
	case schema.Cardinality:
		return c.cardinality(f, t)
	case schema.Record:
		return c.members(f, t)
	case schema.Variant:
		return c.variant(f, t)
	}
	switch {
	case f.IsMap() && t == anyType:
		return c.dynamicMap(f)
	case t.Kind() == reflect.Map:
		return c.dictionary(f, t)
	}
	return c.nested(f, t, func(t reflect.Type) node { return c.value(f.Children[0], t) })
}

// engaged compiles a value that is always there into a pointer.
func (c *compiler) engaged(f *schema.Field, t reflect.Type) node {
	t = t.Elem()
	if t.Kind() == reflect.Pointer { // also ends types that point to themselves
		return c.mismatch(f, t)
	}
	c.varying = true
	return &engaged{c.value(f, t), t, !hasPointers(t)}
}

func isBytes(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8
}

// nested compiles a field whose items hold items of another one, which elem
// compiles for a given type.
func (c *compiler) nested(f *schema.Field, t reflect.Type, elem func(reflect.Type) node) node {
	switch {
	case f.Shape == schema.Optional && t == anyType:
		return &optionalAny{c.nested(f, reflect.TypeFor[*any](), elem)}
	case t == anyType:
		return box[[]any](c.nested(f, reflect.TypeFor[[]any](), elem))
	case f.IsDense():
		return c.dense(f, t, elem)
	case f.Shape == schema.Optional && t.Kind() == reflect.Pointer:
		return &optional{c.collection(f, t.Elem(), elem)}
	case f.Shape == schema.Array || f.Shape == schema.Bitset:
		return c.array(f, t, elem)
	case t.Kind() == reflect.Slice:
		s := c.collection(f, t.Elem(), elem)
		return &s
	}
	return c.mismatch(f, t)
}

func (c *compiler) collection(f *schema.Field, item reflect.Type, elem func(reflect.Type) node) collection {
	return collection{index: c.index(f), elem: elem(item), typ: item, size: item.Size(), plain: !hasPointers(item),
		single: f.Shape == schema.Optional}
}

func (c *compiler) array(f *schema.Field, t reflect.Type, elem func(reflect.Type) node) node {
	if t.Kind() != reflect.Slice && (t.Kind() != reflect.Array || uint64(t.Len()) != f.ArraySize) {
		return c.mismatch(f, t)
	}
	c.varying = c.varying || t.Kind() == reflect.Slice
	return &array{path: f.Path(), elem: elem(t.Elem()), typ: t.Elem(), len: int64(f.ArraySize),
		slices: t.Kind() == reflect.Slice, plain: !hasPointers(t.Elem())}
}

// open returns a reader of the index-th column of f.
func open[T column.Element](c *compiler, f *schema.Field, index int) *pagesource.Column[T] {
	col, err := pagesource.NewColumn[T](c.ahead, f, index)
	if err != nil {
		c.fail(err)
	}
	return col
}

func (c *compiler) index(f *schema.Field) *index {
	if f.IsDense() {
		c.fail(frame.Unsupported("field %q has bits in place of an index: it can be read as pointers and slices only",
			f.Path()))
	}
	c.varying = true
	return &index{path: f.Path(), column: open[uint64](c, f, 0), twins: c.twins}
}

func (c *compiler) bytes(f *schema.Field, slices bool) node {
	if f.Shape == schema.String { // characters are signed
		return &bytes[int8]{c.index(f), open[int8](c, f, 1), slices}
	}
	return &bytes[uint8]{c.index(f), open[uint8](c, f, 1), slices}
}

func (c *compiler) bits(f *schema.Field) func(reflect.Type) node {
	return func(t reflect.Type) node {
		if t.Kind() != reflect.Bool {
			return c.mismatch(f, t)
		}
		return &leaf[bool]{column: open[bool](c, f, 0)}
	}
}

func (c *compiler) cardinality(f *schema.Field, t reflect.Type) node {
	if t == anyType {
		return box[uint64](c.cardinality(f, reflect.TypeFor[uint64]()))
	}
	kind := convert.KindOf(t)
	if t.Kind() == reflect.Uintptr {
		kind = convert.KindOf(reflect.TypeFor[uint]())
	}
	if !convert.IsInteger(kind) {
		return c.mismatch(f, t)
	}
	return &cardinality{index: c.index(f), max: largestSize(f), convert: convert.Between(reflect.Uint64, kind), to: t}
}

// largestSize returns the largest number that the type of a cardinality can hold.
func largestSize(f *schema.Field) uint64 {
	if name, err := cpptype.Parse(f.TypeName); err == nil && len(name.Args) == 1 && name.Args[0].Kind() == cpptype.UInt32 {
		return math.MaxUint32
	}
	return math.MaxUint64
}

// members compiles reading the members of f into t.
func (c *compiler) members(f *schema.Field, t reflect.Type) node {
	switch {
	case t == anyType && f.IsTuple():
		return &tuple{c.dynamic(f.Children)}
	case t == anyType:
		return box[value.Record](c.dynamic(f.Children))
	case t == recordType:
		return c.dynamic(f.Children)
	case t.Kind() != reflect.Struct:
		return c.mismatch(f, t)
	}
	inner, wrong := membersOf(t)
	c.mismatches = append(c.mismatches, wrong...)
	var r record
	c.fields(&r, f, inner)
	return r
}

func (c *compiler) dynamic(fields []*schema.Field) *dynamicRecord {
	c.varying = true
	r := new(dynamicRecord)
	for _, child := range fields {
		r.names = append(r.names, child.Name)
		r.members = append(r.members, c.value(child, anyType))
	}
	return r
}

func (c *compiler) variant(f *schema.Field, t reflect.Type) node {
	if t != anyType {
		return c.mismatch(f, t)
	}
	c.varying = true
	v := &variantAny{path: f.Path()}
	v.tags.column = open[column.Tagged](c, f, 0)
	for _, child := range f.Children {
		v.alternatives = append(v.alternatives, c.value(child, anyType))
	}
	return v
}

// dynamicMap compiles reading a map into a value.Map.
func (c *compiler) dynamicMap(f *schema.Field) node {
	pair := f.Children[0].Children
	elem := func(reflect.Type) node {
		return record{
			{c.value(pair[0], anyType), keyValueType.Field(0).Offset},
			{c.value(pair[1], anyType), keyValueType.Field(1).Offset},
		}
	}
	s := c.collection(f, keyValueType, elem)
	stringKeys := pair[0].Shape == schema.String
	return &boxed[[]value.KeyValue]{inner: &s, box: func(v []value.KeyValue) any {
		return value.Map{StringKeys: stringKeys, Elements: v}
	}}
}

// isSet reports whether a field is a set, and t a Go map with its elements as keys.
func isSet(f *schema.Field, t reflect.Type) bool {
	return (f.Kind() == cpptype.Set || f.Kind() == cpptype.UnorderedSet) &&
		f.Shape == schema.Collection && t.Elem() == emptyType
}

// dictionary compiles reading a map into a Go map, or a set into one of its
// elements to struct{}. Multimaps and multisets would lose values.
func (c *compiler) dictionary(f *schema.Field, t reflect.Type) node {
	set := isSet(f, t)
	if !set && (!f.IsMap() || f.Kind().IsMulti()) {
		return c.mismatch(f, t)
	}
	d := &dictionary{index: c.index(f), typ: t}
	key := f.Children[0]
	if !set {
		key = key.Children[0]
	}
	c.merging = false
	d.keys = c.value(key, t.Key())
	if c.merging { // different keys could become the same
		return c.mismatch(f, t)
	}
	if !set {
		d.values = c.value(f.Children[0].Children[1], t.Elem())
	}
	return d
}
