package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"
)

const groups = "../../testdata/good/types_zlib_groups.root"

// made returns the path of a new file with an RNTuple of the fields and entries.
func made(t *testing.T, name, fields, lines string) string {
	t.Helper()
	return clitest.Made(t, name, fields, lines)
}

// fed runs the tool with some input, and wants a status.
func fed(t *testing.T, status int, in string, args ...string) (stdout, stderr string) {
	t.Helper()
	return tool.Fed(t, status, in, args...)
}

const (
	leftFields  = `{"name": "a", "type": "int"}, {"name": "b", "type": "std::vector<float>"}`
	rightFields = `{"name": "b", "type": "std::string"}, {"name": "c", "type": "bool"}`
	leftLines   = `{"a":1,"b":[0.5]}` + "\n" + `{"a":2,"b":[]}` + "\n"
	rightLines  = `{"b":"x","c":true}` + "\n" + `{"b":"","c":false}` + "\n"
)

func TestHMerge(t *testing.T) {
	left, right := made(t, "left", leftFields, leftLines), made(t, "right", rightFields, rightLines)
	out := filepath.Join(t.TempDir(), "out.root")
	_, problem := fed(t, exitError, "", "hmerge", out, left, right)
	if !strings.Contains(problem, `field "b"`) || !strings.Contains(problem, left) || strings.Contains(problem, ";") ||
		!strings.HasSuffix(problem, "\nrnt: use --prefix to make names unique: --prefix ,second_\n") ||
		strings.Count(problem, "\n") != 3 {
		t.Error(problem)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("there is a file")
	}
	text := rnt(t, "hmerge", "--name", "left,right", "--prefix", ",r_", out, left, right)
	if !strings.Contains(text, "out.root: 2 entries from 2 inputs") || !strings.Contains(text, "copy") {
		t.Error(text)
	}
	compare(t, rnt(t, "cat", out, "left"),
		`{"a":1,"b":[0.5],"r_b":"x","r_c":true}`+"\n"+`{"a":2,"b":[],"r_b":"","r_c":false}`+"\n")
	for _, args := range []string{"hmerge", "hmerge o", "hmerge --prefix a,b o i", "hmerge --cluster-size 0 o i",
		"hmerge --compression x o i"} {
		fed(t, exitUsage, "", strings.Fields(args)...)
	}
}

func TestAppend(t *testing.T) {
	into, more := made(t, "left", leftFields, leftLines), made(t, "left", leftFields, leftLines)
	report := decode[report](t, "append", "--json", into, more, more)
	if report.Entries != 6 || len(report.Levels) != 1 || report.Levels[0].Level != "copy" {
		t.Errorf("%+v", report)
	}
	line := `{"a":7,"b":[1,2]}` + "\n"
	text, _ := fed(t, exitOK, line, "append", into, "-")
	compare(t, text, "added 1 entry, 7 in total\n")
	compare(t, rnt(t, "cat", into), leftLines+leftLines+leftLines+line)
	compare(t, rnt(t, "cat", into, "left;1"), leftLines)
	before, _ := os.ReadFile(into)
	fed(t, exitError, line+`{"a":"x"}`, "append", into, "-")
	if now, _ := os.ReadFile(into); !bytes.Equal(now, before) {
		if got := rnt(t, "cat", into); got != leftLines+leftLines+leftLines+line {
			t.Error("the file has changed")
		}
	}
	for _, args := range []string{"append", "append o", "append o - i", "append --cluster-size 0 o -",
		"append --mode x o i"} {
		fed(t, exitUsage, "", strings.Fields(args)...)
	}
}

func TestRepack(t *testing.T) {
	want := rnt(t, "cat", groups)
	out := filepath.Join(t.TempDir(), "out.root")
	for args, level := range map[string]string{
		"":                                  "copy",
		"--compression lzma:7":              "recompress",
		"--encoding unsplit":                "reseal",
		"--cluster-size 100000":             "rewrite",
		"--page-size 100 --compression lz4": "rewrite",
	} {
		report := decode[report](t, append(append([]string{"repack", "--force", "--json"}, strings.Fields(args)...), out,
			groups)...)
		if last := report.Levels[len(report.Levels)-1].Level; last != level {
			t.Errorf("%s: %+v, want %s", args, report, level)
		}
		compare(t, rnt(t, "cat", out), want)
		rnt(t, "diff", groups, out)
	}
	in := made(t, "left", leftFields, leftLines)
	rnt(t, "repack", "--force", "--encoding", "b=Real32Quant:2:0:1.5", out, in)
	if text := rnt(t, "schema", out); !strings.Contains(text, "Real32Quant") {
		t.Error(text)
	}
	compare(t, rnt(t, "cat", out), leftLines)
	for _, args := range []string{
		"repack", "repack o", "repack o i j k", "repack --encoding x o i", "repack --encoding a=X:y o i",
		"repack --encoding a=X:1:2 o i", "repack --encoding a=X:1:2:z o i",
		"repack --cluster-size 0 o i", "repack --page-size -1 o i", "repack --compression x o i",
	} {
		fed(t, exitUsage, "", strings.Fields(args)...)
	}
	_, problem := fed(t, exitError, "", "repack", "--force", "--encoding", "a=Real16", out, in)
	if !strings.Contains(problem, "Real16") {
		t.Error(problem)
	}
}

