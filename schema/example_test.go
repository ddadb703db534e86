package schema_test

import (
	"fmt"
	"strings"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
)

// A document written by hand becomes the descriptors of a header and, of these, a
// schema.
func Example() {
	document, err := schema.ParseDocument(strings.NewReader(`{"name": "Events", "fields": [
		{"name": "run", "type": "unsigned int"},
		{"name": "jets", "type": "vector<pair<float,float> >"}
	]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	descriptors, err := document.Describe(true)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := schema.Build(&envelope.Header{Name: document.Name, Schema: *descriptors}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(s)

	fields, err := s.Lookup("jets._0._1")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range fields {
		fmt.Println(f, f.Kind() == cpptype.Float32)
	}
	// Output:
	// RNTuple "Events": 2 top-level fields, 5 fields in all, 4 columns
	//
	// run       std::uint32_t                        scalar      SplitUInt32
	// jets      std::vector<std::pair<float,float>>  collection  SplitIndex64
	// └─ _0     std::pair<float,float>               record
	//    ├─ _0  float                                scalar      SplitReal32
	//    └─ _1  float                                scalar      SplitReal32
	// jets: std::vector<std::pair<float,float>> false
	// jets._0: std::pair<float,float> false
	// jets._0._1: float true
}

// A type of another language is refused, with a suggestion.
func ExampleDocument_Describe() {
	document := &schema.Document{Name: "n", Fields: []*schema.FieldDocument{{Name: "run", Type: "uint64"}}}
	_, err := document.Describe(true)
	fmt.Println(err)
	// Output:
	// schema: field "run": has no role, and its type "uint64" does not tell it; did you mean "std::uint64_t"?
}
