package rntarrow

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// SchemaSet is the name of the attribute set in which Create stores the schema of record
// batches: one attribute for all entries, with the
// schema in the field "schema", as the stream of Arrow's IPC format that has no batches.
// NewReader gives it back.
const SchemaSet = "arrow:schema"

type storedSchema struct {
	Schema []byte `rntuple:"schema"`
}

// store writes a schema to the attribute set.
func store(w *rntuple.ColumnWriter, s *arrow.Schema, entries int64) error {
	var b bytes.Buffer
	if err := ipc.NewWriter(&b, ipc.WithSchema(s)).Close(); err != nil {
		return err
	}
	set, err := rntuple.NewAttributes[storedSchema](w, SchemaSet)
	if err != nil {
		return err
	}
	return set.Write(0, entries, storedSchema{b.Bytes()})
}

// asBefore returns a top-level field and its column as the schema that the RNTuple was made of has
// them, if they belong together.
func asBefore(f arrow.Field, col column, before *arrow.Schema) (arrow.Field, column) {
	same, ok := before.FieldsByName(f.Name)
	if !ok || len(same) != 1 {
		return f, col
	}
	to, convert, ok := conformField(f, same[0])
	if !ok {
		return f, col
	}
	metadata := to.Metadata.ToMap()
	for k, v := range f.Metadata.ToMap() {
		metadata[k] = v
	}
	to.Metadata = arrow.MetadataFrom(metadata)
	return to, func(a *rntuple.Array, valid *memory.Buffer, nulls int) (arrow.ArrayData, error) {
		data, err := col(a, valid, nulls)
		if err != nil {
			return nil, err
		}
		return convert(data)
	}
}

// stored returns the schema that an RNTuple was made of, or nil if it is not known.
// Of a chain it is not: its inputs may have been made of other types, with the same ones in C++.
func stored(s rntuple.Source) (*arrow.Schema, error) {
	if selection, ok := s.(*rntuple.Selection); ok {
		s = selection.Source()
	}
	r, ok := s.(*rntuple.Reader)
	if !ok {
		return nil, nil
	}
	for _, info := range r.AttributeSets() {
		if info.Name != SchemaSet {
			continue
		}
		set, err := r.OpenAttributes(SchemaSet)
		if err != nil {
			return nil, err
		}
		view, err := rntuple.AttributesOf[storedSchema](set)
		if err != nil {
			return nil, err
		}
		for _, a := range view.All() {
			in, err := ipc.NewReader(bytes.NewReader(a.Schema))
			if err != nil {
				return nil, fmt.Errorf("attribute set %q: %w", SchemaSet, err)
			}
			defer in.Release()
			return in.Schema(), nil
		}
		return nil, view.Err()
	}
	return nil, nil
}
