package interop

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestWriteParallel has ROOT read what four goroutines have written, in the order of tickets
// and as it came, in new clusters of an existing RNTuple, too.
func TestWriteParallel(t *testing.T) {
	needed(t)
	type item struct {
		Pt float32
		ID int32
	}
	type entry struct {
		N     int64
		Items []item
		Name  string
		Grid  [2]float64
		Opt   *int16
	}
	entryOf := func(n int) entry {
		e := entry{N: int64(n), Items: make([]item, n%5), Name: strings.Repeat("x", n%7), Grid: [2]float64{float64(n), 0.5}}
		for i := range e.Items {
			e.Items[i] = item{float32(n), int32(i)}
		}
		if n%3 == 0 {
			small := int16(n % 100)
			e.Opt = &small
		}
		return e
	}
	const parts, size, goroutines = 12, 100, 4
	var lines []string
	for n := range parts * size {
		line, _ := json.Marshal(entryOf(n))
		lines = append(lines, string(line))
	}
	fill := func(part int, f *rntuple.Filler[entry]) error {
		for n := range size {
			e := entryOf(part*size + n)
			f.Write(&e)
		}
		return nil
	}
	dir := t.TempDir()
	opts := &rntuple.WriteOptions{Workers: goroutines, ClusterSize: 1500, MaxUnzippedPageSize: 500}
	ordered, unordered := filepath.Join(dir, "ordered.root"), filepath.Join(dir, "any.root")

	const half = parts / 2
	for i := range 2 {
		begin := rntuple.Create[entry]
		if i == 1 {
			begin = rntuple.Append[entry]
		}
		w, err := begin(ordered, "n", opts)
		if err != nil {
			t.Fatal(err)
		}
		err = w.Fill(half, func(part int, f *rntuple.Filler[entry]) error { return fill(part+i*half, f) })
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
	}

	w, err := rntuple.Create[entry](unordered, "n", opts)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range goroutines {
		f := w.Filler()
		wg.Go(func() {
			for part := i; part < parts; part += goroutines {
				fill(part, f)
			}
			f.Close()
		})
	}
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	views := rootViews(t, ordered+":n", unordered+":n")
	sameEntries(t, "ordered", views[0], lines...)
	sorted := make([]map[string]any, len(lines))
	for _, e := range views[1].Entries {
		if n, ok := e["N"].(float64); ok && int(n) < len(sorted) {
			sorted[int(n)] = e
		}
	}
	views[1].Entries = sorted
	sameEntries(t, "as they came", views[1], lines...)
	for i, v := range views {
		if v.Clusters < parts {
			t.Errorf("file %d: ROOT finds %d clusters", i, v.Clusters)
		}
	}
}
