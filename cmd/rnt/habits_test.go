package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"
)

// prepareTool prepares a process that a test starts as the tool.
var prepareTool = func(*cli.Tool) {}

// TestMain runs the tool itself if the tests start their own program again.
func TestMain(m *testing.M) {
	if os.Getenv("RNT_TEST_AS_TOOL") != "" {
		tool := cli.New(os.Stdin, os.Stdout, os.Stderr, families...)
		prepareTool(tool)
		os.Exit(tool.RunUntilSignal(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// TestHabits has command lines with what they print: all of standard output, and
// standard error.
func TestHabits(t *testing.T) {
	trees := func() string { // TTrees, one of them twice, and a histogram
		e := clitest.NewEditor(t, dimuon)
		older := e.Object("TTree", "tree", nil)
		older.Cycle = 2
		return e.Write(e.Object("TTree", "tree", nil), older, e.Object("TNtupleD", "nt", nil), e.Object("TH1F", "h", nil))
	}()
	empty := clitest.NewEditor(t, dimuon).Write()
	passwd := filepath.Join(t.TempDir(), "passwd")
	if err := os.WriteFile(passwd, []byte("root:x:0:0:root:/root:/bin/bash\nbin:x:1:1:bin:/bin:/sbin/nologin\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	arrow := filepath.Join(t.TempDir(), "cut.arrow")
	if err := os.WriteFile(arrow, []byte("ARROW1\x00\x00"), 0o644); err != nil {
		t.Fatal(err)
	}
	table := filepath.Join(t.TempDir(), "table.csv")
	write(t, table, "a,b\n1,2\n")
	const (
		two = `{"run":194050}` + "\n" + `{"run":194050}` + "\n"
	)
	out := filepath.Join(t.TempDir(), "out.root")
	for _, c := range []struct {
		args           string
		status         int
		stdout, stderr string
	}{
		{"head -2 DIMUON -f run", 0, two, ""},
		{"head DIMUON --fields run -2", 0, two, ""},
		{"-q head -2 -f run DIMUON", 0, two, ""},
		{"head -f run DIMUON -j 1 -n 2", 0, two, ""},
		{"cat -2 DIMUON", 2, "", "rnt: unknown shorthand flag: '2' in -2\n"},
		{"head -2 -f Muon_p* DIMUON --count 1", 2, "",
			`rnt: invalid argument "1" for "-n, --count" flag: already set to "2"` + "\n"},
		{"head -1 -f Muon_p* DIMUON", 0, `{"Muon_pt":[7.1396484,3.3745117],"Muon_phi":[1.5068359,1.3967285]}` + "\n", ""},
		{"head -1 -f nMuon,n*,?un DIMUON", 0, `{"nMuon":2,"run":194050}` + "\n", ""},
		{"head -1 -f _collection0.Muon_charge DIMUON", 0, `{"_collection0.Muon_charge":[1,-1]}` + "\n", ""},

		{"cat DIMUON --fields nope", 1, "", `rnt: DIMUON: no field "nope" in RNTuple "Events"` + "\n"},
		{"cat DIMUON --fields Muon_px", 1, "",
			`rnt: DIMUON: no field "Muon_px" in RNTuple "Events"; did you mean "Muon_pt"?` + "\n"},
		{"cat DIMUON --fields _collection0.Muon_px", 1, "",
			`rnt: DIMUON: no field "_collection0.Muon_px" in RNTuple "Events"; did you mean "_collection0.Muon_pt"?` + "\n"},
		{"stat DIMUON -f nope,x*,RUN", 1, "", "rnt: DIMUON: 3 unknown fields:\n" + `  no field "nope" in RNTuple "Events"` +
			"\n" +
			`  no field matches "x*" in RNTuple "Events"` + "\n" + `  no field "RUN" in RNTuple "Events"; did you mean "run"?` +
			"\n"},
		{"schema DIMUON -f a[", 2, "", `rnt: --fields: invalid pattern "a["` + "\n"},
		{"diff DIMUON DIMUON -f nope", 2, "", `rnt: DIMUON: no field "nope" in RNTuple "Events"` + "\n"},
		{"diff DIMUON DIMUON -f run,Muon_p*", 0, "", ""},
		{"slim --fields Muon_px OUT DIMUON", 1, "", `did you mean "Muon_pt"?` + "\n"},

		{"cat TREES", 1, "", `rnt: TREES: the file has several trees: "tree", "nt"` + "\n"},
		{"stat TREES x", 1, "", "rnt: TREES: the file holds TTrees, no RNTuple: tree, nt; it is a TTree, which rnt convert converts to an RNTuple\n"},
		{"dump TREES", 1, "", "rnt: TREES: the file holds TTrees, no RNTuple: tree, nt; use rnt convert to convert them\n"},
		{"merge OUT TREES", 1, "",
			"rnt: TREES: the file holds TTrees, no RNTuple: tree, nt; use rnt convert to convert them\n"},
		{"skim --where true OUT TREES", 1, "", "; use rnt convert to convert them\n"},
		{"ls TREES", 1, "", `cycle 2, but its record says TTree "tree", cycle 1` + "\n"},
		{"ls ARROW", 1, "", "rnt: ARROW: reading an Arrow file: 8 bytes are too few\n"},
		{"ls EMPTY", 0, "", "rnt: EMPTY: the file holds no RNTuple\n"},
		{"ls -q EMPTY", 0, "", ""},
		{"cat PASSWD", 1, "", `rnt: PASSWD: not a ROOT file: it begins with "root:x:0"` + "\n"},
		{"ls PASSWD", 1, "", `rnt: PASSWD: not a ROOT file: it begins with "root:x:0"` + "\n"},
		{"merge OUT PASSWD", 1, "", `rnt: PASSWD: not a ROOT file: it begins with "root:x:0"` + "\n"},
		{"cat DIMUON events", 1, "", `rnt: DIMUON: RNTuple "events": not found; the file has Events` + "\n"},

		{"ls DIMUON missing.root DIMUON", 1, "FILE" + strings.Repeat(" ",
			len(dimuon)-2) + "NAME    ENTRIES  FIELDS     SIZE  COMPRESSION\n" +
			dimuon + "  Events   80,000      13  1.31 MB  zstd 5\n" + dimuon + "  Events   80,000      13  1.31 MB  zstd 5\n",
			"rnt: open missing.root: no such file or directory\n"},
		{"verify -q DIMUON", 0, "", ""},

		{"hmerge OUT DIMUON DIMUON", 1, "", "\nrnt: use --prefix to make names unique: --prefix ,second_; for a TTree, rnt convert --flat writes fields without a _collection\n"},
		// What a command is told and cannot do is an error.
		{"cat TABLE Foo", 2, "", "rnt: TABLE is a CSV file, which contains nothing named \"Foo\"\n"},
		{"arrow DIMUON --where x>1 --define x:float=run", 2, "",
			"rnt: --define: x cannot have a type here; omit float\n"},
		{"convert TABLE OUT --define c=nope", 1, "",
			`rnt: TABLE: expression, character 1: no field "nope" in RNTuple "Events"` + "\n"},
		{"schema TABLE Foo", 2, "", "nothing named \"Foo\"\n"},
		{"convert --name X TABLE OUT", 2, "", "nothing named \"X\"\n"},
		{"cat DIMUON --first 9223372036854775807", 1, "",
			"rnt: DIMUON: no entry 9223372036854775807 to start with: there are 80000 entries\n"},
		{"cat DIMUON --first 80001", 1, "", "rnt: DIMUON: no entry 80001 to start with: there are 80000 entries\n"},
		{"cat DIMUON --first 80000", 0, "", ""},
		{"cat TABLE --first 0", 0, `{"a":1,"b":2}` + "\n", ""},
		{"cat TABLE --first 1", 0, "", ""},
		{"cat TABLE --first 2", 1, "", "rnt: TABLE: no entry 2 to start with\n"},
		{"cat TABLE --first 9223372036854775807", 1, "", "rnt: TABLE: no entry 9223372036854775807 to start with\n"},
		{"cat TABLE --first 2 --where true", 1, "", "rnt: TABLE: no entry 2 to start with: there are 1 entries\n"},
		{"ls --cache-size 5 DIMUON", 2, "", "rnt: missing cache folder; use --cache DIR\n"},
		{"ls --cache= DIMUON", 2, "", "rnt: missing cache folder; use --cache DIR\n"},
		{"rename --to a;1 --out OUT DIMUON", 1, "",
			`RNTuple "a;1": the name ends in a cycle, ;1, which no new RNTuple may have: no reader would find it` + "\n"},
		{"attrs DIMUON --entry 80000", 1, "", "rnt: DIMUON: no entry 80000: the RNTuple has 80000\n"},
		{"plan --where nope>1 OUT DIMUON", 1, "", `no field "nope" in RNTuple "Events"` + "\n"},
		{"draw DIMUON run --explain --out OUT.svg", 2, "", "rnt: --explain draws nothing; omit --out and --json\n"},
		{"draw DIMUON run --explain --json", 2, "", "rnt: --explain draws nothing; omit --out and --json\n"},
		{"skim --where run>0 --explain --json OUT DIMUON", 2, "",
			"rnt: --explain writes no file and has no report; omit --json and --skip-bad\n"},
		{"rename --to x --json DIMUON", 2, "", "rnt: --json and --force require --out\n"},
		{"index --remove --json DIMUON", 2, "", "rnt: --remove has no report; omit --json\n"},
		{"append OUT - --mode strict", 2, "",
			"rnt: --mode, --convert, --keep-compression and --drop-attributes require files as input\n"},
		{"create OUT", 2, "", "rnt: missing schema; use --schema\n"},
		{"merge --into --force OUT DIMUON", 2, "", "rnt: --into replaces no file; omit --force\n"},
		{"ls -j 0 DIMUON", 2, "", "rnt: --jobs must be positive\n"},
		{"skim --where a:b>1 OUT DIMUON", 2, "", `; if a:b is a field, write $env["a:b"]` + "\n"},
	} {
		names := strings.NewReplacer("DIMUON", dimuon, "TREES", trees, "EMPTY", empty, "PASSWD", passwd, "ARROW", arrow,
			"OUT", out, "TABLE", table)
		args := strings.Fields(c.args)
		for i := range args {
			args[i] = names.Replace(args[i])
		}
		stdout, stderr, status := try(args...)
		if status == exitUsage && c.status == exitUsage {
			stderr, _, _ = strings.Cut(stderr, "usage: ")
		}
		if status != c.status || stdout != names.Replace(c.stdout) || !strings.HasSuffix(stderr, names.Replace(c.stderr)) ||
			(c.stderr == "") != (stderr == "") {
			t.Errorf("rnt %s: status %d, output\n%s%s\nwant %d\n%s%s", c.args, status, stdout, stderr,
				c.status, c.stdout, c.stderr)
		}
	}
	runtime.GOMAXPROCS(runtime.NumCPU()) // which -j has changed
}

// Standard input is read like a file, also where its name has a space; nothing of
// it is left in the folder for temporary files.
func TestStandardInput(t *testing.T) {
	temp := filepath.Join(t.TempDir(), "a folder")
	if err := os.Mkdir(temp, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temp)
	content, err := os.ReadFile(dimuon)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out.root")
	for _, c := range []struct {
		in, args       string
		status         int
		stdout, stderr string
	}{
		{string(content), "ls -", 0, rnt(t, "ls", dimuon), ""},
		{string(content), "schema - Events", 0, rnt(t, "schema", dimuon), ""},
		{string(content), "verify -", 0, strings.Replace(rnt(t, "verify", dimuon), dimuon, "standard input", 1), ""},
		{string(content), "diff - " + dimuon, 0, "", ""},
		{string(content), "cat - nope", 1, "", `rnt: standard input: RNTuple "nope": not found; the file has Events` + "\n"},
		{string(content), "dump - nope", 1, "", "rnt: standard input: "},
		{string(content[:1000]), "cat -", 1, "", "rnt: standard input: "},
		{"{}\n", "stat -", 1, "", "rnt: standard input: not a ROOT file\n"},
		{"", "ls -", 1, "", "rnt: standard input: the file is empty\n"},
		{"words\n", "cat -", 1, "", "rnt: standard input: unknown format; want ROOT, Parquet, Arrow, CSV or JSON Lines\n"},
		{"{}\n", "cat -", 1, "", "rnt: standard input: no columns\n"},
		{"{\"a\":1.5}\n", "cat -", 0, "{\"a\":1.5}\n", ""},
		{string(content), "slim -q --fields run OUT -", 0, "", ""},
	} {
		args := strings.Fields(c.args)
		if i := slices.Index(args, "OUT"); i >= 0 {
			args[i] = out
		}
		stdout, stderr := fed(t, c.status, c.in, args...)
		if stdout != c.stdout || !strings.HasPrefix(stderr, c.stderr) || strings.Contains(stderr, temp) ||
			c.stderr == "" && stderr != "" {
			t.Errorf("%s: %q, %q", c.args, stdout, stderr)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// With --fields, stat, schema and diff show those fields only, and the sources of
// projected ones where a file is to be made of a schema.
func TestFields(t *testing.T) {
	if text := rnt(t, "schema", dimuon, "-f", "run,Muon_p*"); strings.Contains(text, "\nevent ") ||
		strings.Contains(text, "Muon_eta ") ||
		!strings.Contains(text, "\nrun ") || !strings.Contains(text, "\nMuon_phi ") {
		t.Error(text)
	}
	schema := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(schema, []byte(rnt(t, "schema", "--json", dimuon, "-f", "nMuon,run")), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out.root")
	fed(t, exitOK, "", "create", "--schema", schema, out)
	if text := rnt(t, "schema", out); !strings.Contains(text, "3 top-level fields") ||
		!strings.Contains(text, "\n_collection0 ") || !strings.Contains(text, "\nnMuon ") {
		t.Error(text)
	}
	if text := rnt(t, "stat", dimuon, "-f", "run"); !strings.Contains(text, "\nrun ") || strings.Contains(text, "Muon") {
		t.Error(text)
	}
	s := decode[struct {
		Fields  []struct{ Path string }
		Columns []struct{ Field string }
	}](t, "stat", "--json", dimuon, "-f", "_collection0.Muon_pt,run")
	if len(s.Fields) != 2 || len(s.Columns) != 2 || s.Fields[0].Path != "_collection0._0.Muon_pt" ||
		s.Columns[0].Field != "run" {
		t.Errorf("%+v", s)
	}
	a := made(t, "left", leftFields, leftLines)
	b := made(t, "left", leftFields+`,{"name": "c", "type": "int"}`,
		`{"a":1,"b":[0.75],"c":3}`+"\n"+`{"a":2,"b":[],"c":3}`+"\n")
	compare(t, rnt(t, "diff", "-f", "a", a, b), "")
	text, _ := fed(t, exitError, "", "diff", "-f", "c", a, b)
	compare(t, text, "SCHEMA  OF  A  B\nfield   c      std::int32_t\n")
	text, _ = fed(t, exitError, "", "diff", "-f", "b*", "--layout", a, b)
	if !strings.Contains(text, "b._0 ") || strings.Contains(text, " c ") || strings.Contains(text, "written by") {
		t.Error(text)
	}
}

// The problems of incompatible inputs get a line each, and the last one says what helps.
func TestIncompatible(t *testing.T) {
	a, b := made(t, "left", leftFields, leftLines), made(t, "left", rightFields, rightLines)
	out := filepath.Join(t.TempDir(), "out.root")
	for _, args := range [][]string{{"merge", "--mode", "strict", out, a, b}, {"hmerge", out, a, b, b}} {
		_, stderr := fed(t, exitError, "", args...)
		lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
		last := len(lines) - 1
		if last < 2 || lines[0] != "rnt: the inputs are incompatible:" || !strings.HasPrefix(lines[last], "rnt: use --") {
			t.Fatalf("%v: %q", args, stderr)
		}
		for _, l := range lines[1:last] {
			if !strings.HasPrefix(l, "  ") || !strings.Contains(l, ".root") || strings.Count(l, "field") != 1 {
				t.Errorf("%v: %q", args, l)
			}
		}
	}
}

// No message speaks to programmers in Go.
func TestNoGo(t *testing.T) {
	for _, args := range []string{"cat " + dimuon + " -f nope", "skim --where nope --name x out.root " + dimuon,
		"slim --fields nope out.root " + dimuon} {
		_, stderr, _ := try(strings.Fields(args)...)
		for _, word := range []string{"Go type", "struct", "rntuple.", "surgery.", "value.", "interface"} {
			if strings.Contains(stderr, word) {
				t.Errorf("%s: %q", args, stderr)
			}
		}
	}
}
