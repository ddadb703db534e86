package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
)

// TestCut slims, skims, concatenates and splits a file of ROOT's.
func TestCut(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out.root")
	everything := strings.SplitAfter(strings.TrimSuffix(rnt(t, "cat", dimuon, "--fields", "event,Muon_pt"), "\n"), "\n")
	everything[len(everything)-1] += "\n"
	cat := func(path string) string { return rnt(t, "cat", path, "--fields", "event,Muon_pt") }
	same := func(what, got string, want ...string) {
		t.Helper()
		if got != strings.Join(want, "") {
			t.Errorf("%s: other entries", what)
		}
	}

	slim := decode[report](t, "slim", "--json", "--fields", "event,Muon_p*", out, dimuon, "Events")
	same("slim", cat(out), everything...)
	if len(slim.Levels) != 1 || slim.Levels[0].Level != "copy" {
		t.Errorf("slim: %v", slim)
	}
	if fields := rnt(t, "schema", out); strings.Contains(fields, "run") || strings.Contains(fields, "Muon_eta") {
		t.Error(fields)
	}
	stdout, stderr, _ := try("slim", "--force", "--drop", "_collection0", out, dimuon)
	made, err := os.Stat(out)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(stderr, `dropping field "nMuon"`) ||
		!strings.HasPrefix(stdout,
			"out.root: 80,000 of 80,000 entries, "+text.Size(made.Size())+"\n\nLEVEL  INPUT PAGES  INPUT BYTES\n") {
		t.Error(stdout, stderr)
	}

	var want []string
	for _, line := range everything {
		if _, list, _ := strings.Cut(line, "["); strings.Count(list, ",") == 2 {
			want = append(want, line)
		}
	}
	skim := decode[report](t, "skim", "--force", "--json", "--where", "len(Muon_pt) == 3 && nMuon == 3", "--fields",
		"event,Muon_pt", out, dimuon)
	same("skim", cat(out), want...)
	if skim.Entries != int64(len(want)) || skim.InputEntries != 80000 || len(want) == 0 {
		t.Errorf("skim: %v, want %d entries", skim, len(want))
	}

	rnt(t, "concat", "--force", out, dimuon+"[79990:]", dimuon+"[2:3]", dimuon+"[:5]")
	same("concat", cat(out), append(append(append([]string{}, everything[79990:]...), everything[2]),
		everything[:5]...)...)
	table := rnt(t, "concat", "--force", "--clusters", out, dimuon+"[0:1]", dimuon)
	if strings.Contains(table, "rewrite") || !strings.HasPrefix(cat(out), everything[0]) {
		t.Error(table)
	}

	table = rnt(t, "split", "--entries", "30000", filepath.Join(dir, "part.root"), dimuon)
	if strings.Count(table, "part-") != 3 {
		t.Error(table)
	}
	var all string
	for _, n := range []string{"0", "1", "2"} {
		all += cat(filepath.Join(dir, "part-"+n+".root"))
	}
	same("split", all, everything...)
	parts := decode[[]report](t, "split", "--json", "--size", "1", filepath.Join(dir, "p%02d"), dimuon)
	if len(parts) < 2 || parts[1].Path != filepath.Join(dir, "p01") || parts[1].First != parts[0].End ||
		parts[1].Entries != parts[1].End-parts[1].First {
		t.Error(parts)
	}
}

