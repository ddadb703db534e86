package rntarrow

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow/internal/guard"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// Options configures which fields NewReader reads, and as which types. The zero value selects all
// top-level fields.
type Options struct {
	// Fields are the paths of fields, as in rntuple.BatchOptions.
	Fields []string
	// Compute adds columns behind those of Fields, as those of expression.Fields. With it, an empty
	// but not nil slice Fields selects none.
	Compute Columns
	// EntryNumbers, if set, is the name of another column, of type int64: the number of each entry
	// in the source, or, of Selections, in the source that they select from.
	EntryNumbers string
	// BatchSize is the maximum number of entries in a record batch. Default: 16,384.
	BatchSize int
	// Lists32 produces lists, strings and binaries with 32-bit offsets, for consumers that do not
	// support 64-bit offsets. A batch with more than 2^31-1 items of a field is then an error.
	Lists32 bool
	// Binary reads strings as large_binary, which need not be valid UTF-8.
	Binary bool
	// Structs reads variants as structs with one nullable member per alternative, for consumers
	// that do not support unions.
	Structs bool
	// Pairs reads maps as lists of structs, for consumers that do not support maps, or maps with
	// duplicate keys.
	Pairs bool
	// Parquet reads only types that arrow-go writes to Parquet: Structs is implied, nullable arrays
	// become lists, std::array<std::byte> becomes fixed_size_binary, and durations are not restored.
	// See package rntparquet.
	Parquet bool
	// Reuse reuses the memory of record batches: each is valid only until the next one is read,
	// even if it is retained. This saves up to 20 % of the time.
	Reuse bool
}

// Keys of metadata.
const (
	NameKey        = "rntuple:name" // schema metadata: the name of the RNTuple
	TypeKey        = "rntuple:type" // field metadata: the C++ type
	DescriptionKey = "description"  // of a field
)

// NewReader returns a reader of the entries of s as record batches, in order. Its Err returns the
// error that ended the loop, if any. Retained record batches stay valid, unless Options.Reuse is
// set. Memory is garbage-collected, so record batches need not be released.
//
// The error is that of rntuple.Batches, or names a field without a corresponding Arrow type.
func NewReader(s rntuple.Source, o *Options) (array.RecordReader, error) {
	return NewRangeReader(s, rntuple.EntryRange{End: math.MaxInt64}, o)
}

// NewRangeReader is like NewReader, but reads only the existing entries in e.
func NewRangeReader(s rntuple.Source, e rntuple.EntryRange, o *Options) (array.RecordReader, error) {
	if o == nil {
		o = new(Options)
	}
	t, err := tableOf(s, *o)
	switch {
	case err != nil:
		return nil, err
	case o.BatchSize < 0 || e.First < 0:
		return nil, fmt.Errorf("batches of %d entries from entry %d: the numbers must not be negative", o.BatchSize, e.First)
	}
	return array.ReaderFromIter(t.schema, t.batches(s, e)), nil
}

// SchemaOf returns the schema of the record batches that NewReader would yield.
func SchemaOf(s rntuple.Source, o *Options) (*arrow.Schema, error) {
	if o == nil {
		o = new(Options)
	}
	t, err := tableOf(s, *o)
	if err != nil {
		return nil, err
	}
	return t.schema, nil
}

// A table converts batches of one source.
type table struct {
	options Options
	schema  *arrow.Schema
	columns []column

	computed *computed
}

// tableOf returns the table for a source, with the types that it was made of as far as they are
// known.
func tableOf(s rntuple.Source, o Options) (*table, error) {
	before, err := stored(s)
	if err != nil {
		return nil, err
	}
	paths := o.Fields
	if none := paths != nil && (o.Compute != nil || o.EntryNumbers != ""); len(paths) == 0 && !none {
		paths = rntuple.FieldNames(s)
	}
	shapes, err := rntuple.Shapes(s, paths...)
	if err != nil {
		return nil, err
	}
	t := &table{options: o}
	t.options.Fields = paths
	o.Structs = o.Structs || o.Parquet
	c := compiler{Options: o}
	fields := make([]arrow.Field, len(shapes))
	for i, a := range shapes {
		var col column
		if fields[i], col, err = c.field(a, a.Name); err != nil {
			return nil, err
		}
		if before != nil {
			if f, as := o.asBefore(fields[i], col, before); !o.Parquet || !guard.HasDuration(f.Type) {
				fields[i], col = f, as
			}
		}
		t.columns = append(t.columns, col)
	}
	if t.computed, err = newComputed(s, o); err != nil {
		return nil, err
	}
	more, columns, err := t.computed.compile(&c)
	if err != nil {
		return nil, err
	}
	for i, f := range more {
		if slices.ContainsFunc(slices.Concat(fields, more[:i]), func(g arrow.Field) bool { return g.Name == f.Name }) {
			return nil, fmt.Errorf("the computed column %q has the name of another one", f.Name)
		}
	}
	fields, t.columns = append(fields, more...), append(t.columns, columns...)
	metadata := map[string]string{}
	if before != nil {
		m := before.Metadata()
		for i, k := range m.Keys() {
			metadata[k] = m.Values()[i]
		}
	}
	if r, ok := s.(*rntuple.Reader); ok {
		metadata[NameKey] = r.Name()
	}
	m := arrow.MetadataFrom(metadata)
	t.schema = arrow.NewSchema(fields, &m)
	return t, nil
}

// batches yields the entries of a range as record batches.
func (t *table) batches(s rntuple.Source, e rntuple.EntryRange) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for b, err := range t.read(s, e) {
			var record arrow.RecordBatch
			if err == nil {
				record, err = t.record(s, b)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(record, nil) {
				return
			}
		}
	}
}

// read yields the fields of the entries of a range.
func (t *table) read(s rntuple.Source, e rntuple.EntryRange) iter.Seq2[*rntuple.Batch, error] {
	o := rntuple.BatchOptions{Fields: t.options.Fields, Size: t.options.BatchSize, Fresh: !t.options.Reuse}
	if len(o.Fields) > 0 {
		return rntuple.BatchesIn(s, e, &o)
	}
	return func(yield func(*rntuple.Batch, error) bool) { // without fields, which would mean all
		n, err := numEntries(s)
		if err != nil {
			yield(nil, err)
			return
		}
		size := int64(cmp.Or(o.Size, 1<<14))
		for first, end := e.First, min(e.End, n); first < end; first += size {
			if !yield(&rntuple.Batch{First: first, Len: int(min(size, end-first))}, nil) {
				return
			}
		}
	}
}

func numEntries(s rntuple.Source) (int64, error) {
	switch s := s.(type) {
	case interface{ NumEntries() int64 }:
		return s.NumEntries(), nil
	case interface{ NumEntries() (int64, error) }:
		return s.NumEntries()
	}
	return 0, fmt.Errorf("a %T has no number of entries", s)
}

// record returns a batch as a record batch that shares its memory.
func (t *table) record(s rntuple.Source, b *rntuple.Batch) (arrow.RecordBatch, error) {
	more, err := t.computed.values(s, b)
	if err != nil {
		return nil, err
	}
	columns := make([]arrow.Array, len(t.columns))
	for i, a := range slices.Concat(b.Columns, more) {
		data, err := t.columns[i](a, nil, 0)
		if err != nil {
			return nil, fmt.Errorf("entries %d to %d: field %q: %w", b.First, b.First+int64(b.Len), t.schema.Field(i).Name, err)
		}
		columns[i] = array.MakeFromData(data)
	}
	return array.NewRecordBatch(t.schema, columns, int64(b.Len)), nil
}
