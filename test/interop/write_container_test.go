package interop

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/value"
)

// quiet runs a script that must not write to standard error.
func quiet(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	out, stderr, err := run(name, args...)
	if err != nil {
		t.Fatal(err)
	}
	if len(stderr) > 0 {
		t.Errorf("%s %v says:\n%s", name, args, stderr)
	}
	return out
}

// A container is a ROOT file as ROOT sees it, see written_container.py.
type container struct {
	Recovered bool
	Again     int // keys that TFile::Recover finds in the top directory
	Keys      map[string]string
	Map, Ls   string
	Infos     []string
}

// whole has ROOT open, list and map a file, and checks that it is complete.
func whole(t *testing.T, path string, keys map[string]string) {
	t.Helper()
	var c container
	if err := json.Unmarshal(quiet(t, "written_container.py", "inspect", path), &c); err != nil {
		t.Fatal(err)
	}
	if c.Recovered {
		t.Errorf("%s: ROOT had to recover it", path)
	}
	if !reflect.DeepEqual(c.Keys, keys) {
		t.Errorf("%s: ROOT finds %v, want %v", path, c.Keys, keys)
	}
	// Recover knows objects, but not directories.
	top := 0
	for name, class := range c.Keys {
		if !strings.Contains(name, "/") && class != "TDirectoryFile" {
			top++
		}
	}
	if c.Again < top {
		t.Errorf("%s: TFile::Recover finds %d keys, the directory has %d", path, c.Again, top)
	}
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		class := keys[name]
		if !strings.Contains(c.Map, class+" ") && class != "TDirectoryFile" {
			t.Errorf("%s: TFile::Map does not list a %s:\n%s", path, class, c.Map)
		}
		if !strings.Contains(name, "/") && !strings.Contains(c.Ls, "KEY: "+class+"\t"+name) {
			t.Errorf("%s: TFile::ls does not list %s:\n%s", path, name, c.Ls)
		}
	}
	if strings.Count(c.Map, "END") != 1 || strings.Contains(c.Map, "Error") {
		t.Errorf("%s: TFile::Map says\n%s", path, c.Map)
	}
}

