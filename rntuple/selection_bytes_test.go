package rntuple_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// manifold has columns of many shapes. Every entry has the same number of elements in each.
type manifold struct {
	ID   int64
	X, Y float64
	Name string // 6 characters
	V    []float32
	W    [][]int32 // 2 of 3
	P    *float64
	A    [4]float32
}

// manifoldElements has the number of elements that an entry has in each column.
var manifoldElements = map[string][]int64{
	"X": {1}, "Y": {1}, "Name": {1, 6}, "V": {1}, "V._0": {3}, "W": {1}, "W._0": {2}, "W._0._0": {6}, "P": {1},
	"P._0": {1}, "A._0": {4},
}

func manifoldFile(t *testing.T, n int) []byte {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 9))
	var m memory
	f, err := rntuple.NewFile(&m, "set.root", nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := rntuple.NewWriter[manifold](f, "set",
		&rntuple.WriteOptions{MaxUnzippedPageSize: 32 << 10, ClusterSize: 2 << 20})
	if err != nil {
		t.Fatal(err)
	}
	list := func() []int32 { return []int32{int32(rng.Uint32()), int32(rng.Uint32()), int32(rng.Uint32())} }
	for i := range n {
		p := rng.Float64()
		w.Write(&manifold{
			ID: int64(i), X: rng.Float64(), Y: rng.Float64(), Name: fmt.Sprintf("%06d", rng.IntN(1e6)),
			V: []float32{rng.Float32(), rng.Float32(), rng.Float32()}, W: [][]int32{list(), list()}, P: &p,
			A: [4]float32{rng.Float32()},
		})
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return m.b
}

// TestSelectionBytes makes sure that a selection of 0.1 % of the entries, which lie together,
// fetches at most 1.3 times the bytes of the pages that hold them, twice with read-ahead, and
// one of none nothing.
func TestSelectionBytes(t *testing.T) {
	const n = 100_000
	file := manifoldFile(t, n)
	for _, chosen := range []rntuple.EntryRange{{First: 47_310, End: 47_410}, {First: 0, End: 100},
		{First: n - 100, End: n}, {First: 10, End: 10}} {
		for _, workers := range []int{0, 1, 3} {
			c := &counter{ReaderAt: bytes.NewReader(file)}
			// the reader and the read-ahead may fetch the same page
			opts, tenths := &rntuple.ReadOptions{Workers: max(1, workers)}, int64(20)
			if workers == 0 {
				opts.ReadAhead, tenths = -1, 13
			}
			r, err := rntuple.NewReader(c, int64(len(file)), "", opts)
			if err != nil {
				t.Fatal(err)
			}
			clusters, err := r.Unwrapped().Source.Clusters(context.Background())
			if err != nil || len(clusters) < 2 {
				t.Fatal(len(clusters), err)
			}
			want, condition, rest := int64(0), int64(0), int64(0)
			var pages []envelope.Page // with survivors
			for _, col := range r.Schema().Columns {
				for _, cluster := range clusters {
					at := int64(0)
					for _, p := range cluster.Columns()[col.ID].Pages {
						size := int64(p.StoredSize())
						begin := at
						at += int64(p.NumElements)
						if col.Owner.Path() == "ID" {
							condition += size
							continue
						}
						k := manifoldElements[col.Owner.Path()][col.Index]
						if begin < (chosen.End-cluster.First)*k && (chosen.First-cluster.First)*k < at && chosen.Len() > 0 {
							want += size
							pages = append(pages, p)
						} else {
							rest += size
						}
					}
				}
			}
			if rest < 20*want || condition == 0 {
				t.Fatalf("%d bytes of the condition, %d with survivors, %d others", condition, want, rest)
			}
			most := want * tenths / 10
			if workers > 0 { // pages that are near each other are fetched at once, with what lies between them
				slices.SortFunc(pages, func(a, b envelope.Page) int { return cmp.Compare(a.Locator.Offset, b.Locator.Offset) })
				for i := range pages[min(1, len(pages)):] {
					gap := int64(pages[i+1].Locator.Offset-pages[i].Locator.Offset) - int64(pages[i].StoredSize())
					if 0 < gap && gap <= 32<<10 {
						most += gap
					}
				}
			}
			c.reset()
			type id struct{ ID int64 }
			sel, err := rntuple.Where(r, rntuple.WhereFunc(func(e *id) bool {
				return e.ID >= chosen.First &&
					e.ID < chosen.End
			}), nil)
			if err != nil || sel.NumEntries() != chosen.Len() {
				t.Fatal(err)
			}
			if _, got := c.reset(); got > condition*tenths/10 {
				t.Errorf("%v, %d workers: evaluating reads %d bytes, the column has %d", chosen, workers, got, condition)
			}
			type others struct {
				X, Y float64
				Name string
				V    []float32
				W    [][]int32
				P    *float64
				A    [4]float32
			}
			count := func(s rntuple.Source, r rntuple.EntryRange) (n int64, err error) {
				for _, err := range rntuple.EntriesIn[others](s, r, &rntuple.EntriesOptions{Reuse: true}) {
					if err != nil {
						return 0, err
					}
					n++
				}
				return n, nil
			}
			fields := &rntuple.BatchOptions{Fields: []string{"X", "Y", "Name", "V", "W", "P", "A"}}
			for name, read := range map[string]func() (int64, error){
				"entries": func() (int64, error) { return count(sel, rntuple.EntryRange{End: chosen.Len()}) },
				"fold":    func() (int64, error) { return rntuple.Fold(sel, count, func(a, b int64) int64 { return a + b }, nil) },
				"batches": func() (n int64, err error) {
					for b, err := range rntuple.Batches(sel, fields) {
						if err != nil {
							return 0, err
						}
						n += int64(b.Len)
					}
					return n, nil
				},
				"records": func() (n int64, err error) {
					view, err := rntuple.RecordsOf(sel, fields.Fields...)
					if err != nil {
						return 0, err
					}
					for range view.All() {
						n++
					}
					return n, view.Err()
				},
			} {
				got, err := read()
				if err != nil || got != chosen.Len() {
					t.Fatalf("%s: %d entries: %v", name, got, err)
				}
				if reads, bytes := c.reset(); bytes > most {
					t.Errorf("%v, %d workers, %s: %d bytes in %d reads, the pages have %d, at most %d are expected", chosen, workers,
						name, bytes, reads, want, most)
				}
			}
		}
	}
}
