package rntuple_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestManyCheckpoints makes checkpoints of one cluster each. The groups are those of a
// counter to the base 4: four of a size are merged. What is written per checkpoint does not
// grow, nor does reopening the file change the count.
func TestManyCheckpoints(t *testing.T) {
	type event struct{ X int64 }
	for _, name := range []string{"n", "dir/n"} {
		path := filepath.Join(t.TempDir(), "f.root")
		n := 0
		grown := map[int]int64{}
		check := func() {
			t.Helper()
			want := 0
			for k := n; k > 0; k /= 4 {
				want += k % 4
			}
			r, err := rntuple.Open(path, name, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if got := len(r.Unwrapped().Footer.ClusterGroups); got != want || r.NumEntries() != int64(10*n) {
				t.Fatalf("%q: %d groups and %d entries after %d checkpoints, want %d groups", name, got, r.NumEntries(), n, want)
			}
			v, err := rntuple.ViewOf[int64](r, "X")
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range v.All() {
				if x != i {
					t.Fatalf("%q: entry %d of %d checkpoints is %d", name, i, n, x)
				}
			}
			if v.Err() != nil {
				t.Fatal(v.Err())
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			grown[n] = info.Size()
		}
		for open := range 3 {
			w, err := rntuple.Append[event](path, name, nil)
			if open == 0 {
				w, err = rntuple.Create[event](path, name, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			for range 200 {
				for range 10 {
					w.Write(&event{w.NumEntries()})
				}
				if err := w.Checkpoint(); err != nil {
					t.Fatal(err)
				}
				if n++; n < 20 || n%16 < 2 {
					check()
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			check()
		}
		// A cluster takes less than 150 bytes, and its part of page lists not more than that.
		if size := grown[600]; size > 600*300+20_000 {
			t.Errorf("%q: %d bytes for 600 checkpoints", name, size)
		}
	}
}
