package rntarrow

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Create creates a ROOT file at path with one RNTuple of all record batches of r, and returns the
// number of entries. After an error, there is no file.
func Create(path, name string, r array.RecordReader, o *WriteOptions,
	opts *rntuple.WriteOptions) (entries int64, err error) {
	if o == nil {
		o = new(WriteOptions)
	}
	doc, err := Document(r.Schema(), o)
	if err != nil {
		return 0, err
	}
	w, err := rntuple.CreateColumns(path, name, doc, opts)
	if err != nil {
		return 0, err
	}
	return fill(w, r, *o)
}

// Add writes one RNTuple of all record batches of r to a file, and returns the number of entries.
func Add(f *rntuple.File, name string, r array.RecordReader, o *WriteOptions,
	opts *rntuple.WriteOptions) (entries int64, err error) {
	if o == nil {
		o = new(WriteOptions)
	}
	doc, err := Document(r.Schema(), o)
	if err != nil {
		return 0, err
	}
	w, err := rntuple.NewColumnWriter(f, name, doc, opts)
	if err != nil {
		return 0, err
	}
	return fill(w, r, *o)
}

// Append appends all record batches of r to an existing RNTuple, see rntuple.AppendColumns and Write,
// and returns how many entries it appended. After an error, the file is unchanged.
func Append(path, name string, r array.RecordReader, opts *rntuple.WriteOptions) (entries int64, err error) {
	w, err := rntuple.AppendColumns(path, name, opts)
	if err != nil {
		return 0, err
	}
	return fill(w, r, WriteOptions{NoSchema: true})
}

// fill writes all that r yields, and its schema, and closes the writer.
func fill(w *rntuple.ColumnWriter, r array.RecordReader, o WriteOptions) (entries int64, err error) {
	entries, err = Write(w, r)
	if err == nil && !o.NoSchema && needed(r.Schema(), w.Schema().Fields) {
		err = store(w, r.Schema(), entries)
	}
	if err != nil {
		w.Abort()
		return entries, err
	}
	return entries, w.Close()
}

// A Writer is a *rntuple.ColumnWriter or a *rntuple.ColumnFiller.
type Writer interface {
	rntuple.Columns
	Schema() *schema.Schema
	End(entries int64) error
}

// Write writes all record batches of r and returns the number of entries. It does not close the
// writer, whose fields must be those returned by Document, or have corresponding Arrow fields with
// the same names and values.
//
// Values are not converted, except that dictionaries and run-end encoding are decoded, and a half
// float becomes a float. A null in a field that is not an optional is an error, and so is a
// truncated stream.
func Write(w Writer, r array.RecordReader) (entries int64, err error) {
	var to []*schema.Field
	for _, f := range w.Schema().Fields {
		if f.Source == nil {
			to = append(to, f)
		}
	}
	from := make([]int, len(to))
	for i, f := range to {
		found := r.Schema().FieldIndices(f.Name)
		if len(found) != 1 {
			return 0, fmt.Errorf("field %q: there are %d fields of this name in Arrow", f.Name, len(found))
		}
		if from[i] = found[0]; !fits(r.Schema().Field(found[0]), f) {
			return 0, fmt.Errorf("field %q of type %s does not take values of %v", f.Name, f.CppType(),
				r.Schema().Field(found[0]).Type)
		}
	}
	for r.Next() {
		record := r.RecordBatch()
		for i, f := range to {
			if err := put(w, f, record.Column(from[i]), int(record.NumRows())); err != nil {
				return entries, fmt.Errorf("entries from %d on: %w", entries, err)
			}
		}
		if err := w.End(record.NumRows()); err != nil {
			return entries, err
		}
		entries += record.NumRows()
	}
	return entries, r.Err()
}

// put writes the values of an array, whose offsets and indexes nobody has checked.
func put(w Writer, f *schema.Field, values arrow.Array, n int) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("field %q: the values are damaged: %v", f.Name, v)
		}
	}()
	a, err := arrayOf(values, f, nil)
	if err != nil {
		return err
	}
	return rntuple.PutArray(w, f.Name, a, 0, n)
}

// arrayOf returns the values of an array as those of a field that they fit. Memory is shared
// where it is laid out alike. Only rows for which used returns true need values; nil stands for
// all.
func arrayOf(a arrow.Array, f *schema.Field, used func(row int) bool) (*columnar.Array, error) {
	f = valueOf(f)
	if f.Shape != schema.Optional {
		for i := range a.Len() {
			if missing(a, i) && (used == nil || used(i)) {
				return nil, fmt.Errorf("field %q: row %d is null, and the field no optional", f.Path(), i)
			}
		}
		v, err := values(a, f)
		if err == nil {
			v.Name = f.Name
		}
		return v, err
	}
	o := &columnar.Array{Name: f.Name, Shape: schema.Optional, Len: a.Len(), Valid: make([]bool, a.Len())}
	for i := range o.Valid {
		o.Valid[i] = !missing(a, i)
	}
	child := valueOf(f.Children[0])
	var v *columnar.Array
	var err error
	if _, ok := wrapped(a.DataType(), child); ok {
		v, err = arrayOf(a.(*array.Struct).Field(0), child, a.IsValid)
	} else {
		v, err = values(a, child)
	}
	o.Children = []*columnar.Array{v}
	return o, err
}

