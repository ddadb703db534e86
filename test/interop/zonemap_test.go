package interop

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
)

// TestZoneMaps has ROOT read, update and merge files with zone maps, which it takes for
// attribute sets.
func TestZoneMaps(t *testing.T) {
	root := startROOT(t)
	dir := t.TempDir()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const entries, size = 40, 8
	made := func(name string, opts *rntuple.WriteOptions) string {
		path := filepath.Join(dir, name)
		w, err := rntuple.Create[numbered](path, "n", opts)
		check(err)
		for x := range int64(entries) {
			if x%size == 0 {
				check(w.CommitCluster())
			}
			check(w.Write(&numbered{x + 1}))
		}
		check(w.Close())
		return path
	}
	// selected returns the numbers above 30, and how many clusters were passed over.
	selected := func(path string) (numbers []int64, passed int64, problems []string) {
		t.Helper()
		r, err := rntuple.Open(path, "n", nil)
		check(err)
		defer r.Close()
		e, err := expression.Parse("x > 30 and x <= 40")
		check(err)
		z := &rntuple.ZoneUse{}
		for part, err := range e.ConditionUsing(z).Select(r, rntuple.EntryRange{End: r.NumEntries()}) {
			check(err)
			for e, err := range rntuple.EntriesIn[numbered](r, part, nil) {
				check(err)
				numbers = append(numbers, e.X)
			}
		}
		_, passed = z.Clusters()
		return numbers, passed, z.Problems()
	}
	want := []int64{31, 32, 33, 34, 35, 36, 37, 38, 39, 40}

	written, indexed := made("written.root", &rntuple.WriteOptions{ZoneMap: []string{"*"}}), made("indexed.root", nil)
	_, err := surgery.Index(t.Context(), surgery.Input{Path: indexed}, nil)
	check(err)
	for _, path := range []string{written, indexed} {
		if got := root.do(rootJob{Read: path}); len(got.NTuples) != 1 || got.NTuples["n;1"] != oneTo(entries) {
			t.Errorf("ROOT reads %+v", got)
		}
		// ROOT finds the attributes of each entry: those of its cluster.
		var sets map[string]struct{ Holding [][]int }
		check(json.NewDecoder(bytes.NewReader(script(t, "attributes_found.py", "40", path+":n"))).Decode(&sets))
		var holding [][]int
		for i := range entries {
			holding = append(holding, []int{i / size})
		}
		if got := sets[zonemap.SetName].Holding; len(sets) != 1 || !slices.EqualFunc(got, holding, slices.Equal) {
			t.Errorf("ROOT finds the attributes %v", sets)
		}
		root.do(rootJob{Update: path, NTuple: "other", Entries: 50})
		root.do(rootJob{Update: path, Histogram: "h"})
		if got, passed, problems := selected(path); !slices.Equal(got, want) || passed != 3 || len(problems) > 0 {
			t.Errorf("after ROOT's update: %v, %d clusters passed over, %v", got, passed, problems)
		}
		content(t, path, "after ROOT's update")
	}
	// What ROOT's merger makes of the set does not matter.
	out := filepath.Join(dir, "out.root")
	_, _, err = run("written_hadd.sh", out, written, made("plain.root", nil), indexed)
	check(err)
	if got, passed, problems := selected(out); !slices.Equal(got, slices.Concat(want, want, want)) || passed != 0 {
		t.Errorf("after hadd: %v, %d clusters passed over, %v", got, passed, problems)
	}
	// It can be indexed anew.
	_, err = surgery.Index(t.Context(), surgery.Input{Path: out, Name: "n"}, nil)
	check(err)
	if got, passed, problems := selected(out); !slices.Equal(got, slices.Concat(want, want, want)) ||
		passed != 9 || len(problems) > 0 {
		t.Errorf("merged by ROOT and indexed: %v, %d clusters passed over, %v", got, passed, problems)
	}
	if got := root.do(rootJob{Read: out}); got.NTuples["n;1"] != oneTo(entries).plus(oneTo(entries)).plus(oneTo(entries)) {
		t.Errorf("ROOT reads %+v", got)
	}
	content(t, out, "merged by ROOT and indexed")
}
