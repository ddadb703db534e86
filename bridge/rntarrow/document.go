package rntarrow

import (
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/schema"
)

// WriteOptions configures how record batches are converted to an RNTuple. With the zero value,
// every nullable field becomes an optional.
type WriteOptions struct {
	// Plain lists patterns of the paths of nullable fields that do not become optionals; many
	// programs mark all fields as nullable. A null in such a field is an error.
	Plain []string
	// NoSchema omits the attribute set SchemaSet even if it is needed to restore types.
	NoSchema bool
}

// match returns a function that reports whether a path is one of Plain.
func (o WriteOptions) match() (func(at string) bool, error) {
	slashes := func(s string) string { return strings.ReplaceAll(s, ".", "/") }
	for _, p := range o.Plain {
		if _, err := path.Match(slashes(p), ""); err != nil {
			return nil, fmt.Errorf("pattern %q: %w", p, err)
		}
	}
	return func(at string) bool {
		return slices.ContainsFunc(o.Plain, func(p string) bool {
			ok, _ := path.Match(slashes(p), slashes(at))
			return ok || p == "*"
		})
	}, nil
}

// A typer makes fields of an RNTuple of Arrow's.
type typer struct {
	plain func(path string) bool
	errs  []error
}

// Document returns the schema of the RNTuple that Write creates for record batches with a schema.
// The error lists all fields without a corresponding RNTuple type.
func Document(s *arrow.Schema, o *WriteOptions) (*schema.Document, error) {
	if o == nil {
		o = new(WriteOptions)
	}
	plain, err := o.match()
	if err != nil {
		return nil, err
	}
	t := &typer{plain: plain}
	doc := &schema.Document{}
	seen := map[string]bool{}
	for _, f := range s.Fields() {
		if seen[f.Name] {
			t.problem(f.Name, "there are two fields of this name")
		}
		seen[f.Name] = true
		doc.Fields = append(doc.Fields, t.field(f, f.Name, true))
	}
	return doc, errors.Join(t.errs...)
}

func (t *typer) problem(at, format string, args ...any) {
	t.errs = append(t.errs, fmt.Errorf("field %q: %s", at, fmt.Sprintf(format, args...)))
}

// optional reports whether a field becomes an optional.
func (t *typer) optional(f arrow.Field, path string) bool {
	return f.Nullable && !t.plain(path) && f.Type.ID() != arrow.NULL
}

// known returns the field for f with the type in C++ that its metadata tell, if a type of the
// library's own with that name has the same values.
func known(f arrow.Field) *schema.FieldDocument {
	name, ok := f.Metadata.GetValue(TypeKey)
	if !ok {
		return nil
	}
	d := &schema.FieldDocument{Name: f.Name, Type: name}
	d.Description, _ = f.Metadata.GetValue(DescriptionKey)
	described, err := (&schema.Document{Name: "known", Fields: []*schema.FieldDocument{d}}).Describe(false)
	if err != nil {
		return nil
	}
	s, err := schema.Build(&envelope.Header{Name: "known", Schema: *described}, nil)
	if err != nil || len(s.Fields) != 1 || !fits(f, s.Fields[0]) {
		return nil
	}
	if f.Nullable && valueOf(s.Fields[0]).Shape != schema.Optional { // as the members that stand for a variant
		return nil
	}
	return d
}

// field returns the field for f. Untyped ones, which records with names need, can be at the top
// and directly below others.
func (t *typer) field(f arrow.Field, path string, untyped bool) *schema.FieldDocument {
	if d := known(f); d != nil && !(d.Type == "" || t.plain(path)) {
		return d
	}
	d := &schema.FieldDocument{Name: f.Name, Description: describe(f)}
	inner := storage(f.Type)
	if !untyped || t.optional(f, path) {
		d.Type = t.typeName(f, path)
		return d
	}
	switch it := inner.(type) {
	case *arrow.StructType:
		d.Role = "record"
		for _, m := range it.Fields() {
			d.Fields = append(d.Fields, t.field(m, path+"."+m.Name, true))
		}
		return d
	case arrow.ListLikeType:
		if item := it.ElemField(); !isMap(inner) && inner.ID() != arrow.FIXED_SIZE_LIST && t.untyped(item, path+"._0") {
			item.Name = "_0"
			d.Role = "collection"
			d.Fields = []*schema.FieldDocument{t.field(item, path+"._0", true)}
			return d
		}
	}
	d.Type = t.typeName(f, path)
	return d
}

