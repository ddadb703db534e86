package check

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"
	"github.com/go-rntuple/go-rntuple/internal/test/oddity"
)

func TestVerify(t *testing.T) {
	clitest.Compare(t, tool.RNT(t, "verify", dimuon, special+"nochecksum.root"), ""+
		dimuon+": ok: 1 RNTuple, 3 envelopes, 10 clusters, 120 pages, 1.31 MB checked\n"+
		special+"nochecksum.root: ok: 1 RNTuple, 3 envelopes, 3 clusters, 23 pages, 2.54 kB checked; 23 pages without checksum\n")

	want := verified{File: special + "attributes.root", RNTuples: 3, Records: 27, Envelopes: 9, Clusters: 4, Pages: 19,
		Bytes: 2093, Skipped: []string{}}
	if got := clitest.JSON[verified](t, tool, "verify", special+"attributes.root",
		"--json"); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestVerifyDamage(t *testing.T) {
	b, err := os.ReadFile(dimuon)
	if err != nil {
		t.Fatal(err)
	}
	b[50000] ^= 1
	b[100000] ^= 1
	path := filepath.Join(t.TempDir(), "bad.root")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, status := tool.Try("verify", dimuon, path, "missing.root")
	lines := strings.Split(stdout, "\n")
	if status != cli.ExitError || len(lines) != 5 ||
		stderr != "rnt: open missing.root: no such file or directory\nrnt: 1 of 3 files has problems\n" {
		t.Fatalf("status %d, %q, %s", status, stderr, stdout)
	}
	for i, part := range []string{": ok: ", `: RNTuple "Events", cluster 0, column `, `checksum mismatch`,
		`: 2 problems: 1 RNTuple`} {
		if !strings.Contains(lines[i], part) || i > 0 && !strings.HasPrefix(lines[i], path+": ") {
			t.Errorf("line %d is %q, want %q", i, lines[i], part)
		}
	}

	stdout, stderr, status = tool.Try("verify", path, "--json", "--limit=1")
	d := json.NewDecoder(strings.NewReader(stdout))
	d.DisallowUnknownFields()
	var first, more verifyProblem
	var file verified
	for _, v := range []any{&first, &more, &file} {
		if err := d.Decode(v); err != nil {
			t.Fatal(err)
		}
	}
	if status != cli.ExitError || stderr != "rnt: 1 of 1 file has problems\n" || d.More() {
		t.Errorf("status %d, %q, %s", status, stderr, stdout)
	}
	if first.File != path || first.RNTuple != "Events" || first.Check != "pages" ||
		first.Kind != "checksum" || first.Field == "" ||
		first.Cluster == nil || *first.Cluster != 0 || first.Page == nil || *first.Page != 0 || first.Offset == nil ||
		*first.Offset > 50000 || *first.Offset < 10000 {
		t.Errorf("%+v", first)
	}
	if !strings.Contains(more.Error, "1 more problem") || file.Problems != 2 || file.File != path {
		t.Errorf("%+v, %+v", more, file)
	}
}

// A sound file without RNTuples is not called corrupt.
func TestVerifyTrees(t *testing.T) {
	path := clitest.Shared(t, shared, "../ttree/uproot-HZZ.root")
	stdout, stderr, status := tool.Try("verify", path)
	if status != cli.ExitError || stderr != "rnt: 1 of 1 file has problems\n" {
		t.Errorf("status %d, %q", status, stderr)
	}
	clitest.Compare(t, stdout,
		path+": directories: the file holds TTrees, no RNTuple: events; use rnt convert to convert them\n"+
			path+": 1 problem: 0 RNTuples, 0 envelopes, 0 clusters, 0 pages, 0 B checked\n")
	stdout, _, _ = tool.Try("verify", "--json", path)
	if !strings.Contains(stdout, `"kind":"not found"`) {
		t.Error(stdout)
	}
}

func TestVerifyArguments(t *testing.T) {
	for args, want := range map[string]string{
		"verify":              "rnt: missing argument FILE",
		"verify a --limit 0":  "rnt: --limit must be positive",
		"verify a --ntuple b": "rnt: unknown flag: --ntuple",
	} {
		_, stderr, status := tool.Try(strings.Fields(args)...)
		if first, _, _ := strings.Cut(stderr, "\n"); status != cli.ExitUsage || first != want {
			t.Errorf("%s: status %d, %q", args, status, stderr)
		}
	}
	if stdout, _, status := tool.Try("verify", "verify.go"); status != cli.ExitError ||
		!strings.Contains(stdout, "not a ROOT file") {
		t.Errorf("no ROOT file: status %d, %s", status, stdout)
	}
}

// Oddities are listed, and do not make the command fail.
func TestVerifyOddity(t *testing.T) {
	b, err := os.ReadFile(special + "dirs.root")
	if err != nil {
		t.Fatal(err)
	}
	cases := oddity.Cases(t, b)
	i := slices.IndexFunc(cases, func(c oddity.Case) bool { return c.Name == "zeros after the keys" })
	path := filepath.Join(t.TempDir(), "odd.root")
	if err := os.WriteFile(path, cases[i].File, 0o644); err != nil {
		t.Fatal(err)
	}
	text, lines, quiet := tool.RNT(t, "verify", path), tool.RNT(t, "verify", "--json", path),
		tool.RNT(t, "verify", "--quiet", path)
	if !strings.HasPrefix(text, path+": oddity: list of keys") ||
		!strings.Contains(text, ": ok, 1 oddity: ") || quiet != "" ||
		!strings.Contains(lines, `"severity":"oddity"`) || !strings.Contains(lines, `"problems":0,"oddities":1,`) {
		t.Errorf("%s%s%s", text, lines, quiet)
	}
}
