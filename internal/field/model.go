package field

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
)

// A modeler makes a schema of a Go type and collects what is wrong with it.
type modeler struct {
	problems []string
	open     []reflect.Type // types that are being described, outermost first
}

// Model returns the schema that values of the struct type t are written with by
// default. The error, a *schema.DocumentError, lists everything that is wrong with
// t and its tags; the document then has the fields that are right.
func Model(name string, t reflect.Type) (*schema.Document, error) {
	d := &schema.Document{Name: name}
	if t.Kind() != reflect.Struct {
		return d, &schema.DocumentError{Problems: []string{fmt.Sprintf("%v is not a struct", t)}}
	}
	m := &modeler{open: []reflect.Type{t}}
	d.Fields = m.members("", t, true)
	if len(m.problems) > 0 {
		return d, &schema.DocumentError{Problems: m.problems}
	}
	return d, nil
}

func (m *modeler) fail(path, format string, args ...any) {
	m.problems = append(m.problems, path+": "+fmt.Sprintf(format, args...))
}

// members returns the fields for the members of the struct t. Below an untyped
// field, structs and slices of structs may be untyped too.
func (m *modeler) members(path string, t reflect.Type, untyped bool) (fields []*schema.FieldDocument) {
	all, wrong := membersOf(t)
	for _, w := range wrong {
		m.problems = append(m.problems, w.String())
	}
	for _, member := range all {
		at := strings.TrimPrefix(path+"."+member.Name, ".")
		if f := m.field(at, member.Name, member.Type, member.Tag, untyped); f != nil {
			f.Description = cmp.Or(member.description, f.Description)
			fields = append(fields, f)
		}
	}
	return fields
}

// cppNames has the C++ types of Go types by their kind.
var cppNames = map[reflect.Kind]string{
	reflect.Bool: "bool", reflect.Int8: "std::int8_t", reflect.Int16: "std::int16_t", reflect.Int32: "std::int32_t",
	reflect.Int64: "std::int64_t", reflect.Int: "std::int64_t",
	reflect.Uint8: "std::uint8_t", reflect.Uint16: "std::uint16_t", reflect.Uint32: "std::uint32_t",
	reflect.Uint64: "std::uint64_t", reflect.Uint: "std::uint64_t",
	reflect.Float32: "float", reflect.Float64: "double", reflect.String: "std::string",
}

// field returns the field of the given name for values of type t, or nil if there
// is a problem.
func (m *modeler) field(path, name string, t reflect.Type, tag Tag, untyped bool) *schema.FieldDocument {
	if t.Name() != "" && slices.Contains(m.open, t) {
		m.fail(path, "values of type %v cannot be written: the type contains itself", t)
		return nil
	}
	m.open = append(m.open, t)
	f := m.shape(path, name, t, tag, untyped)
	m.open = m.open[:len(m.open)-1]
	if f != nil && (tag.encoding != "" || tag.trunc != 0 || tag.quant != 0) {
		m.encode(path, innermost(f), tag)
	}
	return f
}

// shape returns the field without the encoding that the tag asks for.
func (m *modeler) shape(path, name string, t reflect.Type, tag Tag, untyped bool) *schema.FieldDocument {
	switch {
	case t == timeType:
		f := m.standard(path, name, cmp.Or(tag.typ, cppNames[reflect.Int64]))
		if f != nil {
			f.Description = timeDescription(tag.Unit)
		}
		return f
	case tag.typ != "":
		return m.standard(path, name, tag.typ)
	case template(t) != "":
		return m.template(path, name, t, tag)
	case cppNames[t.Kind()] != "":
		f := m.standard(path, name, cppNames[t.Kind()])
		if tag.enum != "" {
			f.Name = "_0"
			f = &schema.FieldDocument{Name: name, Type: tag.enum, Role: "plain", Fields: []*schema.FieldDocument{f}}
		}
		return f
	}
	switch t.Kind() {
	case reflect.Struct:
		return &schema.FieldDocument{Name: name, Type: m.className(path, t, tag, untyped), Role: "record",
			Fields: m.members(path, t, tag.class == "" && untyped)}
	case reflect.Slice:
		return m.collection(path, name, "std::vector<%s>", t.Elem(), tag, untyped)
	case reflect.Array:
		n := uint64(t.Len())
		f := m.collection(path, name, fmt.Sprintf("std::array<%%s,%d>", n), t.Elem(), tag, false)
		if f != nil {
			f.Role, f.ArraySize = "plain", &n
		}
		return f
	case reflect.Pointer:
		return m.collection(path, name, "std::optional<%s>", t.Elem(), tag, false)
	case reflect.Map:
		return m.dictionary(path, name, t, tag)
	case reflect.Interface:
		m.fail(path, "a field of type %v needs a C++ type: rntuple:\"name,type=std::variant<...>\"", t)
	default:
		m.fail(path, "values of type %v cannot be written", t)
	}
	return nil
}

// collection returns the field of a collection of items of type t, with the type name that
// format makes of that of the items; one of untyped items is untyped.
func (m *modeler) collection(path, name, format string, t reflect.Type, tag Tag, untyped bool) *schema.FieldDocument {
	item := m.field(path, "_0", t, tag, untyped)
	if item == nil {
		return nil
	}
	f := &schema.FieldDocument{Name: name, Role: "collection", Fields: []*schema.FieldDocument{item}}
	if item.Type != "" {
		f.Type = fmt.Sprintf(format, item.Type)
	}
	return f
}

