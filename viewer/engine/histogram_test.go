package engine

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestHistogram compares histograms with loops over the values.
func TestHistogram(t *testing.T) {
	e, _ := opened(t, dimuon)
	r, err := rntuple.Open(dimuon, "Events", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var want Histogram
	want.Bins = make([]float64, 20)
	n, sum, squares := 0.0, 0.0, 0.0
	type event struct {
		N  uint32    `rntuple:"nMuon"`
		Pt []float32 `rntuple:"Muon_pt"`
	}
	for ev, err := range rntuple.Entries[event](r) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.N != 2 {
			continue
		}
		for _, x := range ev.Pt {
			want.Entries++
			switch pt := float64(x); {
			case pt < 5:
				want.Under++
			case pt >= 25:
				want.Over++
			default:
				want.Bins[int(pt-5)]++
				n, sum, squares = n+1, sum+pt, squares+pt*pt
			}
		}
	}
	params := map[string]any{"ntuple": "Events", "expression": "Muon_pt", "where": "nMuon == 2",
		"bins": 20, "low": 5, "high": 25}
	var last Progress
	text, _ := json.Marshal(params)
	turns := 0
	e.GiveWay = func() { turns++ }
	a, err := e.Do(t.Context(), "histogram", text, func(a Answer) { last = a.JSON.(Progress) })
	if err != nil {
		t.Fatal(err)
	}
	h := a.JSON.(*Histogram)
	mean := sum / n
	if h.Kind != "number" || h.Low != 5 || h.High != 25 || !slices.Equal(h.Bins, want.Bins) || h.Under != want.Under ||
		h.Over != want.Over || h.Entries != want.Entries ||
		h.NaN != 0 || math.Abs(*h.Mean-mean) > 1e-9 || math.Abs(*h.StdDev-math.Sqrt(squares/n-mean*mean)) > 1e-6 {
		t.Errorf("%+v, want %+v with the mean %g", h, want, mean)
	}
	if last.Done != Int(r.NumEntries()) || last.Total != last.Done || last.Unit != "entries" || turns == 0 {
		t.Errorf("progress %+v, %d turns", last, turns)
	}
	// Without a range, all values are within.
	auto := ask[Histogram](t, e, "histogram", map[string]any{"expression": "Muon_pt", "where": "nMuon == 2"})
	total := 0.0
	for _, b := range auto.Bins {
		total += b
	}
	if total != float64(want.Entries) || auto.Under != 0 || auto.Over != 0 || len(auto.Edges) != len(auto.Bins)+1 ||
		auto.Low != auto.Edges[0] {
		t.Errorf("%+v, want %d values", auto, want.Entries)
	}
	logarithmic := ask[Histogram](t, e, "histogram",
		map[string]any{"expression": "Muon_pt", "bins": 4, "low": 1, "high": 10000, "logx": true})
	for i, edge := range logarithmic.Edges {
		if math.Abs(edge-math.Pow(10, float64(i))) > 1e-9*edge {
			t.Errorf("edges %v", logarithmic.Edges)
		}
	}
	words := ask[Histogram](t, e, "histogram", map[string]any{"expression": "nMuon == 2 ? 'two' : 'other'"})
	if words.Kind != "text" || len(words.Labels) != 2 || len(words.Bins) != 2 ||
		words.Bins[0]+words.Bins[1] != float64(r.NumEntries()) || words.Mean != nil {
		t.Errorf("%+v", words)
	}
}
