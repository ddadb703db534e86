package rntarrow

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// A conversion returns values as those of another type. Data have no offset.
type conversion func(arrow.ArrayData) (arrow.ArrayData, error)

// conform returns the type nearest to one that record batches had before they were written, and the
// conversion to it from the type that NewReader has for the RNTuple; it is not ok if the types do
// not belong together. Dictionaries, run-end encodings and extension types come back as their
// values, sparse unions as dense ones; and where the options ask for another type, they have it.
func (o Options) conform(from, to arrow.DataType) (t arrow.DataType, convert conversion, ok bool) {
	to = o.asked(storage(to))
	switch from.ID() {
	case arrow.INT32, arrow.INT64:
		return to, as(to), from.ID() == to.ID() || kinds[from.ID()] == kinds[to.ID()]
	case arrow.FLOAT32:
		if to.ID() == arrow.FLOAT16 {
			return to, halves, true
		}
	case arrow.FIXED_SIZE_LIST:
		return o.conformArray(from.(*arrow.FixedSizeListType), to)
	case arrow.FIXED_SIZE_BINARY:
		return from, as(from), arrow.TypeEqual(from, to)
	case arrow.LARGE_LIST, arrow.LIST, arrow.MAP:
		return o.conformList(from.(arrow.ListLikeType), to)
	case arrow.STRUCT:
		s, ok := to.(*arrow.StructType)
		if !ok {
			return nil, nil, false
		}
		fields, convert, ok := o.conformAll(from.(*arrow.StructType).Fields(), s.Fields())
		if !ok {
			return nil, nil, false
		}
		t := arrow.StructOf(fields...)
		return t, below(t, convert), true
	case arrow.DENSE_UNION:
		return o.conformUnion(from.(*arrow.DenseUnionType), to)
	}
	return to, as(to), from.ID() == to.ID()
}

// asked returns the type that the options ask for in the place of another, with the layout that
// they ask for.
func (o Options) asked(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case arrow.BinaryDataType, *arrow.BinaryViewType, *arrow.StringViewType:
		if t := t.ID(); !o.Binary && (t == arrow.STRING || t == arrow.LARGE_STRING || t == arrow.STRING_VIEW) {
			return o.pick(arrow.BinaryTypes.LargeString, arrow.BinaryTypes.String)
		}
		return o.pick(arrow.BinaryTypes.LargeBinary, arrow.BinaryTypes.Binary)
	case *arrow.MapType:
		if o.Pairs {
			return o.listOf(t.ElemField())
		}
	case arrow.UnionType:
		if !o.Structs {
			return t
		}
		members := slices.Clone(alternatives(t))
		for i, m := range members {
			if m.Nullable { // an optional of an optional
				members[i].Type = arrow.StructOf(arrow.Field{Name: "_0", Type: m.Type, Nullable: true})
			}
			members[i].Nullable = true
		}
		return arrow.StructOf(members...)
	}
	if isList(t) {
		return o.listOf(t.(arrow.ListLikeType).ElemField())
	}
	return t
}

// as returns the conversion to a type of the same layout.
func as(t arrow.DataType) conversion {
	return func(d arrow.ArrayData) (arrow.ArrayData, error) {
		return array.NewData(t, d.Len(), d.Buffers(), d.Children(), d.NullN(), 0), nil
	}
}

// below returns the conversion to a type whose values have the same layout, with converted
// children.
func below(t arrow.DataType, convert []conversion) conversion {
	return func(d arrow.ArrayData) (arrow.ArrayData, error) {
		children, err := converted(d.Children(), convert)
		return array.NewData(t, d.Len(), d.Buffers(), children, d.NullN(), 0), err
	}
}

