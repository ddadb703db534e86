package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	diff "github.com/go-rntuple/go-rntuple/rntuple/compare"
)

// A converted tree is what the program fromtree says about it.
type converted struct {
	Name, File, Tree string
	Entries          int64
	Error            string
	Refused          []string
}

// Trees that the two convert differently, by the start of the name, and why.
var (
	refused = map[string]string{ // by us
		"clones_split0": "a TClonesArray that is not split",
		"vector_array":  "ROOT cannot fill this branch and has written nothing",
		"vector_color":  "only a dictionary tells that EvColor is an enum",
	}
	refusedByROOT = map[string]string{
		"clones_": "TClonesArray", "deque_": "std::deque", "list_": "std::list", "leaf_f": "Float16_t",
		"packed_":  "Float16_t",
		"lorentz_": "TLorentzVector has a streamer of its own", "vector_lorentz": "TLorentzVector", "named_": "TString",
		"objstring_": "TString", "tstring": "TString", "text_": "TString", "vector_text": "TString", "pointing_": "a pointer",
		"chain0": "only the chain of all is imported", "chain1": "so", "chain2": "so", "chain3": "so",
		"counted_grid": "the importer's buffer is too short for arrays of arrays: it is not called",
	}
	schemaDiffers = map[string]string{ // by what differs
		"description":                              "titles of branches and trees become descriptions",
		"type version \"4294967295\", \"1\"":       "streamer information does not tell that a class has no version",
		"type \"std::uint32_t\", \"std::int32_t\"": "nor that an enum has no negative values",
	}
	alsoDiffers = map[string]string{
		"leaf_array_two": "the dimensions of arrays are kept",
		"leaf_d_range":   "numbers with a range have more digits than Double32_t",
		"leaf_d_wide":    "numbers with a range have more digits than Double32_t",
	}
	// What ROOT 6.40 does not print.
	notShown = map[string]string{
		"event_": "a crash, for virtual destructors", "hit_": "a crash", "vector_hit_": "a crash",
		"vector_event": "a crash", "baskets_": "a crash",
		"empty": "a crash", "counted": "cardinalities", "midfill": "cardinalities", "chain": "cardinalities",
		"others_":       "other names",
		"map_unordered": "the order differs",
	}
	// What uproot 5.7 reads wrongly or not at all in trees; ROOT's values, or those of other
	// splits, are compared too.
	notUproot = map[string]string{
		"baskets_no_offsets": "offsets that are left out", "clones_split1": "objects in TClonesArray",
		"deque_short": "std::deque",
		"event_":      "classes without a version", "hit_": "classes without a version",
		"vector_hit_":         "classes without a version",
		"vector_point_split0": "classes without a version", "vector_event": "objects member by member",
		"leaf_C":           "empty C strings",
		"leaf_array_one":   "an array of one element, which ROOT and we take for a number",
		"leaf_d_wide":      "32 bits have 2^32-1 steps",
		"objstring_split0": "it is a string there", "packed_split0": "Float16_t in objects",
		"text_split0": "std::map in objects",
		"vector_text": "maps member by member",
	}
)

// explained returns the reason of the longest key that name begins with.
func explained(reasons map[string]string, name string) (reason string) {
	longest := ""
	for start, r := range reasons {
		if strings.HasPrefix(name, start) && len(start) >= len(longest) {
			longest, reason = start, r
		}
	}
	return reason
}

// TestTrees has ROOT write trees of every type of branch, and make RNTuples of them with its
// importer. Ours must have the same schema and values, but for what the tables above explain.
func TestTrees(t *testing.T) {
	needed(t)
	dir, ours := t.TempDir(), t.TempDir()
	script(t, "tree.sh", dir)
	files, err := filepath.Glob(filepath.Join(dir, "*.root"))
	if err != nil || len(files) < 140 {
		t.Fatalf("%d files of trees (%v)", len(files), err)
	}
	part := func(n int) string { return filepath.Join(dir, fmt.Sprintf("chain%d.root", n)) }
	whole := part(0) + "," + part(1) + "," + part(2)
	trees := convertTrees(t, ours, append(files, whole))
	if bad := convertTrees(t, ours, []string{whole + "," + part(3)}); !strings.Contains(bad[0].Error, "chain3.root") ||
		!strings.Contains(bad[0].Error, `"y"`) {
		t.Errorf("a chain whose last file has another type of y: %q", bad[0].Error)
	}
	for _, c := range trees {
		if got, want := c.Error != "", explained(refused, c.Name) != ""; got != want {
			t.Errorf("%s: converted with the error %q", c.Name, c.Error)
		}
		if c.Error != "" {
			continue
		}
		imported := filepath.Join(dir, "imported", c.Name+".root")
		if _, err := os.Stat(imported); err != nil {
			if explained(refusedByROOT, c.Name) == "" {
				t.Errorf("%s: not imported by ROOT: %v", c.Name, err)
			}
			continue
		}
		compareImported(t, c, imported, filepath.Join(ours, c.Name+".root"))
	}
	showTrees(t, trees, dir, ours)
	compareSplits(t, trees, ours)
	damageTrees(t, files)
	uprootTrees(t, trees, ours)
}

