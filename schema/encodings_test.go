package schema_test

import (
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/schema"
)

// unsplit has ROOT's default encodings of uncompressed data, with those of compressed
// data that stand for them.
//
// Specification: "Mapping of C++ Types to Fields and Columns", the default columns.
var unsplit = map[column.Type]column.Type{
	column.Index64: column.SplitIndex64,
	column.Int16:   column.SplitInt16, column.Int32: column.SplitInt32, column.Int64: column.SplitInt64,
	column.UInt16: column.SplitUInt16, column.UInt32: column.SplitUInt32, column.UInt64: column.SplitUInt64,
	column.Real32: column.SplitReal32, column.Real64: column.SplitReal64,
}

// TestClearEncodings takes the schema of uncompressed data for compressed data.
func TestClearEncodings(t *testing.T) {
	doc := &schema.Document{Name: "n"}
	for name, typ := range map[string]string{
		"b": "bool", "i8": "std::int8_t", "i16": "std::int16_t", "i32": "std::int32_t", "i64": "std::int64_t",
		"u16": "std::uint16_t", "u32": "std::uint32_t",
		"u64": "std::uint64_t", "f": "float", "d": "double", "s": "std::string", "v": "std::vector<std::vector<float>>",
		"o": "std::optional<double>",
		"a": "std::array<std::int32_t,3>", "m": "std::map<std::string,std::int64_t>", "x": "std::variant<float,std::string>",
	} {
		f, err := schema.FieldOf(name, typ)
		if err != nil {
			t.Fatal(err)
		}
		doc.Fields = append(doc.Fields, f)
	}
	build := func(d *schema.Document, compressed bool) *schema.Schema {
		t.Helper()
		described, err := d.Describe(compressed)
		if err != nil {
			t.Fatal(err)
		}
		s, err := schema.Build(&envelope.Header{Name: d.Name, Schema: *described}, nil)
		if err != nil || len(s.Hidden) > 0 {
			t.Fatal(err, s.Hidden)
		}
		return s
	}
	types := func(s *schema.Schema) (all []column.Type) {
		for _, c := range s.Columns {
			all = append(all, c.Type)
		}
		return all
	}
	plain := build(doc, false)
	var want []column.Type
	for _, of := range types(plain) {
		if split, ok := unsplit[of]; ok {
			of = split
		}
		want = append(want, of)
	}
	kept := plain.Document()
	if got := types(build(kept, true)); !slices.Equal(got, types(plain)) {
		t.Errorf("a document does not keep the encodings: %v, was %v", got, types(plain))
	}
	kept.ClearEncodings()
	if got := types(build(kept, true)); !slices.Equal(got, want) || slices.Equal(got, types(plain)) {
		t.Errorf("encodings %v\nwant %v", got, want)
	}
	if got := types(build(kept, false)); !slices.Equal(got, types(plain)) {
		t.Errorf("encodings of uncompressed data %v\nwant %v", got, types(plain))
	}
}
