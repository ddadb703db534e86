package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/rescue"
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
	text := rnt(t, "recover", out, in)
	if !strings.HasPrefix(text, "container: ") ||
		!strings.Contains(text, "\nzero: 6 of 6 entries saved, found by the anchor at 0x52a that the scan found\n") {
		t.Errorf("got\n%s", text)
	}
	compare(t, rnt(t, "cat", out), rnt(t, "cat", special+"zero.root"))
	report := decode[rescue.Report](t, "recover", "--json", "--ntuple", "zero", "--force", out, in)
	if len(report.NTuples) != 1 || report.NTuples[0].Saved != 6 || report.Container == "" {
		t.Errorf("%+v", report)
	}

	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{}, "rnt: missing argument OUT"},
		{[]string{"x"}, "rnt: missing argument IN"},
		{[]string{"x", "y", "z"}, "rnt: unexpected arguments: z"},
		{[]string{"y", "missing.root"}, "rnt: open missing.root: no such file or directory"},
		{[]string{in, in, "--force"}, "rnt: " + in + ": is an input and would be overwritten"},
		{[]string{out, in}, "rnt: " + out + ": exists; --force replaces it"},
		{[]string{out, "main.go", "--force"}, "rnt: main.go: nothing can be saved: there is no whole header of an RNTuple"},
		{[]string{"--ntuple", "x", "--force", out, in},
			"rnt: " + in + `: nothing can be saved: there is no RNTuple "x", or its header is lost`},
	} {
		_, stderr, status := try(append([]string{"recover"}, c.args...)...)
		if first, _, _ := strings.Cut(stderr, "\n"); status == exitOK || first != c.want {
			t.Errorf("%s: status %d, %q, want %q", c.args, status, first, c.want)
		}
	}
	// What was there stays if nothing can be saved.
	compare(t, rnt(t, "cat", out), rnt(t, "cat", special+"zero.root"))
	if _, stderr, status := try("recover", "--force", out, cut(t, "special_zero.root", 1700)); status != exitError ||
		!strings.Contains(stderr, "nothing can be saved") {
		t.Errorf("status %d, %q", status, stderr)
	}
}

// A page is damaged in the first of several clusters: the others are saved only with
// --keep-going, which is said.
func TestRecoverKeepGoing(t *testing.T) {
	b, err := os.ReadFile(dimuon)
	if err != nil {
		t.Fatal(err)
	}
	b[50000] ^= 1
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.root"), filepath.Join(dir, "out.root")
	if err := os.WriteFile(in, b, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   []string
		status int
		hint   bool
	}{
		{[]string{"recover", out, in}, exitError, true},
		{[]string{"recover", "--quiet", out, in}, exitError, false},
		{[]string{"recover", "--keep-going", out, in}, exitSkipped, false},
	} {
		_, stderr, status := try(c.args...)
		if status != c.status || strings.Contains(stderr, "--keep-going") != c.hint {
			t.Errorf("%v: status %d, %q", c.args, status, stderr)
		}
	}
	if n := strings.Count(rnt(t, "cat", out, "-f", "run"), "\n"); n != 72000 {
		t.Errorf("%d entries saved, want those of 9 of 10 clusters", n)
	}
}

// Entries are saved without an attribute set that is damaged, or without the footer: something is
// lost.
func TestRecoverMissing(t *testing.T) {
	dir := t.TempDir()
	good, in, out := filepath.Join(dir, "good.root"), filepath.Join(dir, "in.root"), filepath.Join(dir, "out.root")
	type event struct{ N int32 }
	w, err := rntuple.Create[event](good, "events",
		&rntuple.WriteOptions{ZoneMap: []string{"*"}, Compression: compress.None})
	if err == nil {
		err = w.Write(&event{1})
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]string{
		"":                         "",
		"Zone map: bounds":         `  lost: attribute set "rnt_zonemap": its anchor, header or footer is damaged`,
		"\x0b\x00\x00\x00rnt_zone": "  lost: the footer, and with it any attribute sets",
	} {
		damaged := slices.Clone(b)
		if what != "" {
			damaged[bytes.LastIndex(b, []byte(what))+8] ^= 1
		}
		write(t, in, string(damaged))
		status := exitOK
		if want != "" {
			status = exitSkipped
		}
		if stdout, _ := fed(t, status, "", "recover", "--force", out, in); !strings.Contains(stdout, want) {
			t.Errorf("%q: %s", what, stdout)
		}
		if got := rnt(t, "cat", out, "events"); got != "{\"N\":1}\n" {
			t.Errorf("%q: %s", what, got)
		}
	}
}
