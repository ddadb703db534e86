package field

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/cpptype"
	"github.com/go-rntuple/go-rntuple/schema"
)

// tag is what a struct field says about the field of an RNTuple:
//
//	rntuple:"name,option,option=value"
type tag struct {
	name        string
	skip        bool // "-"
	flatten     bool // an embedded struct without a tag
	typ         string
	class, enum string
	encoding    string
	trunc       int
	quant       int
	min, max    float64
	description string
}

// parseTag reads the tag of a struct field.
func parseTag(sf reflect.StructField) (tag, error) {
	text, given := sf.Tag.Lookup("rntuple")
	t := tag{name: sf.Name, min: math.NaN(), max: math.NaN()}
	parts := splitTag(text)
	switch {
	case text == "-":
		t.skip = true
		return t, nil
	case sf.Anonymous && !given && sf.Type.Kind() == reflect.Struct:
		t.flatten = true
		return t, nil
	case !sf.IsExported():
		t.skip = true
		if given {
			return t, fmt.Errorf("%s: the field is not exported", sf.Name)
		}
		return t, nil
	case len(parts) > 0 && parts[0] != "":
		t.name = parts[0]
	}
	for _, option := range parts[min(1, len(parts)):] {
		key, arg, _ := strings.Cut(option, "=")
		var err error
		switch key {
		case "optional": // for readers
		case "type":
			t.typ = arg
		case "class":
			t.class = arg
		case "enum":
			t.enum = arg
		case "encoding":
			t.encoding = arg
		case "trunc":
			t.trunc, err = strconv.Atoi(arg)
		case "quant":
			t.quant, err = strconv.Atoi(arg)
		case "min":
			t.min, err = strconv.ParseFloat(arg, 64)
		case "max":
			t.max, err = strconv.ParseFloat(arg, 64)
		case "desc":
			t.description = arg
		default:
			err = fmt.Errorf("unknown option %q", key)
		}
		if err != nil {
			return t, fmt.Errorf("%s: tag: %w", sf.Name, err)
		}
	}
	return t, nil
}

// splitTag splits a tag at the commas that are not within <> or a description,
// which takes all that follows.
func splitTag(text string) (parts []string) {
	depth, begin := 0, 0
	for i, c := range text {
		switch {
		case c == '<':
			depth++
		case c == '>':
			depth--
		case c == ',' && depth == 0 && !strings.HasPrefix(text[begin:], "desc="):
			parts, begin = append(parts, text[begin:i]), i+1
		}
	}
	return append(parts, text[begin:])
}

// modeler makes a schema out of a Go type and collects what is wrong with it.
type modeler struct{ problems []string }

// Model returns the schema that values of the struct type t are written with by
// default. The error, a *schema.DocumentError, lists everything that is wrong with
// t and its tags; the document has the fields that are right.
func Model(name string, t reflect.Type) (*schema.Document, error) {
	d := &schema.Document{Name: name}
	if t.Kind() != reflect.Struct {
		return d, &schema.DocumentError{Problems: []string{fmt.Sprintf("%v is no struct", t)}}
	}
	m := &modeler{}
	d.Fields = m.members("", t, true)
	if len(m.problems) > 0 {
		return d, &schema.DocumentError{Problems: m.problems}
	}
	return d, nil
}

func (m *modeler) fail(path, format string, args ...any) {
	m.problems = append(m.problems, path+": "+fmt.Sprintf(format, args...))
}

// members returns the fields for those of the struct t. Below an untyped field,
// structs and slices of them may be untyped.
func (m *modeler) members(path string, t reflect.Type, untyped bool) (fields []*schema.FieldDocument) {
	for i := range t.NumField() {
		sf := t.Field(i)
		tag, err := parseTag(sf)
		if err != nil {
			m.fail(strings.TrimPrefix(path+"."+sf.Name, "."), "%v", err)
			continue
		}
		switch {
		case tag.skip:
		case tag.flatten:
			fields = append(fields, m.members(path, sf.Type, untyped)...)
		default:
			at := strings.TrimPrefix(path+"."+tag.name, ".")
			if f := m.field(at, tag.name, sf.Type, tag, untyped); f != nil {
				f.Description = tag.description
				fields = append(fields, f)
			}
		}
	}
	return fields
}

var cppNames = map[reflect.Kind]string{
	reflect.Bool: "bool", reflect.Int8: "std::int8_t", reflect.Int16: "std::int16_t", reflect.Int32: "std::int32_t", reflect.Int64: "std::int64_t", reflect.Int: "std::int64_t",
	reflect.Uint8: "std::uint8_t", reflect.Uint16: "std::uint16_t", reflect.Uint32: "std::uint32_t", reflect.Uint64: "std::uint64_t", reflect.Uint: "std::uint64_t",
	reflect.Float32: "float", reflect.Float64: "double", reflect.String: "std::string",
}

// field returns the field of the given name for values of type t.
func (m *modeler) field(path, name string, t reflect.Type, tag tag, untyped bool) *schema.FieldDocument {
	f := m.shape(path, name, t, tag, untyped)
	if f != nil && tag.encoding == "" && tag.trunc == 0 && tag.quant == 0 {
		return f
	}
	if f != nil {
		m.encode(path, innermost(f), tag)
	}
	return f
}

