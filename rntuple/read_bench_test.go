package rntuple_test

import (
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/value"
)

// BenchmarkRead reads the 80,000 entries of a NanoAOD-like file in all ways that
// there are.
func BenchmarkRead(b *testing.B) {
	r, err := rntuple.Open("../testdata/dimuon.root", "Events")
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	type event struct {
		Run    uint32    `rntuple:"run"`
		Pt     []float32 `rntuple:"Muon_pt"`
		Eta    []float32 `rntuple:"Muon_eta"`
		Charge []int32   `rntuple:"Muon_charge"`
	}
	n := r.NumEntries()
	for _, way := range []struct {
		name string
		read func() error
	}{
		{"plan", func() error {
			_, err := rntuple.ViewOf[event](r, "")
			return err
		}},
		{"entries", func() error {
			for _, err := range rntuple.Entries[event](r) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{"records", func() error {
			v, err := rntuple.RecordsOf(r)
			if err != nil {
				return err
			}
			var last value.Record
			for _, last = range v.All() {
				_ = last
			}
			return v.Err()
		}},
		{"column", func() error {
			v, err := rntuple.ViewOf[uint64](r, "event")
			if err != nil {
				return err
			}
			_, err = v.Read(make([]uint64, n), 0)
			return err
		}},
		{"jagged column", func() error {
			v, err := rntuple.JaggedOf[float32](r, "Muon_pt")
			if err != nil {
				return err
			}
			_, _, err = v.Read(make([]int64, n+1), nil, 0)
			return err
		}},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := way.read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
