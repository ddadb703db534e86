package field

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/cpptype"
	"github.com/go-rntuple/go-rntuple/schema"
)

// scalar compiles a number, bool, character or byte. The elements are read as
// what the field's type says, and then converted if t is another type.
func (c *compiler) scalar(f *schema.Field, t reflect.Type) node {
	switch f.Kind() {
	case cpptype.Bool:
		return elements(c, f, t, fromBools)
	case cpptype.Char, cpptype.Int8:
		return elements(c, f, t, fromInts[int8])
	case cpptype.Byte:
		return elements(c, f, t, fromBytes)
	case cpptype.UInt8:
		return elements(c, f, t, fromInts[uint8])
	case cpptype.Int16:
		return elements(c, f, t, fromInts[int16])
	case cpptype.UInt16:
		return elements(c, f, t, fromInts[uint16])
	case cpptype.Int32:
		return elements(c, f, t, fromInts[int32])
	case cpptype.UInt32:
		return elements(c, f, t, fromInts[uint32])
	case cpptype.Int64:
		return elements(c, f, t, fromInts[int64])
	case cpptype.UInt64:
		return elements(c, f, t, fromInts[uint64])
	case cpptype.Float32:
		return elements(c, f, t, fromFloat32s)
	case cpptype.Float64:
		return elements(c, f, t, fromFloat64s)
	}
	panic(fmt.Sprintf("field %q: a scalar of kind %v", f.Path(), f.Kind())) // package schema makes no such field
}

// elements compiles a field whose values are elements of type F. from returns the
// converter to another type, nil if there is none.
func elements[F column.Element](c *compiler, f *schema.Field, t reflect.Type, from func(reflect.Type) converter[F]) node {
	l := leaf[F]{column: open[F](c, f, 0)}
	switch own := reflect.TypeFor[F](); {
	case t == anyType:
		return box[F](&l)
	case t.Kind() == own.Kind(), isInteger(t) && isInteger(own) && isInt(t) == isInt(own) && t.Size() == own.Size():
		return &l
	}
	convert := from(t)
	if convert == nil {
		return c.mismatch(f, t)
	}
	if t.Kind() == reflect.Bool || t.Kind() == reflect.Float32 {
		c.merging = true
	}
	return &converted[F]{leaf: l, convert: convert, path: f.Path(), to: t}
}

var scalarTypes = map[cpptype.Kind]string{
	cpptype.Bool: "bool", cpptype.Char: "int8", cpptype.Byte: "byte",
	cpptype.Int8: "int8", cpptype.Int16: "int16", cpptype.Int32: "int32", cpptype.Int64: "int64",
	cpptype.UInt8: "uint8", cpptype.UInt16: "uint16", cpptype.UInt32: "uint32", cpptype.UInt64: "uint64",
	cpptype.Float32: "float32", cpptype.Float64: "float64",
}

// GoType returns a Go type that the values of f fit, as source text.
func GoType(f *schema.Field) string {
	switch f.Shape {
	case schema.Scalar:
		return scalarTypes[f.Kind()]
	case schema.String:
		return "string"
	case schema.Streamer:
		return "[]byte"
	case schema.Bitset:
		return fmt.Sprintf("[%d]bool", f.ArraySize)
	case schema.Cardinality:
		return "uint64"
	case schema.Array:
		return fmt.Sprintf("[%d]%s", f.ArraySize, GoType(f.Children[0]))
	case schema.Wrapper:
		return GoType(f.Children[0])
	case schema.Optional:
		return "*" + GoType(f.Children[0])
	case schema.Collection:
		if f.IsMap() && !f.Kind().IsMulti() {
			return fmt.Sprintf("map[%s]%s", GoType(f.Children[0].Children[0]), GoType(f.Children[0].Children[1]))
		}
		return "[]" + GoType(f.Children[0])
	case schema.Record:
		var members []string
		for _, child := range f.Children {
			members = append(members, child.Name)
		}
		return fmt.Sprintf("a struct with the fields %s", strings.Join(members, ", "))
	}
	return "any"
}
