package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go-hep.org/x/hep/groot"
	"go-hep.org/x/hep/groot/riofs"
	"go-hep.org/x/hep/groot/rtree"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"
)

// kindsOfFiles are the suffixes of the formats that hold an RNTuple's entries.
var kindsOfFiles = []string{"parquet", "arrow", "arrows", "csv", "jsonl"}

// TestConvert converts a file that ROOT wrote to every format and back: diff finds the same
// values each time, and cat prints what it prints for the original.
func TestConvert(t *testing.T) {
	dir := t.TempDir()
	fields := "run,event,HLT_IsoMu24,Muon_pt,Muon_charge"
	want := rnt(t, "head", "-n", "500", dimuon, "--fields", fields)
	schema := filepath.Join(dir, "schema.json")
	write(t, schema, `{"name": "Events", "fields": [{"name": "run", "type": "std::uint32_t"}, {"name": "event", "type": "std::uint64_t"},
		{"name": "HLT_IsoMu24", "type": "bool"}, {"name": "Muon_pt", "type": "ROOT::VecOps::RVec<float>"}, {"name": "Muon_charge", "type": "std::vector<std::int32_t>"}]}`)
	for _, kind := range kindsOfFiles {
		file, back := filepath.Join(dir, "all."+kind), filepath.Join(dir, kind+".root")
		if got := rnt(t, "convert", dimuon, file); got != "all."+kind+": 80,000 entries\n" {
			t.Errorf("%s: convert prints %q", kind, got)
		}
		rnt(t, "diff", dimuon, file)
		rnt(t, "diff", file, dimuon)
		if got := rnt(t, "head", "-n", "500", file, "--fields", fields); kind != "csv" && kind != "jsonl" && got != want {
			t.Errorf("%s: head prints\n%.300s\nwant\n%.300s", kind, got, want)
		}

		some := filepath.Join(dir, "some."+kind)
		rnt(t, "convert", dimuon, some, "--fields", fields, "--where", "event % 50 == 0")
		from := []string{"convert", some, back, "--compression", "lz4:4", "--cluster-size", "5000"}
		if kind == "csv" || kind == "jsonl" {
			from = append(from, "--schema", schema)
		}
		rnt(t, from...)
		if got := rnt(t, "stat", back, "--json"); !strings.Contains(got, `"lz4 4"`) ||
			strings.Contains(got, `"clusters": 1,`) {
			t.Errorf("%s: flags for writing have no effect: stat prints %.200s", kind, got)
		}
		skimmed := filepath.Join(dir, "skimmed.root")
		rnt(t, "skim", "--force", "--where", "event % 50 == 0", "--fields", fields, skimmed, dimuon)
		if got, want := rnt(t, "cat", back, "--fields", fields), rnt(t, "cat", skimmed, "--fields", fields); got != want {
			t.Errorf("%s: there and back\n%.300s\nwant\n%.300s", kind, got, want)
		}

		// Of several files, by a condition, in a range, as a histogram.
		rnt(t, "convert", "--force", some, some, back, "--where", "run > 194050", "--fields", "run,event")
		chosen := filepath.Join(dir, "chosen.root")
		rnt(t, "skim", "--force", "--where", "run > 194050", "--fields", "run,event", chosen, skimmed, skimmed)
		if got, want := rnt(t, "cat", back), rnt(t, "cat", chosen); got != want {
			t.Errorf("%s: chosen of two files\n%.300s\nwant\n%.300s", kind, got, want)
		}
		bins := func(file string) string {
			_, bins, _ := strings.Cut(rnt(t, "draw", file, "event", "--where", "HLT_IsoMu24", "--json", "--bins", "20"), "]")
			return regexp.MustCompile(`"(mean|std_dev)": .*`).ReplaceAllString(bins, "") // sums by cluster
		}
		if got, want := bins(file), bins(dimuon); got != want {
			t.Errorf("%s: draw prints\n%.300s\nwant\n%.300s", kind, got, want)
		}
		if got, want := rnt(t, "cat", file, "--first", "79990", "--fields", "event"),
			rnt(t, "cat", dimuon, "--first", "79990", "--fields", "event"); got != want {
			t.Errorf("%s: the last entries are\n%s\nwant\n%s", kind, got, want)
		}
		if got := rnt(t, "ls", file, "--json"); !strings.Contains(got, `"entries": 80000`) ||
			!strings.Contains(got, `"fields": 12`) {
			t.Errorf("%s: ls prints %s", kind, got)
		}
	}
}

