package expression

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// BenchmarkConditions has the time of an entry, of 80,000 with up to four muons.
func BenchmarkConditions(b *testing.B) {
	r, err := rntuple.Open("../testdata/dimuon.root", "", rntuple.ReadWorkers(1))
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	for name, text := range map[string]string{
		"flat":   "nMuon == 2",
		"jagged": "nMuon == 2 && all(Muon_pt, # > 20) && sum(Muon_charge) == 0",
		"mass":   "nMuon >= 2 && mass(Muon_pt[0], Muon_eta[0], Muon_phi[0], Muon_mass[0], Muon_pt[1], Muon_eta[1], Muon_phi[1], Muon_mass[1]) > 60",
		"masked": "sum(Muon_pt[Muon_pt > 20 and abs(Muon_eta) < 2.4]) > 50",
		"sortBy": "len(sortBy(Muon_pt, #)) == 2",
	} {
		e, err := Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		c := e.Condition()
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range c.Select(r, rntuple.EntryRange{End: r.NumEntries()}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(r.NumEntries()), "ns/entry")
		})
	}
	b.Run("batches", func(b *testing.B) {
		for b.Loop() {
			for _, err := range rntuple.Batches(r, rntuple.BatchOptions{Fields: []string{"Muon_pt", "Muon_charge", "nMuon"}}) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(r.NumEntries()), "ns/entry")
	})
}

// BenchmarkOrder has the time of an entry for three conditions that leave 1 %, 10 % and half of the entries, in all orders.
func BenchmarkOrder(b *testing.B) {
	type row struct {
		A, B, C int32
		X, Y, Z []float32
	}
	path := filepath.Join(b.TempDir(), "order.root")
	w, err := rntuple.Create[row](path, "order")
	if err != nil {
		b.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	some := func() []float32 {
		all := make([]float32, random.IntN(6))
		for i := range all {
			all[i] = float32(random.IntN(1000))
		}
		return all
	}
	for range 1_000_000 {
		w.Write(&row{random.Int32N(100), random.Int32N(100), random.Int32N(100), some(), some(), some()})
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	r, err := rntuple.Open(path, "", rntuple.ReadWorkers(1))
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	few, some10, half := "(A < 1 and sum(X) >= 0)", "(B < 10 and sum(Y) >= 0)", "(C < 50 and sum(Z) >= 0)"
	for _, order := range [][]string{{few, some10, half}, {few, half, some10}, {some10, few, half}, {some10, half, few}, {half, few, some10}, {half, some10, few}, {"A >= 0 and sum(X) >= 0"}, {"A >= 0"}, {"A < 1"}} {
		text := strings.Join(order, " and ")
		e, err := Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		c := e.Condition()
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				for _, err := range c.Select(r, rntuple.EntryRange{End: r.NumEntries()}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(r.NumEntries()), "ns/entry")
		})
	}
}
