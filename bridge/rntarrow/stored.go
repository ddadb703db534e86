package rntarrow

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// SchemaSet is the name of the attribute set in which Create stores an Arrow schema that the fields
// of the RNTuple cannot represent: one attribute for all entries, whose field "schema" is an Arrow
// IPC stream without batches. NewReader restores its types.
const SchemaSet = "arrow:schema"

type storedSchema struct {
	Schema []byte `rntuple:"schema"`
}

// needed reports whether a schema tells more than the RNTuple that is made of it: ROOT warns of
// each file that has attribute sets, which it does not know yet. Layouts are no types: 32-bit
// offsets, views, dictionaries, runs.
func needed(s *arrow.Schema, fields []*schema.Field) bool {
	for _, k := range s.Metadata().Keys() {
		if k != NameKey {
			return true
		}
	}
	for _, f := range fields {
		if same, ok := s.FieldsByName(f.Name); ok && !told(same[0].Type, f) {
			return true
		}
	}
	return false
}

// told reports whether a field that fits values of a type tells all of it but the layout.
func told(t arrow.DataType, by *schema.Field) bool {
	t, by = storage(t), valueOf(by)
	list, _ := t.(arrow.ListLikeType)
	switch by.Shape {
	case schema.Optional:
		inner := valueOf(by.Children[0])
		if f, ok := wrapped(t, inner); ok {
			return f.Name == "_0" && told(f.Type, inner)
		}
		return inner.Shape != schema.Variant && told(t, inner)
	case schema.Scalar:
		return t.ID() == numberTypes[by.ElementKind()].ID()
	case schema.Bitset:
		return true
	case schema.String:
		return t.ID() == arrow.STRING || t.ID() == arrow.LARGE_STRING || t.ID() == arrow.STRING_VIEW
	case schema.Array:
		return list != nil && told(list.Elem(), by.Children[0])
	case schema.Collection:
		if m, ok := t.(*arrow.MapType); ok && by.IsMap() {
			pair := by.Children[0]
			return told(m.KeyType(), pair.Children[0]) && told(m.ItemType(), pair.Children[1])
		}
		return isList(t) && !by.IsMap() && told(list.Elem(), by.Children[0])
	case schema.Record:
		return eachTold(t.(*arrow.StructType).Fields(), by)
	case schema.Variant:
		u := t.(arrow.UnionType)
		for i, code := range u.TypeCodes() {
			if int(code) != i {
				return false
			}
		}
		return len(u.Fields()) == len(by.Children)+1 && eachTold(alternatives(u), by)
	}
	return false
}

// eachTold reports whether the fields are told by the children of a field, with their names.
func eachTold(fields []arrow.Field, by *schema.Field) bool {
	for i, f := range fields {
		if c := by.Children[i]; f.Name != c.Name || !told(f.Type, c) {
			return false
		}
	}
	return true
}

// store writes a schema to the attribute set.
func store(w *rntuple.ColumnWriter, s *arrow.Schema, entries int64) error {
	var b bytes.Buffer
	if err := ipc.NewWriter(&b, ipc.WithSchema(s)).Close(); err != nil {
		return err
	}
	set, err := rntuple.NewAttributes[storedSchema](w, SchemaSet, nil)
	if err != nil {
		return err
	}
	return set.Write(rntuple.EntryRange{End: entries}, storedSchema{b.Bytes()})
}

// asBefore returns a top-level field and its column as the schema that the RNTuple was made of has
// them, if they belong together.
func (o Options) asBefore(f arrow.Field, col column, before *arrow.Schema) (arrow.Field, column) {
	same, ok := before.FieldsByName(f.Name)
	if !ok || len(same) != 1 {
		return f, col
	}
	to, convert, ok := o.conformField(f, same[0])
	if !ok {
		return f, col
	}
	metadata := to.Metadata.ToMap()
	for k, v := range f.Metadata.ToMap() {
		metadata[k] = v
	}
	to.Metadata = arrow.MetadataFrom(metadata)
	return to, func(a *columnar.Array, valid *memory.Buffer, nulls int) (arrow.ArrayData, error) {
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
	for selection, ok := s.(*rntuple.Selection); ok; selection, ok = s.(*rntuple.Selection) {
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
