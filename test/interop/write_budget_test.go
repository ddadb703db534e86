package interop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A jaggedEvent is an entry of the jagged files of written_budget.sh.
type jaggedEvent struct {
	Event  uint64    `rntuple:"event"`
	Many   []float32 `rntuple:"many"`
	Some   []float64 `rntuple:"some"`
	Rare   []int32   `rntuple:"rare"`
	Flags  []bool    `rntuple:"flags"`
	Flag   bool      `rntuple:"flag"`
	Text   string    `rntuple:"text"`
	Nested [][]int8  `rntuple:"nested"`
	Fixed  [7]int16  `rntuple:"fixed"`
}

// TestWriteBudget writes the entries of ROOT's files with the same settings, and
// with too little memory for pages of the largest size: every cluster and page must
// have as many elements as in ROOT's file.
func TestWriteBudget(t *testing.T) {
	needed(t)
	for _, c := range []struct {
		kind                            string
		setting                         int   // of ROOT
		cluster, unzipped, budget, page int64 // bytes; 0 is the default
		entries                         int
	}{
		{"wide", 0, 1 << 20, 0, 0, 0, 2000},          // 1 KiB for a page
		{"wide", 0, 4 << 20, 0, 550_000, 0, 2000},    // hardly any can grow: 512 is the minimum
		{"wide", 505, 3 << 20, 3 << 20, 0, 0, 2000},  // the unzipped size is the same for all compressors
		{"wide", 0, 8 << 20, 0, 1 << 20, 1000, 2000}, // page sizes that are not powers of two
		{"jagged", 0, 4 << 20, 0, 0, 0, 60_000},
		{"jagged", 0, 300_000, 0, 0, 0, 60_000},
		{"jagged", 0, 16 << 20, 0, 10_000, 0, 60_000},
		{"jagged", 0, 16 << 20, 0, 20_000, 0, 60_000},
		{"jagged", 0, 16 << 20, 0, 1 << 20, 100_000, 60_000},
		{"jagged", 404, 2 << 20, 2 << 20, 1_500_000, 0, 60_000},
		{"jagged", 0, 128 << 20, 0, 0, 0, 60_000},
	} {
		t.Run(fmt.Sprintf("%s,%d,%d,%d,%d", c.kind, c.setting, c.cluster, c.budget, c.page), func(t *testing.T) {
			dir := t.TempDir()
			root, ours := filepath.Join(dir, "root.root"), filepath.Join(dir, "ours.root")
			script(t, "written_budget.sh", "write", root, c.kind, fmt.Sprint(c.setting), fmt.Sprint(c.cluster),
				fmt.Sprint(c.unzipped), fmt.Sprint(c.budget), fmt.Sprint(c.page), fmt.Sprint(c.entries))
			if c.page == 0 {
				c.page = 1 << 20
			}
			opts := &rntuple.WriteOptions{
				Compression: settingOf(c.setting), ClusterSize: c.cluster, NoSharing: true,
				MaxUnzippedClusterSize: c.unzipped, PageBufferBudget: c.budget, MaxUnzippedPageSize: c.page,
			}
			if c.kind == "wide" {
				if err := rewrite(ours, root, "events", layout{page: c.page}, opts); err != nil {
					t.Fatal(err)
				}
			} else {
				copyAll[jaggedEvent](t, ours, root, opts)
			}
			var pages [2][][][]int // by file, cluster, column
			lines := bytes.Split(script(t, "written_budget.sh", "pages", root, ours), []byte("\n"))
			for i := range pages {
				if err := json.Unmarshal(lines[i], &pages[i]); err != nil {
					t.Fatal(err)
				}
			}
			samePages(t, pages[0], pages[1])
		})
	}
}

// samePages compares the numbers of elements of pages.
func samePages(t *testing.T, want, got [][][]int) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d clusters, want %d", len(got), len(want))
	}
	n := 0
	for c := range want {
		if len(got[c]) != len(want[c]) {
			t.Fatalf("%d columns, want %d", len(got[c]), len(want[c]))
		}
		for i := range want[c] {
			if n += len(want[c][i]); !slices.Equal(got[c][i], want[c][i]) {
				t.Fatalf("cluster %d, column %d: pages of\n%v\nelements, want\n%v", c, i, got[c][i], want[c][i])
			}
		}
	}
	t.Logf("%d clusters, %d pages", len(want), n)
}

// copyAll writes the entries of one file to another.
func copyAll[E any](t *testing.T, to, from string, opts *rntuple.WriteOptions) {
	t.Helper()
	r, err := rntuple.Open(from, "events", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w, err := rntuple.Create[E](to, "events", opts)
	if err != nil {
		t.Fatal(err)
	}
	for entry, err := range rntuple.Entries[E](r) {
		if err != nil {
			t.Fatal(err)
		}
		w.Write(entry)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
