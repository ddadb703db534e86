package jsonl_test

import (
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
)

// classes lists the members of the classes that tests use; a class with a member ""
// is an enum.
var classes = map[string][][2]string{
	"Point":    {{"x", "float"}, {"y", "float"}},
	"Reversed": {{"y", "float"}, {"x", "float"}},
	"Jet":      {{":_0", "Point"}, {"pt", "double"}, {"hits", "std::vector<Point>"}, {"\"odd\".\xff", "bool"}},
	"Empty":    {},
	"Maybe":    {{"a", "std::optional<float>"}, {"b", "bool"}},
	"Enum":     {{"", "std::int16_t"}},
	"Slots":    {{"_0", "std::string"}, {"_1", "std::int32_t"}},
}

var columns = map[cpptype.Kind]envelope.Column{
	cpptype.Bool: {Type: column.Bit, Bits: 1}, cpptype.Char: {Type: column.Char, Bits: 8},
	cpptype.Byte: {Type: column.Byte, Bits: 8},
	cpptype.Int8: {Type: column.Int8, Bits: 8}, cpptype.UInt8: {Type: column.UInt8, Bits: 8},
	cpptype.Int16: {Type: column.Int16, Bits: 16}, cpptype.UInt16: {Type: column.UInt16, Bits: 16},
	cpptype.Int32: {Type: column.Int32, Bits: 32}, cpptype.UInt32: {Type: column.UInt32, Bits: 32},
	cpptype.Int64: {Type: column.Int64, Bits: 64}, cpptype.UInt64: {Type: column.UInt64, Bits: 64},
	cpptype.Float32: {Type: column.Real32, Bits: 32}, cpptype.Float64: {Type: column.Real64, Bits: 64},
	cpptype.Bitset: {Type: column.Bit, Bits: 1}, cpptype.Variant: {Type: column.Switch, Bits: 96},
}

var index = envelope.Column{Type: column.Index64, Bits: 64}

// A builder makes a schema from the names of C++ types.
type builder struct {
	tb testing.TB
	envelope.Header
}

// fields returns fields; names and types alternate.
func fields(tb testing.TB, namesAndTypes ...string) []*schema.Field {
	tb.Helper()
	b := &builder{tb: tb}
	for i := 0; i < len(namesAndTypes); i += 2 {
		b.add(namesAndTypes[i], namesAndTypes[i+1], len(b.Fields))
	}
	s, err := schema.Build(&b.Header, nil)
	if err != nil {
		tb.Fatal(err)
	}
	for _, h := range s.Hidden {
		tb.Fatal(h.Err)
	}
	return s.Fields
}

func (b *builder) add(name, typ string, parent int) {
	b.tb.Helper()
	id := len(b.Fields)
	f := envelope.Field{Parent: uint32(parent), Name: name, TypeName: typ}
	column := func(c envelope.Column) {
		c.Field = uint32(id)
		b.Columns = append(b.Columns, c)
	}
	t, err := cpptype.Parse(typ)
	if err != nil {
		b.tb.Fatal(err)
	}
	k := t.Kind()
	members := classes[typ]
	for i, arg := range t.Args {
		if _, isNumber := arg.Uint(); !isNumber {
			members = append(members, [2]string{"_" + string(rune('0'+i)), arg.String()})
		}
	}
	switch {
	case k == cpptype.String:
		column(index)
		column(columns[cpptype.Char])
	case k == cpptype.Array || k == cpptype.Bitset:
		f.ArraySize, _ = t.Args[len(t.Args)-1].Uint()
		f.Flags = envelope.FieldRepetitive
		if k == cpptype.Bitset {
			column(columns[k])
		}
	case k.IsMap():
		f.Role, members = envelope.RoleCollection,
			[][2]string{{"_0", "std::pair<" + members[0][1] + "," + members[1][1] + ">"}}
		column(index)
	case k == cpptype.Vector || k == cpptype.Optional || k.IsSet():
		f.Role = envelope.RoleCollection
		column(index)
	case k == cpptype.Variant:
		f.Role = envelope.RoleVariant
		column(columns[k])
	case typ == "TObject":
		f.Role = envelope.RoleStreamer
		column(index)
		column(columns[cpptype.Byte])
	case k == cpptype.Pair, k == cpptype.Tuple, k == cpptype.User && typ != "Enum":
		f.Role = envelope.RoleRecord
	case columns[k].Bits != 0:
		column(columns[k])
	}
	b.Fields = append(b.Fields, f)
	for _, m := range members {
		b.add(m[0], m[1], id)
	}
}
