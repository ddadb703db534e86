package main

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
)

// expressions are what py/expressions.py computes with NumPy and Awkward Array.
var expressions = map[string]string{
	"flat":         "MET_pt > 60 and PV_npvs > 20",
	"arithmetic":   "sqrt((MET_pt * cos(MET_phi)) ** 2 + MET_sumEt ** 2) > 500",
	"count":        "count(Jet_pt, # > 30) >= 2",
	"masked-sum":   "sum(Muon_pt[Muon_pt > 20 and abs(Muon_eta) < 2.4]) > 50",
	"max":          "(max(Jet_pt) ?? 0) > 100",
	"argmax":       "(Jet_eta[argmax(Jet_pt)] ?? 0) > 1",
	"sort":         `(sort(Jet_pt, "desc")[1] ?? 0) > 40`,
	"pair-mass":    "len(Muon_pt) >= 2 and mass(Muon_pt[0], Muon_eta[0], Muon_phi[0], 0, Muon_pt[1], Muon_eta[1], Muon_phi[1], 0) > 60",
	"combinations": "let c = combinations(Jet_pt); any(deltaR(Jet_eta[c[0]], Jet_phi[c[0]], Jet_eta[c[1]], Jet_phi[c[1]]), # < 0.8)",
	"broadcast":    "any(abs(deltaPhi(Jet_phi, MET_phi)), # > 3)",
}

// count returns a function that counts the entries for which an expression is true.
func count(name string) func(file string, threads int) ([]uint64, error) {
	return func(file string, threads int) ([]uint64, error) {
		e, err := expression.Parse(expressions[name])
		if err != nil {
			return nil, err
		}
		return overEntries(file, threads, 1, func(r *rntuple.Reader, entries rntuple.EntryRange, sums []uint64) error {
			program, err := expression.Compile(r, e)
			if err != nil {
				return err
			}
			for b, err := range program.In(r, entries) {
				if err != nil {
					return err
				}
				all, err := columnar.Values[bool](b.Values[0])
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				for _, t := range all {
					n := uint64(0)
					if t {
						n = 1
					}
					sums[0] += n
				}
			}
			return nil
		})
	}
}
