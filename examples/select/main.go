package main

import (
	"fmt"
	"log"
	"math"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// Event names the fields to read; no others are.
type Event struct {
	Run    uint32    `rntuple:"run"`
	Pt     []float32 `rntuple:"Muon_pt"`
	Eta    []float32 `rntuple:"Muon_eta"`
	Phi    []float32 `rntuple:"Muon_phi"`
	Charge []int32   `rntuple:"Muon_charge"`
}

// Pair has the fields to write.
type Pair struct {
	Run  uint32  `rntuple:"run"`
	Mass float64 `rntuple:"mass,desc=invariant mass in GeV"`
}

func main() {
	if err := selectPairs("testdata/dimuon.root", "pairs.root"); err != nil {
		log.Fatal(err)
	}
}

func selectPairs(in, out string) error {
	r, err := rntuple.Open(in, "Events")
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := rntuple.Create[Pair](out, "Pairs")
	if err != nil {
		return err
	}
	for ev, err := range rntuple.Entries[Event](r) {
		if err != nil {
			w.Abort() // leaves no file behind
			return err
		}
		if len(ev.Pt) != 2 || ev.Charge[0] == ev.Charge[1] {
			continue
		}
		eta, phi := float64(ev.Eta[0]-ev.Eta[1]), float64(ev.Phi[0]-ev.Phi[1])
		mass := math.Sqrt(2 * float64(ev.Pt[0]) * float64(ev.Pt[1]) * (math.Cosh(eta) - math.Cos(phi)))
		w.Write(&Pair{ev.Run, mass}) // Close returns the error, if there is one
	}
	fmt.Println(w.NumEntries(), "pairs in", r.NumEntries(), "events")
	return w.Close()
}