// TestConvertFinds checks that diff finds a value that differs, whatever the format.
func TestConvertFinds(t *testing.T) {
	dir := t.TempDir()
	lines := filepath.Join(dir, "lines.jsonl")
	write(t, lines, "{\"a\":1,\"b\":[1.5,2]}\n{\"a\":2,\"b\":[]}\n{\"a\":3,\"b\":[4]}\n")
	other := filepath.Join(dir, "other.jsonl")
	write(t, other, "{\"a\":1,\"b\":[1.5,2]}\n{\"a\":2,\"b\":[]}\n{\"a\":3,\"b\":[4.5]}\n")
	root := filepath.Join(dir, "lines.root")
	rnt(t, "convert", lines, root)
	for _, kind := range kindsOfFiles {
		same, different := filepath.Join(dir, "same."+kind), filepath.Join(dir, "different."+kind)
		if kind != "jsonl" {
			rnt(t, "convert", lines, same)
			rnt(t, "convert", other, different)
			rnt(t, "diff", root, same)
		} else {
			different = other
		}
		stdout, stderr, status := try("diff", root, different)
		if status != 1 || !strings.Contains(stdout, "b._0") || stderr != "" {
			t.Errorf("%s: status %d, %q, %q", kind, status, stdout, stderr)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestGuess checks which types CSV and JSON Lines get, and what is refused.
func TestGuess(t *testing.T) {
	for _, c := range []struct{ suffix, text, want string }{
		{"jsonl", `{"a":1} {"a":-5}`, "a std::int64_t"},
		{"jsonl", `{"a":1} {"a":18446744073709551615}`, "a std::uint64_t"},
		{"jsonl", `{"a":-1} {"a":18446744073709551615}`, `field "a": no integer type holds both -1 and 18446744073709551615`},
		{"jsonl", `{"a":1} {"a":1.5} {"a":"NaN"}`, "a double"},
		{"jsonl", `{"a":9007199254740993} {"a":1.5}`,
			`field "a": no type holds both fractions and integers above 2^53 exactly`},
		{"jsonl", `{"a":184467440737095516150}`, `field "a": no type holds both`},
		{"jsonl", `{"a":"NaN"} {"a":"x"}`, "a std::string"},
		{"jsonl", `{"a":true} {"a":null}`, "a std::optional<bool>"},
		{"jsonl", `{"a":true} {}`, "a std::optional<bool>"},
		{"jsonl", `{"a":[1,2]} {"a":[]}`, "a std::vector<std::int64_t>"},
		{"jsonl", `{"a":[1,null]}`, "a std::vector<std::optional<std::int64_t>>"},
		{"jsonl", `{"a":[[1.5],[]]}`, "a std::vector<std::vector<double>>"},
		{"jsonl", `{"a":{"x":1,"y":"b"}}`, "a untyped record"},
		{"jsonl", `{"a":[{"x":1},{"x":2}]}`, "a untyped collection"},
		{"jsonl", `{"a":{"x":1}} {"a":null}`, `field "a": no type for objects that can be missing`},
		{"jsonl", `{"a":1} {"a":"b"}`, `field "a" is an integer in line 1 and a string in line 2`},
		{"jsonl", `{"a":[]}`, `field "a": all arrays are empty`},
		{"jsonl", `{"a":null}`, `field "a": no values to infer the type from`},
		{"jsonl", `{"a":1} [2]`, "line 2: want an object"},
		{"jsonl", `{"a":` + strings.Repeat("[", 1_000_000), "line 1: values are nested more than 500 levels deep"},
		{"jsonl", `{"a":1`, "line 1: unexpected EOF"},
		{"csv", "a,b\n1,2.5\n-3,4\n", "a std::int64_t | b double"},
		{"csv", "a\n007\n", "a std::string"},
		{"csv", "a\n0\n0.5\n0e5\n", "a double"},
		{"csv", "a,b\n1,x\n,\n", "a std::optional<std::int64_t> | b std::string"},
		{"csv", "a\ntrue\nfalse\n", "a bool"},
		{"csv", "a\n.5\n+1\ninf\n-nan\n", "a std::string"},
		{"csv", "a\n.5\n1.\n-inf\nNaN\n", "a double"},
		{"csv", "a\n1_000\n", "a std::string"},
		{"csv", "a\n0x10\n", "a std::string"},
		{"csv", "a,a\n1,2\n", `two columns are named "a"`},
		{"csv", "a,b\n1\n", "wrong number of fields"},
		{"csv", "", "missing header row with column names"},
		{"csv", "a,b\r\n\"x\r\ny\",1\r\n", "line 2: multi-line cell in a file with carriage returns"},
		{"csv", "\ufeffa\n1\n", "a std::int64_t"},
	} {
		in := filepath.Join(t.TempDir(), "in."+c.suffix)
		write(t, in, c.text)
		stdout, stderr, status := try("convert", in, filepath.Join(t.TempDir(), "out.root"), "--dry-run", "--from", c.suffix)
		if status == 0 {
			var lines []string
			for line := range strings.Lines(stdout) {
				lines = append(lines, strings.Join(strings.Fields(line), " "))
			}
			for want := range strings.SplitSeq(c.want, " | ") {
				if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, want) }) {
					t.Errorf("%q: want %q, got %q", c.text, want, lines)
				}
			}
			continue
		}
		if !strings.Contains(stderr, c.want) {
			t.Errorf("%q: %q, want %q", c.text, stderr, c.want)
		}
	}
}

