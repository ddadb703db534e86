package rntarrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"unicode/utf8"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A column returns the values of an Array as Arrow's. valid has the validity of the values, of
// which the given number are missing; it is nil if none is.
type column func(a *columnar.Array, valid *memory.Buffer, nulls int) (arrow.ArrayData, error)

// A compiler makes columns.
type compiler struct {
	Options

	// With Parquet, which of the values are there that those that are compiled belong to, while a
	// column is made; nil if all are.
	mask *[]bool
}

// field returns the field and the column for Arrays like a, under a name.
func (c *compiler) field(a *columnar.Array, name string) (arrow.Field, column, error) {
	f := arrow.Field{Name: name, Nullable: a.Shape == schema.Optional}
	keys, values := []string{}, []string{}
	if a.Field != nil {
		keys, values = append(keys, TypeKey), append(values, a.Field.CppType())
		if d := a.Field.Description; d != "" {
			keys, values = append(keys, DescriptionKey), append(values, d)
		}
	}
	f.Metadata = arrow.NewMetadata(keys, values)
	var col column
	var err error
	f.Type, col, err = c.column(a)
	return f, col, err
}

// item returns the field of the items of collections and arrays.
func (c *compiler) item(a *columnar.Array) (arrow.Field, column, error) {
	inner := *c
	inner.mask = nil // those that are missing have no items
	f, col, err := inner.field(a, "item")
	f.Metadata = arrow.Metadata{} // the type of the collection says it all
	return f, col, err
}

// A noType is the error about a field that has no type in Arrow.
type noType struct{ text string }

func (e *noType) Error() string        { return e.text }
func (e *noType) Is(target error) bool { return target == errors.ErrUnsupported }

func none(a *columnar.Array, why string) error {
	if a.Field == nil {
		return &noType{fmt.Sprintf("%q has no type in Arrow: %s", a.Name, why)}
	}
	return &noType{fmt.Sprintf("field %q of type %s has no type in Arrow: %s", a.Field.Path(), a.Field.CppType(), why)}
}

// column returns the type and the column for Arrays like a.
func (c *compiler) column(a *columnar.Array) (arrow.DataType, column, error) {
	switch a.Shape {
	case schema.Scalar, schema.Cardinality:
		t := numberTypes[reflect.TypeOf(a.Values()).Elem().Kind()]
		if t == nil {
			return nil, nil, none(a, fmt.Sprintf("its values are %T", a.Values()))
		}
		return t, scalars(t), nil
	case schema.Bitset:
		if a.Size == 0 {
			return nil, nil, none(a, "it has no items")
		}
		if c.mask != nil {
			return c.arrayList(a)
		}
		t := arrow.FixedSizeListOfNonNullable(int32(a.Size), arrow.FixedWidthTypes.Boolean)
		return t, func(a *columnar.Array, valid *memory.Buffer, nulls int) (arrow.ArrayData, error) {
			items := flat(arrow.FixedWidthTypes.Boolean, a.Len*a.Size, bitmap(a.Values().([]bool)))
			return array.NewData(t, a.Len, []*memory.Buffer{valid}, []arrow.ArrayData{items}, nulls, 0), nil
		}, nil
	case schema.String:
		t := c.pick(arrow.BinaryTypes.LargeString, arrow.BinaryTypes.String)
		if c.Binary {
			t = c.pick(arrow.BinaryTypes.LargeBinary, arrow.BinaryTypes.Binary)
		}
		return t, c.bytes(t, !c.Binary), nil
	case schema.Streamer:
		t := c.pick(arrow.BinaryTypes.LargeBinary, arrow.BinaryTypes.Binary)
		return t, c.bytes(t, false), nil
	case schema.Collection:
		return c.collection(a)
	case schema.Array:
		if a.Size == 0 {
			return nil, nil, none(a, "it has no items")
		}
		if c.Parquet && isByte(a.Children[0]) {
			return bytesOf(a.Size)
		}
		if c.mask != nil {
			return c.arrayList(a)
		}
		f, items, err := c.item(a.Children[0])
		if err != nil {
			return nil, nil, err
		}
		t := arrow.FixedSizeListOfField(int32(a.Size), f)
		return t, list(t, items, nil), nil
	case schema.Record:
		return c.record(a)
	case schema.Optional:
		return c.optional(a)
	case schema.Variant:
		if c.Structs {
			return c.alternatives(a)
		}
		return c.variant(a)
	}
	return nil, nil, none(a, fmt.Sprintf("its shape is %v", a.Shape))
}

