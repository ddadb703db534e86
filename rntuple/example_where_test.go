package rntuple_test

import (
	"fmt"
	"log"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// The muons of the events with two of opposite charge. Of the other fields, only the pages
// with such events are read.
func ExampleWhere() {
	r, err := rntuple.Open("../testdata/dimuon.root", "Events", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	type charges struct {
		Charge []int32 `rntuple:"Muon_charge"`
	}
	pairs, err := rntuple.Where(r, rntuple.WhereFunc(func(e *charges) bool {
		return len(e.Charge) == 2 && e.Charge[0]+e.Charge[1] == 0
	}), nil)
	if err != nil {
		log.Fatal(err)
	}
	pt, err := rntuple.ViewOf[[]float32](pairs, "Muon_pt")
	if err != nil {
		log.Fatal(err)
	}
	first, err := pt.At(0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pairs.NumEntries(), "of", r.NumEntries(), "events; the first is event", pairs.Entry(0),
		"with", len(first), "muons")
	// Output: 61641 of 80000 events; the first is event 0 with 2 muons
}