// standard returns the field of a C++ type of the standard library.
func (m *modeler) standard(path, name, cpp string) *schema.FieldDocument {
	f, err := schema.FieldOf(name, cpp)
	if err != nil {
		m.fail(path, "%v", err)
		return nil
	}
	return f
}

// dictionary returns the field of a Go map: a std::map, or a std::set if its elements are empty
// structs.
func (m *modeler) dictionary(path, name string, t reflect.Type, tag Tag) *schema.FieldDocument {
	if t.Key() == timeType {
		m.fail(path, "%v", errTimeKey)
		return nil
	}
	if t.Elem() == emptyType {
		return m.collection(path, name, "std::set<%s>", t.Key(), tag, false)
	}
	ofKey := tag
	ofKey.class = ""
	key, val := m.field(path, "_0", t.Key(), ofKey, false), m.field(path, "_1", t.Elem(), tag, false)
	if key == nil || val == nil {
		return nil
	}
	pair := &schema.FieldDocument{Name: "_0", Type: fmt.Sprintf("std::pair<%s,%s>", key.Type, val.Type), Role: "record",
		Fields: []*schema.FieldDocument{key, val}}
	return &schema.FieldDocument{Name: name, Type: fmt.Sprintf("std::map<%s,%s>", key.Type, val.Type), Role: "collection",
		Fields: []*schema.FieldDocument{pair}}
}

// template returns the name of the C++ type that t stands for, as the types of
// package cpp do; "" for other types.
func template(t reflect.Type) string {
	if v, ok := reflect.Zero(t).Interface().(interface{ CppTemplate() string }); ok && t.Kind() != reflect.Pointer {
		return v.CppTemplate()
	}
	return ""
}

// unwrap returns the type that the memory of t is used as: a type of package cpp
// whose only field is Value has the memory of that field.
func unwrap(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Struct && t.NumField() == 1 && t.Field(0).Name == "Value" && template(t) != "" {
		return t.Field(0).Type
	}
	return t
}

// template returns the field for values of type t, a type as those of package cpp.
func (m *modeler) template(path, name string, t reflect.Type, tag Tag) *schema.FieldDocument {
	cpp := template(t)
	if cppNames[t.Kind()] != "" { // a number
		return m.standard(path, name, cpp)
	}
	role, args := arguments(t)
	f := &schema.FieldDocument{Name: name, Role: role}
	var names []string
	for i, arg := range args {
		child := m.field(path, fmt.Sprint("_", i), arg, tag, false)
		if child == nil {
			return nil
		}
		f.Fields, names = append(f.Fields, child), append(names, child.Type)
	}
	if strings.HasSuffix(cpp, "map") { // of key and value, not of pairs
		names = []string{f.Fields[0].Fields[0].Type, f.Fields[0].Fields[1].Type}
	}
	f.Type = cpp + "<" + strings.Join(names, ",") + ">"
	return f
}

// arguments returns the role of the field for t, a type as those of package cpp, and
// the Go types of its template arguments.
func arguments(t reflect.Type) (role string, args []reflect.Type) {
	if v, ok := reflect.Zero(t).Interface().(interface{ CppAlternatives() []reflect.Type }); ok {
		return "variant", v.CppAlternatives()
	}
	switch inner := unwrap(t); {
	case t.Kind() == reflect.Slice:
		return "collection", []reflect.Type{t.Elem()}
	case inner.Kind() == reflect.Pointer:
		return "collection", []reflect.Type{inner.Elem()}
	case inner != t:
		return "plain", []reflect.Type{inner}
	}
	for sf := range t.Fields() {
		args = append(args, sf.Type)
	}
	return "record", args
}

// className returns the C++ name of a struct, "" if it is to be untyped.
func (m *modeler) className(path string, t reflect.Type, tag Tag, untyped bool) string {
	switch {
	case tag.class != "":
		return tag.class
	case untyped:
		return ""
	case t.Name() == "":
		m.fail(path, "an unnamed struct needs a C++ class here: rntuple:\"name,class=...\"")
		return "Class" // one problem is enough
	case strings.Contains(t.Name(), "["):
		m.fail(path, "the generic struct %v needs a C++ class here: rntuple:\"name,class=...\"", t)
		return "Class"
	}
	return t.Name()
}

// emptyType is that of the elements of a Go map that is a set.
var emptyType = reflect.TypeFor[struct{}]()

// innermost returns the only leaf below f, or f.
func innermost(f *schema.FieldDocument) *schema.FieldDocument {
	for len(f.Fields) == 1 {
		f = f.Fields[0]
	}
	return f
}

// encode sets the column type of a leaf as a tag asks for.
func (m *modeler) encode(path string, f *schema.FieldDocument, tag Tag) {
	if len(f.Fields) > 0 {
		m.fail(path, "the tag chooses an encoding, but the field has several leaves")
		return
	}
	c := schema.ColumnDocument{Type: tag.encoding}
	switch {
	case tag.trunc != 0:
		c.Type, c.Bits = column.Real32Trunc.String(), uint16(tag.trunc)
	case tag.quant != 0:
		c.Type, c.Bits, c.Range = column.Real32Quant.String(), uint16(tag.quant), &[2]float64{tag.min, tag.max}
	}
	if t, err := cpptype.Parse(f.Type); err == nil && t.Kind() == cpptype.String {
		f.Columns = [][]schema.ColumnDocument{{c, {Type: column.Char.String(), Bits: 8}}}
		return
	}
	f.Columns = [][]schema.ColumnDocument{{c}}
}
