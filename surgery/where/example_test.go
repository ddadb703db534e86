package where_test

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/surgery/where"
)

// A condition is parsed; errors say where in the expression they are.
func ExampleParse() {
	condition, err := where.Parse("nMuon == 2 and all(Muon_pt, # > 20)")
	fmt.Println(condition, err)
	_, err = where.Parse("nMuon == 2 and (Muon_pt[0] > 20")
	fmt.Println(err != nil)
	// Output:
	// nMuon == 2 and all(Muon_pt, # > 20) <nil>
	// true
}
