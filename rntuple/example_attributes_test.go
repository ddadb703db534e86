package rntuple_test

import (
	"fmt"
	"log"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/value"
)

// This set, written by ROOT, describes ranges of entries that overlap.
func ExampleAttributesOf() {
	r, err := rntuple.Open("../testdata/good/special_attributes.root", "main", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	set, err := r.OpenAttributes("first")
	if err != nil {
		log.Fatal(err)
	}
	type Attribute struct {
		Name string `rntuple:"name"`
	}
	attributes, err := rntuple.AttributesOf[Attribute](set)
	if err != nil {
		log.Fatal(err)
	}
	for entries, a := range attributes.Holding(6) {
		fmt.Printf("entries %d to %d: %s\n", entries.First, entries.End-1, a.Name)
	}
	if err := attributes.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// entries 5 to 6: z: five and six é
	// entries 3 to 6: y: three to six
}

// Attribute sets can be read without knowing their fields.
func ExampleReader_OpenAttributes() {
	r, err := rntuple.Open("../testdata/good/special_attributes.root", "main", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for _, s := range r.AttributeSets() {
		set, err := r.OpenAttributes(s.Name)
		if err != nil {
			log.Fatal(err)
		}
		attributes, err := rntuple.AttributesOf[value.Record](set)
		if err != nil {
			log.Fatal(err)
		}
		for entries, a := range attributes.All() {
			fmt.Println(s.Name, entries, string(value.AppendJSON(nil, a)))
		}
		if err := attributes.Err(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// first [0, 3) {"name":"zero to two","vec":[1,2.5]}
	// first [5, 7) {"name":"z: five and six é","vec":[]}
	// first [3, 7) {"name":"y: three to six","vec":[-1]}
	// first [7, 7) {"name":"empty range","vec":[-1]}
	// second [0, 10) {"num":-42}
}
