package rntuple_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestStored reads all pages of files of ROOT as they are stored, and decompressed, and counts their elements.
func TestStored(t *testing.T) {
	paths, err := filepath.Glob("../testdata/good/types_*.root")
	if err != nil || len(paths) < 5 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		r, err := rntuple.Open(path, "")
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
						stored, err := r.StoredPage(t.Context(), c, p)
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
