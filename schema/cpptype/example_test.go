package cpptype_test

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/schema/cpptype"
)

// A name is written as RNTuple stores it, and taken apart.
func Example() {
	name, err := cpptype.Normalize("vector< unsigned int >")
	fmt.Println(name, err)

	t, err := cpptype.Parse("std::map<std::string, float>")
	fmt.Println(t.Kind(), t.Kind().IsMap(), t.Args[1].Kind().IsFloat(), err)
	// Output:
	// std::vector<std::uint32_t> <nil>
	// std::map true true <nil>
}
