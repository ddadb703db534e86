package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// leftOut are parts of the names of files that TestCreate cannot use.
var leftOut = []string{
	"multicluster",     // 100 million entries
	"special_streamer", // vectors of objects that ROOT's streamers wrote
	"special_multirep", // what one representation holds, another one does not
	"special_late",     // zeros from before a field was added lie outside of its range
}

// TestCreate pipes what cat prints into create, with the schema that schema
// prints, and expects cat to print the same of the new file.
func TestCreate(t *testing.T) {
	files, err := filepath.Glob("../../testdata/good/*.root")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	more, _ := filepath.Glob(shared + "/root/*.root")
	for _, file := range append(append(files, dimuon), more...) {
		if slices.ContainsFunc(leftOut, func(part string) bool { return strings.Contains(file, part) }) {
			continue
		}
		infos, err := rntuple.ListFile(context.Background(), file, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range infos {
			t.Run(filepath.Base(file)+":"+info.Path, func(t *testing.T) {
				dir := t.TempDir()
				schema, out := filepath.Join(dir, "schema.json"), filepath.Join(dir, "out.root")
				tool := func(stdin []byte, args ...string) []byte {
					t.Helper()
					var stdout, stderr bytes.Buffer
					if status := tool.Run(context.Background(), args, bytes.NewReader(stdin), &stdout, &stderr); status != 0 {
						t.Fatalf("%v: status %d: %s", args, status, &stderr)
					}
					return stdout.Bytes()
				}
				if err := os.WriteFile(schema, tool(nil, "schema", "--json", file, info.Path), 0o600); err != nil {
					t.Fatal(err)
				}
				want := tool(nil, "cat", file, info.Path)
				tool(want, "create", "--schema", schema, out, "--compression", "lz4", "--name", "again")
				got := tool(nil, "cat", out, "again")
				if !bytes.Equal(got, want) {
					g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
					for i := range w {
						if i >= len(g) || g[i] != w[i] {
							t.Fatalf("%d lines, want %d; line %d is\n%.1000s\nwant\n%.1000s", len(g), len(w), i+1, g[min(i, len(g)-1)], w[i])
						}
					}
				}
			})
		}
	}
}
