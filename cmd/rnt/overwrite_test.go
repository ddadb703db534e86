package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/disk/diskfile"
)

// makers are the commands that make a file OUT, with what comes before OUT and
// after it; IN is their input.
var makers = []struct{ before, after []string }{
	{[]string{"merge"}, []string{"IN"}},
	{[]string{"hmerge"}, []string{"IN"}},
	{[]string{"slim", "--fields", "run"}, []string{"IN"}},
	{[]string{"skim", "--where", "run > 0"}, []string{"IN"}},
	{[]string{"concat"}, []string{"IN[0:5]"}},
	{[]string{"repack", "--compression", "none"}, []string{"IN"}},
	{[]string{"recover"}, []string{"IN"}},
	{[]string{"rename", "--to", "new", "--out"}, []string{"IN"}},
	{[]string{"create", "--schema", "IN"}, nil},
	{[]string{"convert", "--to", "rntuple", "IN"}, nil},
}

// line returns a command line.
func line(before, after []string, out, in string, more ...string) []string {
	args := slices.Concat(before, []string{out}, after, more)
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, "IN", in)
	}
	return args
}

// files returns two different files in a folder whose name has a space, the first
// also under the names that a symbolic and a hard link give it.
func files(t *testing.T) (in, other string, names []string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "with a space")
	in, other = filepath.Join(dir, "in.root"), filepath.Join(dir, "other.root")
	content, err := os.ReadFile(dimuon)
	if err == nil {
		err = os.Mkdir(dir, 0o755)
	}
	for path, b := range map[string][]byte{in: content, other: []byte("precious")} {
		if err == nil {
			err = os.WriteFile(path, b, 0o644)
		}
	}
	names = []string{in, filepath.Join(dir, "sym.root"), filepath.Join(dir, "hard.root")}
	if err == nil {
		err = os.Symlink(in, names[1])
	}
	if err == nil {
		err = os.Link(in, names[2])
	}
	if err != nil {
		t.Fatal(err)
	}
	return in, other, names
}

// No command replaces a file without --force, nor its input in any case.
func TestNothingIsOverwritten(t *testing.T) {
	in, other, names := files(t)
	before, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(args []string, status int, want string) {
		t.Helper()
		stdout, stderr, got := try(args...)
		if first, _, _ := strings.Cut(stderr, "\n"); got != status || first != "rnt: "+want || stdout != "" {
			t.Errorf("%q: status %d, %q, want %q", args, got, stderr, want)
		}
		for path, want := range map[string][]byte{in: before, other: []byte("precious")} {
			if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, want) {
				t.Fatalf("%q: %s has changed: %v", args, path, err)
			}
		}
	}
	for _, m := range makers {
		refused(line(m.before, m.after, other, in), exitError, other+": exists; --force replaces it")
		refused(line(m.before, m.after, filepath.Dir(in), in, "--force"), exitError, filepath.Dir(in)+": is a directory")
		refused(line(m.before, m.after, "-", in), exitUsage, "a ROOT file cannot be written to standard output")
		for _, name := range names {
			refused(line(m.before, m.after, name, in, "--force"), exitError, name+": is an input and would be overwritten")
		}
	}
	for _, name := range names {
		refused([]string{"append", name, in}, exitError, name+": is an input and would be overwritten")
		refused([]string{"merge", "--into", name, in}, exitError, name+": is an input and would be overwritten")
	}
	if left, err := os.ReadDir(filepath.Dir(in)); err != nil || len(left) != 4 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// Every command but create, for which there are other tests, makes a file where
// there is none, and replaces one with --force.
func TestForce(t *testing.T) {
	in, other, _ := files(t)
	for _, m := range makers {
		if m.before[0] == "create" {
			continue
		}
		if err := os.WriteFile(other, []byte("not precious"), 0o644); err != nil {
			t.Fatal(err)
		}
		fresh := filepath.Join(t.TempDir(), "fresh.root")
		rnt(t, line(m.before, m.after, fresh, in)...)
		rnt(t, line(m.before, m.after, other, in, "--force")...)
		for _, path := range []string{fresh, other} {
			if out := rnt(t, "head", path, "-1", "-f", "run"); out != `{"run":194050}`+"\n" {
				t.Errorf("%v: %s has %q", m.before, path, out)
			}
		}
		if out := rnt(t, line(m.before, m.after, other, in, "--force", "--quiet")...); out != "" {
			t.Errorf("%v --quiet prints %q", m.before, out)
		}
	}
}