func TestRename(t *testing.T) {
	in := made(t, "left", leftFields, leftLines)
	out := filepath.Join(t.TempDir(), "out.root")
	text := rnt(t, "rename", "--to", "new", "--field", "a=run", "--out", out, in, "left")
	if !strings.Contains(text, "out.root: 2 entries") {
		t.Error(text)
	}
	want := strings.ReplaceAll(leftLines, `"a"`, `"run"`)
	compare(t, rnt(t, "cat", out, "new"), want)
	compare(t, rnt(t, "cat", in), leftLines)
	compare(t, rnt(t, "rename", "--to", "new", "--field", "a=run", in), "")
	compare(t, rnt(t, "cat", in, "new"), want)
	for _, args := range []string{"rename", "rename f", "rename --field a f", "rename --field a=b --field a=c f",
		"rename --to x f n m"} {
		fed(t, exitUsage, "", strings.Fields(args)...)
	}
	_, problem := fed(t, exitError, "", "rename", "--field", "run=b", in)
	if !strings.Contains(problem, `"b"`) {
		t.Error(problem)
	}
}

func TestDiff(t *testing.T) {
	a := made(t, "left", leftFields, leftLines)
	b := made(t, "left", leftFields, strings.Replace(leftLines, "0.5", "0.75", 1))
	c := made(t, "left", leftFields+`,{"name": "c", "type": "int"}`, `{"a":1,"b":[0.5],"c":1}`)
	compare(t, rnt(t, "diff", a, a), "")
	compare(t, rnt(t, "diff", "--abs", "0.25", a, b, "left"), "")
	compare(t, rnt(t, "diff", "--tolerance", "b=0:0.34", a, b, "left", "left"), "")
	text, problem := fed(t, exitError, "", "diff", a, b)
	compare(t, text, "VALUES OF  ENTRIES  FIRST  VALUES  MAX ABS  MAX REL\n"+"b._0             1      0       1     0.25    0.333\n")
	compare(t, problem, "")
	text, _ = fed(t, exitError, "", "diff", "-q", a, b)
	compare(t, text, "")
	text, _ = fed(t, exitError, "", "diff", a, c)
	compare(t, text, "2 entries, 1 entries\n"+"SCHEMA  OF  A  B\n"+"field   c      std::int32_t\n")
	text, _ = fed(t, exitError, "", "diff", "--json", "--tolerance", "b=0.1", a, b)
	compare(t, text, `{
  "equal": false,
  "entries": [
    2,
    2
  ],
  "schema": [],
  "fields": [
    {
      "field": "b._0",
      "entries": 1,
      "first": 0,
      "values": 1,
      "max_abs": 0.25,
      "max_rel": 0.3333333333333333
    }
  ],
  "identical_pages": 1
}
`)
	out := filepath.Join(t.TempDir(), "out.root")
	rnt(t, "repack", "--compression", "none", out, a)
	compare(t, rnt(t, "diff", a, out), "")
	text, _ = fed(t, exitError, "", "diff", "--layout", a, out)
	if !strings.Contains(text, "LAYOUT") || !strings.Contains(text, "compression  b ") &&
		!strings.Contains(text, "bytes") {
		t.Error(text)
	}
	for _, args := range []string{"diff", "diff a", "diff a b c d e", "diff --tolerance x a b", "diff --tolerance a=x a b",
		"diff --tolerance a=1:y a b"} {
		fed(t, exitUsage, "", strings.Fields(args)...)
	}
	_, problem = fed(t, exitUsage, "", "diff", a, a+"x") // trouble, as that of diff
	if !strings.HasPrefix(problem, "rnt: open ") || strings.Contains(problem, "usage") {
		t.Error(problem)
	}
}