// TestDefine adds fields, and selects entries by them.
func TestDefine(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.root")
	define := []string{"--define", "n:std::uint8_t = len(Muon_pt)", "--define", "charge = sum(Muon_charge)",
		"--define", "run = run + 1"}
	var want []string
	for line := range strings.Lines(rnt(t, "cat", dimuon, "--fields", "run,event,Muon_charge")) {
		var e struct {
			Run, Event int64
			Charge     []int `json:"Muon_charge"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if sum := strings.Count(fmt.Sprint(e.Charge, " "), "1") - 2*strings.Count(fmt.Sprint(e.Charge),
			"-"); len(e.Charge) != 2 || sum != 0 {
			want = append(want, fmt.Sprintf(`{"event":%d,"n":%d,"charge":%d,"run":%d}`+"\n", e.Event,
				len(e.Charge), sum, e.Run+1))
		}
	}
	rnt(t, append([]string{"skim", "--where", "n != 2 || charge != 0", "--fields", "event", out, dimuon}, define...)...)
	if got := rnt(t, "cat", out); got != strings.Join(want, "") || len(want) < 1000 {
		t.Errorf("skim: other entries than the %d expected", len(want))
	}
	for _, kind := range []string{"root", "jsonl", "parquet"} {
		converted := filepath.Join(t.TempDir(), "out."+kind)
		rnt(t, append([]string{"convert", dimuon, converted, "--where", "n != 2 || charge != 0", "--fields", "event"},
			define...)...)
		if got := rnt(t, "cat", converted); got != strings.Join(want, "") {
			t.Errorf("convert to %s: other entries than those that skim keeps", kind)
		}
	}
	if fields := rnt(t, "schema", out); !strings.Contains(fields, "std::uint8_t") ||
		!strings.Contains(fields, `"sum(Muon_charge)"`) {
		t.Error(fields)
	}
	report := decode[report](t, append([]string{"slim", "--force", "--json", "--drop", "run", out, dimuon}, define...)...)
	if len(report.Levels) != 1 || report.Levels[0].Level != "copy" || report.Entries != 80000 {
		t.Errorf("slim: %v", report)
	}
	if got := rnt(t, "cat", out, "--fields", "run", "--count", "1"); got != "{\"run\":194051}\n" {
		t.Error(got)
	}
}

// TestWhereTwice gives several conditions, which all hold, to each command that chooses entries.
func TestWhereTwice(t *testing.T) {
	dir := t.TempDir()
	var want string
	for line := range strings.Lines(rnt(t, "cat", dimuon, "--fields", "event,nMuon,Muon_charge")) {
		if strings.Contains(line, `"nMuon":3,`) && strings.Contains(line, "[-1,") {
			want += line
		}
	}
	if n := strings.Count(want, "\n"); n < 100 || n > 10000 {
		t.Fatalf("%d entries", n)
	}
	fields, out := "--fields=event,nMuon,Muon_charge", filepath.Join(dir, "out.")
	where := []string{"--where", "nMuon == 3 or false", "--where", "Muon_charge[0] == -1 or event < 0"}
	for _, command := range [][]string{
		{"cat", dimuon, fields}, {"head", dimuon, fields, "-n", "80000"}, {"skim", out + "root", dimuon, fields},
		{"convert", dimuon, out + "parquet", fields}, {"convert", dimuon, out + "2.root", fields}, {"arrow", dimuon, fields},
	} {
		got := rnt(t, append(command, where...)...)
		switch command[0] {
		case "arrow":
			write(t, out+"arrows", got)
			got = rnt(t, "cat", out+"arrows", fields)
		case "skim":
			got = rnt(t, "cat", out+"root", fields)
		case "convert":
			got = rnt(t, "cat", command[2], fields)
		}
		if got != want {
			t.Errorf("%s: %d entries, want %d", command, strings.Count(got, "\n"), strings.Count(want, "\n"))
		}
		if command[0] == "cat" || command[0] == "head" {
			continue
		}
		if _, stderr, status := try(append(command, "--force", "--where", "run > 0", "--where",
			"run > 0) or (true")...); status == exitOK {
			t.Errorf("%s: a condition reaches into another one: %s", command, stderr)
		}
	}
	if got := rnt(t, append([]string{"cat", dimuon, fields, "--first", "90", "--count", "2"},
		where...)...); got != strings.Join(strings.SplitAfter(want, "\n")[90:92], "") {
		t.Errorf("cat with --first and --count: %s", got)
	}
}

// TestCutErrors has calls that fail: they leave no file.
func TestCutErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"slim"}, 2, "missing argument OUT"},
		{[]string{"slim", "out"}, 2, "missing argument IN"},
		{[]string{"slim", "out", "in", "n", "m"}, 2, "unexpected arguments: m"},
		{[]string{"slim", "out", "in"}, 2, "no fields given"},
		{[]string{"slim", "--fields", "x", "--compression", "fast", "out", "in"}, 2, "--compression"},
		{[]string{"slim", "--fields", "x", "--cluster-size", "0", "out", "in"}, 2, "--cluster-size must be positive"},
		{[]string{"slim", "--fields", "runn", "out", "in"}, 1, `no field "runn"`},
		{[]string{"skim", "out", "in"}, 2, "missing condition"},
		{[]string{"skim", "--where", "1 +", "out", "in"}, 2, "--where: expression, character"},
		{[]string{"skim", "--where", "Muon_px > 1", "out", "in"}, 1,
			`no field "Muon_px" in RNTuple "Events"; did you mean "Muon_pt"?`},
		{[]string{"skim", "--where", "sum(Muon_pt * Muon_pt[1:]) > 1", "out", "in"}, 1, "entry "},
		{[]string{"skim", "--where", "true", "--define", "x=1 +", "out", "in"}, 2, "--define: x: expression, character"},
		{[]string{"slim", "--define", "nMuon == 2", "out", "in"}, 2, "--define: \"nMuon == 2\" is not NAME=EXPRESSION"},
		{[]string{"slim", "--define", "x=1", "--define", "x=2", "out", "in"}, 2, `--define: "x" is defined twice`},
		{[]string{"slim", "--define", "x=nMoun", "out", "in"}, 1, `did you mean "nMuon"?`},
		{[]string{"slim", "--define", "run=1", "out", "in"}, 1, `there is a field "run" already; to replace it, drop it`},
		{[]string{"slim", "--define", "x:std::int8_t=event", "out", "in"}, 1,
			`entry 0: field "x": value out of range: 1112 does not fit int8`},
		{[]string{"concat", "out", "in[5:5]"}, 2, "the range is empty"},
		{[]string{"concat", "out", "in[5:99999999999999999999]"}, 2, "too large"},
		{[]string{"concat", "out", "in[5:80001]"}, 1, "there are no entries from 5 to 80001, but 80000"},
		{[]string{"split", "out", "in"}, 2, "use exactly one of"},
		{[]string{"split", "--size", "-1", "out", "in"}, 1, "one positive number"},
		{[]string{"split", "--entries", "1", "--size", "1", "out", "in"}, 2, "use exactly one of"},
	} {
		args := c.args
		for i, a := range args {
			if rest, ok := strings.CutPrefix(a, "in"); ok {
				args[i] = sampleFile + rest
			}
		}
		_, stderr, status := try(args...)
		if status != c.status || !strings.Contains(stderr, c.says) {
			t.Errorf("%v: status %d, %s", args, status, stderr)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// sampleFile is dimuon for tests that change the folder.
var sampleFile, _ = filepath.Abs(dimuon)

// TestExplain asks for the types of conditions and what they read; no file is made.
func TestExplain(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.root")
	for condition, want := range map[string]string{
		"any(Muon_pt, # > 20)":                   "any(Muon_pt, # > 20): bool\nfields that are read: Muon_pt\n",
		"nMuon > 1 and first(sort(Muon_pt)) > 3": "nMuon > 1 and first(sort(Muon_pt)) > 3: bool\nfields that are read: nMuon, Muon_pt\n",
		"nMuon > 3 ? true : nil":                 "nMuon > 3 ? true : nil: bool, may be missing\nfields that are read: nMuon\n",
		"1 < 2":                                  "1 < 2: bool\nfields that are read: none\n",
	} {
		stdout, stderr, status := try("skim", "--explain", "--where", condition, out, dimuon)
		if status != 0 || stdout != want {
			t.Errorf("%s: status %d, %s%s", condition, status, stdout, stderr)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("there is a file")
	}
}

// TestFieldsDiffer gives commands files whose fields differ. They take what they need of fields
// that all of them have, and leave out those that the first file lacks, with status 3 unless a flag
// says which fields are wanted.
func TestFieldsDiffer(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"A": `{"a":1,"b":[1.5],"HLT_x":true}`, "B": `{"a":2,"b":[2.5,1]}`,
		"C": `{"b":[3.5],"HLT_y":true,"a":3}`}
	for name, line := range files {
		files[name] = filepath.Join(dir, name+".root")
		lines := filepath.Join(dir, name+".jsonl")
		write(t, lines, line)
		rnt(t, "convert", lines, files[name])
	}
	list := func(names string) (paths []string) {
		for _, name := range names {
			paths = append(paths, files[string(name)])
		}
		return paths
	}
	const lacksX = `field "HLT_x"`
	left := func(names string) string {
		return "rnt: warning: not copied: fields not in the first input: " + names + "\n"
	}
	for _, c := range []struct{ command, files, want, stderr string }{
		{"skim --where a>1 --fields a,b", "ABC", `{"a":2,"b":[2.5,1]} {"a":3,"b":[3.5]}`, ""},
		{"skim --where a>1 --fields a,b", "CBA", `{"b":[3.5],"a":3} {"b":[2.5,1],"a":2}`, ""},
		{"skim --where any(b,#>1)", "BAC", `{"a":2,"b":[2.5,1]} {"a":1,"b":[1.5]} {"a":3,"b":[3.5]}`, left("HLT_x, HLT_y")},
		{"skim --where a>0 --drop HLT_x", "ABC", `{"a":1,"b":[1.5]} {"a":2,"b":[2.5,1]} {"a":3,"b":[3.5]}`, left("HLT_y")},
		{"skim --where a>0 --drop HLT_*", "ABC", `{"a":1,"b":[1.5]} {"a":2,"b":[2.5,1]} {"a":3,"b":[3.5]}`, ""},
		{"skim --where a>0 --fields a,HLT_*", "AB", "", "B.root: " + lacksX + ": is missing"},
		{"skim --where a>0 --fields HLT_x", "AB", "", "B.root: " + lacksX + ": is missing"},
		{"skim --where a>0", "ABC", "", lacksX + ": is missing, but the first input has it\nrnt: use --fields"},
		{"skim --where HLT_x --fields a", "ABC", "", `B.root: expression, character 1: no field "HLT_x"`},
		{"convert --fields a", "ABC", `{"a":1} {"a":2} {"a":3}`, ""},
		{"convert --fields a --where any(b,#>2)", "ABC", `{"a":2} {"a":3}`, ""},
		{"convert", "BCA", `{"a":2,"b":[2.5,1]} {"a":3,"b":[3.5]} {"a":1,"b":[1.5]}`, left("HLT_y, HLT_x")},
		{"convert --define c:int=a", "BC", `{"a":2,"b":[2.5,1],"c":2} {"a":3,"b":[3.5],"c":3}`, left("HLT_y")},
		{"convert", "ACB", "", "use --fields"},
		{"convert --where HLT_x --fields a", "ABC", "", `B.root: `},
		{"convert --where HLT_x --fields a", "BA", "", `B.root: expression, character 1: no field "HLT_x"`},
		{"convert --fields a,HLT_*", "BA", "", `B.root: no field matches "HLT_*"`},
		{"merge", "BAC", `{"a":2,"b":[2.5,1]} {"a":1,"b":[1.5]} {"a":3,"b":[3.5]}`, left("HLT_x, HLT_y")},
		{"merge", "ABC", "", lacksX + ": is missing, but the first input has it\nrnt: use --mode union"},
		{"merge --all", "AB", "", "\nrnt: use --mode union"},
		{"merge --mode strict", "BA", "", lacksX + ": is not in the first input\nrnt: use --mode union"},
		{"merge --mode union", "ABC", `{"a":1,"b":[1.5],"HLT_x":true,"HLT_y":false} {"a":2,"b":[2.5,1],"HLT_x":false,"HLT_y":false} {"a":3,"b":[3.5],"HLT_x":false,"HLT_y":true}`, ""},
		{"arrow", "BCA", "", left("HLT_y, HLT_x")},
		{"arrow --fields a", "BCA", "", ""},
		{"draw -e a --json", "ABC", "", ""},
		{"draw -e a --json --where any(b,#>2)", "CBA", "", ""},
		{"draw -e a --json --weight HLT_x", "ABC", "", "B.root: "},
		{"draw -e a --json --where HLT_x", "BAC", "", `B.root: HLT_x: expression, character 1: no field "HLT_x"`},
	} {
		args := strings.Fields(c.command)
		outputs := []string{""}
		switch args[0] {
		case "convert":
			outputs = []string{"out.root", "out.jsonl", "out.parquet"}
		case "skim", "merge":
			outputs = []string{"out.root"}
		}
		for _, name := range outputs {
			out := filepath.Join(dir, name)
			all := append(args, list(c.files)...)
			switch args[0] {
			case "convert":
				all = append(append(all, "--force"), out)
			case "skim", "merge":
				all = append(append(append(args, "--force"), out), list(c.files)...)
			}
			_, stderr, status := try(all...)
			want := exitOK
			switch {
			case strings.Contains(c.stderr, "not copied"):
				want = exitSkipped
			case c.stderr != "":
				want = exitError
			}
			if status != want || !strings.Contains(stderr, c.stderr) || strings.Contains(stderr, "requires") {
				t.Errorf("%s %s: status %d, %s", c.command, c.files, status, stderr)
				continue
			}
			if want := strings.ReplaceAll(c.want, "} {", "}\n{") + "\n"; c.want != "" {
				compare(t, rnt(t, "cat", out), want)
			}
		}
	}
	plan := filepath.Join(dir, "plan.json")
	rnt(t, "plan", "-q", "--units", "1", plan, files["B"], files["A"])
	for flags, want := range map[string]string{"--to jsonl": left("HLT_x"), "--to rntuple": left("HLT_x"),
		"--to jsonl --fields a": ""} {
		status := exitOK
		if want != "" {
			status = exitSkipped
		}
		args := append(strings.Fields("convert --unit 0 "+flags), plan, t.TempDir())
		if _, stderr := fed(t, status, "", args...); stderr != want {
			t.Errorf("convert --unit 0 %s: %q", flags, stderr)
		}
	}
}