// pick returns the type with 64-bit offsets or that with 32-bit ones.
func (o Options) pick(large, small arrow.DataType) arrow.DataType {
	if o.Lists32 {
		return small
	}
	return large
}

// listOf returns the type of lists.
func (o Options) listOf(item arrow.Field) arrow.DataType {
	return o.pick(arrow.LargeListOfField(item), arrow.ListOfField(item))
}

var numberTypes = map[reflect.Kind]arrow.DataType{
	reflect.Bool: arrow.FixedWidthTypes.Boolean,
	reflect.Int8: arrow.PrimitiveTypes.Int8, reflect.Int16: arrow.PrimitiveTypes.Int16,
	reflect.Int32: arrow.PrimitiveTypes.Int32, reflect.Int64: arrow.PrimitiveTypes.Int64,
	reflect.Uint8: arrow.PrimitiveTypes.Uint8, reflect.Uint16: arrow.PrimitiveTypes.Uint16,
	reflect.Uint32: arrow.PrimitiveTypes.Uint32, reflect.Uint64: arrow.PrimitiveTypes.Uint64,
	reflect.Float32: arrow.PrimitiveTypes.Float32, reflect.Float64: arrow.PrimitiveTypes.Float64,
}

// scalars returns the column of numbers and bools.
func scalars(t arrow.DataType) column {
	return func(a *columnar.Array, valid *memory.Buffer, nulls int) (arrow.ArrayData, error) {
		var values *memory.Buffer
		if b, ok := a.Values().([]bool); ok {
			values = bitmap(b)
		} else {
			v := reflect.ValueOf(a.Values())
			values = memory.NewBufferBytes(unsafe.Slice((*byte)(v.UnsafePointer()), v.Len()*int(v.Type().Elem().Size())))
		}
		return array.NewData(t, a.Len, []*memory.Buffer{valid, values}, nil, nulls, 0), nil
	}
}

func flat(t arrow.DataType, n int, values *memory.Buffer) arrow.ArrayData {
	return array.NewData(t, n, []*memory.Buffer{nil, values}, nil, 0, 0)
}

// bitmap packs bools, the first into the lowest bit.
func bitmap(b []bool) *memory.Buffer {
	packed := make([]byte, (len(b)+7)/8)
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
	i := 0
	for ; len(bytes) >= 8; bytes = bytes[8:] {
		// The product has byte k of the word, which is 0 or 1, in bit 56+k.
		packed[i] = byte(binary.LittleEndian.Uint64(bytes) * 0x0102040810204080 >> 56)
		i++
	}
	for k, bit := range bytes {
		packed[i] |= bit << k
	}
	return memory.NewBufferBytes(packed)
}

// bytes returns the column of strings or streamed objects.
func (c *compiler) bytes(t arrow.DataType, text bool) column {
	return func(a *columnar.Array, valid *memory.Buffer, nulls int) (arrow.ArrayData, error) {
		offsets, err := c.offsets(a)
		if err != nil {
			return nil, err
		}
		if text {
			if i := notUTF8(a); i >= 0 {
				return nil, fmt.Errorf("value %d is not UTF-8: %q; the option Binary reads it as bytes", i,
					a.Bytes[a.Offsets[i]:a.Offsets[i+1]])
			}
		}
		bytes := a.Bytes
		if bytes == nil {
			bytes = []byte{} // an empty value is not the same as none
		}
		return array.NewData(t, a.Len, []*memory.Buffer{valid, offsets, memory.NewBufferBytes(bytes)}, nil, nulls, 0), nil
	}
}

