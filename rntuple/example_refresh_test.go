package rntuple_test

import (
	"fmt"
	"log"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A reader follows a file that is being written.
func ExampleReader_Refresh() {
	type Reading struct{ Volts float64 }
	path, remove := inTemp("readings.root")
	defer remove()
	w, err := rntuple.Create[Reading](path, "readings", nil)
	if err != nil {
		log.Fatal(err)
	}
	add := func(volts ...float64) {
		for _, v := range volts {
			w.Write(&Reading{v})
		}
		if err := w.Checkpoint(); err != nil { // has the first error of all
			log.Fatal(err)
		}
	}
	add(1.5, 2.5)

	r, err := rntuple.Open(path, "readings", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { r.Close() }() // the newest, which closes the file of all
	seen := int64(0)
	look := func() {
		next, err := r.Refresh()
		if err != nil {
			log.Fatal(err)
		}
		r = next
		fmt.Println(r.NumEntries()-seen, "new")
		for e, err := range rntuple.EntriesIn[Reading](r, rntuple.EntryRange{First: seen, End: r.NumEntries()}, nil) {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(e.Volts)
		}
		seen = r.NumEntries()
	}
	look()
	look()
	add(3.5)
	look()
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 2 new
	// 1.5
	// 2.5
	// 0 new
	// 1 new
	// 3.5
}
