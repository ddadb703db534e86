package rntuple_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// flatEntry is an entry of 26 columns.
type flatEntry struct {
	A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, X, Y, Z float64
}

// nanoEntry is an event as those of CMS's NanoAOD.
type nanoEntry struct {
	Run, Lumi         uint32
	Event             uint64
	MET, METPhi, HT   float32
	HLT               [8]bool
	JetPt, JetEta     []float32
	JetPhi, JetMass   []float32
	JetID             []int32
	MuonPt, MuonEta   []float32
	MuonPhi           []float32
	MuonCharge        []int32
	MuonTight         []bool
	ElePt, EleEta     []float32
	GenPdg, GenStatus []int32
}

func flatEntries(n int) []flatEntry {
	r := rand.New(rand.NewPCG(1, 2))
	all := make([]flatEntry, n)
	for i := range all {
		f := float64(r.IntN(100000)) / 1000
		all[i] = flatEntry{float64(i), f, r.Float64(), r.NormFloat64(), f * 2, r.NormFloat64(), r.NormFloat64(),
			r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64(),
			float64(r.IntN(5)), float64(r.IntN(500)), r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64(),
			r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), 1, 2, float64(i / 100), r.NormFloat64(),
			r.NormFloat64(), r.NormFloat64()}
	}
	return all
}

func floats(r *rand.Rand, n int) []float32 {
	all := make([]float32, n)
	for i := range all {
		all[i] = float32(r.ExpFloat64() * 20)
	}
	return all
}

func ints(r *rand.Rand, n, most int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(r.IntN(most))
	}
	return all
}

func nanoEntries(n int) []nanoEntry {
	r := rand.New(rand.NewPCG(1, 2))
	all := make([]nanoEntry, n)
	for i := range all {
		jets, muons, eles, gen := r.IntN(8), r.IntN(4), r.IntN(3), r.IntN(20)
		e := &all[i]
		*e = nanoEntry{Run: 320000, Lumi: uint32(i / 1000), Event: uint64(i), MET: float32(r.ExpFloat64()),
			METPhi: r.Float32(), HT: float32(r.ExpFloat64())}
		e.HLT[r.IntN(8)] = true
		e.JetPt, e.JetEta, e.JetPhi, e.JetMass, e.JetID = floats(r, jets), floats(r, jets), floats(r, jets),
			floats(r, jets), ints(r, jets, 7)
		e.MuonPt, e.MuonEta, e.MuonPhi, e.MuonCharge, e.MuonTight = floats(r, muons), floats(r, muons), floats(r, muons),
			ints(r, muons, 2), make([]bool, muons)
		e.ElePt, e.EleEta = floats(r, eles), floats(r, eles)
		e.GenPdg, e.GenStatus = ints(r, gen, 25), ints(r, gen, 3)
	}
	return all
}

var writeSettings = []compress.Settings{compress.None, 404, 505}

// sized is a file of which only the size is kept, so that no disk is timed.
type sized int64

func (s *sized) WriteAt(p []byte, off int64) (int, error) {
	*s = max(*s, sized(off)+sized(len(p)))
	return len(p), nil
}

// BenchmarkWrite writes entries of structs; the disk is left out.
func BenchmarkWrite(b *testing.B) {
	benchmarkEntries(b, "flat", flatEntries(5e4), 30)
	benchmarkEntries(b, "nano", nanoEntries(5e4), 20)
}

func benchmarkEntries[E any](b *testing.B, name string, entries []E, times int) {
	for _, setting := range writeSettings {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/%d/%d", name, setting, workers), func(b *testing.B) {
				times := times
				if setting > 0 {
					times = 1
				}
				var size int64
				for b.Loop() {
					opts := &rntuple.WriteOptions{Compression: setting, Workers: workers}
					file, err := rntuple.NewFile((*sized)(&size), "bench.root", fixed)
					if err != nil {
						b.Fatal(err)
					}
					w, err := rntuple.NewWriter[E](file, "events", opts)
					if err != nil {
						b.Fatal(err)
					}
					for range times {
						w.WriteBatch(entries)
					}
					if err := errors.Join(w.Close(), file.Close()); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*times*len(entries)), "ns/entry")
				b.ReportMetric(float64(size)*float64(b.N)/b.Elapsed().Seconds()/1e6, "MB/s")
			})
		}
	}
}

// BenchmarkWriteColumns writes the numbers of flat entries column by column.
func BenchmarkWriteColumns(b *testing.B) {
	const entries, batches = 10_000, 100
	doc := &schema.Document{Name: "events"}
	for i := range 26 {
		doc.Fields = append(doc.Fields, &schema.FieldDocument{Name: string(rune('A' + i)), Type: "double"})
	}
	values := make([]float64, entries)
	for i := range values {
		values[i] = float64(i * i % 1000)
	}
	for _, setting := range writeSettings {
		b.Run(fmt.Sprint(setting), func(b *testing.B) {
			for b.Loop() {
				var size sized
				opts := &rntuple.WriteOptions{Compression: setting}
				file, err := rntuple.NewFile(&size, "bench.root", fixed)
				if err != nil {
					b.Fatal(err)
				}
				w, err := rntuple.NewColumnWriter(file, "events", doc, opts)
				if err != nil {
					b.Fatal(err)
				}
				for range batches {
					for _, f := range doc.Fields {
						rntuple.Put(w, f.Name, values)
					}
					w.End(entries)
				}
				if err := errors.Join(w.Close(), file.Close()); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(8 * 26 * entries * batches)
		})
	}
}
