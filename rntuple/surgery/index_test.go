package surgery

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestIndex gives an RNTuple a zone map and keeps it, or has it removed.
func TestIndex(t *testing.T) {
	dir := t.TempDir()
	in := Input{filepath.Join(dir, "in"), "n"}
	points(t, in.Path, 0, 100, &rntuple.WriteOptions{ClusterSize: 500, File: rntuple.FileOptions{NoSync: true}})
	quick := Options{Write: *unsynced(nil)}
	inPlace := InPlaceOptions{File: quick.Write.File}
	mapOf := func(path string) map[string]string { // the bounds of the first cluster
		t.Helper()
		r, err := rntuple.Open(path, "n", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		m, err := r.ZoneMap()
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]string{}
		paths, _ := m.Fields()
		for _, p := range paths {
			z, ok := m.Zone(p, 0)
			all[p] = fmt.Sprint(z, ok)
		}
		return all
	}
	clusters, err := clusterSizes(all, in, ntuple.NewReadOptions())
	if err != nil || len(clusters) < 2 {
		t.Fatal(len(clusters), err)
	}
	done := []int64{}
	report, err := Index(all, in, &IndexOptions{InPlaceOptions: inPlace, Drop: []string{"V._0"},
		Progress: func(n, total int64) {
			if done = append(done, n); total != int64(len(clusters)) {
				t.Errorf("%d clusters of %d", n, total)
			}
		}})
	if err != nil || report.Clusters != len(clusters) ||
		!slices.Equal(slices.Sorted(slices.Values(report.Fields)), []string{"V", "X"}) {
		t.Fatalf("%+v, %v", report, err)
	}
	if len(done) == 0 || !slices.IsSorted(done) || done[len(done)-1] != int64(len(clusters)) {
		t.Errorf("clusters done: %d", done)
	}
	indexed := mapOf(in.Path)
	if len(indexed) != len(report.Fields) || indexed["X"] == "" {
		t.Fatalf("fields %v, want %v", indexed, report.Fields)
	}
	out := filepath.Join(dir, "out")
	for _, least := range []Level{Copy, Recompress} { // bounds are taken over, and computed
		o := quick
		o.AtLeast = least
		if _, err := Merge(all, out, []Input{in, in}, &MergeOptions{Options: o}); err != nil {
			t.Fatal(err)
		}
		if got := mapOf(out); !maps.Equal(got, indexed) {
			t.Errorf("merged: %v, want %v", got, indexed)
		}
	}
	without := quick
	without.DropAttributes = true
	if _, err := Merge(all, out, []Input{in, in}, &MergeOptions{Options: without}); err != nil || len(mapOf(out)) > 0 {
		t.Errorf("without attributes: %v, %v", mapOf(out), err)
	}
	if err := RenameInPlace(all, in, Renaming{Fields: map[string]string{"X": "Y", "V": "X"}}, &inPlace); err != nil {
		t.Fatal(err)
	}
	renamed := mapOf(in.Path)
	if renamed["Y"] != indexed["X"] || renamed["X"] != indexed["V"] || len(renamed) != len(indexed) {
		t.Errorf("renamed: %v, indexed: %v", renamed, indexed)
	}
	if _, err := MergeInto(all, in, []Input{in}, &MergeOptions{Options: quick}); err == nil {
		t.Error("an RNTuple is merged into itself")
	}
	if err := RemoveIndex(all, in, &inPlace); err != nil || len(mapOf(in.Path)) > 0 {
		t.Errorf("removed: %v, %v", mapOf(in.Path), err)
	}

	before := lines(t, in.Path, "n")
	for name, do := range map[string]func() error{
		"no field": func() error { _, err := Index(all, in, &IndexOptions{Keep: []string{"none"}}); return err },
		"odd option": func() error {
			return RemoveIndex(all, in,
				&InPlaceOptions{File: rntuple.FileOptions{NoReplace: true}})
		},
		"no file":       func() error { _, err := Index(all, Input{Path: filepath.Join(dir, "none")}, nil); return err },
		"no RNTuple":    func() error { _, err := Index(all, Input{in.Path, "m"}, nil); return err },
		"name of a dir": func() error { return RenameInPlace(all, in, Renaming{Name: "d/m"}, nil) },
		"no such field": func() error {
			return RenameInPlace(all, in, Renaming{Fields: map[string]string{"none": "m"}},
				nil)
		},
		"rename none": func() error { return RenameInPlace(all, Input{in.Path, "m"}, Renaming{Name: "k"}, nil) },
		"rename file": func() error {
			return RenameInPlace(all, Input{Path: filepath.Join(dir, "none")}, Renaming{Name: "k"}, nil)
		},
	} {
		if err := do(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if got := lines(t, in.Path, "n"); !slices.Equal(got, before) || len(mapOf(in.Path)) > 0 {
		t.Error("what failed has changed the file")
	}
}
