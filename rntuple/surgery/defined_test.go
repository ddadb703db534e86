package surgery

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/schema"
)

// TestShapeDefine adds fields to a header, behind which the fields and columns of the
// extension move. Field a has a second representation there, p and q are projections.
func TestShapeDefine(t *testing.T) {
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
				{TypeName: "double", Name: "q", Parent: 5, Flags: envelope.FieldProjected, Source: 4},
			},
			Columns: []envelope.Column{
				{Type: column.Real64, Bits: 64, Field: 4},
				{Type: column.SplitUInt32, Bits: 32, Field: 1, Representation: 1},
			},
			Aliases: []envelope.Alias{{Column: 2, Field: 5}},
		},
	}
	if err := s.build(); err != nil {
		t.Fatal(err)
	}
	var fields []*schema.FieldDocument
	for name, typ := range map[string]string{"v": "std::vector<float>"} {
		f, err := schema.FieldOf(name, typ)
		if err != nil {
			t.Fatal(err)
		}
		fields = append(fields, f)
	}
	if err := s.define(fields, false); err != nil {
		t.Fatal(err)
	}
	// The fields are x, a, p, v, v._0, r, r.y, q.
	parents := func(fields []envelope.Field) (all []string) {
		for _, f := range fields {
			all = append(all, fmt.Sprint(f.Name, " ", f.Parent, " ", f.Source))
		}
		return all
	}
	if got, want := parents(s.Header.Fields),
		[]string{"x 0 0", "a 1 0", "p 2 1", "v 3 0", "_0 3 0"}; !slices.Equal(got, want) {
		t.Errorf("fields of the header %q, want %q", got, want)
	}
	if got, want := parents(s.Extension.Fields), []string{"r 5 0", "y 5 0", "q 7 6"}; !slices.Equal(got, want) {
		t.Errorf("fields of the extension %q, want %q", got, want)
	}
	owners := func(columns []envelope.Column) (all []uint32) {
		for _, c := range columns {
			all = append(all, c.Field)
		}
		return all
	}
	if h, ext := owners(s.Header.Columns), owners(s.Extension.Columns); !slices.Equal(h, []uint32{0, 1, 3, 4}) ||
		!slices.Equal(ext, []uint32{6, 1}) {
		t.Errorf("columns of fields %d and %d, want 0 1 3 4 and 6 1", h, ext)
	}
	if want := []envelope.Alias{{Column: 1, Field: 2}, {Column: 5, Field: 2}}; !reflect.DeepEqual(s.Header.Aliases, want) {
		t.Errorf("aliases of the header %v, want %v", s.Header.Aliases, want)
	}
	if want := []envelope.Alias{{Column: 4, Field: 7}}; !reflect.DeepEqual(s.Extension.Aliases, want) {
		t.Errorf("aliases of the extension %v, want %v", s.Extension.Aliases, want)
	}
	names := func(fields []*schema.Field) (all string) {
		for _, f := range fields {
			all += f.Name
		}
		return all
	}
	if got, want := names(s.definedFields())+" "+names(s.inherited()), "v xaprq"; got != want {
		t.Errorf("defined and inherited %q, want %q", got, want)
	}
	for _, f := range s.Fields {
		for _, g := range append(slices.Clone(f.Children), f) {
			if s.defines(g) != (f.Name == "v") {
				t.Errorf("field %s is defined: %v", g.Path(), s.defines(g))
			}
		}
	}
	if err := s.define(fields, false); err == nil {
		t.Error("a field is defined twice")
	}
}

// TestAlike compares types of fields that are defined.
func TestAlike(t *testing.T) {
	texts := []string{"a float", "b float", "a double", "a std::vector<float>", "a std::vector<double>"}
	var all []*schema.FieldDocument
	for _, text := range texts {
		name, typ, _ := strings.Cut(text, " ")
		f, err := schema.FieldOf(name, typ)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	record := func(fields ...*schema.FieldDocument) *schema.FieldDocument {
		return &schema.FieldDocument{Name: "a", Role: "record", Fields: fields}
	}
	all = append(all, record(), record(all[0]), record(all[1]), record(all[0], all[1]))
	for i, a := range all {
		for k, b := range all {
			if alike(a, b) != (i == k) {
				t.Errorf("%+v and %+v: %v", a, b, alike(a, b))
			}
		}
	}
}