// TestConvertDamaged converts files that are cut off: there is an error, and no output.
func TestConvertDamaged(t *testing.T) {
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	small := filepath.Join(dir, "small.root")
	rnt(t, "skim", "--where", "event % 100 == 0", small, dimuon)
	for _, kind := range []string{"parquet", "arrow", "arrows", "root"} {
		whole := filepath.Join(dir, "whole."+kind)
		rnt(t, "convert", small, whole)
		b, err := os.ReadFile(whole)
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			at := random.IntN(len(b))
			cut, out := filepath.Join(dir, "cut."+kind), filepath.Join(dir, "out.jsonl")
			write(t, cut, string(b[:at]))
			_, stderr, status := try("convert", cut, out, "--from", strings.Replace(kind, "root", "rntuple", 1))
			if _, err := os.Stat(out); status != 1 || stderr == "" || err == nil {
				t.Errorf("%s cut off at %d of %d: status %d, %q, output: %v", kind, at, len(b), status, stderr, err)
			}
		}
	}
}

// TestCells checks what cannot be written as CSV so that it reads back.
func TestCells(t *testing.T) {
	dir := t.TempDir()
	in, root, out := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "in.root"), filepath.Join(dir, "out.csv")
	for _, c := range []struct{ text, null, want, err string }{
		{`{"a":"x"} {"a":null}`, "", "", "choose another text for it with --null"},
		{`{"a":"x"} {"a":null}`, "NA", "a\nx\nNA\n", ""},
		{`{"a":"NA"} {"a":null}`, "NA", "", `the value "NA" looks like a missing one`},
		{`{"a":1} {"a":null}`, "", "a\n1\n\"\"\n", ""},
		{`{"a":1,"b":"x,\"y\"\nz"}`, "", "a,b\n1,\"x,\"\"y\"\"\nz\"\n", ""},
		{`{"a":[{"x":1.5,"y":"NaN"}]} {"a":[{"x":1,"y":2}]}`, "",
			"a\n\"[{\"\"x\"\":1.5,\"\"y\"\":\"\"NaN\"\"}]\"\n\"[{\"\"x\"\":1,\"\"y\"\":2}]\"\n", ""},
		{`{"a":"-Infinity"} {"a":0.1}`, "", "a\n-Infinity\n0.1\n", ""},
	} {
		write(t, in, c.text)
		rnt(t, "convert", "--force", in, root)
		_, stderr, status := try("convert", "--force", "--null", c.null, root, out)
		if c.err != "" {
			if status != 1 || !strings.Contains(stderr, c.err) {
				t.Errorf("%s: status %d, %q, want %q", c.text, status, stderr, c.err)
			}
			continue
		}
		got, err := os.ReadFile(out)
		if err != nil || string(got) != c.want || status != 0 {
			t.Errorf("%s: status %d, %q, %v, want %q", c.text, status, got, err, c.want)
		}
	}
}