// What the files of inputs hold besides what was taken is named, once for many files.
func TestNotCopied(t *testing.T) {
	e := clitest.NewEditor(t, dimuon)
	in := e.Write(e.NTuple("Others", func(h *envelope.Header) { h.Name = "Others" }), e.Object("TH1F", "h", nil), e.Key)
	dir := t.TempDir()
	more := filepath.Join(dir, "more.root")
	b, err := os.ReadFile(in)
	if err == nil {
		err = os.WriteFile(more, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, inputs, want string }{
		{"merge --name Events", in + "\n" + more, "rnt: warning: " + in + `: not copied: RNTuple "Others", TH1F "h"` + "\n"},
		{"skim --where run==0 --name Others", in, "rnt: warning: " + in + `: not copied: TH1F "h", RNTuple "Events"` + "\n"},
		{"merge --quiet --name Events", in, ""},
		{"merge --all", in + "\n" + more, "rnt: warning: " + in + `: not copied: TH1F "h"` + "\n"},
		{"merge --all", groups, ""},
		{"merge", dimuon, ""},
	} {
		out := filepath.Join(t.TempDir(), "out.root")
		args := slices.Concat(strings.Fields(c.args), []string{out}, strings.Split(c.inputs, "\n"))
		if _, stderr, status := try(args...); status != exitOK || stderr != c.want {
			t.Errorf("%q: status %d, %q, want %q", args, status, stderr, c.want)
		}
	}
}

// A damaged directory elsewhere in the file is warned of.
func TestNotListed(t *testing.T) {
	e := clitest.NewEditor(t, dimuon)
	in := e.Write(e.Key, e.Object("TH1F", "h", nil), e.Object("TDirectory", "plots", bytes.Repeat([]byte{0xff}, 60)))
	out := filepath.Join(t.TempDir(), "out.root")
	_, stderr, status := try("merge", "--name", "Events", out, in)
	lines := strings.Split(stderr, "\n")
	if status != exitOK || len(lines) != 3 || lines[1] != "rnt: warning: "+in+`: not copied: TH1F "h"` ||
		!strings.HasPrefix(lines[0], "rnt: warning: other objects might not have been copied: "+in+`: directory "plots"`) {
		t.Errorf("status %d, %s", status, stderr)
	}
}

// With --all every RNTuple of the files is merged with those of its name.
func TestMergeAll(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.root")
	in := special + "dirs.root"
	text, stderr, status := try("merge", "--all", out, in, in)
	if status != exitOK ||
		stderr != "rnt: warning: "+in+": not copied: TNamed \"named\", TH1D \"h\", TNamed \"ntuple\"\n" {
		t.Fatalf("status %d, %s", status, stderr)
	}
	for name, want := range map[string]int{"top": 9, "dir/sub/ntuple": 7, "dir/other": 3, "dir/top": 2} {
		once := rnt(t, "cat", in, name)
		compare(t, rnt(t, "cat", out, name), once+once)
		if n := strings.Count(once, "\n"); n != want {
			t.Errorf("%s has %d entries, want %d", name, n, want)
		}
	}
	if n := strings.Count(text, " entries from 2 inputs"); n != 4 {
		t.Error(text)
	}
	list := decode[[]report](t, "merge", "--all", "--json", "--force", "--quiet", out, in)
	if len(list) != 4 || list[0].Name != "top" || list[0].Entries != 9 {
		t.Errorf("%+v", list)
	}
	for _, args := range []string{"merge --all --name x o i", "merge --all --into o i"} {
		fed(t, exitUsage, "", strings.Fields(args)...)
	}
	fed(t, exitError, "", "merge", "--all", out, in, in) // it is there
}

// TestNothingThatAppearsIsOverwritten puts a file in the place of OUT just before each command
// does: without --force it stays.
func TestNothingThatAppearsIsOverwritten(t *testing.T) {
	small := filepath.Join(t.TempDir(), "small.root")
	rnt(t, "concat", small, dimuon+"[0:100]")
	document := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(document, []byte(rnt(t, "schema", "--json", small)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"merge OUT IN", "merge --all OUT IN", "hmerge OUT IN", "slim --fields run OUT IN",
		"skim --where run>0 OUT IN", "concat OUT IN",
		"repack OUT IN", "rename --to new --out OUT IN", "create --schema SCHEMA OUT", "convert --to rntuple IN OUT",
		"convert --to csv IN OUT",
		"draw IN run --out OUT.svg", "plan OUT IN", "split --entries 100 OUT-%d IN", "recover OUT IN",
		"stat --map OUT.svg IN",
	} {
		for _, force := range []string{"", " --force"} {
			if force != "" && strings.HasPrefix(command, "split") {
				continue
			}
			var appeared string
			ctx := diskfile.WithLastLook(t.Context(), func(path string) {
				appeared = path
				if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
					t.Error(err)
				}
			})
			var stdout, stderr strings.Builder
			out := filepath.Join(t.TempDir(), "out")
			status := tool.Run(ctx, clitest.Arguments(command+force, "OUT", out, "IN", small, "SCHEMA", document),
				strings.NewReader(""), &stdout, &stderr)
			b, err := os.ReadFile(appeared)
			if stays := string(b) == "precious"; err != nil || stays != (force == "") || stays != (status == exitError) {
				t.Errorf("%s%s: status %d, %s, the file stays: %v, %v", command, force, status, stderr.String(), stays, err)
			}
		}
	}
}

func TestStatMapFile(t *testing.T) {
	in, other, names := files(t)
	refused := func(status int, want string, args ...string) {
		t.Helper()
		stdout, stderr, got := try(append([]string{"stat"}, args...)...)
		if first, _, _ := strings.Cut(stderr, "\n"); got != status || first != "rnt: "+want || stdout != "" {
			t.Errorf("%q: status %d, %q, want %q", args, got, stderr, want)
		}
	}
	refused(exitError, other+": exists; --force replaces it", "--map", other, in)
	for _, name := range names {
		refused(exitError, name+": is an input and would be overwritten", "--force", "--map", name, in)
	}
	refused(exitError, filepath.Dir(in)+": is a directory", "--force", "--map", filepath.Dir(in), in)
	refused(exitUsage, "--map: missing file name", "--map", "", in)
	refused(exitUsage, "--map and --json cannot be combined", "--map", other, "--json", in)
	refused(exitUsage, "--force requires --map", "--force", in)

	fresh := filepath.Join(t.TempDir(), "fresh.svg")
	want := rnt(t, "stat", "--map", "-", in)
	for _, args := range [][]string{{"--map", fresh}, {"--map", other, "--force"}} {
		if out := rnt(t, append([]string{"stat", in}, args...)...); out != "" {
			t.Errorf("%v prints %q", args, out)
		}
		if b, err := os.ReadFile(args[1]); err != nil || string(b) != want {
			t.Errorf("%v: %d bytes, %v, want %d", args, len(b), err, len(want))
		}
	}
	if left, err := os.ReadDir(filepath.Dir(in)); err != nil || len(left) != 4 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
