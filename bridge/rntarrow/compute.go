package rntarrow

import (
	"fmt"
	"iter"
	"math"
	"reflect"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Columns compute fields from those of a source, as expression.Fields do. See surgery.Columns.
type Columns interface {
	Columns(s rntuple.Source) (fields []*schema.FieldDocument,
		in func(s rntuple.Source, r rntuple.EntryRange) iter.Seq2[*rntuple.Batch, error], err error)
}

// computed are the columns that are not read.
type computed struct {
	entries int // the column of entry numbers, or -1
	shapes  []*columnar.Array
	in      func(s rntuple.Source, r rntuple.EntryRange) iter.Seq2[*rntuple.Batch, error]
}

// newComputed returns the columns that the options ask for.
func newComputed(s rntuple.Source, o Options) (*computed, error) {
	c := &computed{entries: -1}
	if o.Compute != nil {
		docs, in, err := o.Compute.Columns(s)
		if err != nil {
			return nil, err
		}
		described, err := (&schema.Document{Name: "computed", Fields: docs}).Describe(false)
		if err != nil {
			return nil, err
		}
		built, err := schema.Build(&envelope.Header{Name: "computed", Schema: *described}, nil)
		if err != nil {
			return nil, err
		}
		for _, f := range built.Fields {
			a, err := emptyOf(f)
			if err != nil {
				return nil, err
			}
			c.shapes = append(c.shapes, a)
		}
		c.in = in
	}
	if o.EntryNumbers != "" {
		c.entries = len(c.shapes)
		a := columnar.New([]int64{})
		a.Name = o.EntryNumbers
		c.shapes = append(c.shapes, a)
	}
	return c, nil
}

// values returns the values of the columns for the entries of a batch of s.
func (c *computed) values(s rntuple.Source, b *rntuple.Batch) ([]*columnar.Array, error) {
	out := make([]*columnar.Array, len(c.shapes))
	for i, a := range c.shapes {
		out[i] = columnar.Like(a)
	}
	if c.in != nil {
		for some, err := range c.in(s, rntuple.EntryRange{First: b.First, End: b.First + int64(b.Len)}) {
			if err != nil {
				return nil, err
			}
			for i, a := range some.Columns {
				if err := appendTo(out[i], a, nil); err != nil {
					return nil, fmt.Errorf("entries %d to %d: %q: %w", some.First, some.First+int64(some.Len), c.shapes[i].Name, err)
				}
			}
		}
	}
	if c.entries >= 0 {
		numbers := make([]int64, b.Len)
		for i := range numbers {
			numbers[i] = b.First + int64(i)
		}
		for selection, ok := s.(*rntuple.Selection); ok; selection, ok = selection.Source().(*rntuple.Selection) {
			for i, n := range numbers {
				numbers[i] = selection.Entry(n)
			}
		}
		columnar.SetValues(out[c.entries], numbers)
	}
	return out, nil
}

// emptyOf returns an Array without values for a field.
func emptyOf(f *schema.Field) (*columnar.Array, error) {
	a := &columnar.Array{Name: f.Name, Field: f, Shape: f.Shape, Size: int(f.ArraySize)}
	if f.Shape == schema.Scalar {
		set := empties[f.ElementKind()]
		if set == nil {
			return nil, fmt.Errorf("field %q of type %s cannot be computed", f.Path(), f.CppType())
		}
		set(a)
	}
	for _, child := range f.Children {
		c, err := emptyOf(child)
		if err != nil {
			return nil, err
		}
		a.Children = append(a.Children, c)
	}
	return a, nil
}

var empties = map[reflect.Kind]func(*columnar.Array){
	reflect.Bool: empty[bool],
	reflect.Int8: empty[int8], reflect.Int16: empty[int16], reflect.Int32: empty[int32], reflect.Int64: empty[int64],
	reflect.Uint8: empty[uint8], reflect.Uint16: empty[uint16], reflect.Uint32: empty[uint32],
	reflect.Uint64:  empty[uint64],
	reflect.Float32: empty[float32], reflect.Float64: empty[float64],
}

func empty[T columnar.Element](a *columnar.Array) { columnar.SetValues(a, []T{}) }

// appendTo appends the values of an Array to one of the same shape, whose numbers may have another type. valid tells
// which values there are; nil stands for all.
func appendTo(to, from *columnar.Array, valid []bool) error {
	switch to.Shape {
	case schema.Scalar:
		return appendNumbers(to, from, valid)
	case schema.Optional:
		to.Valid = append(to.Valid, from.Valid...)
		valid = from.Valid
	case schema.String, schema.Collection:
		valid = nil
		last := int64(0)
		if to.Len > 0 {
			last = to.Offsets[to.Len]
		} else {
			to.Offsets = append(to.Offsets[:0], 0)
		}
		for _, end := range from.Offsets[1 : from.Len+1] {
			to.Offsets = append(to.Offsets, last+end)
		}
		to.Bytes = append(to.Bytes, from.Bytes...)
	case schema.Array:
		valid = nil
	}
	to.Len += from.Len
	for i, child := range to.Children {
		if err := appendTo(child, from.Children[i], valid); err != nil {
			return err
		}
	}
	return nil
}

func appendNumbers(to, from *columnar.Array, valid []bool) error {
	if columnar.Alike(to, from) {
		return columnar.Append(to, from, []columnar.Span{{N: int64(from.Len)}}, math.MaxInt64)
	}
	switch to.Values().(type) {
	case []int8:
		return narrowTo[int8](to, from, valid)
	case []int16:
		return narrowTo[int16](to, from, valid)
	case []int32:
		return narrowTo[int32](to, from, valid)
	case []uint8:
		return narrowTo[uint8](to, from, valid)
	case []uint16:
		return narrowTo[uint16](to, from, valid)
	case []uint32:
		return narrowTo[uint32](to, from, valid)
	case []uint64:
		return narrowTo[uint64](to, from, valid)
	case []float32:
		return narrowTo[float32](to, from, valid)
	}
	return fmt.Errorf("there are %T for %T", from.Values(), to.Values())
}

// narrowTo appends 64-bit numbers to narrower ones, which must hold them; floating-point numbers are rounded.
func narrowTo[T int8 | int16 | int32 | uint8 | uint16 | uint32 | uint64 | float32](to, from *columnar.Array,
	valid []bool) error {
	out := columnar.Elements[T](to)
	if all := columnar.Elements[float64](from); all != nil {
		for i, x := range all {
			v := T(x)
			if there := valid == nil || valid[i]; there && math.IsInf(float64(v), 0) && !math.IsInf(x, 0) {
				return fmt.Errorf("%v: %w", x, rntuple.ErrRange)
			}
			out = append(out, v)
		}
	}
	for i, x := range columnar.Elements[int64](from) {
		v := T(x)
		if there := valid == nil || valid[i]; there && (int64(v) != x || v < 0 != (x < 0)) {
			return fmt.Errorf("%d: %w", x, rntuple.ErrRange)
		}
		out = append(out, v)
	}
	columnar.SetValues(to, out)
	return nil
}

// compile returns the fields and the columns in Arrow.
func (c *computed) compile(with *compiler) (fields []arrow.Field, columns []column, err error) {
	for _, a := range c.shapes {
		f, col, err := with.field(a, a.Name)
		if err != nil {
			return nil, nil, err
		}
		fields, columns = append(fields, f), append(columns, col)
	}
	return fields, columns, nil
}