// TestBlankLines checks that in CSV of one column a blank line is an empty cell, both ways, and
// that text may begin with a byte order mark.
func TestBlankLines(t *testing.T) {
	dir := t.TempDir()
	const mark = "\ufeff"
	for _, c := range []struct{ name, text, entries, back string }{
		{"numbers.csv", "a\n1\n\n\n2\n\n", `{"a":1} {"a":null} {"a":null} {"a":2} {"a":null}`, "a\n1\n\"\"\n\"\"\n2\n\"\"\n"},
		{"unended.csv", "a\n\n1", `{"a":null} {"a":1}`, "a\n\"\"\n1\n"},
		{"words.csv", "a\n\nx\n\"y\n\nz\"\n\n", `{"a":""} {"a":"x"} {"a":"y\n\nz"} {"a":""}`,
			"a\n\"\"\nx\n\"y\n\nz\"\n\"\"\n"},
		{"returns.csv", "a\r\n\r\n1\r\n", `{"a":null} {"a":1}`, "a\n\"\"\n1\n"},
		{"two.csv", "a,b\n\n1,2\n\n", `{"a":1,"b":2}`, "a,b\n1,2\n"}, // no row has one cell
		{"mark.csv", mark + "a\n\n1\n", `{"a":null} {"a":1}`, "a\n\"\"\n1\n"},
		{"mark.jsonl", mark + "{\"a\":1}\n", `{"a":1}`, "a\n1\n"},
		{"mark", mark + "{\"a\":1}\n", `{"a":1}`, "a\n1\n"},
	} {
		in, root, out := filepath.Join(dir, c.name), filepath.Join(dir, c.name+".root"), filepath.Join(dir, "out.csv")
		write(t, in, c.text)
		entries := strings.ReplaceAll(c.entries, "} {", "}\n{") + "\n"
		compare(t, rnt(t, "cat", in), entries)
		if got := rnt(t, "ls", in, "--json"); !strings.Contains(got,
			fmt.Sprintf(`"entries": %d,`, strings.Count(entries, "\n"))) {
			t.Errorf("%s: ls prints %s", c.name, got)
		}
		rnt(t, "convert", in, root)
		compare(t, rnt(t, "cat", root), entries)
		rnt(t, "convert", "--force", root, out)
		compare(t, rnt(t, "cat", out), entries)
		if got, err := os.ReadFile(out); string(got) != c.back {
			t.Errorf("%s: written as %q, %v; want %q", c.name, got, err, c.back)
		}
	}
	schema := filepath.Join(dir, "schema.json")
	write(t, schema, `{"name": "n", "fields": [{"name": "a", "type": "std::int32_t"}]}`)
	out := filepath.Join(dir, "created.root")
	fed(t, exitOK, mark+`{"a":1}`, "create", "--schema", schema, out)
	fed(t, exitOK, mark+`{"a":2}`, "append", out, "-")
	compare(t, rnt(t, "cat", out), "{\"a\":1}\n{\"a\":2}\n")
}