// linesOf returns the entries of an RNTuple as this library reads them.
func linesOf(t *testing.T, path, name string) (all []string) {
	t.Helper()
	r, err := rntuple.Open(path, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, err := rntuple.RecordsOf(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range v.All() {
		all = append(all, string(value.AppendJSON(nil, record)))
	}
	if v.Err() != nil {
		t.Fatal(v.Err())
	}
	return all
}

// rootAdds lists the keys that written_container.py adds to a file, besides the
// RNTuple.
var rootAdds = map[string]string{"named;1": "TNamed", "h;1": "TH1D"}

func merged(all ...map[string]string) map[string]string {
	m := map[string]string{}
	for _, one := range all {
		maps.Copy(m, one)
	}
	return m
}

func secondLines() (all []string) {
	for i := range 100 {
		v := make([]int, i%5)
		for k := range v {
			v[k] = i
		}
		b, _ := json.Marshal(v)
		all = append(all, fmt.Sprintf(`{"i":%d,"v":%s}`, i, b))
	}
	return all
}

// TestWriteUpdate has ROOT add objects and RNTuples to a file of this library.
func TestWriteUpdate(t *testing.T) {
	needed(t)
	path := filepath.Join(t.TempDir(), "ours.root")
	f, err := rntuple.CreateFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	type entry struct {
		X int32
		S string
	}
	var lines []string
	for _, name := range []string{"ours", "dir/sub/ours"} {
		w, err := rntuple.NewWriter[entry](f, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		lines = nil
		for i := range int32(50) {
			e := entry{i, fmt.Sprint("entry ", i)}
			if err := w.Write(&e); err != nil {
				t.Fatal(err)
			}
			if i%20 == 7 {
				w.CommitCluster()
			}
			b, _ := json.Marshal(e)
			lines = append(lines, string(b))
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	ours := map[string]string{"ours;1": "ROOT::RNTuple", "dir;1": "TDirectoryFile", "dir/sub;1": "TDirectoryFile",
		"dir/sub/ours;1": "ROOT::RNTuple"}
	whole(t, path, ours)
	quiet(t, "written_container.py", "update", path, "dir/second")
	quiet(t, "written_container.py", "update", path, "second")
	again := map[string]string{"named;2": "TNamed", "h;2": "TH1D", "second;1": "ROOT::RNTuple",
		"dir/second;1": "ROOT::RNTuple"}
	whole(t, path, merged(ours, rootAdds, again))
	for _, name := range []string{"ours", "dir/sub/ours"} {
		if got := linesOf(t, path, name); !slices.Equal(got, lines) {
			t.Errorf("%s reads as %v", name, got)
		}
	}
	for _, name := range []string{"second", "dir/second"} {
		if got := linesOf(t, path, name); !slices.Equal(got, secondLines()) {
			t.Errorf("%s reads as %v", name, got)
		}
	}
	views := rootViews(t, path+":ours", path+":dir/sub/ours", path+":second")
	sameEntries(t, "ours", views[0], lines...)
	sameEntries(t, "dir/sub/ours", views[1], lines...)
	sameEntries(t, "second", views[2], secondLines()...)
}

// TestWriteMerge has ROOT's hadd merge a file of this library with one of ROOT.
func TestWriteMerge(t *testing.T) {
	needed(t)
	dir := t.TempDir()
	root, ours := filepath.Join(dir, "root.root"), filepath.Join(dir, "ours.root")
	for _, setting := range []int{505, 0} {
		script(t, "written_size.sh", root, fmt.Sprint(setting), "3000")
		copyEvents(t, ours, root, &rntuple.WriteOptions{Compression: settingOf(setting), ClusterSize: 10_000})
		whole(t, ours, map[string]string{"events;1": "ROOT::RNTuple"})
		want, view := linesOf(t, root, "events"), rootViews(t, root+":events")[0]
		for name, inputs := range map[string][]string{"ours first": {ours, root}, "ROOT's first": {root, ours},
			"ours only": {ours, ours}} {
			out := filepath.Join(dir, "merged.root")
			os.Remove(out)
			_, stderr, err := run("written_hadd.sh", append([]string{out}, inputs...)...)
			// hadd prints as much for ROOT's own files.
			if s := string(stderr); err != nil ||
				s != "Warning in <TFileMerger::MergeRecursive>: Merging RNTuples is experimental\n" {
				t.Fatalf("%d, %s: hadd says %v\n%s", setting, name, err, s)
			}
			whole(t, out, map[string]string{"events;1": "ROOT::RNTuple"})
			if got := linesOf(t, out, "events"); !slices.Equal(got, append(slices.Clone(want), want...)) {
				t.Errorf("%d, %s: we read %d entries, want %d twice, or others", setting, name, len(got), len(want))
			}
			if got := rootViews(t, out+":events")[0].Entries; !reflect.DeepEqual(got,
				append(slices.Clone(view.Entries), view.Entries...)) {
				t.Errorf("%d, %s: ROOT reads %d entries, want %d twice, or others", setting, name, len(got), len(view.Entries))
			}
		}
	}
}

// TestWriteAppend adds RNTuples to a file of ROOT, which ROOT then reads and adds
// to again.
func TestWriteAppend(t *testing.T) {
	needed(t)
	path := filepath.Join(t.TempDir(), "root.root")
	script(t, "written_size.sh", path, "505", "500")
	quiet(t, "written_container.py", "update", path, "dir/second")
	keys := merged(rootAdds, map[string]string{"events;1": "ROOT::RNTuple", "dir;1": "TDirectoryFile",
		"dir/second;1": "ROOT::RNTuple"})
	whole(t, path, keys)
	events := linesOf(t, path, "events")

	f, err := rntuple.UpdateFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	type entry struct{ X int32 }
	for _, name := range []string{"dir/ours", "new/sub/ours", "events"} {
		w, err := rntuple.NewWriter[entry](f, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range int32(3) {
			if err := w.Write(&entry{i}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	keys = merged(keys, map[string]string{"dir/ours;1": "ROOT::RNTuple", "new;1": "TDirectoryFile",
		"new/sub;1": "TDirectoryFile", "new/sub/ours;1": "ROOT::RNTuple", "events;2": "ROOT::RNTuple"})
	whole(t, path, keys)
	quiet(t, "written_container.py", "update", path, "new/third")
	whole(t, path, merged(keys, map[string]string{"named;2": "TNamed", "h;2": "TH1D", "new/third;1": "ROOT::RNTuple"}))

	if got := linesOf(t, path, "events;1"); !slices.Equal(got, events) {
		t.Errorf("events;1 has %d entries, want %d, or others", len(got), len(events))
	}
	views := rootViews(t, path+":events;2", path+":dir/ours", path+":new/sub/ours", path+":dir/second",
		path+":new/third", path+":events;1")
	for _, v := range views[:3] {
		sameEntries(t, "ours", v, `{"X":0}`, `{"X":1}`, `{"X":2}`)
	}
	for _, v := range views[3:5] {
		sameEntries(t, "ROOT's", v, secondLines()...)
	}
	if n := len(views[5].Entries); n != 500 {
		t.Errorf("ROOT reads %d entries of its own", n)
	}
}
