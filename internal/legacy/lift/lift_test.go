package lift

import (
	"math"
	"reflect"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
)

const (
	collection = envelope.RoleCollection
	record     = envelope.RoleRecord
)

func TestSchema(t *testing.T) {
	header := &envelope.Schema{
		Fields: []envelope.Field{
			{Parent: 0, Role: collection, Name: "jets"},                                      // 0
			{Parent: 1, Role: collection, Name: "jet_pt", TypeName: "ROOT::RVec<float>"},     // 1, a view
			{Parent: 2, Role: record, Name: "pair", TypeName: "std::pair<bool,float>"},       // 2
			{Parent: 3, Role: collection, Name: "good"},                                      // 3 has its record
			{Parent: 4, Role: envelope.RoleVariant, Name: "var", TypeName: "std::variant<>"}, // 4
			{Parent: 0, Name: "pt", TypeName: "float"},                                       // 5
			{Parent: 1, Name: "float", TypeName: "float"},                                    // 6
			{Parent: 2, Name: "first", TypeName: "bool"},                                     // 7
			{Parent: 2, Name: "second", TypeName: "float"},                                   // 8
			{Parent: 3, Role: record, Name: "_0"},                                            // 9
			{Parent: 9, Name: "x", TypeName: "float"},                                        // 10
			{Parent: 4, Name: "alternative", TypeName: "bool"},                               // 11
			{Parent: 12, Role: record, Name: "class", TypeName: "T"},                         // 12
			{Parent: 12, Name: "member", TypeName: "bool"},                                   // 13
		},
		Columns: []envelope.Column{{Field: 0}, {Field: 5}, {Field: 7}, {Field: 99}},
		Aliases: []envelope.Alias{{Column: 0, Field: 1}, {Column: 1, Field: 6}, {Column: 99, Field: 2},
			{Column: 0, Field: 99}},
	}
	extension := &envelope.Schema{
		Fields: []envelope.Field{
			{Parent: 0, Name: "eta", TypeName: "float"},                                                 // 14
			{Parent: 15, Role: collection, Name: "nothing"},                                             // 15
			{Parent: 77, Name: "orphan", TypeName: "float"},                                             // 16
			{Parent: 17, Name: "marked", TypeName: "float", Flags: envelope.FieldProjected, Source: 14}, // 17
		},
		Columns: []envelope.Column{{Field: 14}},
		Aliases: []envelope.Alias{{Column: 1, Field: 17}},
	}
	Schema(header, extension)
	const projected = envelope.FieldProjected
	want := []envelope.Field{
		{Parent: 0, Role: collection, Name: "jets"},
		{Parent: 0, Role: record, Name: "_0"},
		{Parent: 2, Role: collection, Flags: projected, Source: 0, Name: "jet_pt", TypeName: "ROOT::RVec<float>"},
		{Parent: 3, Role: record, Name: "pair", TypeName: "std::pair<bool,float>"},
		{Parent: 4, Role: collection, Name: "good"},
		{Parent: 5, Role: envelope.RoleVariant, Name: "var", TypeName: "std::variant<>"},
		{Parent: 1, Name: "pt", TypeName: "float"},
		{Parent: 2, Flags: projected, Source: 6, Name: "_0", TypeName: "float"},
		{Parent: 3, Name: "_0", TypeName: "bool"},
		{Parent: 3, Name: "_1", TypeName: "float"},
		{Parent: 4, Role: record, Name: "_0"},
		{Parent: 10, Name: "x", TypeName: "float"},
		{Parent: 5, Name: "_0", TypeName: "bool"},
		{Parent: 13, Role: record, Name: "class", TypeName: "T"},
		{Parent: 13, Name: "member", TypeName: "bool"},
	}
	if !reflect.DeepEqual(header.Fields, want) {
		t.Errorf("got  %+v\nwant %+v", header.Fields, want)
	}
	want = []envelope.Field{
		{Parent: 1, Name: "eta", TypeName: "float"},
		{Parent: 16, Role: collection, Name: "nothing"},
		{Parent: 16, Role: record, Name: "_0"},
		{Parent: math.MaxUint32, Name: "orphan", TypeName: "float"},
		{Parent: 19, Flags: projected, Source: 15, Name: "marked", TypeName: "float"},
	}
	if !reflect.DeepEqual(extension.Fields, want) {
		t.Errorf("got  %+v\nwant %+v", extension.Fields, want)
	}
	if want := []envelope.Column{{Field: 0}, {Field: 6}, {Field: 8},
		{Field: math.MaxUint32}}; !reflect.DeepEqual(header.Columns, want) {
		t.Errorf("got %+v, want %+v", header.Columns, want)
	}
	if want := []envelope.Alias{{Column: 0, Field: 2}, {Column: 1, Field: 7}, {Column: 99, Field: 3},
		{Column: 0, Field: math.MaxUint32}}; !reflect.DeepEqual(header.Aliases, want) {
		t.Errorf("got %+v, want %+v", header.Aliases, want)
	}
	if a := extension.Aliases[0]; extension.Columns[0].Field != 15 || a.Column != 1 || a.Field != 19 {
		t.Errorf("got %+v, %+v", extension.Columns, extension.Aliases)
	}
}

