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
// what the field's type says, and then widened if t is wider.
func (c *compiler) scalar(f *schema.Field, t reflect.Type) node {
	switch f.Kind() {
	case cpptype.Bool:
		switch {
		case t == anyType:
			return box[bool](&leaf[bool]{column: open[bool](c, f, 0)})
		case t.Kind() == reflect.Bool:
			return &leaf[bool]{column: open[bool](c, f, 0)}
		}
		return c.mismatch(f, t)
	case cpptype.Char, cpptype.Int8:
		return numeric[int8](c, f, t)
	case cpptype.Byte, cpptype.UInt8:
		return numeric[uint8](c, f, t)
	case cpptype.Int16:
		return numeric[int16](c, f, t)
	case cpptype.UInt16:
		return numeric[uint16](c, f, t)
	case cpptype.Int32:
		return numeric[int32](c, f, t)
	case cpptype.UInt32:
		return numeric[uint32](c, f, t)
	case cpptype.Int64:
		return numeric[int64](c, f, t)
	case cpptype.UInt64:
		return numeric[uint64](c, f, t)
	case cpptype.Float32:
		return numeric[float32](c, f, t)
	case cpptype.Float64:
		return numeric[float64](c, f, t)
	}
	panic(fmt.Sprintf("field %q: a scalar of kind %v", f.Path(), f.Kind())) // package schema makes no such field
}

// numeric compiles a field of type F.
func numeric[F interface {
	number
	column.Element
}](c *compiler, f *schema.Field, t reflect.Type) node {
	l := leaf[F]{column: open[F](c, f, 0)}
	from := reflect.TypeFor[F]()
	switch {
	case t == anyType:
		return box[F](&l)
	case t.Kind() == from.Kind(), isInt(t) && isInt(from) && t.Size() == from.Size(), isUint(t) && isUint(from) && t.Size() == from.Size():
		return &l
	case isInt(t) && (isInt(from) || isUint(from)) && t.Size() > from.Size():
		switch t.Size() {
		case 2:
			return &widened[F, int16]{l}
		case 4:
			return &widened[F, int32]{l}
		}
		return &widened[F, int64]{l}
	case isUint(t) && isUint(from) && t.Size() > from.Size():
		switch t.Size() {
		case 2:
			return &widened[F, uint16]{l}
		case 4:
			return &widened[F, uint32]{l}
		}
		return &widened[F, uint64]{l}
	case t.Kind() == reflect.Float64 && from.Kind() == reflect.Float32:
		return &widened[F, float64]{l}
	}
	return c.mismatch(f, t)
}

func isInt(t reflect.Type) bool  { return t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64 }
func isUint(t reflect.Type) bool { return t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64 }

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