// untyped reports whether a field is a struct, or lists of them, that need not be optional.
func (t *typer) untyped(f arrow.Field, path string) bool {
	inner := storage(f.Type)
	switch {
	case t.optional(f, path):
		return false
	case inner.ID() == arrow.STRUCT:
		return true
	case isList(inner):
		return t.untyped(inner.(arrow.ListLikeType).ElemField(), path+"._0")
	}
	return false
}

func isMap(t arrow.DataType) bool { return t.ID() == arrow.MAP }

// isList reports whether values of a type are lists of any length.
func isList(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.LIST, arrow.LARGE_LIST, arrow.LIST_VIEW, arrow.LARGE_LIST_VIEW:
		return true
	}
	return false
}

// storage returns the type of the values: extensions, dictionaries and run-end encodings are
// resolved.
func storage(t arrow.DataType) arrow.DataType {
	for {
		switch s := t.(type) {
		case arrow.ExtensionType:
			t = s.StorageType()
		case *arrow.DictionaryType:
			t = s.ValueType
		case *arrow.RunEndEncodedType:
			t = s.Encoded()
		default:
			return t
		}
	}
}

// describe returns the description of a field: its own, and what the type in C++ does not tell.
func describe(f arrow.Field) string {
	d, _ := f.Metadata.GetValue(DescriptionKey)
	t := storage(f.Type)
	switch t.ID() {
	case arrow.DATE32, arrow.DATE64, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION:
		if !strings.Contains(d, t.String()) {
			d = strings.TrimSpace(d + " (" + t.String() + ")")
		}
	}
	return d
}

var cppNames = map[arrow.Type]string{
	arrow.BOOL: "bool",
	arrow.INT8: "std::int8_t", arrow.INT16: "std::int16_t", arrow.INT32: "std::int32_t", arrow.INT64: "std::int64_t",
	arrow.UINT8: "std::uint8_t", arrow.UINT16: "std::uint16_t", arrow.UINT32: "std::uint32_t",
	arrow.UINT64:  "std::uint64_t",
	arrow.FLOAT16: "float", arrow.FLOAT32: "float", arrow.FLOAT64: "double",
	arrow.STRING: "std::string", arrow.LARGE_STRING: "std::string", arrow.STRING_VIEW: "std::string",
	arrow.BINARY: "std::vector<std::byte>", arrow.LARGE_BINARY: "std::vector<std::byte>",
	arrow.BINARY_VIEW: "std::vector<std::byte>",
	arrow.DATE32:      "std::int32_t", arrow.TIME32: "std::int32_t",
	arrow.DATE64: "std::int64_t", arrow.TIME64: "std::int64_t", arrow.TIMESTAMP: "std::int64_t",
	arrow.DURATION: "std::int64_t",
}

// typeName returns the type of a field in C++.
func (t *typer) typeName(f arrow.Field, path string) string {
	name := t.valueName(storage(f.Type), path)
	if t.optional(f, path) {
		name = "std::optional<" + name + ">"
	}
	return name
}

// valueName returns the type of the values of a field in C++.
func (t *typer) valueName(inner arrow.DataType, path string) string {
	if name := cppNames[inner.ID()]; name != "" {
		return name
	}
	all := func(fields []arrow.Field) string {
		var names []string
		for i, f := range fields {
			names = append(names, t.typeName(f, fmt.Sprintf("%s._%d", path, i)))
		}
		return strings.Join(names, ",")
	}
	switch it := inner.(type) {
	case *arrow.FixedSizeBinaryType:
		return fmt.Sprintf("std::array<std::byte,%d>", it.ByteWidth)
	case *arrow.FixedSizeListType:
		return fmt.Sprintf("std::array<%s,%d>", t.typeName(it.ElemField(), path+"._0"), it.Len())
	case *arrow.MapType:
		return "std::vector<std::pair<" + t.typeName(it.KeyField(), path+"._0._0") + "," + t.typeName(it.ItemField(),
			path+"._0._1") + ">>"
	case *arrow.StructType:
		return "std::tuple<" + all(it.Fields()) + ">"
	case arrow.UnionType:
		return "std::variant<" + all(alternatives(it)) + ">"
	}
	if isList(inner) {
		return "std::vector<" + t.typeName(inner.(arrow.ListLikeType).ElemField(), path+"._0") + ">"
	}
	t.problem(path, "%s has no type in an RNTuple", inner)
	return "std::byte"
}