// missing reports whether a value is null, also in the values of a dictionary or of runs.
func missing(a arrow.Array, i int) bool {
	switch a := a.(type) {
	case *array.Dictionary:
		return a.IsNull(i) || a.Dictionary().IsNull(a.GetValueIndex(i))
	case *array.RunEndEncoded:
		return missing(a.Values(), a.GetPhysicalIndex(i))
	case array.ExtensionArray:
		return missing(a.Storage(), i)
	case array.Union:
		return false // its values may be
	}
	return a.IsNull(i)
}

// numbersOf returns numbers. U is T, or has its size and layout.
func numbersOf[T columnar.Element, U any](values []U) *columnar.Array {
	a := &columnar.Array{Shape: schema.Scalar}
	columnar.SetValues(a, unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(values))), len(values)))
	return a
}

// values returns the values of an array, with anything in the place of those that are missing.
func values(a arrow.Array, f *schema.Field) (*columnar.Array, error) {
	switch a := a.(type) {
	case *array.Boolean:
		return numbersOf[bool](bools(a)), nil
	case *array.Int8:
		return numbersOf[int8](a.Int8Values()), nil
	case *array.Int16:
		return numbersOf[int16](a.Int16Values()), nil
	case *array.Int32:
		return numbersOf[int32](a.Int32Values()), nil
	case *array.Int64:
		return numbersOf[int64](a.Int64Values()), nil
	case *array.Uint8:
		return numbersOf[uint8](a.Uint8Values()), nil
	case *array.Uint16:
		return numbersOf[uint16](a.Uint16Values()), nil
	case *array.Uint32:
		return numbersOf[uint32](a.Uint32Values()), nil
	case *array.Uint64:
		return numbersOf[uint64](a.Uint64Values()), nil
	case *array.Float16:
		v := make([]float32, a.Len())
		for i := range v {
			v[i] = a.Value(i).Float32()
		}
		return numbersOf[float32](v), nil
	case *array.Float32:
		return numbersOf[float32](a.Float32Values()), nil
	case *array.Float64:
		return numbersOf[float64](a.Float64Values()), nil
	case *array.Date32:
		return numbersOf[int32](a.Date32Values()), nil
	case *array.Date64:
		return numbersOf[int64](a.Date64Values()), nil
	case *array.Time32:
		return numbersOf[int32](a.Time32Values()), nil
	case *array.Time64:
		return numbersOf[int64](a.Time64Values()), nil
	case *array.Timestamp:
		return numbersOf[int64](a.TimestampValues()), nil
	case *array.Duration:
		return numbersOf[int64](a.DurationValues()), nil
	case array.StringLike:
		return texts(a, a.Value, f), nil
	case *array.Binary:
		return texts(a, a.ValueString, f), nil
	case *array.LargeBinary:
		return texts(a, a.ValueString, f), nil
	case *array.BinaryView:
		return texts(a, a.ValueString, f), nil
	case *array.FixedSizeBinary:
		size := int(f.ArraySize)
		bytes := make([]byte, size*a.Len())
		for i := range a.Len() {
			if a.IsValid(i) {
				copy(bytes[i*size:], a.Value(i))
			}
		}
		return &columnar.Array{Shape: schema.Array, Len: a.Len(), Size: size,
			Children: []*columnar.Array{numbersOf[uint8](bytes)}}, nil
	case *array.FixedSizeList:
		n, size := a.Len(), int(f.ArraySize)
		lo := int64(0)
		if n > 0 {
			lo, _ = a.ValueOffsets(0)
		}
		items := array.NewSlice(a.ListValues(), lo, lo+int64(n*size))
		defer items.Release()
		if f.Shape == schema.Bitset {
			v := numbersOf[bool](bools(items.(*array.Boolean)))
			v.Shape, v.Size, v.Len = schema.Bitset, size, n
			return v, nil
		}
		v, err := arrayOf(items, f.Children[0], func(row int) bool { return a.IsValid(row / size) })
		return &columnar.Array{Shape: schema.Array, Len: n, Size: size, Children: []*columnar.Array{v}}, err
	case *array.ListView, *array.LargeListView:
		return views(a.(array.ListLike), f)
	case array.ListLike: // maps among them
		return lists(a, f)
	case *array.Struct:
		r := &columnar.Array{Shape: schema.Record, Len: a.Len()}
		for i, child := range f.Children {
			v, err := arrayOf(a.Field(i), child, a.IsValid)
			if err != nil {
				return nil, err
			}
			v.Name = child.Name
			r.Children = append(r.Children, v)
		}
		return r, nil
	case array.Union:
		return variants(a, f)
	case *array.Dictionary:
		return gather(a.Dictionary(), f, a.Len(), func(i int) int64 {
			if missing(a, i) {
				return -1
			}
			return int64(a.GetValueIndex(i))
		})
	case *array.RunEndEncoded:
		return gather(a.Values(), f, a.Len(), func(i int) int64 { return int64(a.GetPhysicalIndex(i)) })
	case array.ExtensionArray:
		return values(a.Storage(), f)
	}
	return nil, fmt.Errorf("field %q: an array of %s", f.Path(), a.DataType())
}

