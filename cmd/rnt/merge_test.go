package main

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestMerge merges a file with itself: cat prints its entries twice.
func TestMerge(t *testing.T) {
	in, dir := "../../testdata/good/types_zlib_groups.root", t.TempDir()
	tool := func(status int, args ...string) (stdout, stderr string) {
		t.Helper()
		var out, problems bytes.Buffer
		if got := tool.Run(context.Background(), args, nil, &out, &problems); got != status {
			t.Fatalf("%v: status %d: %s", args, got, &problems)
		}
		return out.String(), problems.String()
	}
	want, _ := tool(exitOK, "cat", in)
	for _, level := range []string{"copy", "2", "L3", "rewrite"} {
		out := filepath.Join(dir, "out.root")
		text, _ := tool(exitOK, "merge", "--force", "--json", "--level", level, out, in, in)
		var report struct {
			Inputs, Entries int
			Levels          []struct{ Level string }
		}
		if err := json.Unmarshal([]byte(text), &report); err != nil || report.Inputs != 2 ||
			report.Entries != 2*strings.Count(want, "\n") || len(report.Levels) != 1 {
			t.Errorf("%v: %s", err, text)
		}
		if got, _ := tool(exitOK, "cat", out); got != want+want {
			t.Errorf("level %s: the entries differ", level)
		}
		table, _ := tool(exitOK, "merge", "--into", out, in)
		if !strings.Contains(table, "out.root: ") || !strings.Contains(table, "copy") {
			t.Error(table)
		}
		if got, _ := tool(exitOK, "cat", out); got != want+want+want {
			t.Errorf("level %s: the entries differ after more were added", level)
		}
	}
	for _, args := range [][]string{{"merge"}, {"merge", "out"}, {"merge", "--mode", "x", "out", in},
		{"merge", "--level", "9", "out", in}, {"merge", "--compression", "x", "out", in}} {
		tool(exitUsage, args...)
	}
	_, problem := tool(exitError, "merge", "--mode", "strict", filepath.Join(dir, "none.root"), in, dimuon)
	if !strings.Contains(problem, dimuon) || !strings.Contains(problem, "missing") {
		t.Error(problem)
	}
}

// TestMergeSaysWhatIsLeft merges files of which the output does not have everything.
func TestMergeSaysWhatIsLeft(t *testing.T) {
	dir := t.TempDir()
	few, more, none, into := filepath.Join(dir, "few.root"), filepath.Join(dir, "more.root"),
		filepath.Join(dir, "none.root"), filepath.Join(dir, "into.root")
	rnt(t, "slim", "--fields", "run", few, dimuon)
	rnt(t, "slim", "--fields", "run,event,PV_npvs", more, dimuon)
	rnt(t, "slim", "--fields", "run", into, dimuon)
	f, err := rntuple.CreateFile(none, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	const fields = "rnt: warning: not copied: fields not in the first input: event, PV_npvs\n"
	for _, c := range []struct {
		command string
		status  int
		stderr  string
	}{
		{"merge OUT FEW MORE MORE", exitSkipped, fields},
		{"merge --mode filter OUT FEW MORE", exitOK, fields},
		{"merge OUT MORE MORE", exitOK, ""},
		{"merge --mode union OUT FEW MORE", exitOK, ""},
		{"merge --all OUT FEW MORE", exitSkipped, fields},
		{"merge --all --mode filter OUT FEW MORE", exitOK, fields},
		{"append INTO MORE", exitSkipped, fields},
		{"append --mode filter INTO MORE", exitOK, fields},
		{"merge --into INTO MORE", exitSkipped, fields},
		{"merge --all OUT NONE FEW", exitSkipped, "rnt: warning: " + none + ": not copied: the file contains no RNTuple\n"},
		{"merge -q OUT FEW MORE", exitSkipped, ""},
		{"merge -q --all OUT NONE FEW", exitSkipped, ""},
	} {
		out := filepath.Join(t.TempDir(), "out.root")
		_, stderr, status := try(clitest.Arguments(c.command, "OUT", out, "FEW", few, "MORE", more, "NONE",
			none, "INTO", into)...)
		if status != c.status || stderr != c.stderr {
			t.Errorf("%s: status %d, %q", c.command, status, stderr)
		}
	}
	stdout, _, _ := try("merge", "--json", filepath.Join(dir, "out.root"), few, more)
	var report report
	if err := json.Unmarshal([]byte(stdout), &report); err != nil ||
		!slices.Equal(report.Omitted, []string{"event", "PV_npvs"}) {
		t.Errorf("%v, %s", err, stdout)
	}
}
