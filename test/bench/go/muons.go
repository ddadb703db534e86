package main

import (
	"math"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// dimuon fills a histogram with the mass of the first two muons of each event,
// if they have opposite charge: 100 bins of 2 GeV, and one for more.
func dimuon(file string, threads int) ([]uint64, error) {
	return overEntries(file, threads, 101, func(r *rntuple.Reader, entries rntuple.EntryRange, bins []uint64) error {
		views := make([]*rntuple.JaggedView[float32], 3)
		for i, name := range []string{"Muon_pt", "Muon_eta", "Muon_phi"} {
			var err error
			if views[i], err = rntuple.JaggedOf[float32](r, name); err != nil {
				return err
			}
		}
		charges, err := rntuple.JaggedOf[int32](r, "Muon_charge")
		if err != nil {
			return err
		}
		offsets := make([]int64, 1<<16+1)
		items := make([][]float32, len(views))
		var charge []int32
		for at := entries.First; at < entries.End; {
			offsets := offsets[:min(int64(len(offsets)), entries.End-at+1)]
			for i, view := range views {
				if items[i], _, err = view.Read(offsets, items[i], at); err != nil {
					return err
				}
			}
			n := 0
			if charge, n, err = charges.Read(offsets, charge, at); err != nil {
				return err
			}
			at += int64(n)
			for i := range n {
				lo, hi := offsets[i], offsets[i+1]
				addPair(bins, items[0][lo:hi], items[1][lo:hi], items[2][lo:hi], charge[lo:hi])
			}
		}
		return nil
	})
}

// muons are the fields that the mass of two muons needs.
type muons struct {
	Pt     []float32 `rntuple:"Muon_pt"`
	Eta    []float32 `rntuple:"Muon_eta"`
	Phi    []float32 `rntuple:"Muon_phi"`
	Charge []int32   `rntuple:"Muon_charge"`
}

// dimuonLoop returns the same as dimuon in a plain loop over structs.
func dimuonLoop(opts *rntuple.EntriesOptions) func(file string, threads int) ([]uint64, error) {
	return func(file string, threads int) ([]uint64, error) {
		return overEntries(file, threads, 101, func(r *rntuple.Reader, entries rntuple.EntryRange, bins []uint64) error {
			for e, err := range rntuple.EntriesIn[muons](r, entries, opts) {
				if err != nil {
					return err
				}
				addPair(bins, e.Pt, e.Eta, e.Phi, e.Charge)
			}
			return nil
		})
	}
}

// addPair adds the mass of the first two muons of an event to bins.
func addPair(bins []uint64, pt, eta, phi []float32, charge []int32) {
	if len(charge) < 2 || charge[0] == charge[1] {
		return
	}
	angles := math.Cosh(float64(eta[0])-float64(eta[1])) - math.Cos(float64(phi[0])-float64(phi[1]))
	mass := math.Sqrt(2 * float64(pt[0]) * float64(pt[1]) * angles)
	if mass < 200 {
		bins[int(mass/2)]++
	} else {
		bins[100]++
	}
}
