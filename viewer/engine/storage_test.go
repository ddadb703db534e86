package engine

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestStorage compares the runs of pages with the page lists, and the map with the sizes of
// columns.
func TestStorage(t *testing.T) {
	for _, path := range []string{dimuon, good + "/types_zstd_many.root", good + "/types_zlib_groups.root",
		good + "/special_late.root", good + "/special_samepage.root"} {
		e, o := opened(t, path)
		r, err := rntuple.Open(path, o.NTuples[0].Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		in, err := r.Inspect(nil)
		if err != nil {
			t.Fatal(err)
		}
		s := ask[Storage](t, e, "storage", map[string]any{})
		ranges, err := r.Clusters()
		if err != nil || len(s.Strip.Clusters) != len(ranges) || s.Strip.Truncated {
			t.Fatalf("%s: %d clusters, %v", path, len(s.Strip.Clusters), err)
		}
		disk := in.Total.OwnDisk() + in.Total.ChecksumDisk + int64(in.Header.Disk+in.Footer.Disk+in.PageLists.Disk)
		if s.Map.Compressed != Int(disk) {
			t.Errorf("%s: the map has %d bytes, want %d", path, s.Map.Compressed, disk)
		}
		// Every page is in a run of its column and cluster, and nothing else is.
		covered := map[[3]int64]int64{} // by column, cluster and run
		pages := 0
		for n := range ranges {
			c := ask[ClusterPages](t, e, "storage", map[string]any{"cluster": n})
			if len(c.Columns) != len(in.Columns) {
				t.Fatalf("%s: %d columns, want %d", path, len(c.Columns), len(in.Columns))
			}
			for id, column := range c.Columns {
				seen := map[Int]bool{}
				for _, p := range column.Pages {
					pages++
					if p.Length == 0 || seen[p.Offset] {
						continue
					}
					seen[p.Offset] = true
					end := p.Offset + p.Length
					if p.Checksum {
						end += 8
					}
					i := slices.IndexFunc(s.Strip.Columns[id].Runs,
						func(run [3]Int) bool { return run[0] <= p.Offset && end <= run[0]+run[1] })
					if i < 0 {
						t.Fatalf("%s: page at %d of %s is in no run", path, p.Offset, column.Path)
					}
					covered[[3]int64{int64(id), int64(s.Strip.Columns[id].Runs[i][2]), int64(i)}] += int64(end - p.Offset)
				}
			}
		}
		if int64(pages) != in.Total.Pages {
			t.Errorf("%s: %d pages, want %d", path, pages, in.Total.Pages)
		}
		for id, column := range s.Strip.Columns {
			for i, run := range column.Runs {
				if got := covered[[3]int64{int64(id), int64(run[2]), int64(i)}]; in.Total.Shared == 0 && got != int64(run[1]) {
					t.Errorf("%s: a run of %s has %d bytes, its pages %d", path, column.Path, run[1], got)
				}
			}
		}
		if len(s.Strip.Others) != 2+in.ClusterGroups {
			t.Errorf("%s: %+v", path, s.Strip.Others)
		}
	}
}

// TestManyRuns joins runs when there are too many.
func TestManyRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.root")
	type event struct {
		A, B, C int64
	}
	w, err := rntuple.Create[event](path, "t", &rntuple.WriteOptions{ClusterSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(maxRuns/2 + 100) {
		if err := w.Write(&event{i, i, i}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	e, o := opened(t, path)
	s := ask[Storage](t, e, "storage", map[string]any{})
	n := 0
	for _, c := range s.Strip.Columns {
		n += len(c.Runs)
		for i, run := range c.Runs {
			if run[0]+run[1] > s.Strip.Size || i > 0 && run[0] < c.Runs[i-1][0]+c.Runs[i-1][1] {
				t.Fatalf("runs %v of %s", c.Runs[max(0, i-1):i+1], c.Path)
			}
		}
	}
	if o.NTuples[0].Clusters < maxRuns/3 {
		t.Fatalf("only %d clusters", o.NTuples[0].Clusters)
	}
	if !s.Strip.Truncated || n > maxRuns || n < maxRuns/10 {
		t.Errorf("%d runs, truncated: %v", n, s.Strip.Truncated)
	}
}
