package surgery

import (
	"reflect"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/schema"
)

// TestRenumber leaves out fields and columns. Field a has two representations, the
// second of them in the extension, and p is a projection of it.
func TestRenumber(t *testing.T) {
	build := func() *shape {
		s := &shape{
			Header: &envelope.Header{Name: "n", Schema: envelope.Schema{
				Fields: []envelope.Field{
					{TypeName: "float", Name: "x", Parent: 0},
					{TypeName: "std::uint32_t", Name: "a", Parent: 1},
					{TypeName: "std::uint32_t", Name: "p", Parent: 2, Flags: envelope.FieldProjected, Source: 1},
				},
				Columns: []envelope.Column{{Type: column.Real32, Bits: 32, Field: 0}, {Type: column.UInt32, Bits: 32, Field: 1}},
				Aliases: []envelope.Alias{{Column: 1, Field: 2}, {Column: 3, Field: 2}},
			}},
			Extension: &envelope.Schema{
				Fields: []envelope.Field{
					{Name: "r", Parent: 3, Role: envelope.RoleRecord},
					{TypeName: "double", Name: "y", Parent: 3},
				},
				Columns: []envelope.Column{
					{Type: column.Real64, Bits: 64, Field: 4},
					{Type: column.SplitUInt32, Bits: 32, Field: 1, Representation: 1},
				},
			},
		}
		if err := s.build(); err != nil {
			t.Fatal(err)
		}
		return s
	}

	s := build()
	numbers := s.renumber(func(id schema.FieldID) bool { return id != 0 }, func(c *schema.Column) *envelope.Column {
		if c.Owner.Name == "x" {
			return nil
		}
		return &c.Column
	})
	if want := map[schema.FieldID]schema.FieldID{1: 0, 2: 1, 3: 2, 4: 3}; !reflect.DeepEqual(numbers, want) {
		t.Errorf("without x: fields %v, expected %v", numbers, want)
	}
	h, ext := s.Header, s.Extension
	if h.Fields[0].Parent != 0 || h.Fields[1].Parent != 1 || h.Fields[1].Source != 0 || ext.Fields[0].Parent != 2 ||
		ext.Fields[1].Parent != 2 {
		t.Errorf("without x: fields %+v, %+v", h.Fields, ext.Fields)
	}
	if len(h.Columns) != 1 || h.Columns[0].Field != 0 || len(ext.Columns) != 2 || ext.Columns[0].Field != 3 ||
		ext.Columns[1].Field != 0 {
		t.Errorf("without x: columns %+v, %+v", h.Columns, ext.Columns)
	}
	if want := []envelope.Alias{{Column: 0, Field: 1}, {Column: 2, Field: 1}}; !reflect.DeepEqual(h.Aliases, want) {
		t.Errorf("without x: aliases %+v, expected %+v", h.Aliases, want)
	}
	if err := s.build(); err != nil {
		t.Error(err)
	}

	s = build()
	if err := s.encode("", []FieldEncoding{{Path: "a",
		Column: schema.ColumnDocument{Type: "SplitUInt32", Bits: 32}}}); err != nil {
		t.Fatal(err)
	}
	h, ext = s.Header, s.Extension
	if len(h.Columns) != 2 || h.Columns[1].Type != column.SplitUInt32 || h.Columns[1].Field != 1 ||
		len(ext.Columns) != 1 || ext.Columns[0].Type != column.Real64 {
		t.Errorf("a encoded: columns %+v, %+v", h.Columns, ext.Columns)
	}
	if want := []envelope.Alias{{Column: 1, Field: 2}}; !reflect.DeepEqual(h.Aliases, want) {
		t.Errorf("a encoded: aliases %+v, expected %+v", h.Aliases, want)
	}

	s = build()
	s.renumber(func(id schema.FieldID) bool { return id < 2 },
		func(c *schema.Column) *envelope.Column { return &c.Column })
	if len(s.Header.Aliases) > 0 || len(s.Extension.Fields) > 0 {
		t.Errorf("x and a: aliases %+v, fields %+v", s.Header.Aliases, s.Extension.Fields)
	}
}

// TestExtraTypes adds type information that an output lacks.
func TestExtraTypes(t *testing.T) {
	info := func(content uint32, name string, version uint32, text string) envelope.ExtraTypeInfo {
		return envelope.ExtraTypeInfo{ContentID: content, TypeName: name, TypeVersion: version, Content: text}
	}
	const other = envelope.StreamerInfo + 1
	s := &shape{Header: &envelope.Header{}, Extension: &envelope.Schema{}}
	s.Header.ExtraTypes = []envelope.ExtraTypeInfo{info(other, "a", 1, "first")}
	all := []envelope.ExtraTypeInfo{info(other, "a", 1, "again"), info(other, "a", 2, "x"), info(other, "b", 1, "y"),
		info(envelope.StreamerInfo, "", 0, "no list"), info(other, "b", 1, "z"),
		info(envelope.StreamerInfo, "", 0, "no list")}
	if err := s.addTypes(all); err != nil {
		t.Fatal(err)
	}
	if want := slices.Concat(all[1:4]); !reflect.DeepEqual(s.Extension.ExtraTypes, want) {
		t.Errorf("%+v, want %+v", s.Extension.ExtraTypes, want)
	}
	if err := s.addTypes([]envelope.ExtraTypeInfo{info(envelope.StreamerInfo, "", 0, "another")}); err == nil {
		t.Error("lists of streamer infos that are none are merged")
	}
}