// convertTrees converts all trees in files.
func convertTrees(t *testing.T, dir string, files []string) (all []converted) {
	t.Helper()
	out, err := exec.Command("go", slices.Concat([]string{"run", "../../bridge/rntgroot/internal/fromtree", dir},
		files)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var c converted
		if err := d.Decode(&c); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

func compareImported(t *testing.T, c converted, imported, ours string) {
	t.Helper()
	a, b := opened(t, imported, c.Tree), opened(t, ours, "")
	if a == nil || b == nil {
		return
	}
	defer a.Close()
	defer b.Close()
	for _, d := range diff.Schemas(a.Schema(), b.Schema()) {
		what := d.What + " " + quoted(d.A) + ", " + quoted(d.B)
		if explained(schemaDiffers, what) == "" && explained(alsoDiffers, c.Name) == "" {
			t.Errorf("%s: the schemas differ: %v", c.Name, d)
		}
	}
	r, err := diff.Values(context.Background(), a, b, nil)
	if err != nil {
		t.Errorf("%s: %v", c.Name, err)
	} else if (len(r.Fields) > 0 || r.Entries[0] != r.Entries[1]) && explained(alsoDiffers, c.Name) == "" {
		t.Errorf("%s: the values differ:\n%v", c.Name, r)
	}
}

func quoted(s string) string { return `"` + s + `"` }

func opened(t *testing.T, path, name string) *rntuple.Reader {
	t.Helper()
	r, err := rntuple.Open(path, name, nil)
	if err != nil {
		t.Errorf("%s: %v", filepath.Base(path), err)
		return nil
	}
	return r
}

// showTrees has ROOT print all entries of what we have made of trees, and of what its importer has.
func showTrees(t *testing.T, trees []converted, dir, ours string) {
	t.Helper()
	var files [2][]string
	for _, c := range trees {
		imported := filepath.Join(dir, "imported", c.Name+".root")
		if _, err := os.Stat(imported); err != nil || c.Error != "" || explained(notShown, c.Name) != "" ||
			explained(alsoDiffers, c.Name) != "" {
			continue
		}
		files[0] = append(files[0], imported)
		files[1] = append(files[1], filepath.Join(ours, c.Name+".root"))
	}
	var shown [2][]byte
	for i := range files {
		shown[i] = script(t, "tree.sh", slices.Concat([]string{dir, "show"}, files[i])...)
	}
	if len(files[0]) < 60 || bytes.Count(shown[0], []byte("\n")) < 60*60 {
		t.Errorf("ROOT shows %d lines of %d files", bytes.Count(shown[0], []byte("\n")), len(files[0]))
	}
	want, got := bytes.Split(shown[0], []byte("\n")), bytes.Split(shown[1], []byte("\n"))
	for i := range min(len(want), len(got)) {
		if !bytes.Equal(want[i], got[i]) {
			t.Fatalf("ROOT reads %.300q, of what it has imported %.300q", got[i], want[i])
		}
	}
	if len(want) != len(got) {
		t.Errorf("ROOT reads %d entries, of what it has imported %d", len(got), len(want))
	}
}

// compareSplits compares objects with the same ones that are split into more branches.
func compareSplits(t *testing.T, trees []converted, dir string) {
	for _, c := range trees {
		name, split, found := strings.Cut(c.Name, "_split")
		if !found || split == "99" || c.Error != "" {
			continue
		}
		a, b := opened(t, filepath.Join(dir, c.Name+".root"), ""), opened(t, filepath.Join(dir, name+"_split99.root"), "")
		if a == nil || b == nil {
			continue
		}
		r, err := diff.Values(context.Background(), a, b, nil)
		if err != nil || len(r.Fields) > 0 || r.Entries[0] != r.Entries[1] {
			t.Errorf("%s has other values than with more branches (%v):\n%v", c.Name, err, r)
		}
		a.Close()
		b.Close()
	}
}

// damageTrees changes one to three bytes of every file, several times. Each must be converted, or
// refused without an output; the program must not fail.
func damageTrees(t *testing.T, files []string) {
	t.Helper()
	dir, random := t.TempDir(), rand.New(rand.NewPCG(3, 4))
	var bad []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 10 {
			changed := slices.Clone(data)
			for range 1 + n%3 {
				changed[random.IntN(len(changed))] ^= byte(1 + random.IntN(255))
			}
			name := filepath.Join(dir, fmt.Sprintf("%s_%d.root", strings.TrimSuffix(filepath.Base(file), ".root"), n))
			if err := os.WriteFile(name, changed, 0o666); err != nil {
				t.Fatal(err)
			}
			bad = append(bad, name)
		}
	}
	out := t.TempDir()
	refused := 0
	for _, c := range convertTrees(t, out, bad) {
		if c.Error == "" {
			continue
		}
		refused++
		if _, err := os.Stat(filepath.Join(out, c.Name+".root")); err == nil {
			t.Errorf("%s: a file is left after the error %q", c.Name, c.Error)
		}
		if strings.Contains(c.Error, "runtime error") {
			t.Errorf("%s: a panic: %s", c.Name, c.Error)
		}
	}
	if refused < len(bad)/4 {
		t.Errorf("only %d of %d damaged files are refused", refused, len(bad))
	}
}

// uprootTrees has uproot compare trees with what they became.
func uprootTrees(t *testing.T, trees []converted, dir string) {
	t.Helper()
	var args []string
	var names []string
	for _, c := range trees {
		if c.Error == "" && c.Entries > 0 && !strings.Contains(c.File, ",") {
			args = append(args, c.File, c.Tree, filepath.Join(dir, c.Name+".root"),
				c.Tree[strings.LastIndexByte(c.Tree, '/')+1:])
			names = append(names, c.Name)
		}
	}
	d := json.NewDecoder(bytes.NewReader(script(t, "tree_check.py", args...)))
	for _, name := range names {
		var r struct {
			Unread, Different map[string]string
			Equal             int
		}
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		if reason := explained(notUproot, name); reason == "" && (len(r.Unread) > 0 || len(r.Different) > 0 || r.Equal == 0) {
			t.Errorf("%s: uproot finds %+v", name, r)
		}
	}
}