// Bits of optionals, and only they, are marked: format 1 has no such columns.
func TestDense(t *testing.T) {
	for _, test := range []struct {
		role   envelope.Role
		typ    string
		column column.Type
		want   bool
	}{
		{envelope.RoleCollection, "std::optional<bool>", column.Bit, true},
		{envelope.RoleCollection, "std::unique_ptr<X>", column.Bit, true},
		{envelope.RoleCollection, "std::optional<bool>", column.Index32, false},
		{envelope.RoleCollection, "std::vector<bool>", column.Bit, false},
		{envelope.RolePlain, "std::optional<bool>", column.Bit, false}, {envelope.RolePlain, "bool", column.Bit, false},
	} {
		for _, late := range []bool{false, true} {
			fields := []envelope.Field{{Role: test.role, TypeName: test.typ, Name: "x"}}
			header, extension := &envelope.Schema{Fields: fields},
				&envelope.Schema{Columns: []envelope.Column{{Type: column.Bit, Field: 9}}}
			part := header
			if late {
				part = extension
			}
			part.Columns = append(part.Columns, envelope.Column{Type: test.column})
			Schema(header, extension)
			if got := part.Columns[len(part.Columns)-1].PreRelease; got != test.want || extension.Columns[0].PreRelease &&
				extension.Columns[0].Field == 9 {
				t.Errorf("%s with %v: got %v", test.typ, test.column, got)
			}
		}
	}
}

func TestSigns(t *testing.T) {
	for _, test := range []struct {
		typ        string
		from, want column.Type
		preRelease bool
	}{
		{"std::int16_t", column.UInt16, column.Int16, true}, {"std::int16_t", column.SplitUInt16, column.SplitInt16, true},
		{"std::int32_t", column.UInt32, column.Int32, true}, {"Int_t", column.SplitUInt32, column.SplitInt32, true},
		{"std::int64_t", column.UInt64, column.Int64, true}, {"long", column.SplitUInt64, column.SplitInt64, true},
		{"std::int8_t", column.UInt8, column.Int8, false}, {"std::int8_t", column.Byte, column.Int8, false},
		{"std::uint8_t", column.Int8, column.UInt8, false}, {"char", column.UInt8, column.Char, false},
		{"std::byte", column.Byte, column.Byte, false},
		{"std::uint32_t", column.UInt32, column.UInt32, false},
		{"std::uint64_t", column.SplitUInt64, column.SplitUInt64, false},
		{"std::int32_t", column.SplitInt32, column.SplitInt32, false},
		{"std::int32_t", column.SplitUInt16, column.SplitInt16, true},
		{"float", column.Real32, column.Real32, false}, {"std::vector<std::int32_t>", column.Index32, column.Index32, false},
		{"no type <", column.UInt32, column.UInt32, false},
	} {
		s := &envelope.Schema{Fields: []envelope.Field{{TypeName: test.typ}}, Columns: []envelope.Column{{Type: test.from}}}
		Signs(s, new(envelope.Schema))
		if got := s.Columns[0]; got.Type != test.want || got.PreRelease != test.preRelease {
			t.Errorf("%s in %v: got %v, %v", test.typ, test.from, got.Type, got.PreRelease)
		}
	}
	s := &envelope.Schema{Fields: []envelope.Field{{TypeName: "std::string"}},
		Columns: []envelope.Column{{Type: column.Index32}}}
	x := &envelope.Schema{Columns: []envelope.Column{{Type: column.Byte}, {Type: column.Byte, Field: 9}}}
	if Signs(s, x); s.Columns[0].Type != column.Index32 || x.Columns[0].Type != column.Char ||
		x.Columns[1].Type != column.Byte {
		t.Errorf("got %+v, %+v", s.Columns, x.Columns)
	}
}

// The numbers are those of the table in the document of RC1, with the two types
// that RC2 added.
func TestTypes(t *testing.T) {
	names := []string{1: "Index64", "Index32", "Switch", "Byte", "Char", "Bit", "Real64", "Real32", "Real16", "UInt64",
		"UInt32", "UInt16", "UInt8",
		"SplitIndex64", "SplitIndex32", "SplitReal64", "SplitReal32", "SplitReal16", "SplitUInt64",
		"SplitUInt32", "SplitUInt16",
		"Int64", "Int32", "Int16", "Int8", "SplitInt64", "SplitInt32", "SplitInt16", "Real32Trunc", "Real32Quant"}
	for number, name := range names {
		if got := Type(Types[:], uint32(number)); number > 0 && got.String() != name {
			t.Errorf("%#x is %v, want %s", number, got, name)
		}
	}
	for _, number := range []uint32{0, 0x1f, 0xffff, math.MaxUint32} {
		if got := Type(Types[:], number); got.Known() {
			t.Errorf("%#x is %v", number, got)
		}
	}
}
