package rntuple_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// TestStored reads all pages of files of ROOT as they are stored, and decompressed, and counts
// their elements.
func TestStored(t *testing.T) {
	paths, err := filepath.Glob("../testdata/good/types_*.root")
	if err != nil || len(paths) < 5 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		r, err := rntuple.Open(path, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		i, err := r.Inspect(nil)
		if err != nil {
			t.Fatal(err)
		}
		elements, disk := make([]int64, len(i.Columns)), int64(0)
		for group := range r.Footer().ClusterGroups {
			list, err := r.PageList(t.Context(), group)
			if err != nil {
				t.Fatal(err)
			}
			for _, cluster := range list.Pages {
				for id, pages := range cluster.Columns {
					c := r.Schema().Columns[id]
					for _, p := range pages.Pages {
						stored, err := r.StoredPage(t.Context(), nil, c, p)
						if err != nil {
							t.Fatal(err)
						}
						page, err := r.Page(t.Context(), c, p)
						if err != nil {
							t.Fatal(err)
						}
						want := stored[:p.Locator.Size]
						if n := c.Format().PageSize(p.NumElements); int64(p.Locator.Size) != n {
							want = make([]byte, n)
							if err := compress.Decompress(want, stored[:p.Locator.Size]); err != nil {
								t.Fatal(err)
							}
						}
						if !bytes.Equal(page, want) {
							t.Errorf("%s: %v: %d bytes, want %d", path, c, len(page), len(want))
						}
						elements[id] += int64(p.NumElements)
						disk += int64(p.Locator.Size)
					}
				}
			}
		}
		for id, n := range elements {
			if want := i.Columns[id].Elements; n != want {
				t.Errorf("%s: column %d has %d elements, want %d", path, id, n, want)
			}
		}
		if disk != i.Total.Disk {
			t.Errorf("%s: pages of %d bytes, want %d", path, disk, i.Total.Disk)
		}
		for _, group := range []int{-1, len(r.Footer().ClusterGroups)} {
			if _, err := r.PageList(t.Context(), group); err == nil {
				t.Errorf("%s: there is a cluster group %d", path, group)
			}
		}
	}
}

// TestStoredClusters compares the clusters with those of the page lists, and the elements of their
// chunks with what Inspect counts.
func TestStoredClusters(t *testing.T) {
	paths, err := filepath.Glob("../testdata/good/*.root")
	if err != nil || len(paths) < 5 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		r, err := rntuple.Open(path, "", nil)
		if err != nil {
			continue // several RNTuples, or none
		}
		defer r.Close()
		clusters, err := r.StoredClusters(t.Context())
		if err != nil {
			t.Fatal(path, err)
		}
		entries, err := r.Clusters()
		if err != nil || len(entries) != len(clusters) {
			t.Fatal(path, len(entries), len(clusters), err)
		}
		i, err := r.Inspect(nil)
		if err != nil {
			t.Fatal(err)
		}
		elements := map[*schema.Column]int64{}
		for n, c := range clusters {
			if c.EntryRange != entries[n] {
				t.Errorf("%s: cluster %d has the entries %v, want %v", path, n, c.EntryRange, entries[n])
			}
			for _, column := range r.Schema().Columns {
				chunk, err := c.Chunk(column.Owner, column.Index)
				if err != nil {
					t.Fatal(path, err)
				}
				sum := chunk.Zeros
				for _, p := range chunk.Pages {
					sum += int64(p.NumElements)
				}
				if sum != chunk.Elements || column.PerEntry > 0 && sum != c.Len()*column.PerEntry {
					t.Errorf("%s: cluster %d has %d elements of %v, %d with the zeros", path, n, sum, column, chunk.Elements)
				}
				if chunk.Column == column {
					elements[column] += sum - chunk.Zeros
					if columns := c.Columns(); int(column.ID) < len(columns) && len(chunk.Pages) != len(columns[column.ID].Pages) {
						t.Errorf("%s: cluster %d has %d pages of %v, and %d", path, n, len(chunk.Pages), column,
							len(columns[column.ID].Pages))
					}
				}
			}
		}
		for id, c := range r.Schema().Columns {
			if want := i.Columns[id].Elements; elements[c] != want {
				t.Errorf("%s: %d elements of %v, want %d", path, elements[c], c, want)
			}
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := r.FileInfo(), (rntuple.FileInfo{Size: info.Size()}); got != want {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
}

// TestLimitsOf finds the limits and the context of sources.
func TestLimitsOf(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, 1)
	open := func(bytes int64) rntuple.Source {
		r, err := rntuple.Open(zoned(t, nil), "n",
			&rntuple.ReadOptions{Context: ctx, Limits: rntuple.Limits{ExpressionBytes: bytes}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		return r
	}
	a, b := open(1001), open(1002)
	chain, err := rntuple.NewChain([]rntuple.Input{{Source: a}, {Source: b}}, &rntuple.ReadOptions{Context: ctx})
	if err != nil {
		t.Fatal(err)
	}
	defer chain.Close()
	join, err := rntuple.NewJoin(b, rntuple.Friend("f", a))
	if err != nil {
		t.Fatal(err)
	}
	selection, err := rntuple.Select(chain, rntuple.EntryRange{First: 99, End: 101})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		s     rntuple.Source
		entry int64
		want  int64
	}{
		{a, 0, 1001}, {b, 50, 1002}, {chain, 99, 1001}, {chain, 100, 1002}, {join, 0, 1002},
		{selection, 0, 1001}, {selection, 1, 1002},
		{chain, 200, 256 << 20}, {selection, 2, 256 << 20}, // there is no such entry
	} {
		l, err := rntuple.LimitsOf(test.s, test.entry)
		if err != nil || l.ExpressionBytes != test.want {
			t.Errorf("%T, entry %d: %d, %v; want %d", test.s, test.entry, l.ExpressionBytes, err, test.want)
		}
		if got := rntuple.ContextOf(test.s); got.Value(key{}) != 1 {
			t.Errorf("%T: another context", test.s)
		}
	}
}
