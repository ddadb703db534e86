package field

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/convert"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
)

// A scalar makes the nodes for bools, numbers, characters and bytes.
type scalar interface {
	// reader compiles reading values of f into t.
	reader(c *compiler, f *schema.Field, t reflect.Type) node
	// batch compiles reading values of f, or of the bits of f, into a.
	batch(c *batchCompiler, f *schema.Field, a *columnar.Array, domain string) batchNode
	// writer compiles writing values of type t to f.
	writer(c *writeCompiler, f *schema.Field, t reflect.Type) out
	// putter compiles writing dynamic values to f.
	putter(c *writeCompiler, f *schema.Field) putter
}

// scalars lists the scalars by the kind of the field's values. Code that is generic
// in the type of elements needs such a list in each package that has any.
var scalars = [...]scalar{
	reflect.Bool: scalarOf[bool]{},
	reflect.Int8: scalarOf[int8]{}, reflect.Int16: scalarOf[int16]{}, reflect.Int32: scalarOf[int32]{},
	reflect.Int64: scalarOf[int64]{},
	reflect.Uint8: scalarOf[uint8]{}, reflect.Uint16: scalarOf[uint16]{}, reflect.Uint32: scalarOf[uint32]{},
	reflect.Uint64:  scalarOf[uint64]{},
	reflect.Float32: scalarOf[float32]{}, reflect.Float64: scalarOf[float64]{},
}

// scalarOf is the scalar for values of type T.
type scalarOf[T column.Element] struct{}

// reader implements scalar. The elements are read as values of the field's type, and
// then converted if t is another type.
func (scalarOf[T]) reader(c *compiler, f *schema.Field, t reflect.Type) node {
	l := leaf[T]{column: open[T](c, f, 0)}
	from, to := f.ElementKind(), convert.KindOf(t)
	switch {
	case t == anyType:
		return box[T](&l)
	case from == to:
		return &l
	}
	between := convert.Between(from, to)
	// A std::byte is not a number: it becomes one only where all of them do.
	if between == nil || f.Kind() == cpptype.Byte && !convert.IsExact(from, to) {
		return c.mismatch(f, t)
	}
	if to == reflect.Bool || to == reflect.Float32 {
		c.merging = true
	}
	return &converted[T]{leaf: l, convert: between, path: f.Path(), to: t}
}

// writer implements scalar. Unlike in reading, bools are converted neither to integers
// nor from them.
func (scalarOf[T]) writer(c *writeCompiler, f *schema.Field, t reflect.Type) out {
	from, to := convert.KindOf(t), f.ElementKind()
	if from == to {
		return &leafOut[T]{outColumn[T](c, f, 0)}
	}
	between := convert.Between(from, to)
	if between == nil || from == reflect.Bool || to == reflect.Bool {
		return c.mismatch(f, t)
	}
	c.fallible = true
	return &convertedOut[T]{path: f.Path(), buffers: outColumn[T](c, f, 0), from: from, convert: between}
}

// putter implements scalar.
func (s scalarOf[T]) putter(c *writeCompiler, f *schema.Field) putter {
	return typed[T](f, s.writer(c, f, reflect.TypeFor[T]()))
}

// GoType returns a Go type that can hold the values of f, as source text.
func GoType(f *schema.Field) string {
	switch f.Shape {
	case schema.Scalar:
		if f.Kind() == cpptype.Byte {
			return "byte"
		}
		return f.ElementKind().String()
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
