package main

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestMerge merges a file with itself: cat prints its entries twice.
func TestMerge(t *testing.T) {
	in, dir := "../../testdata/good/types_zlib_groups.root", t.TempDir()
	tool := func(status int, args ...string) (stdout, stderr string) {
		t.Helper()
		var out, problems bytes.Buffer
		if got := run(context.Background(), args, nil, &out, &problems); got != status {
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
		if err := json.Unmarshal([]byte(text), &report); err != nil || report.Inputs != 2 || report.Entries != 2*strings.Count(want, "\n") || len(report.Levels) != 1 {
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
	for _, args := range [][]string{{"merge"}, {"merge", "out"}, {"merge", "--mode", "x", "out", in}, {"merge", "--level", "9", "out", in}, {"merge", "--compression", "x", "out", in}} {
		tool(exitUsage, args...)
	}
	_, problem := tool(exitError, "merge", "--mode", "strict", filepath.Join(dir, "none.root"), in, dimuon)
	if !strings.Contains(problem, dimuon) || !strings.Contains(problem, "missing") {
		t.Error(problem)
	}
}