// notUTF8 returns the first string that is not UTF-8, or -1. Strings that are missing do not
// count, but their bytes are part of the memory and so must be UTF-8, too.
func notUTF8(a *columnar.Array) int {
	if utf8.Valid(a.Bytes) {
		whole := true
		for _, o := range a.Offsets[:a.Len] {
			whole = whole && (o == int64(len(a.Bytes)) || utf8.RuneStart(a.Bytes[o]))
		}
		if whole {
			return -1
		}
	}
	for i, o := range a.Offsets[:a.Len] {
		if !utf8.Valid(a.Bytes[o:a.Offsets[i+1]]) {
			return i
		}
	}
	return -1
}

// offsets returns the offsets of an Array.
func (c *compiler) offsets(a *columnar.Array) (*memory.Buffer, error) {
	if c.Lists32 {
		return narrow(a.Offsets)
	}
	return memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(a.Offsets)), nil
}

// narrow returns numbers that rise as 32-bit ones.
func narrow(offsets []int64) (*memory.Buffer, error) {
	if last := offsets[len(offsets)-1]; last > math.MaxInt32 {
		return nil, fmt.Errorf("%d items are too many for 32-bit offsets; a smaller batch has fewer", last)
	}
	small := make([]int32, len(offsets))
	for i, o := range offsets {
		small[i] = int32(o)
	}
	return memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(small)), nil
}

// list returns the column of lists: with offsets, or of one size.
func list(t arrow.DataType, items column, offsets func(a *columnar.Array) (*memory.Buffer, error)) column {
	return func(a *columnar.Array, valid *memory.Buffer, nulls int) (arrow.ArrayData, error) {
		buffers := []*memory.Buffer{valid}
		if offsets != nil {
			ends, err := offsets(a)
			if err != nil {
				return nil, err
			}
			buffers = append(buffers, ends)
		}
		child, err := items(a.Children[0], nil, 0)
		if err != nil {
			return nil, err
		}
		return array.NewData(t, a.Len, buffers, []arrow.ArrayData{child}, nulls, 0), nil
	}
}

func (c *compiler) collection(a *columnar.Array) (arrow.DataType, column, error) {
	if a.Field != nil && a.Field.IsMap() && !c.Pairs {
		pair, c := a.Children[0], &compiler{Options: c.Options}
		key, keys, err := c.field(pair.Children[0], "key")
		if err != nil {
			return nil, nil, err
		}
		value, values, err := c.field(pair.Children[1], "value")
		if err != nil {
			return nil, nil, err
		}
		t := arrow.MapOfFields(key, value)
		entries := members(t.Elem(), []column{keys, values})
		return t, list(t, entries, func(a *columnar.Array) (*memory.Buffer, error) { return narrow(a.Offsets) }), nil
	}
	f, items, err := c.item(a.Children[0])
	if err != nil {
		return nil, nil, err
	}
	t := c.listOf(f)
	return t, list(t, items, c.offsets), nil
}

func (c *compiler) record(a *columnar.Array) (arrow.DataType, column, error) {
	fields, columns := make([]arrow.Field, len(a.Children)), make([]column, len(a.Children))
	for i, child := range a.Children {
		var err error
		if fields[i], columns[i], err = c.field(child, child.Name); err != nil {
			return nil, nil, err
		}
	}
	t := arrow.StructOf(fields...)
	return t, members(t, columns), nil
}

