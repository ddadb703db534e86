package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/source"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// flawed makes the files good0.root, good1.root and so on, each with 3 clusters of 50 entries, and
// a bad one of each kind.
func flawed(t *testing.T, dir string) (good []string, bad map[string]string) {
	type entry struct {
		A int32
		V []float32
	}
	create := func(path string, first int32) {
		w, err := rntuple.Create[entry](path, "Events", nil)
		if err != nil {
			t.Fatal(err)
		}
		for a := first; a < first+150; a++ {
			if err := w.Write(&entry{a, []float32{float32(a), 0.5}[:a%3%2+1]}); err != nil {
				t.Fatal(err)
			}
			if a%50 == 49 {
				w.CommitCluster()
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range int32(3) {
		good = append(good, filepath.Join(dir, fmt.Sprintf("good%d.root", i)))
		create(good[i], 1000*i)
	}
	bad = map[string]string{}
	for _, kind := range []string{"absent", "folder", "empty", "text", "cut", "other", "page", "pagelist"} {
		bad[kind] = filepath.Join(dir, kind+".root")
		create(bad[kind], 5000)
	}
	change := func(kind string, f func(b []byte) []byte) {
		b, err := os.ReadFile(bad[kind])
		if err != nil {
			t.Fatal(err)
		}
		write(t, bad[kind], string(f(b)))
	}
	// offsetOf returns where a page in the middle of a file, or its page list, is.
	offsetOf := func(kind string) uint64 {
		r, err := rntuple.Open(bad[kind], "", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if kind == "pagelist" {
			return r.Footer().ClusterGroups[0].PageList.Locator.Offset
		}
		clusters, err := r.StoredClusters(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return clusters[1].Columns()[0].Pages[0].Locator.Offset
	}
	os.Remove(bad["absent"])
	os.Remove(bad["folder"])
	os.Mkdir(bad["folder"], 0o700)
	change("empty", func([]byte) []byte { return nil })
	change("text", func([]byte) []byte { return []byte("not found\n") })
	change("cut", func(b []byte) []byte { return b[:len(b)/2] })
	rnt(t, "rename", "--to", "Runs", bad["other"])
	for _, kind := range []string{"page", "pagelist"} {
		at := offsetOf(kind)
		change(kind, func(b []byte) []byte { b[at+8] ^= 1; return b })
	}
	return good, bad
}

// timeless returns JSON without the time of a plan, and its ID, which depends on the time.
func timeless(text string) string {
	return regexp.MustCompile(`"(time|id)": ?"[^"]*"`).ReplaceAllString(text, "")
}

// TestSkipBad runs commands on good files with a bad one among them: with --skip-bad they make what
// they make of the good ones alone, say which file they have skipped, and end with status 3;
// without it they fail.
func TestSkipBad(t *testing.T) {
	dir := t.TempDir()
	good, bad := flawed(t, dir)
	for command, name := range map[string]string{
		"merge --name Events OUT IN":                                 "out.root",
		"merge --all --level rewrite OUT IN":                         "out.root",
		"skim --name Events --where A%2==0 OUT IN":                   "out.root",
		"skim --name Events --where A%1000<60 --define W=A+1 OUT IN": "out.root",
		"convert --name Events IN OUT":                               "out.root",
		"convert --name Events --where len(V)==2 IN OUT":             "out.csv",
		"convert --name Events IN OUT --fields A":                    "out.parquet",
		"draw --name Events IN -e A --out OUT":                       "out.svg",
		"draw --name Events IN -e A --where len(V)==2 --json":        "",
		"plan --name Events OUT IN --json":                           "out.json",
	} {
		out := filepath.Join(dir, name)
		args := func(command string, in ...string) (all []string) {
			for word := range strings.FieldsSeq(command) {
				switch word {
				case "IN":
					all = append(all, in...)
				case "OUT":
					all = append(all, out)
				default:
					all = append(all, word)
				}
			}
			return all
		}
		force := " --force"
		if name == "" {
			force = ""
		}
		result := func() string { // what was made
			switch filepath.Ext(out) {
			case ".root", ".parquet":
				return rnt(t, "cat", out)
			}
			b, err := os.ReadFile(out)
			if name != "" && err != nil {
				t.Fatal(err)
			}
			return timeless(string(b))
		}
		want := timeless(rnt(t, args(command+force, good...)...))
		made := result()
		for kind, file := range bad {
			if kind == "other" && strings.Contains(command, "--all") || kind == "page" && name == "out.json" {
				continue // is good enough for it
			}
			for _, at := range []int{0, 2} {
				if at > 0 && kind != "page" && kind != "pagelist" { // which is found at the start
					continue
				}
				in := slices.Insert(slices.Clone(good), at, file)
				os.Remove(out)
				os.Remove(out + skippedSuffix)
				if _, stderr, status := try(args(command, in...)...); status != exitError || !strings.Contains(stderr, file) {
					t.Errorf("%s, %s: status %d, %s", command, kind, status, stderr)
				}
				if entries, _ := filepath.Glob(out + "*"); name != "" && len(entries) > 0 {
					t.Errorf("%s, %s: there is %s", command, kind, entries)
				}
				stdout, stderr, status := try(args(command+" --skip-bad", in...)...)
				if status != exitSkipped || !strings.Contains(stderr, "rnt: skipped 1 of 4 files:\n  "+file+": ") {
					t.Fatalf("%s, %s at %d: status %d, %s", command, kind, at, status, stderr)
				}
				if strings.Contains(command, "--json") {
					var j struct{ Skipped []source.BadFile }
					if err := json.Unmarshal([]byte(stdout), &j); err != nil || len(j.Skipped) != 1 || j.Skipped[0].File != file {
						t.Errorf("%s, %s: %v, %v", command, kind, j.Skipped, err)
					}
					before, after, _ := strings.Cut(stdout, `  "skipped": [`)
					_, after, _ = strings.Cut(after, "  ],\n")
					stdout = before + after
				}
				if stdout = timeless(stdout); stdout != want || result() != made {
					t.Errorf("%s, %s at %d: got\n%.500s\nwant\n%.500s", command, kind, at, stdout, want)
				}
				if name == "" {
					continue
				}
				list, err := os.ReadFile(out + skippedSuffix)
				if err != nil {
					t.Fatal(err)
				}
				var listed struct {
					Files   int
					Skipped []source.BadFile
				}
				if err := json.Unmarshal(list, &listed); err != nil || listed.Files != 4 || len(listed.Skipped) != 1 ||
					listed.Skipped[0].File != file || listed.Skipped[0].Reason == "" {
					t.Errorf("%s, %s: the list is %s", command, kind, list)
				}
			}
		}
	}
}

// skippedSuffix is what the list of the files that were left out is called, behind the name of OUT.
const skippedSuffix = ".skipped.json"

// TestSkipBadAmong skips several files, one of which is named twice, none, and all.
func TestSkipBadAmong(t *testing.T) {
	dir := t.TempDir()
	good, bad := flawed(t, dir)
	out := filepath.Join(dir, "out.root")
	list := out + skippedSuffix
	in := []string{bad["page"], good[0], bad["cut"], bad["cut"], good[1], bad["pagelist"]}
	stdout, stderr, status := try(append([]string{"merge", "--skip-bad", "--json", out}, in...)...)
	report := report{}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || status != exitSkipped || report.Inputs != 2 ||
		report.Entries != 300 || len(report.Skipped) != 4 {
		t.Errorf("%v, status %d, %s%s", err, status, stdout, stderr)
	}
	for _, part := range []string{"skipped 4 of 6 files:\n", "page.root: cluster 1", "restarting without it\n"} {
		if !strings.Contains(stderr, part) {
			t.Errorf("%q does not say %q", stderr, part)
		}
	}
	if _, stderr, _ := try(append([]string{"merge", "-q", "--force", "--skip-bad", out},
		in...)...); strings.Contains(stderr, "restarting") || !strings.Contains(stderr, "skipped 4") {
		t.Error(stderr)
	}

	// The list of an earlier run is no list of this one.
	if _, stderr, status := try("skim", "--where", "A>0", "--skip-bad", filepath.Join(dir, "new.root"),
		good[0]); status != exitOK {
		t.Error(status, stderr)
	}
	os.Remove(out)
	if _, stderr, status := try("merge", "--skip-bad", out, good[0]); status != exitError ||
		!strings.Contains(stderr, list+": exists; --force replaces it") {
		t.Error(status, stderr)
	}
	rnt(t, "merge", "--skip-bad", "--force", out, good[0])
	if b, err := os.ReadFile(list); err != nil || string(b) != "{\n  \"files\": 1,\n  \"skipped\": []\n}\n" {
		t.Errorf("%s, %v", b, err)
	}

	// Without a good file there is no output, and the one that was there stays.
	before, _ := os.ReadFile(out)
	_, stderr, status = try("merge", "--skip-bad", "--force", out, bad["page"], bad["absent"])
	after, _ := os.ReadFile(out)
	if status != exitError || !strings.Contains(stderr, "all files are bad") || string(before) != string(after) {
		t.Error(status, stderr)
	}

	piped, err := os.ReadFile(good[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command string
		status  int
		stderr  string
	}{
		{"merge --skip-bad --into OUT IN", exitUsage, "--into"},
		{"merge --skip-bad --plan P OUT IN", exitUsage, "--plan"},
		{"skim --skip-bad --where A>0 --unit 0 OUT IN", exitUsage, "--skip-bad"},
		{"draw --skip-bad --units IN P -e A", exitUsage, "--units"},
		{"convert --skip-bad --to csv IN -", exitUsage, "standard output"},
		{"convert --skip-bad --from csv IN OUT --force", exitUsage, "--skip-bad requires RNTuple input"},
		{"convert --skip-bad --dry-run IN OUT", exitUsage, "--skip-bad requires RNTuple input"},
		{"draw --skip-bad - A", exitUsage, "standard input"},
		{"merge --skip-bad --force OUT IN -", exitUsage, "standard input"},
		{"skim --skip-bad --force --where A>0 OUT -", exitUsage, "standard input"},
		{"merge --skip-bad --force NONE/out.root IN", exitError, "none"}, // an error of the output
		{"skim --skip-bad --force --where A>0 --define X:std::int8_t=A*1000 OUT IN", exitError, ""},
		{"merge --skip-bad --force --max-memory 10 OUT IN", exitError, "--max-memory raises it"},
		{"skim --skip-bad --force --where B>0 OUT IN", exitError, "no field"},
	} {
		_, stderr := fed(t, c.status, string(piped),
			clitest.Arguments(c.command, "NONE", filepath.Join(dir, "none"), "OUT", out, "IN", good[0])...)
		if !strings.Contains(stderr, c.stderr) || strings.Contains(stderr, "skipped") {
			t.Errorf("%s: %s", c.command, stderr)
		}
	}
}
