package surgery

import (
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/schema"
)

// TestTypeNames compares fields whose types have names that are spelt in different
// ways, as those of ROOT 6.34 and 6.36 are (ROOT's issue 22130).
func TestTypeNames(t *testing.T) {
	build := func(typeName string) *schema.Schema {
		fields := []envelope.Field{
			{TypeName: typeName, Name: "links", Role: envelope.RoleRecord},
			{TypeName: "std::uint32_t", Name: "index", Parent: 0},
		}
		s, err := schema.Build(&envelope.Header{Name: "n", Schema: envelope.Schema{
			Fields:  fields,
			Columns: []envelope.Column{{Type: column.UInt32, Bits: 32, Field: 1}},
		}}, nil)
		if err != nil || len(s.Hidden) > 0 {
			t.Fatal(err, s.Hidden)
		}
		return s
	}
	for _, test := range []struct {
		first, this string
		same        bool
	}{
		{"ElementLink<DataVector<xAOD::Jet_v1>>", "ElementLink<DataVector<xAOD::Jet_v1> >", true},
		{"ElementLink<DataVector<xAOD::Jet_v1> >", "ElementLink<DataVector<xAOD::Jet_v1>>", true},
		{"Pair<Long64_t, unsigned int>", "Pair<std::int64_t,std::uint32_t>", true},
		{"ElementLink<DataVector<xAOD::Jet_v1>>", "ElementLink<DataVector<xAOD::Jet_v2> >", false},
		{"Pair<std::int64_t,float>", "Pair<std::int64_t,double>", false},
		{"C<", "C<", true}, // no type names, but the same
		{"C<", "C< ", false},
	} {
		m := compare(build(test.first).Fields, build(test.this), "", false)
		m.apply(Strict)
		if same := len(m.problems) == 0; same != test.same {
			t.Errorf("%q and %q: %v", test.first, test.this, m.problems)
		} else if !same && !strings.Contains(m.problems[0].What, "the type is "+test.this) {
			t.Errorf("%q and %q: %v", test.first, test.this, m.problems)
		}
	}
}
