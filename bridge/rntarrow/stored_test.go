package rntarrow_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// created returns a reader of a file that Create has made of rows.
func created(t *testing.T, s *arrow.Schema, rows string) *rntuple.Reader {
	t.Helper()
	whole, _, err := array.RecordFromJSON(memory.DefaultAllocator, s, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	records, err := array.NewRecordReader(s, []arrow.RecordBatch{whole})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "created.root")
	if _, err := rntarrow.Create(path, "events", records, nil, nil); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.Open(path, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// TestTypesComeBack reads chosen fields with all options: where none asks for another type, each
// has the one that it was made of, with its values, in the layout of the options.
func TestTypesComeBack(t *testing.T) {
	date, time := arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Timestamp_us
	item := func(t arrow.DataType) arrow.Field { return arrow.Field{Name: "item", Type: t, Nullable: true} }
	pair := arrow.StructOf(arrow.Field{Name: "key", Type: arrow.BinaryTypes.String},
		arrow.Field{Name: "value", Type: date, Nullable: true})
	union := []arrow.Field{{Name: "day", Type: date, Nullable: true}, {Name: "number", Type: arrow.PrimitiveTypes.Int64}}
	s := arrow.NewSchema([]arrow.Field{
		{Name: "other", Type: arrow.PrimitiveTypes.Int8},
		{Name: "date", Type: date},
		{Name: "time", Type: time, Nullable: true},
		{Name: "half", Type: arrow.FixedWidthTypes.Float16},
		{Name: "days", Type: arrow.ListOfField(item(date))},
		{Name: "views", Type: arrow.LargeListViewOfField(item(time))},
		{Name: "map", Type: arrow.MapOfFields(pair.Field(0), pair.Field(1))},
		{Name: "bytes", Type: arrow.BinaryTypes.BinaryView},
		{Name: "text", Type: arrow.BinaryTypes.StringView},
		{Name: "union", Type: arrow.DenseUnionOf(union, []arrow.UnionTypeCode{5, 9})},
	}, nil)
	r := created(t, s, `[
		{"other": 1, "date": "1970-01-03", "time": "1970-01-01T00:00:01Z", "half": 0.5, "days": ["1970-01-02", null], "views": ["1970-01-01T00:00:02Z"], "map": [{"key": "k", "value": "1970-01-04"}], "bytes": "AQI=", "text": "a", "union": [5, "1970-01-05"]},
		{"other": 2, "date": "1969-12-31", "time": null, "half": -2, "days": [], "views": [], "map": [], "bytes": "", "text": "", "union": [9, 7]}
	]`)
	fields := rntuple.FieldNames(r)[1:]
	for bits := range 16 {
		has := func(bit int) bool { return bits>>bit&1 == 1 }
		o := rntarrow.Options{Fields: fields, Lists32: has(0), Binary: has(1), Structs: has(2), Pairs: has(3)}
		pick := func(asked bool, a, b arrow.DataType) arrow.DataType {
			if asked {
				return a
			}
			return b
		}
		binary := pick(o.Lists32, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary)
		text := pick(o.Binary, binary, pick(o.Lists32, arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString))
		list := func(item arrow.Field) arrow.DataType {
			return pick(o.Lists32, arrow.ListOfField(item), arrow.LargeListOfField(item))
		}
		entries := arrow.StructOf(arrow.Field{Name: "key", Type: text}, pair.Field(1))
		number := union[1]
		number.Nullable = true
		want := map[string]arrow.DataType{
			"date": date, "time": time, "half": arrow.FixedWidthTypes.Float16,
			"days": list(item(date)), "views": list(item(time)),
			"map": pick(o.Pairs, list(arrow.Field{Name: "entries", Type: entries}),
				arrow.MapOfFields(entries.Field(0), entries.Field(1))),
			"bytes": binary, "text": text,
			"union": pick(o.Structs, arrow.StructOf(arrow.Field{Name: "day",
				Type: arrow.StructOf(arrow.Field{Name: "_0", Type: date, Nullable: true}), Nullable: true}, number),
				arrow.DenseUnionOf(union, []arrow.UnionTypeCode{5, 9})),
		}
		records, err := rntarrow.NewReader(r, &o)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range records.Schema().Fields() {
			if f.Type.String() != want[f.Name].String() {
				t.Errorf("%+v: field %s is %v, want %v", o, f.Name, f.Type, want[f.Name])
			}
		}
		if !records.Next() {
			t.Fatalf("%+v: %v", o, records.Err())
		}
		day, seven := `[5,"1970-01-05"]`, `[9,7]`
		if o.Structs {
			day, seven = `{"day":{"_0":"1970-01-05"},"number":null}`, `{"day":null,"number":7}`
		}
		a, k := "a", "k"
		if o.Binary {
			a, k = "YQ==", "aw=="
		}
		values := fmt.Sprintf(`[{"bytes":"AQI=","date":"1970-01-03","days":["1970-01-02",null],"half":0.5,"map":[{"key":%q,"value":"1970-01-04"}],"text":%q,"time":"1970-01-01T00:00:01Z","union":%s,"views":["1970-01-01T00:00:02Z"]}
,{"bytes":"","date":"1969-12-31","days":[],"half":-2,"map":[],"text":"","time":null,"union":%s,"views":[]}
]`, k, a, day, seven)
		if got, err := records.RecordBatch().MarshalJSON(); err != nil || string(got) != values {
			t.Errorf("%+v: %v\n%s, want\n%s", o, err, got, values)
		}
	}
}

// TestSchemaStored stores schemas only if they tell more than the fields of the RNTuple: ROOT warns
// of attribute sets.
func TestSchemaStored(t *testing.T) {
	point := arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Float32},
		arrow.Field{Name: "y", Type: arrow.PrimitiveTypes.Float64, Nullable: true})
	words := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	type field = arrow.Field
	for name, f := range map[string]struct {
		field
		stored bool
	}{
		"number":          {field{Type: arrow.PrimitiveTypes.Int64, Nullable: true}, false},
		"text":            {field{Type: arrow.BinaryTypes.String, Nullable: true}, false},
		"view":            {field{Type: arrow.BinaryTypes.StringView}, false},
		"words":           {field{Type: words, Nullable: true}, false},
		"list":            {field{Type: arrow.ListOf(arrow.PrimitiveTypes.Float64)}, false},
		"list of lists":   {field{Type: arrow.ListOf(arrow.LargeListViewOf(words)), Nullable: true}, false},
		"array":           {field{Type: arrow.FixedSizeListOf(3, arrow.FixedWidthTypes.Boolean)}, false},
		"record":          {field{Type: point}, false},
		"list of records": {field{Type: arrow.ListOfNonNullable(point)}, false},
		"variant": {field{Type: arrow.DenseUnionOf([]field{{Name: "_0", Type: arrow.PrimitiveTypes.Int8},
			{Name: "_1", Type: arrow.BinaryTypes.String}, {Name: "valueless", Type: arrow.Null}},
			[]arrow.UnionTypeCode{0, 1, 2})}, false},
		"map of C++": {field{Type: arrow.MapOfFields(field{Type: arrow.BinaryTypes.String},
			field{Type: arrow.PrimitiveTypes.Int32}),
			Metadata: arrow.MetadataFrom(map[string]string{rntarrow.TypeKey: "std::map<std::string,std::int32_t>"})}, false},
		"date":               {field{Type: arrow.FixedWidthTypes.Date32, Nullable: true}, true},
		"list of times":      {field{Type: arrow.ListOf(arrow.FixedWidthTypes.Time64us)}, true},
		"record with a half": {field{Type: arrow.StructOf(field{Name: "h", Type: arrow.FixedWidthTypes.Float16})}, true},
		"bytes":              {field{Type: arrow.BinaryTypes.Binary}, true},
		"array of bytes":     {field{Type: &arrow.FixedSizeBinaryType{ByteWidth: 2}}, true},
		"map":                {field{Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32)}, true},
		"optional record":    {field{Type: point, Nullable: true}, true}, // a tuple, without the names
		"named alternatives": {field{Type: arrow.DenseUnionOf([]field{{Name: "a", Type: arrow.PrimitiveTypes.Int8}},
			[]arrow.UnionTypeCode{0})}, true},
	} {
		f.Name = "f"
		r := created(t, arrow.NewSchema([]field{f.field}, nil), `[]`)
		if stored := len(r.AttributeSets()) == 1; stored != f.stored {
			t.Errorf("%s: stored %v, want %v", name, stored, f.stored)
		}
		if got, err := rntarrow.SchemaOf(r, &rntarrow.Options{Lists32: true}); err != nil || f.stored &&
			f.Type.String() != got.Field(0).Type.String() {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for key, want := range map[string]bool{"pandas": true, rntarrow.NameKey: false} {
		m := arrow.MetadataFrom(map[string]string{key: "x"})
		r := created(t, arrow.NewSchema([]field{{Name: "n", Type: arrow.PrimitiveTypes.Int8}}, &m), `[]`)
		if stored := len(r.AttributeSets()) == 1; stored != want {
			t.Errorf("metadata %q: stored %v", key, stored)
		}
		got, err := rntarrow.SchemaOf(r, &rntarrow.Options{Structs: true})
		if v, _ := got.Metadata().GetValue(key); err != nil || (v == "x") != want {
			t.Errorf("metadata %q: %q, %v", key, v, err)
		}
	}
}