// members returns the column of structs.
func members(t arrow.DataType, columns []column) column {
	return func(a *columnar.Array, valid *memory.Buffer, nulls int) (arrow.ArrayData, error) {
		children := make([]arrow.ArrayData, len(columns))
		for i, col := range columns {
			var err error
			if children[i], err = col(a.Children[i], nil, 0); err != nil {
				return nil, err
			}
		}
		return array.NewData(t, a.Len, []*memory.Buffer{valid}, children, nulls, 0), nil
	}
}

func (c *compiler) optional(a *columnar.Array) (arrow.DataType, column, error) {
	child := a.Children[0]
	inner := *c
	if c.Parquet {
		inner.mask = new([]bool)
	}
	t, value, err := inner.column(child)
	if err != nil {
		return nil, nil, err
	}
	if child.Shape == schema.Optional || child.Shape == schema.Variant && !c.Structs {
		bare := value
		f := arrow.Field{Name: "_0", Type: t, Nullable: child.Shape == schema.Optional}
		t = arrow.StructOf(f)
		value = func(a *columnar.Array, valid *memory.Buffer, nulls int) (arrow.ArrayData, error) {
			data, err := bare(a, nil, 0)
			if err != nil {
				return nil, err
			}
			return array.NewData(t, a.Len, []*memory.Buffer{valid}, []arrow.ArrayData{data}, nulls, 0), nil
		}
	}
	return t, func(a *columnar.Array, _ *memory.Buffer, _ int) (arrow.ArrayData, error) {
		valid := bitmap(a.Valid)
		nulls := a.Len
		for _, b := range valid.Bytes() {
			nulls -= bits.OnesCount8(b)
		}
		if inner.mask != nil {
			*inner.mask = slices.Clone(a.Valid)
			if c.mask != nil {
				for i, there := range *c.mask {
					(*inner.mask)[i] = (*inner.mask)[i] && there
				}
			}
		}
		return value(a.Children[0], valid, nulls)
	}, nil
}

// isByte reports whether values are of std::byte.
func isByte(a *columnar.Array) bool { return a.Field != nil && a.Field.TypeName == "std::byte" }

// bytesOf returns the type and the column of arrays of bytes for Parquet, which has a type for
// them.
func bytesOf(size int) (arrow.DataType, column, error) {
	t := &arrow.FixedSizeBinaryType{ByteWidth: size}
	return t, func(a *columnar.Array, valid *memory.Buffer, nulls int) (arrow.ArrayData, error) {
		bytes := a.Children[0].Values().([]uint8)
		return array.NewData(t, a.Len, []*memory.Buffer{valid, memory.NewBufferBytes(bytes)}, nil, nulls, 0), nil
	}, nil
}

// arrayList returns the type and the column of arrays as lists, which are empty where c.mask tells
// that something above is missing.
func (c *compiler) arrayList(a *columnar.Array) (arrow.DataType, column, error) {
	bitset := a.Shape == schema.Bitset
	items := scalars(arrow.FixedWidthTypes.Boolean)
	f := arrow.Field{Name: "item", Type: arrow.FixedWidthTypes.Boolean}
	if !bitset {
		var err error
		if f, items, err = c.item(a.Children[0]); err != nil {
			return nil, nil, err
		}
	}
	t := c.listOf(f)
	return t, func(a *columnar.Array, valid *memory.Buffer, nulls int) (arrow.ArrayData, error) {
		size := int64(a.Size)
		l := &columnar.Array{Shape: schema.Collection, Len: a.Len, Offsets: make([]int64, a.Len+1)}
		var spans []columnar.Span
		for i, there := range *c.mask {
			l.Offsets[i+1] = l.Offsets[i]
			if there {
				l.Offsets[i+1] += size
				spans = columnar.AddSpan(spans, columnar.Span{First: int64(i) * size, N: size})
			}
		}
		if bitset {
			bits, some := a.Values().([]bool), []bool{}
			for _, s := range spans {
				some = append(some, bits[s.First:s.First+s.N]...)
			}
			l.Children = []*columnar.Array{{Shape: schema.Scalar}}
			columnar.SetValues(l.Children[0], some)
		} else {
			l.Children = []*columnar.Array{columnar.Like(a.Children[0])}
			if err := columnar.Append(l.Children[0], a.Children[0], spans, math.MaxInt64); err != nil {
				return nil, err
			}
		}
		return list(t, items, c.offsets)(l, valid, nulls)
	}, nil
}

