package rntuple_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// partEntry is an entry of the files of TestReadInParts: a column of each encoding that can be
// decoded from anywhere in a page, and of some that cannot.
type partEntry struct {
	Bit   bool
	Int8  int8
	Int16 int16
	Int32 int32
	Int64 int64
	Uint  uint32
	Float float32
	Trunc float32 `rntuple:",trunc=16"`
	Real  float64
	Items []int32
}

const numParts = 120_000

// allParts are the entries.
var allParts = sync.OnceValue(func() []partEntry {
	all := make([]partEntry, numParts)
	for i := range all {
		n := int64(i*i - 3000*i)
		all[i] = partEntry{n%3 == 0, int8(n), int16(n), int32(n), n << 20, uint32(n), float32(n), float32(i % 64),
			float64(n) / 4, make([]int32, i%4)}
		for k := range all[i].Items {
			all[i].Items[k] = int32(10*i + k)
		}
	}
	return all
})

func partsFile(t *testing.T, c compress.Settings) []byte {
	t.Helper()
	var file memory
	w, err := rntuple.NewFile(&file, "parts.root", fixed)
	if err != nil {
		t.Fatal(err)
	}
	opts := &rntuple.WriteOptions{Compression: c, MaxUnzippedPageSize: 300_000, ClusterSize: 3_000_000}
	entries, err := rntuple.NewWriter[partEntry](w, "parts", opts)
	if err != nil {
		t.Fatal(err)
	}
	entries.WriteBatch(allParts()) // Close returns the first error
	if err := errors.Join(entries.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	return file.b
}

// checkParts reads ranges of entries of a field, in order and then anywhere, and compares each
// value with the one that at returns for its entry.
func checkParts[T comparable](t *testing.T, r *rntuple.Reader, field string, at func(*partEntry) T) {
	t.Helper()
	all := allParts()
	view, err := rntuple.ViewOf[T](r, field)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	buf := make([]T, 70_000)
	read := func(first, n int) {
		got, err := view.Read(buf[:n], int64(first))
		if want := min(n, numParts-first); err != nil || got != want {
			t.Fatalf("%s: %d entries from %d on: %d, %v", field, n, first, got, err)
		}
		for i, v := range buf[:got] {
			if want := at(&all[first+i]); v != want {
				t.Fatalf("%s: entry %d, of %d from %d on: %v, want %v", field, first+i, n, first, v, want)
			}
		}
	}
	for range 2 { // it may begin again
		for first := 0; first < numParts; {
			n := 1 + rng.IntN(rng.IntN(len(buf))+1)
			read(first, n)
			first += n
		}
	}
	for range 30 {
		read(rng.IntN(numParts), 1+rng.IntN(rng.IntN(len(buf))+1))
	}
}

// TestReadInParts reads pages in parts, from files that are mapped into memory and others,
// compressed and not.
func TestReadInParts(t *testing.T) {
	for _, c := range []compress.Settings{compress.None, 101, 404, 505} {
		file := partsFile(t, c)
		path := filepath.Join(t.TempDir(), "parts.root")
		if err := os.WriteFile(path, file, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, workers := range []int{1, 3} {
			for _, mapped := range []bool{true, false} {
				r, err := rntuple.Open(path, "", &rntuple.ReadOptions{Workers: workers, NoMap: !mapped})
				if err != nil {
					t.Fatal(err)
				}
				t.Run(fmt.Sprintf("compression %d, workers %d, mapped %v", c, workers, mapped), func(t *testing.T) {
					checkParts(t, r, "Bit", func(e *partEntry) bool { return e.Bit })
					checkParts(t, r, "Int8", func(e *partEntry) int8 { return e.Int8 })
					checkParts(t, r, "Int16", func(e *partEntry) int16 { return e.Int16 })
					checkParts(t, r, "Int32", func(e *partEntry) int32 { return e.Int32 })
					checkParts(t, r, "Int64", func(e *partEntry) int64 { return e.Int64 })
					checkParts(t, r, "Uint", func(e *partEntry) uint32 { return e.Uint })
					checkParts(t, r, "Uint", func(e *partEntry) uint64 { return uint64(e.Uint) })
					checkParts(t, r, "Float", func(e *partEntry) float32 { return e.Float })
					checkParts(t, r, "Trunc", func(e *partEntry) float32 { return e.Trunc })
					checkParts(t, r, "Real", func(e *partEntry) float64 { return e.Real })
					checkItems(t, r)
				})
				if err := r.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// checkItems has two views of the same collection read it by turns, which share what they read of
// its offsets.
func checkItems(t *testing.T, r *rntuple.Reader) {
	t.Helper()
	var views [2]*rntuple.JaggedView[int32]
	for i := range views {
		var err error
		if views[i], err = rntuple.JaggedOf[int32](r, "Items"); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for first := 0; first < numParts; {
		n := min(1+rng.IntN(20_000), numParts-first)
		for _, v := range views {
			offsets := make([]int64, n+1)
			items, _, err := v.Read(offsets, nil, int64(first))
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if got, want := items[offsets[i]:offsets[i+1]], allParts()[first+i].Items; !slices.Equal(got, want) {
					t.Fatalf("entry %d: %d, want %d", first+i, got, want)
				}
			}
		}
		first += n
	}
}

// TestDamageInParts makes sure that no part of a damaged page is returned, whichever is asked for,
// and however often.
func TestDamageInParts(t *testing.T) {
	for _, c := range []compress.Settings{compress.None, 404} {
		file := partsFile(t, c)
		failed, rng := 0, rand.New(rand.NewPCG(5, 6))
		for range 20 {
			damaged := slices.Clone(file)
			damaged[len(file)/20+rng.IntN(len(file)*3/4)] ^= 1 << rng.IntN(8)
			path := filepath.Join(t.TempDir(), "damaged.root")
			if err := os.WriteFile(path, damaged, 0o666); err != nil {
				t.Fatal(err)
			}
			r, err := rntuple.Open(path, "", &rntuple.ReadOptions{Workers: 1})
			if err != nil {
				continue // not a page
			}
			view, err := rntuple.ViewOf[int64](r, "Int64")
			if err != nil {
				t.Fatal(err)
			}
			buf := make([]int64, 7000)
			for range 2 {
				for first := 0; first < numParts; first += len(buf) {
					n, err := view.Read(buf, int64(first))
					if err != nil {
						failed++
						if !errors.Is(err, rntuple.ErrCorrupt) && !errors.Is(err, rntuple.ErrChecksum) {
							t.Fatal(err)
						}
						continue
					}
					for i, v := range buf[:n] {
						if want := allParts()[first+i].Int64; v != want {
							t.Fatalf("compression %d: entry %d: %d, want %d", c, first+i, v, want)
						}
					}
				}
			}
			r.Close()
		}
		if failed == 0 {
			t.Errorf("compression %d: nothing failed", c)
		}
	}
}
