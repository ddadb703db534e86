package interop

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/verify"
)

// A rootFile is what container_odd.py finds in a file.
type rootFile struct {
	Recovered bool
	Keys      map[string]string
	NTuples   map[string][]int64
}

// rootFiles returns what ROOT finds in files.
func rootFiles(t *testing.T, paths []string) map[string]*rootFile {
	t.Helper()
	var all map[string]*rootFile
	if err := json.Unmarshal(script(t, "container_odd.py", append([]string{"read"}, paths...)...), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// ourFile returns what this library finds in a file.
func ourFile(path string) (*rootFile, error) {
	all := rootFile{Keys: map[string]string{}, NTuples: map[string][]int64{}}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	f, err := rootfile.Open(file, info.Size())
	if err != nil {
		return nil, err
	}
	return &all, f.Walk(func(dir string, k rootfile.Key) error {
		name := fmt.Sprintf("%s;%d", filepath.Join(dir, k.Name), k.CycleNumber())
		if all.Keys[name] = k.Class; k.Class == "TDirectory" {
			all.Keys[name] = "TDirectoryFile" // as ROOT names it
		}
		if k.Class != "ROOT::RNTuple" {
			return nil
		}
		r, err := rntuple.Open(path, name, nil)
		if err != nil {
			return err
		}
		defer r.Close()
		v, err := rntuple.RecordsOf(r)
		if err != nil {
			return err
		}
		values := []int64{}
		for _, record := range v.All() {
			values = append(values, reflect.ValueOf(record.Get("i")).Int())
		}
		all.NTuples[name] = values
		return v.Err()
	})
}

// TestOddContainers opens files as ROOT, its tools and uproot leave them, and compares what is
// in them with what ROOT finds. Then it appends to each, and ROOT finds everything old and new.
func TestOddContainers(t *testing.T) {
	needed(t)
	dir := t.TempDir()
	script(t, "container_odd.py", "make", dir)
	paths, _ := filepath.Glob(filepath.Join(dir, "*.root"))
	if len(paths) < 15 {
		t.Fatalf("only %d files", len(paths))
	}
	want := rootFiles(t, paths)
	appended := map[string]*rootFile{}
	for _, path := range paths {
		w := want[path]
		got, err := ourFile(path)
		if w == nil || err != nil || w.Recovered || !maps.Equal(got.Keys, w.Keys) ||
			!reflect.DeepEqual(got.NTuples, w.NTuples) {
			t.Errorf("%s: %+v, %v\nROOT finds %+v", filepath.Base(path), got, err, w)
			continue
		}
		// ROOT's Recover may leave a header and a free list that would have live data overwritten.
		wrong := filepath.Base(path) == "recovered_wrong.root"
		s, err := verify.File(t.Context(), path, func(p verify.Problem) error {
			if p.Severity == verify.Damage && len(w.NTuples) > 0 && !wrong {
				t.Errorf("%s: %v", filepath.Base(path), p)
			}
			return nil
		}, nil)
		if err != nil {
			t.Errorf("%s: %+v, %v", filepath.Base(path), s, err)
		}
		if err := addOdd(path); wrong {
			if !errors.Is(err, rntuple.ErrCorrupt) {
				t.Errorf("%s: append: %v", filepath.Base(path), err)
			}
		} else if err != nil {
			t.Errorf("%s: append: %v", filepath.Base(path), err)
			continue
		} else {
			w.Keys["ours;1"], w.NTuples["ours;1"] = "ROOT::RNTuple", []int64{0, 1, 2}
		}
		appended[path] = w
	}
	again := rootFiles(t, paths)
	for path, w := range appended {
		if got := again[path]; !reflect.DeepEqual(got, w) {
			t.Errorf("%s: after append ROOT finds %+v, want %+v", filepath.Base(path), got, w)
		}
	}
}

// addOdd appends an RNTuple called ours, with a commit before its last entry.
func addOdd(path string) error {
	f, err := rntuple.UpdateFile(path, nil)
	if err != nil {
		return err
	}
	type entry struct {
		I int32 `rntuple:"i"`
	}
	w, err := rntuple.NewWriter[entry](f, "ours", nil)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	for i := range int32(3) {
		err = errors.Join(err, w.Write(&entry{i}))
		if i == 1 {
			err = errors.Join(err, w.Checkpoint())
		}
	}
	return errors.Join(err, w.Close(), f.Close())
}