func (m *modeler) shape(path, name string, t reflect.Type, tag tag, untyped bool) *schema.FieldDocument {
	if tag.typ != "" {
		f, err := schema.FieldOf(name, tag.typ)
		if err != nil {
			m.fail(path, "%v", err)
		}
		return f
	}
	inner := tag
	inner.description = ""
	if cpp := template(t); cpp != "" {
		return m.template(path, name, cpp, t, inner)
	}
	if n := cppNames[t.Kind()]; n != "" {
		f, err := schema.FieldOf(name, n)
		if err != nil {
			m.fail(path, "%v", err)
		}
		if tag.enum != "" {
			item := *f
			item.Name = "_0"
			f = &schema.FieldDocument{Name: name, Type: tag.enum, Role: "plain", Fields: []*schema.FieldDocument{&item}}
		}
		return f
	}
	item := func(t reflect.Type, untyped bool) []*schema.FieldDocument {
		if f := m.field(path, "_0", t, inner, untyped); f != nil {
			return []*schema.FieldDocument{f}
		}
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		return &schema.FieldDocument{Name: name, Type: m.className(path, t, tag, untyped), Role: "record", Fields: m.members(path, t, tag.class == "" && untyped)}
	case reflect.Slice:
		f := &schema.FieldDocument{Name: name, Role: "collection", Fields: item(t.Elem(), untyped)}
		return m.typed(f, "std::vector<%s>")
	case reflect.Array:
		n := uint64(t.Len())
		f := &schema.FieldDocument{Name: name, Role: "plain", ArraySize: &n, Fields: item(t.Elem(), false)}
		return m.typed(f, fmt.Sprintf("std::array<%%s,%d>", n))
	case reflect.Pointer:
		f := &schema.FieldDocument{Name: name, Role: "collection", Fields: item(t.Elem(), false)}
		return m.typed(f, "std::optional<%s>")
	case reflect.Map:
		inner.class = ""
		key, val := m.field(path, "_0", t.Key(), inner, false), m.field(path, "_1", t.Elem(), tag, false)
		if key == nil || val == nil {
			return nil
		}
		pair := &schema.FieldDocument{Name: "_0", Type: fmt.Sprintf("std::pair<%s,%s>", key.Type, val.Type), Role: "record", Fields: []*schema.FieldDocument{key, val}}
		return &schema.FieldDocument{Name: name, Type: fmt.Sprintf("std::map<%s,%s>", key.Type, val.Type), Role: "collection", Fields: []*schema.FieldDocument{pair}}
	case reflect.Interface:
		m.fail(path, "a field of type %v needs a C++ type: rntuple:\"name,type=std::variant<...>\"", t)
	default:
		m.fail(path, "values of type %v cannot be written", t)
	}
	return nil
}

// template returns the name of the C++ type that t stands for, as the types of
// package cpp say it; "" for others.
func template(t reflect.Type) string {
	if v, ok := reflect.Zero(t).Interface().(interface{ CppTemplate() string }); ok && t.Kind() != reflect.Pointer {
		return v.CppTemplate()
	}
	return ""
}

// unwrap returns the type that the memory of t is used as: types of package cpp
// that have a single field Value have the memory of that.
func unwrap(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Struct && t.NumField() == 1 && t.Field(0).Name == "Value" && template(t) != "" {
		return t.Field(0).Type
	}
	return t
}

// template returns the field for values of type t, which stands for the C++ type
// cpp.
func (m *modeler) template(path, name, cpp string, t reflect.Type, tag tag) *schema.FieldDocument {
	var args []reflect.Type
	role := "collection"
	switch v := reflect.Zero(t).Interface().(type) {
	case interface{ CppAlternatives() []reflect.Type }:
		role, args = "variant", v.CppAlternatives()
	default:
		switch inner := unwrap(t); {
		case cppNames[t.Kind()] != "": // a number
			f, err := schema.FieldOf(name, cpp)
			if err != nil {
				m.fail(path, "%v", err)
			}
			return f
		case t.Kind() == reflect.Slice:
			args = []reflect.Type{t.Elem()}
		case inner.Kind() == reflect.Pointer:
			args = []reflect.Type{inner.Elem()}
		case inner != t:
			role, args = "plain", []reflect.Type{inner}
		default:
			role = "record"
			for i := range t.NumField() {
				args = append(args, t.Field(i).Type)
			}
		}
	}
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

// typed gives a collection or array its type name, from that of its only child.
// One of untyped items is untyped.
func (m *modeler) typed(f *schema.FieldDocument, format string) *schema.FieldDocument {
	if len(f.Fields) == 0 {
		return nil
	}
	if t := f.Fields[0].Type; t != "" {
		f.Type = fmt.Sprintf(format, t)
	}
	return f
}

// className returns the C++ name of a struct, "" if it is to be untyped.
func (m *modeler) className(path string, t reflect.Type, tag tag, untyped bool) string {
	switch {
	case tag.class != "":
		return tag.class
	case untyped:
		return ""
	case t.Name() == "":
		m.fail(path, "an unnamed struct needs a C++ class here: rntuple:\"name,class=...\"")
	}
	return t.Name()
}

// innermost returns the only leaf below f, or f.
func innermost(f *schema.FieldDocument) *schema.FieldDocument {
	for len(f.Fields) == 1 {
		f = f.Fields[0]
	}
	return f
}

// encode sets the column type of a leaf as a tag asks for.
func (m *modeler) encode(path string, f *schema.FieldDocument, tag tag) {
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
