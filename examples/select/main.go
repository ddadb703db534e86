package main

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

// Event names the fields to read; no others are.
type Event struct {
	Pt     []float32 `rntuple:"Muon_pt"`
	Eta    []float32 `rntuple:"Muon_eta"`
	Phi    []float32 `rntuple:"Muon_phi"`
	Charge []int32   `rntuple:"Muon_charge"`
}

func main() {
	if err := selectPairs("testdata/dimuon.root", "pairs.root"); err != nil {
		log.Fatal(err)
	}
}

func opposite(e *Event) bool { return len(e.Pt) == 2 && e.Charge[0] != e.Charge[1] }

func mass(e *Event) float64 {
	eta, phi := float64(e.Eta[0]-e.Eta[1]), float64(e.Phi[0]-e.Phi[1])
	return math.Sqrt(2 * float64(e.Pt[0]) * float64(e.Pt[1]) * (math.Cosh(eta) - math.Cos(phi)))
}

func selectPairs(in, out string) error {
	report, err := surgery.Skim(context.Background(), out, []surgery.Input{{Path: in}},
		rntuple.WhereFunc(opposite), &surgery.SkimOptions{
			Name: "Pairs", Keep: []string{"run", "event"},
			Define: []surgery.Definition{surgery.Define("mass,desc=invariant mass in GeV", mass)},
		})
	if err != nil {
		return err // no file is left behind
	}
	fmt.Println(report.Entries, "pairs in", report.InputEntries, "events")
	return nil
}
