package workunits_test

import (
	"context"
	"fmt"
	"log"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/workunits"
)

// Two files become three units of about equal cost, which jobs read on their own. The cost is that
// of the columns of Muon_pt.
func Example() {
	const path = "../../testdata/dimuon.root"
	plan, err := workunits.Make(context.Background(), []string{path, path},
		&workunits.Options{Count: 3, Fields: []string{"Muon_pt"}})
	if err != nil {
		log.Fatal(err)
	}
	type event struct {
		Pt []float32 `rntuple:"Muon_pt"`
	}
	total := 0
	for i := range plan.Units { // each in a job of its own
		unit, err := plan.Open(i, nil)
		if err != nil {
			log.Fatal(err)
		}
		for e, err := range rntuple.Entries[event](unit) {
			if err != nil {
				log.Fatal(err)
			}
			total += len(e.Pt)
		}
		unit.Close()
	}
	fmt.Println(len(plan.Units), "units,", plan.Entries(), "entries,", total, "muons")
	// Output:
	// 3 units, 160000 entries, 318050 muons
}