// variant returns the type and the column of variants as unions. Alternative i is child i; the
// last child stands for no value.
func (c *compiler) variant(a *columnar.Array) (arrow.DataType, column, error) {
	n := len(a.Children)
	if n > 126 {
		return nil, nil, none(a, "a union has at most 127 children")
	}
	fields, columns := make([]arrow.Field, n+1), make([]column, n)
	codes := make([]arrow.UnionTypeCode, n+1)
	for i, child := range a.Children {
		var err error
		if fields[i], columns[i], err = c.field(child, child.Name); err != nil {
			return nil, nil, err
		}
		codes[i] = arrow.UnionTypeCode(i)
	}
	fields[n], codes[n] = arrow.Field{Name: "valueless", Type: arrow.Null, Nullable: true}, arrow.UnionTypeCode(n)
	t := arrow.DenseUnionOf(fields, codes)
	return t, func(a *columnar.Array, _ *memory.Buffer, _ int) (arrow.ArrayData, error) {
		tags, places, empty := make([]int8, a.Len), make([]int32, a.Len), 0
		for i, tag := range a.Tags {
			switch {
			case tag < 0:
				tags[i], places[i] = int8(n), int32(empty)
				empty++
			case a.Index[i] > math.MaxInt32:
				return nil, fmt.Errorf("%d items are too many for 32-bit offsets; a smaller batch has fewer", a.Index[i])
			default:
				tags[i], places[i] = int8(tag), int32(a.Index[i])
			}
		}
		children := make([]arrow.ArrayData, n+1)
		for i, col := range columns {
			var err error
			if children[i], err = col(a.Children[i], nil, 0); err != nil {
				return nil, err
			}
		}
		children[n] = array.NewData(arrow.Null, empty, []*memory.Buffer{nil}, nil, empty, 0)
		buffers := []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int8Traits.CastToBytes(tags)),
			memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(places))}
		return array.NewData(t, a.Len, buffers, children, 0, 0), nil
	}, nil
}

// alternatives returns the type and the column of variants as structs with a nullable member
// for each alternative, of which at most one is not missing.
func (c *compiler) alternatives(a *columnar.Array) (arrow.DataType, column, error) {
	fields, columns := make([]arrow.Field, len(a.Children)), make([]column, len(a.Children))
	for i, child := range a.Children {
		var err error
		if fields[i], columns[i], err = c.field(columnar.OptionalOf(child), child.Name); err != nil {
			return nil, nil, err
		}
	}
	t := arrow.StructOf(fields...)
	return t, func(a *columnar.Array, valid *memory.Buffer, nulls int) (arrow.ArrayData, error) {
		children := make([]arrow.ArrayData, len(columns))
		for i, col := range columns {
			spread := columnar.OptionalOf(a.Children[i])
			var spans []columnar.Span
			for k, tag := range a.Tags {
				at := columnar.Span{First: -1, N: 1}
				if tag == int32(i) {
					at.First = a.Index[k]
				}
				spans = columnar.AddSpan(spans, at)
				spread.Valid = append(spread.Valid, tag == int32(i))
			}
			if err := columnar.Append(spread.Children[0], a.Children[i], spans, math.MaxInt64); err != nil {
				return nil, err
			}
			spread.Len = a.Len
			var err error
			if children[i], err = col(spread, nil, 0); err != nil {
				return nil, err
			}
		}
		return array.NewData(t, a.Len, []*memory.Buffer{valid}, children, nulls, 0), nil
	}, nil
}
