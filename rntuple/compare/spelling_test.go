package compare

import (
	"reflect"
	"testing"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/schema"
)

// TestSpellings compares schemas whose type names are spelled as ROOT 6.34 and
// later versions spell them (ROOT issue 22130).
func TestSpellings(t *testing.T) {
	of := func(types ...string) *schema.Schema {
		h := &envelope.Header{Name: "n"}
		for i, typ := range types {
			h.Fields = append(h.Fields, envelope.Field{Name: string(rune('a' + i)), TypeName: typ, Parent: uint32(i),
				Role: envelope.RoleRecord})
		}
		s, err := schema.Build(h, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	old := of("ElementLink<DataVector<xAOD::Jet_v1> >", "P<Float_t>", "Q<int>")
	got := Schemas(old, of("ElementLink<DataVector<xAOD::Jet_v1>>", "P<float>", "Q<long>"))
	if want := []Difference{{"c", "type", "Q<int>", "Q<long>"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