// writeTrees makes a file with a tree in each of some directories.
func writeTrees(t *testing.T, file string, directories ...string) {
	t.Helper()
	f, err := groot.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range directories {
		at := riofs.Directory(f)
		if path != "" {
			if at, err = riofs.Dir(f).Mkdir(path); err != nil {
				t.Fatal(err)
			}
		}
		var x int32
		w, err := rtree.NewWriter(at, fmt.Sprint("t", i%2), []rtree.WriteVar{{Name: "x", Value: &x}})
		if err != nil {
			t.Fatal(err)
		}
		for x = range 10 * int32(i+1) {
			w.Write()
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestConvertTrees converts the trees of a file that groot writes, which lie in directories.
func TestConvertTrees(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "trees.root"), filepath.Join(dir, "out.root")
	writeTrees(t, in, "", "dir", "dir/sub")
	counts := func(file string) string {
		var list []struct {
			Path    string
			Entries int64
		}
		if err := json.Unmarshal([]byte(rnt(t, "ls", "--json", file)), &list); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(list, func(a, b struct {
			Path    string
			Entries int64
		}) int {
			return strings.Compare(a.Path, b.Path)
		})
		return fmt.Sprint(list)
	}
	const all = "[{dir/sub/t0 30} {dir/t1 20} {t0 10}]"
	if got := counts(in); got != all {
		t.Errorf("ls lists %s, want %s", got, all)
	}
	rnt(t, "convert", "--all", in, out)
	if got := counts(out); got != all {
		t.Errorf("with --all: %s, want %s", got, all)
	}
	fewer := filepath.Join(dir, "fewer.root")
	writeTrees(t, fewer, "", "dir")
	for _, files := range [][]string{{in, fewer}, {fewer, in}} { // dir/sub/t0 is in one of them
		if _, stderr, status := try("convert", "--all", "--force", files[0], files[1], out); status != exitError ||
			!strings.Contains(stderr, "--all requires the same trees in all files") {
			t.Errorf("--all of other trees: status %d, %s", status, stderr)
		}
	}
	for name, at := range map[string][2]string{"dir/sub/t0": {"", "dir/sub/t0"}, "dir/t1": {"--flatten", "t1"}} {
		args := []string{"convert", "--force", "--name", name, in, out}
		if at[0] != "" {
			args = append(args, at[0])
		}
		rnt(t, args...)
		rnt(t, "diff", in, out, name, at[1])
	}
	for _, c := range []struct{ args, want string }{
		{"--all --flatten", "several trees are named \"t0\""},
		{"", "t0"},
	} {
		_, stderr, status := try(append([]string{"convert", "--force", in, out}, strings.Fields(c.args)...)...)
		if status != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("convert %s: status %d, %q, want %q", c.args, status, stderr, c.want)
		}
	}
}

// TestConvertUncompared checks that diff does not take values for equal that it cannot compare.
func TestConvertUncompared(t *testing.T) {
	dir := t.TempDir()
	lines, record := filepath.Join(dir, "record.jsonl"), filepath.Join(dir, "record.root")
	write(t, lines, `{"a":{"x":1}}`)
	rnt(t, "convert", lines, record)
	lines, tuple := filepath.Join(dir, "tuple.jsonl"), filepath.Join(dir, "tuple.parquet")
	write(t, lines, `{"a":[1]}`)
	schema := filepath.Join(dir, "schema.json")
	write(t, schema, `{"name": "Events", "fields": [{"name": "a", "type": "std::tuple<std::int64_t>"}]}`)
	rnt(t, "convert", lines, filepath.Join(dir, "tuple.root"), "--schema", schema)
	rnt(t, "convert", filepath.Join(dir, "tuple.root"), tuple)
	for _, files := range [][]string{{record, tuple}, {tuple, record}} {
		if stdout, stderr, status := try("diff", files[0], files[1]); status != 1 ||
			!strings.Contains(stdout, "std::tuple<std::int64_t>") || stderr != "" {
			t.Errorf("status %d, %q, %q", status, stdout, stderr)
		}
	}
}

// TestConvertFlags checks that flags without effect are refused, before a file is made.
func TestConvertFlags(t *testing.T) {
	dir := t.TempDir()
	lines, out := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "out")
	write(t, lines, `{"a":1}`)
	for _, c := range []struct{ in, suffix, flags, want string }{
		{dimuon, "parquet", "--compression lz4:4", "--compression requires RNTuple output"},
		{dimuon, "csv", "--cluster-size 1000", "--cluster-size requires RNTuple output"},
		{dimuon, "root", "--new-name x", "--new-name requires input that is not an RNTuple, and RNTuple output"},
		{dimuon, "root", "--flat", "--flat requires TTree input"},
		{dimuon, "root", "--define x=run --dry-run", "--dry-run requires that there is no --define"},
		{dimuon, "csv", "--item x", "--item requires Parquet"},
		{dimuon, "jsonl", "--null NA", "--null requires CSV"},
		{lines, "root", "--plain a", "--plain requires Arrow or Parquet input"},
		{lines, "root", "--binary", "--binary requires Arrow or Parquet output"},
		{lines, "root", "--all", "--all requires TTree input"},
	} {
		_, stderr, status := try(append([]string{"convert", c.in, out + "." + c.suffix}, strings.Fields(c.flags)...)...)
		if _, err := os.Stat(out + "." + c.suffix); status != exitUsage ||
			!strings.HasPrefix(stderr, "rnt: "+c.want) || err == nil {
			t.Errorf("%s of %s to %s: status %d, %q, want %q; output: %v", c.flags, c.in, c.suffix, status, stderr, c.want, err)
		}
	}
}

