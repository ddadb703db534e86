package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// The numbers are those that uproot and NumPy give.
func Example() {
	dir, err := os.MkdirTemp("", "select")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "pairs.root")
	if err := selectPairs("../../testdata/dimuon.root", out); err != nil {
		log.Fatal(err)
	}
	r, err := rntuple.Open(out, "Pairs", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	masses, err := rntuple.ViewOf[float64](r, "mass")
	if err != nil {
		log.Fatal(err)
	}
	sum := 0.0
	for _, m := range masses.All() {
		sum += m
	}
	fmt.Printf("%v, mean %.3f GeV\n", masses.Err(), sum/float64(r.NumEntries()))
	// Output:
	// 61641 pairs in 80000 events
	// <nil>, mean 22.287 GeV
}
