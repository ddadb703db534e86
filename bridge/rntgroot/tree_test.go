package rntgroot_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go-hep.org/x/hep/groot/riofs"
	"go-hep.org/x/hep/groot/rtree"

	"github.com/go-rntuple/go-rntuple/bridge/rntgroot"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/compare"
)

const sharedTrees = "../../../shared/testdata/ttree/"

// sharedTree returns the path of a public file with a tree.
func sharedTree(t *testing.T, name string) string {
	t.Helper()
	if _, err := os.Stat(sharedTrees + name); err != nil {
		t.Skipf("the public files are not there: %v", err)
	}
	return sharedTrees + name
}

// convert makes an RNTuple of a tree, and opens it.
func convert(t *testing.T, tree *rntgroot.Tree, opts *rntuple.WriteOptions) *rntuple.Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "converted.root")
	n, err := rntgroot.CreateFromTree(context.Background(), path, "", tree, nil, opts)
	if err != nil || n != tree.Entries() {
		t.Fatalf("%d entries written of %d: %v", n, tree.Entries(), err)
	}
	r, err := rntuple.Open(path, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func openTree(t *testing.T, o rntgroot.TreeOptions, paths ...string) *rntgroot.Tree {
	t.Helper()
	tree, err := rntgroot.OpenTree("", paths, &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	return tree
}

// TestTreesOfGroot compares the values of converted trees with those that groot reads.
func TestTreesOfGroot(t *testing.T) {
	for name, tree := range map[string]string{"uproot-HZZ.root": "events", "uproot-Zmumu.root": "events",
		"nanoAOD_2015_CMS_Open_Data_ttbar.root": "Events"} {
		path := sharedTree(t, name)
		for _, flat := range []bool{false, true} {
			r := convert(t, openTree(t, rntgroot.TreeOptions{Flat: flat}, path), nil)
			f, err := riofs.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			obj, err := f.Get(tree)
			if err != nil {
				t.Fatal(err)
			}
			compareGroot(t, name, r, obj.(rtree.Tree))
			f.Close()
		}
	}
}

func compareGroot(t *testing.T, name string, r *rntuple.Reader, tree rtree.Tree) {
	t.Helper()
	vars := rtree.NewReadVars(tree)
	views := make([]*rntuple.View[any], len(vars))
	for i, v := range vars {
		var err error
		if views[i], err = rntuple.ViewOf[any](r, v.Name); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	reader, err := rtree.NewReader(tree, vars)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	values, wrong := 0, map[string]int64{}
	err = reader.Read(func(ctx rtree.RCtx) error {
		for i, v := range vars {
			got, err := views[i].At(ctx.Entry)
			if err != nil {
				return err
			}
			want := reflect.ValueOf(v.Value).Elem().Interface()
			if values++; fmt.Sprint(got) == fmt.Sprint(want) {
				continue
			}
			if _, ok := wrong[v.Name]; !ok {
				wrong[v.Name] = ctx.Entry
			}
			if first, ok := misread[v.Name]; !ok || ctx.Entry < first {
				return fmt.Errorf("entry %d: %s is %v, groot reads %v", ctx.Entry, v.Name, got, want)
			}
		}
		return nil
	})
	if err != nil || values == 0 {
		t.Errorf("%s: %d values compared: %v", name, values, err)
	}
	for v, first := range wrong {
		t.Logf("%s: groot reads other values of %s than uproot from entry %d on", name, v, first)
	}
}

// misread are the branches of which groot v0.40.0 reads other values than ROOT and uproot, and the
// first entry with one: with TestTrees in folder interop, uproot confirms ours.
var misread = map[string]int64{"LHEPdfWeight": 152}

// hepTrees returns the paths of files that groot's tests read.
func hepTrees(t *testing.T, pattern string) []string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "go-hep.org/x/hep").Output()
	if err != nil {
		t.Skipf("the folder of go-hep is not known: %v", err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "groot", "testdata", pattern))
	if err != nil || len(files) == 0 {
		t.Skipf("go-hep has no trees (%v)", err)
	}
	return files
}

// TestTreeSkip opens a tree of which several branches cannot be read.
func TestTreeSkip(t *testing.T) {
	path := hepTrees(t, "tdatime.root")[0]
	_, err := rntgroot.OpenTree("", []string{path}, nil)
	var all *rntgroot.TreeError
	if !errors.As(err, &all) || !errors.Is(err, rntuple.ErrCorrupt) && !errors.Is(err, rntuple.ErrUnsupported) {
		t.Fatalf("%v, expected a TreeError", err)
	}
	var names []string
	for _, b := range all.Branches {
		names = append(names, b.Name+" "+b.Type)
	}
	if want := []string{"b0 TDatime", "b1 TFoo", "b2 TBar", "b3 Date"}; !slices.Equal(names, want) {
		t.Errorf("refused are %q, expected %q", names, want)
	}
	tree := openTree(t, rntgroot.TreeOptions{Skip: true}, path)
	if r := convert(t, tree, nil); !reflect.DeepEqual(tree.Skipped(), all.Branches) || len(r.Schema().Fields) != 0 {
		t.Errorf("skipped are %v, and there are %d fields", tree.Skipped(), len(r.Schema().Fields))
	}
}

// TestTreesOfOldROOT compares trees that ROOT 5.23 to 6.14 wrote.
func TestTreesOfOldROOT(t *testing.T) {
	files := hepTrees(t, filepath.Join("uproot", "sample-*.root"))
	for _, path := range files {
		r := convert(t, openTree(t, rntgroot.TreeOptions{}, path), nil)
		f, err := riofs.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		obj, err := f.Get("sample")
		if err != nil {
			t.Fatal(err)
		}
		compareGroot(t, filepath.Base(path), r, obj.(rtree.Tree))
		f.Close()
	}
}

func TestTrees(t *testing.T) {
	trees, err := rntgroot.Trees(sharedTree(t, "uproot-HZZ.root"), nil)
	if err != nil || len(trees) != 1 {
		t.Fatalf("%v (%v)", trees, err)
	}
	got := trees[0]
	if got.Name != "events" || got.Class != "TTree" || got.Entries != 2421 || got.Cycle != 1 || len(got.Branches) != 51 {
		t.Errorf("%+v", got)
	}
	want := []rntgroot.BranchInfo{{Name: "NJet", Type: "int", Title: "NJet/I"},
		{Name: "Jet_Px", Type: "float[NJet]", Title: "Jet_Px[NJet]/F"}}
	if !reflect.DeepEqual(got.Branches[:2], want) {
		t.Errorf("%+v, expected %+v", got.Branches[:2], want)
	}
	if _, err := rntgroot.Trees("../../testdata/dimuon.root", nil); err != nil {
		t.Errorf("a file without trees: %v", err)
	}
}

// TestTreeSchema compares the fields with those that ROOT's RNTupleImporter makes.
func TestTreeSchema(t *testing.T) {
	path := sharedTree(t, "uproot-HZZ.root")
	fields := func(o rntgroot.TreeOptions) (all []string) {
		for _, f := range openTree(t, o, path).Document().Fields {
			text := f.Name + " " + f.Type + " " + f.Source
			for _, sub := range f.Fields {
				text += " [" + sub.Name + " " + sub.Type + " " + sub.Source
				for _, leaf := range sub.Fields {
					text += " " + leaf.Name
				}
				text += "]"
			}
			all = append(all, text)
		}
		return all
	}
	branches := []string{"NJet", "Jet_P[xy]", "NMuon", "Muon_Px", "MET_p?"}
	want := []string{
		"MET_px float ", "MET_py float ", "_collection0   [_0   Jet_Px Jet_Py]", "_collection1   [_0   Muon_Px]",
		"Jet_Px ROOT::VecOps::RVec<float> _collection0 [_0 float _collection0._0.Jet_Px]",
		"Jet_Py ROOT::VecOps::RVec<float> _collection0 [_0 float _collection0._0.Jet_Py]",
		"NJet ROOT::RNTupleCardinality<std::uint32_t> _collection0",
		"Muon_Px ROOT::VecOps::RVec<float> _collection1 [_0 float _collection1._0.Muon_Px]",
		"NMuon ROOT::RNTupleCardinality<std::uint32_t> _collection1",
	}
	if got := fields(rntgroot.TreeOptions{Branches: branches}); !slices.Equal(got, want) {
		t.Errorf("fields\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	want = []string{
		"NJet std::int32_t ", "Jet_Px std::vector<float>  [_0 float ]",
		"Jet_Py std::vector<float>  [_0 float ]", "NMuon std::int32_t ",
		"Muon_Px std::vector<float>  [_0 float ]", "MET_px float ", "MET_py float ",
	}
	if got := fields(rntgroot.TreeOptions{Branches: branches, Flat: true}); !slices.Equal(got, want) {
		t.Errorf("fields\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := fields(rntgroot.TreeOptions{Branches: []string{"Jet_Px"}}); len(got) != 2 { // without the counter
		t.Errorf("the fields %q of an array without its counter", got)
	}
}

// TestTreeChain converts two files as one, in several goroutines and in one.
func TestTreeChain(t *testing.T) {
	path := sharedTree(t, "uproot-HZZ.root")
	one := convert(t, openTree(t, rntgroot.TreeOptions{}, path), nil)
	two := convert(t, openTree(t, rntgroot.TreeOptions{Workers: 3}, path, path),
		&rntuple.WriteOptions{MaxUnzippedPageSize: 4096})
	if n := one.NumEntries(); two.NumEntries() != 2*n {
		t.Fatalf("%d entries", two.NumEntries())
	}
	half := openTree(t, rntgroot.TreeOptions{}, path, path)
	w, err := rntuple.CreateColumns(filepath.Join(t.TempDir(), "half.root"), "events", half.Document(), nil)
	if err != nil {
		t.Fatal(err)
	}
	n := one.NumEntries()
	for _, r := range [][2]int64{{n, n + 5}, {n + 5, 2*n - 1}, {2*n - 1, 2 * n}} { // the second file
		if err := half.Write(context.Background(), w, r[0], r[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := half.Write(context.Background(), w, 0, 2*n+1); err == nil {
		t.Error("entries behind the end can be written")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := compare.Values(context.Background(), one, two, nil)
	if err != nil || len(r.Fields) != 0 {
		t.Errorf("the first half differs: %v (%v)", r, err)
	}
}

func TestTreeErrors(t *testing.T) {
	hzz, zmumu := sharedTree(t, "uproot-HZZ.root"), sharedTree(t, "uproot-Zmumu.root")
	for _, test := range []struct {
		name, tree string
		paths      []string
		o          rntgroot.TreeOptions
		text       string
	}{
		{"no file", "", nil, rntgroot.TreeOptions{}, "no files"},
		{"missing file", "", []string{"nowhere.root"}, rntgroot.TreeOptions{}, "nowhere.root"},
		{"no ROOT file", "", []string{"doc.go"}, rntgroot.TreeOptions{}, "not a ROOT file"},
		{"no tree", "", []string{"../../testdata/dimuon.root"}, rntgroot.TreeOptions{}, "the file has no TTree"},
		{"other name", "evnts", []string{hzz}, rntgroot.TreeOptions{}, `there is no tree "evnts", only "events"`},
		{"pattern", "", []string{hzz}, rntgroot.TreeOptions{Branches: []string{"N*", "Jets_*"}}, `has no branch "Jets_*"`},
		{"bad pattern", "", []string{hzz}, rntgroot.TreeOptions{Branches: []string{"["}}, "syntax error in pattern"},
		{"other branches", "", []string{hzz, zmumu}, rntgroot.TreeOptions{},
			"uproot-Zmumu.root: there is no branch for the field"},
	} {
		tree, err := rntgroot.OpenTree(test.tree, test.paths, &test.o)
		if err == nil || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v, expected %q", test.name, err, test.text)
		}
		if err == nil {
			tree.Close()
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out := filepath.Join(t.TempDir(), "out.root")
	if _, err := rntgroot.CreateFromTree(ctx, out, "", openTree(t, rntgroot.TreeOptions{}, hzz), nil,
		nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a conversion that was canceled leaves a file")
	}
}

// TestDamagedTrees changes bytes of trees, and cuts files: the result is an error and no output,
// or the same number of entries. Baskets are compressed with a checksum, so that values do not
// change unless the description of the tree does.
func TestDamagedTrees(t *testing.T) {
	for _, name := range []string{"uproot-HZZ.root", "uproot-Zmumu.root"} {
		data, err := os.ReadFile(sharedTree(t, name))
		if err != nil {
			t.Fatal(err)
		}
		good := convert(t, openTree(t, rntgroot.TreeOptions{}, sharedTree(t, name)), nil)
		rounds := 300
		if testing.Short() {
			rounds = 40
		}
		random := rand.New(rand.NewPCG(1, 2))
		dir := t.TempDir()
		bad, out := filepath.Join(dir, "bad.root"), filepath.Join(dir, "out.root")
		failed := 0
		for range rounds {
			changed := slices.Clone(data)
			var what string
			if at := random.IntN(len(data)); random.IntN(5) == 0 {
				changed = changed[:at]
				what = fmt.Sprintf("%s cut at %d", name, at)
			} else {
				if random.IntN(2) == 0 { // the tree and the streamer information are at the end
					at = len(data) - 1 - random.IntN(len(data)/10)
				}
				changed[at] ^= byte(1 + random.IntN(255))
				what = fmt.Sprintf("%s, byte %d changed from %#x to %#x", name, at, data[at], changed[at])
			}
			if err := os.WriteFile(bad, changed, 0o666); err != nil {
				t.Fatal(err)
			}
			if err := convertFile(bad, out); err != nil {
				failed++
				if _, err := os.Stat(out); err == nil {
					t.Fatalf("%s: a file is left", what)
				}
				continue
			}
			r, err := rntuple.Open(out, "", nil)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if result, err := compare.Values(context.Background(), good, r, nil); err != nil || len(result.Fields) > 0 ||
				result.Entries[0] != result.Entries[1] {
				if len(result.Schema) == 0 {
					t.Errorf("%s: other values: %v (%v)", what, result, err)
				}
			}
			r.Close()
			os.Remove(out)
		}
		if failed < rounds/4 {
			t.Errorf("%s: only %d of %d damaged files are refused", name, failed, rounds)
		}
	}
}

func convertFile(from, to string) error {
	tree, err := rntgroot.OpenTree("", []string{from}, nil)
	if err != nil {
		return err
	}
	defer tree.Close()
	_, err = rntgroot.CreateFromTree(context.Background(), to, "", tree, nil, nil)
	return err
}