// TestConvertLeft checks that diff does not take trees for equal of which branches cannot be read.
func TestConvertLeft(t *testing.T) {
	hep, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "go-hep.org/x/hep").Output()
	tree := filepath.Join(strings.TrimSpace(string(hep)), "groot", "testdata", "tdatime.root")
	if err == nil {
		_, err = os.Stat(tree)
	}
	if err != nil {
		t.Skipf("go-hep's trees are not there: %v", err)
	}
	for _, quiet := range [][]string{nil, {"-q"}} {
		stdout, _, status := try(append([]string{"diff", tree, tree}, quiet...)...)
		if status != 1 || quiet == nil && strings.Count(stdout, "cannot be read") != 8 {
			t.Errorf("%v: status %d, %s", quiet, status, stdout)
		}
	}
}

// TestConvertSkip leaves out the branches of a TTree that cannot be read, and says so with its
// status.
func TestConvertSkip(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "go-hep.org/x/hep").Output()
	if err != nil {
		t.Skipf("the folder of go-hep is not known: %v", err)
	}
	in := filepath.Join(strings.TrimSpace(string(dir)), "groot", "testdata", "tdatime.root")
	if _, err := os.Stat(in); err != nil {
		t.Skip(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	for _, c := range []struct {
		args   string
		status int
	}{
		{"IN OUT.root", exitError},
		{"IN OUT.root --skip", exitSkipped},
		{"IN OUT.jsonl --skip", exitSkipped},
		{"IN OUT.root --skip --where true", exitSkipped},
		{"IN OUT.root --skip --all", exitSkipped},
		{"IN OUT.root --skip --dry-run", exitSkipped},
	} {
		if _, stderr := fed(t, c.status, "", clitest.Arguments("convert --force "+c.args, "IN", in, "OUT",
			out)...); !strings.Contains(stderr, "TDatime") {
			t.Errorf("%s: %s", c.args, stderr)
		}
	}
}
