package expression

import (
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
		"flat":    "nMuon == 2",
		"jagged":  "nMuon == 2 && all(Muon_pt, # > 20) && sum(Muon_charge) == 0",
		"mass":    "nMuon >= 2 && mass(Muon_pt[0], Muon_eta[0], Muon_phi[0], Muon_mass[0], Muon_pt[1], Muon_eta[1], Muon_phi[1], Muon_mass[1]) > 60",
		"masked":  "sum(Muon_pt[Muon_pt > 20 and abs(Muon_eta) < 2.4]) > 50",
		"machine": "len(sortBy(Muon_pt, #)) == 2",
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