func bools(a *array.Boolean) []bool {
	v := make([]bool, a.Len())
	for i := range v {
		v[i] = a.Value(i)
	}
	return v
}

// texts returns strings, or collections of bytes. Those that are missing are empty.
func texts(a arrow.Array, value func(int) string, f *schema.Field) *columnar.Array {
	t := &columnar.Array{Shape: schema.String, Len: a.Len(), Offsets: make([]int64, 1, a.Len()+1)}
	for i := range a.Len() {
		if a.IsValid(i) {
			t.Bytes = append(t.Bytes, value(i)...)
		}
		t.Offsets = append(t.Offsets, int64(len(t.Bytes)))
	}
	if f.Shape == schema.Collection {
		t.Shape, t.Children, t.Bytes = schema.Collection, []*columnar.Array{numbersOf[uint8](t.Bytes)}, nil
	}
	return t
}

// lists returns lists whose items lie behind each other.
func lists(a array.ListLike, f *schema.Field) (*columnar.Array, error) {
	l := &columnar.Array{Shape: schema.Collection, Len: a.Len(), Offsets: make([]int64, a.Len()+1)}
	first, last := int64(0), int64(0)
	for i := range a.Len() {
		lo, hi := a.ValueOffsets(i)
		switch {
		case a.IsNull(i) && hi > lo: // a missing list may have items
			return views(a, f)
		case lo > hi:
			return nil, fmt.Errorf("field %q: row %d: offsets %d and %d", f.Path(), i, lo, hi)
		case i == 0:
			first = lo
		}
		last = hi
		l.Offsets[i+1] = hi - first
	}
	part := array.NewSlice(a.ListValues(), first, last)
	defer part.Release()
	items, err := arrayOf(part, f.Children[0], nil)
	l.Children = []*columnar.Array{items}
	return l, err
}

// views returns list views, whose items may lie anywhere.
func views(a array.ListLike, f *schema.Field) (*columnar.Array, error) {
	inUse := make([]bool, a.ListValues().Len())
	for i := range a.Len() {
		if lo, hi := a.ValueOffsets(i); a.IsValid(i) {
			for k := lo; k < hi; k++ {
				inUse[k] = true
			}
		}
	}
	all, err := arrayOf(a.ListValues(), f.Children[0], func(row int) bool { return inUse[row] })
	if err != nil {
		return nil, err
	}
	l := &columnar.Array{Shape: schema.Collection, Len: a.Len(), Offsets: make([]int64, a.Len()+1),
		Children: []*columnar.Array{columnar.Like(all)}}
	var spans []columnar.Span
	for i := range a.Len() {
		lo, hi := a.ValueOffsets(i)
		if a.IsNull(i) {
			hi = lo
		}
		switch {
		case hi < lo:
			return nil, fmt.Errorf("field %q: row %d: offsets %d and %d", f.Path(), i, lo, hi)
		case hi > lo:
			spans = columnar.AddSpan(spans, columnar.Span{First: lo, N: hi - lo})
		}
		l.Offsets[i+1] = l.Offsets[i] + hi - lo
	}
	return l, columnar.Append(l.Children[0], all, spans, math.MaxInt64)
}

// gather returns n values, of which value i is that of all with the number of(i), or none if
// that is negative.
func gather(all arrow.Array, f *schema.Field, n int, of func(i int) int64) (*columnar.Array, error) {
	v, err := values(all, f)
	if err != nil {
		return nil, err
	}
	var spans []columnar.Span
	for i := range n {
		spans = columnar.AddSpan(spans, columnar.Span{First: of(i), N: 1})
	}
	a := columnar.Like(v)
	return a, columnar.Append(a, v, spans, math.MaxInt64)
}

// variants returns variants.
func variants(a array.Union, f *schema.Field) (*columnar.Array, error) {
	v := &columnar.Array{Shape: schema.Variant, Len: a.Len(), Tags: make([]int32, a.Len()), Index: make([]int64, a.Len())}
	dense, _ := a.(*array.DenseUnion)
	inUse := make([][]bool, a.NumFields())
	for i := range inUse {
		inUse[i] = make([]bool, a.Field(i).Len())
	}
	for i := range v.Tags {
		tag, at := a.ChildID(i), int64(i)
		if dense != nil {
			at = int64(dense.ValueOffset(i))
		}
		inUse[tag][at] = true
		if tag == len(f.Children) { // stands for no value
			tag, at = -1, 0
		}
		v.Tags[i], v.Index[i] = int32(tag), at
	}
	for i, child := range f.Children {
		c, err := arrayOf(a.Field(i), child, func(row int) bool { return inUse[i][row] })
		if err != nil {
			return nil, err
		}
		v.Children = append(v.Children, c)
	}
	return v, nil
}
