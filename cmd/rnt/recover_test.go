package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rescue"
)

// cut returns the path of a copy of a good file without its last n bytes.
func cut(t *testing.T, name string, n int) string {
	t.Helper()
	b, err := os.ReadFile("../../testdata/good/" + name)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "in.root")
	if err := os.WriteFile(path, b[:len(b)-n], 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRecover(t *testing.T) {
	in := cut(t, "special_zero.root", 550) // list of keys, free list and streamer infos
	out := filepath.Join(t.TempDir(), "out.root")
	text := rnt(t, "recover", in, out)
	if !strings.HasPrefix(text, "container: ") || !strings.Contains(text, "\nzero: 6 of 6 entries saved, found by the anchor at 0x52a that the scan found\n") {
		t.Errorf("got\n%s", text)
	}
	compare(t, rnt(t, "cat", out), rnt(t, "cat", special+"zero.root"))
	report := decode[rescue.Report](t, "recover", "--json", "--ntuple", "zero", in, out)
	if len(report.NTuples) != 1 || report.NTuples[0].Saved != 6 || report.Container == "" {
		t.Errorf("%+v", report)
	}

	for args, want := range map[string]string{
		"recover":                              "rnt: which file?",
		"recover x":                            "rnt: to which file?",
		"recover x y z":                        "rnt: unexpected arguments: z",
		"recover missing.root y":               "rnt: open missing.root: no such file or directory",
		"recover " + in + " " + in:             "rnt: " + in + ": is the damaged file itself",
		"recover main.go " + out:               "rnt: main.go: nothing can be saved: there is no whole header of an RNTuple",
		"recover --ntuple x " + in + " " + out: `rnt: ` + in + `: nothing can be saved: there is no RNTuple "x", or its header is lost`,
	} {
		_, stderr, status := try(strings.Fields(args)...)
		if first, _, _ := strings.Cut(stderr, "\n"); status == exitOK || first != want {
			t.Errorf("%s: status %d, %q, want %q", args, status, first, want)
		}
	}
	// What was there stays if nothing can be saved.
	compare(t, rnt(t, "cat", out), rnt(t, "cat", special+"zero.root"))
	if _, stderr, status := try("recover", cut(t, "special_zero.root", 1700), out); status != exitError || !strings.Contains(stderr, "nothing can be saved") {
		t.Errorf("status %d, %q", status, stderr)
	}
}