// kinds are those of the numbers that values have in an RNTuple.
var kinds = map[arrow.Type]reflect.Kind{
	arrow.BOOL: reflect.Bool,
	arrow.INT8: reflect.Int8, arrow.INT16: reflect.Int16, arrow.INT32: reflect.Int32, arrow.INT64: reflect.Int64,
	arrow.UINT8: reflect.Uint8, arrow.UINT16: reflect.Uint16, arrow.UINT32: reflect.Uint32, arrow.UINT64: reflect.Uint64,
	arrow.FLOAT16: reflect.Float32, arrow.FLOAT32: reflect.Float32, arrow.FLOAT64: reflect.Float64,
	arrow.DATE32: reflect.Int32, arrow.TIME32: reflect.Int32,
	arrow.DATE64: reflect.Int64, arrow.TIME64: reflect.Int64, arrow.TIMESTAMP: reflect.Int64,
	arrow.DURATION: reflect.Int64,
}

// value returns the field that has the values of f: enums and atomics are resolved.
func valueOf(f *schema.Field) *schema.Field {
	for f.Shape == schema.Wrapper {
		f = f.Children[0]
	}
	return f
}

// wrapped returns the field in the struct that stands for an optional of an optional or of a
// variant, see the package's documentation.
func wrapped(t arrow.DataType, value *schema.Field) (inner arrow.Field, ok bool) {
	s, ok := t.(*arrow.StructType)
	if !ok || s.NumFields() != 1 || value.Shape != schema.Optional && value.Shape != schema.Variant {
		return arrow.Field{}, false
	}
	return s.Field(0), true
}

// fits reports whether Write can write the values of one field to another as they are.
func fits(from arrow.Field, to *schema.Field) bool {
	to = valueOf(to)
	t := storage(from.Type)
	list, isListLike := t.(arrow.ListLikeType)
	item := func() bool { return isListLike && fits(list.ElemField(), to.Children[0]) }
	child := func(kind reflect.Kind) bool {
		c := valueOf(to.Children[0])
		return c.Shape == schema.Scalar && c.ElementKind() == kind
	}
	switch to.Shape {
	case schema.Optional:
		inner := valueOf(to.Children[0])
		if f, ok := wrapped(t, inner); ok {
			return fits(f, inner)
		}
		return fits(arrow.Field{Type: t}, inner)
	case schema.Scalar:
		return kinds[t.ID()] != 0 && kinds[t.ID()] == to.ElementKind()
	case schema.Bitset:
		l, ok := t.(*arrow.FixedSizeListType)
		return ok && uint64(l.Len()) == to.ArraySize && storage(l.Elem()).ID() == arrow.BOOL
	case schema.String:
		return arrow.IsBaseBinary(t.ID()) || t.ID() == arrow.STRING_VIEW || t.ID() == arrow.BINARY_VIEW
	case schema.Array:
		switch t := t.(type) {
		case *arrow.FixedSizeListType:
			return uint64(t.Len()) == to.ArraySize && item()
		case *arrow.FixedSizeBinaryType:
			return uint64(t.ByteWidth) == to.ArraySize && child(reflect.Uint8)
		}
	case schema.Collection:
		switch t.ID() {
		case arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW:
			return child(reflect.Uint8)
		case arrow.MAP, arrow.LIST, arrow.LARGE_LIST, arrow.LIST_VIEW, arrow.LARGE_LIST_VIEW:
			return item()
		}
	case schema.Record:
		s, ok := t.(*arrow.StructType)
		return ok && eachFits(s.Fields(), to, to.IsTuple())
	case schema.Variant:
		u, ok := t.(arrow.UnionType)
		return ok && eachFits(alternatives(u), to, true)
	}
	return false
}

// eachFits reports whether the fields fit the children of to. If they are numbered, their names
// do not matter.
func eachFits(fields []arrow.Field, to *schema.Field, numbered bool) bool {
	for i, f := range fields {
		if i >= len(to.Children) || !numbered && f.Name != to.Children[i].Name || !fits(f, to.Children[i]) {
			return false
		}
	}
	return len(fields) == len(to.Children)
}

// alternatives returns the fields of a union without the last one if that stands for variants
// without a value.
func alternatives(u arrow.UnionType) []arrow.Field {
	fields := u.Fields()
	if last := len(fields) - 1; last >= 0 && fields[last].Type.ID() == arrow.NULL {
		return fields[:last]
	}
	return fields
}