func converted(all []arrow.ArrayData, convert []conversion) ([]arrow.ArrayData, error) {
	out := make([]arrow.ArrayData, len(convert))
	for i, c := range convert {
		var err error
		if out[i], err = c(all[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// conformField is conform for fields: what may be missing cannot become what may not.
func (o Options) conformField(from, to arrow.Field) (arrow.Field, conversion, bool) {
	t, convert, ok := o.conform(from.Type, to.Type)
	f := arrow.Field{Name: to.Name, Type: t, Nullable: to.Nullable, Metadata: to.Metadata}
	return f, convert, ok && (to.Nullable || !from.Nullable)
}

func (o Options) conformAll(from, to []arrow.Field) (fields []arrow.Field, convert []conversion, ok bool) {
	if len(from) != len(to) {
		return nil, nil, false
	}
	fields, convert = make([]arrow.Field, len(from)), make([]conversion, len(from))
	for i := range from {
		if fields[i], convert[i], ok = o.conformField(from[i], to[i]); !ok {
			return nil, nil, false
		}
	}
	return fields, convert, true
}

// conformArray is conform for arrays.
func (o Options) conformArray(from *arrow.FixedSizeListType, to arrow.DataType) (arrow.DataType, conversion, bool) {
	switch to := to.(type) {
	case *arrow.FixedSizeBinaryType:
		bytes := from.Elem().ID() == arrow.UINT8 && to.ByteWidth == int(from.Len())
		return to, func(d arrow.ArrayData) (arrow.ArrayData, error) {
			return array.NewData(to, d.Len(), []*memory.Buffer{d.Buffers()[0], d.Children()[0].Buffers()[1]}, nil, d.NullN(), 0),
				nil
		}, bytes
	case *arrow.FixedSizeListType:
		f, convert, ok := o.conformField(from.ElemField(), to.ElemField())
		t := arrow.FixedSizeListOfField(from.Len(), f)
		return t, below(t, []conversion{convert}), ok && from.Len() == to.Len()
	}
	return nil, nil, false
}

// conformList is conform for lists and maps.
func (o Options) conformList(from arrow.ListLikeType,
	to arrow.DataType) (t arrow.DataType, convert conversion, ok bool) {
	if arrow.IsBaseBinary(to.ID()) {
		return to, func(d arrow.ArrayData) (arrow.ArrayData, error) {
			return array.NewData(to, d.Len(), append(d.Buffers()[:2:2], d.Children()[0].Buffers()[1]), nil, d.NullN(), 0), nil
		}, isList(from) && from.Elem().ID() == arrow.UINT8
	}
	list, ok := to.(arrow.ListLikeType)
	if !ok {
		return nil, nil, false
	}
	f, inner, ok := o.conformField(from.ElemField(), list.ElemField())
	if !ok {
		return nil, nil, false
	}
	if isList(to) {
		t := o.listOf(f)
		return t, below(t, []conversion{inner}), isList(from)
	}
	m, ok := to.(*arrow.MapType)
	if !ok {
		return nil, nil, false
	}
	pair := f.Type.(*arrow.StructType)
	of := arrow.MapOfFields(pair.Field(0), pair.Field(1))
	of.KeysSorted = m.KeysSorted
	return of, func(d arrow.ArrayData) (arrow.ArrayData, error) {
		buffers := slices.Clone(d.Buffers())
		if from.ID() == arrow.LARGE_LIST {
			var err error
			if buffers[1], err = narrow(arrow.Int64Traits.CastFromBytes(buffers[1].Bytes())); err != nil {
				return nil, err
			}
		}
		children, err := converted(d.Children(), []conversion{inner})
		return array.NewData(of, d.Len(), buffers, children, d.NullN(), 0), err
	}, true
}

// halves converts floats to half floats, which must hold them.
func halves(d arrow.ArrayData) (arrow.ArrayData, error) {
	all := array.NewFloat32Data(d)
	out := make([]float16.Num, d.Len())
	for i, v := range all.Float32Values() {
		out[i] = float16.New(v)
		if back := out[i].Float32(); back != v && v == v && all.IsValid(i) {
			return nil, fmt.Errorf("value %d: %v is no half float", i, v)
		}
	}
	return array.NewData(arrow.FixedWidthTypes.Float16, d.Len(),
		[]*memory.Buffer{d.Buffers()[0], memory.NewBufferBytes(arrow.Float16Traits.CastToBytes(out))}, nil, d.NullN(), 0), nil
}

// conformUnion is conform for unions. The child for no value is left out if there was none.
func (o Options) conformUnion(from *arrow.DenseUnionType, to arrow.DataType) (arrow.DataType, conversion, bool) {
	u, ok := to.(arrow.UnionType)
	if !ok {
		return nil, nil, false
	}
	n := len(from.Fields()) - 1
	fields, convert, ok := o.conformAll(from.Fields()[:n], alternatives(u))
	if !ok {
		return nil, nil, false
	}
	codes := u.TypeCodes()
	if len(codes) > n {
		fields = append(fields, u.Fields()[n])
		convert = append(convert, as(arrow.Null))
	}
	t := arrow.DenseUnionOf(fields, codes)
	return t, func(d arrow.ArrayData) (arrow.ArrayData, error) {
		tags := arrow.Int8Traits.CastFromBytes(d.Buffers()[1].Bytes())
		out := make([]int8, len(tags))
		for i, tag := range tags {
			if int(tag) >= len(codes) {
				return nil, fmt.Errorf("value %d: the variant has no value, for which %v has no place", i, t)
			}
			out[i] = codes[tag]
		}
		children, err := converted(d.Children(), convert)
		buffers := []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int8Traits.CastToBytes(out)), d.Buffers()[2]}
		return array.NewData(t, d.Len(), buffers, children, 0, 0), err
	}, true
}
