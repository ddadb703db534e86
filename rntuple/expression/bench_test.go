package expression

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// BenchmarkConditions has the time of an entry, of 80,000 with up to four muons.
func BenchmarkConditions(b *testing.B) {
	r, err := rntuple.Open("../../testdata/dimuon.root", "", &rntuple.ReadOptions{Workers: 1})
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
		"sort":   "sort(Muon_pt)[0] > 3",
		"median": "median(Muon_pt) > 3",
		"groups": "len(groupBy(Muon_charge, #)) == 2",
		"pairs":  "let c = combinations(Muon_pt); any(c[1], # == 1)",
	} {
		c := must(b, text).Condition()
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := selecting(r, c); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(r.NumEntries()), "ns/entry")
		})
	}
	b.Run("batches", func(b *testing.B) {
		for b.Loop() {
			for _, err := range rntuple.Batches(r, &rntuple.BatchOptions{Fields: []string{"Muon_pt", "Muon_charge", "nMuon"}}) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(r.NumEntries()), "ns/entry")
	})
}

// BenchmarkOrder compares all orders of three conditions that leave 1 %, 10 % and 50 % of the
// entries: worst/best is the time of the slowest divided by that of the fastest.
func BenchmarkOrder(b *testing.B) {
	type row struct {
		A, B, C int32
		X, Y, Z []float32
	}
	random := rand.New(rand.NewPCG(1, 2))
	r := written(b, 1_000_000, func(int) *row {
		return &row{random.Int32N(100), random.Int32N(100), random.Int32N(100), someFloat32s(random),
			someFloat32s(random), someFloat32s(random)}
	})
	few, some, half := "(A < 1 and sum(X) >= 0)", "(B < 10 and sum(Y) >= 0)", "(C < 50 and sum(Z) >= 0)"
	var works []func() error
	for _, order := range [][]string{{few, some, half}, {few, half, some}, {some, few, half}, {some, half, few},
		{half, few, some}, {half, some, few}} {
		c := must(b, strings.Join(order, " and ")).Condition()
		works = append(works, func() error { return selecting(r, c) })
	}
	b.ReportMetric(0, "ns/op")
	times := inTurns(b, works...)
	b.ReportMetric(slices.Max(times)/slices.Min(times), "worst/best")
}

// BenchmarkSelectivity sets reading the entries of a condition beside reading all entries: with and
// without are their times. The condition is about one of the fields that are read, and leaves
// entries everywhere, or in one place.
func BenchmarkSelectivity(b *testing.B) {
	type row struct {
		Everywhere, Together   float64
		A, B, C, D, E, F, G, H float32
		X, Y, Z                []float32
	}
	const n = 2_000_000
	random := rand.New(rand.NewPCG(3, 4))
	r := written(b, n, func(i int) *row {
		f := random.Float32
		return &row{random.Float64(), float64(i) / n, f(), f(), f(), f(), f(), f(), f(), f(), someFloat32s(random),
			someFloat32s(random), someFloat32s(random)}
	})
	for _, field := range []string{"Everywhere", "Together"} {
		for _, share := range []float64{1e-4, 1e-3, 1e-2, 0.1, 0.3, 0.5, 0.7, 0.9, 1} {
			c := must(b, fmt.Sprintf("%s < %v", field, share)).Condition()
			b.Run(fmt.Sprintf("%s/%v%%", field, share*100), func(b *testing.B) {
				times := inTurns(b, func() error { return readAll(r) }, func() error {
					chosen, err := rntuple.Where(r, c, nil)
					if err != nil {
						return err
					}
					return readAll(chosen)
				})
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(times[1]/times[0], "with/without")
			})
		}
	}
}

// inTurns returns the medians of the times of some works, which take turns.
func inTurns(b *testing.B, works ...func() error) []float64 {
	const rounds = 9
	times := make([][]float64, len(works))
	for range rounds {
		for i, work := range works {
			begin := time.Now()
			if err := work(); err != nil {
				b.Fatal(err)
			}
			times[i] = append(times[i], time.Since(begin).Seconds())
		}
	}
	medians := make([]float64, len(works))
	for i, t := range times {
		slices.Sort(t)
		medians[i] = t[rounds/2]
	}
	return medians
}

// written returns an RNTuple of n entries.
func written[T any](b *testing.B, n int, entry func(i int) *T) *rntuple.Reader {
	path := filepath.Join(b.TempDir(), "bench.root")
	w, err := rntuple.Create[T](path, "bench", nil)
	if err != nil {
		b.Fatal(err)
	}
	for i := range n {
		if err := w.Write(entry(i)); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	r, err := rntuple.Open(path, "", &rntuple.ReadOptions{Workers: 1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { r.Close() })
	return r
}

func someFloat32s(random *rand.Rand) []float32 {
	all := make([]float32, random.IntN(6))
	for i := range all {
		all[i] = float32(random.IntN(1000))
	}
	return all
}

func selecting(r *rntuple.Reader, c rntuple.Condition) error {
	for _, err := range c.Select(r, rntuple.EntryRange{End: r.NumEntries()}) {
		if err != nil {
			return err
		}
	}
	return nil
}

func readAll(s rntuple.Source) error {
	for _, err := range rntuple.Batches(s, nil) {
		if err != nil {
			return err
		}
	}
	return nil
}
