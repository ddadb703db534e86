package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTogether builds the mutants of functions together: each has a copy of the body, which returns.
func TestTogether(t *testing.T) {
	const src = `package low

var size = 3

func Set(a []int) { a[0]++ }

func Get(a []int) int { return a[0] }

func Skip(a []int) {
here:
	for range a {
		continue here
	}
}
`
	dir := t.TempDir()
	p := &pkg{name: "low", paths: []string{"low.go"}, sources: [][]byte{[]byte(src)}, fset: token.NewFileSet()}
	f, err := parser.ParseFile(p.fset, "low.go", src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	p.files = []*ast.File{f}
	var some []mutant
	alone := map[string]bool{}
	for _, m := range find(p) {
		if m.body == nil {
			alone[m.id.function] = true
		} else if m.text == "--" || m.text == "1" {
			some = append(some, m)
		}
	}
	if !alone["low.size"] || !alone["low.Skip"] || len(alone) != 2 {
		t.Errorf("alone are those of %v", alone)
	}
	files, err := together(p, append(some, some[0]), dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(files["low.go"])
	if err != nil {
		t.Fatal(err)
	}
	const set, get = `func Set(a []int) {
if rntupleMutant == "1" { a[0]--
return
}

if rntupleMutant == "2" { a[1]++
return
}

if rntupleMutant == "4" { a[0]--
return
}
 a[0]++ }`, `func Get(a []int) int {
if rntupleMutant == "3" { return a[1]
}
 return a[0] }`
	want := strings.Replace(src, "func Set(a []int) { a[0]++ }", set, 1)
	want = strings.Replace(want, "func Get(a []int) int { return a[0] }", get, 1)
	if strings.ReplaceAll(string(got), " \n", "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := parser.ParseFile(p.fset, "", got, 0); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(files["rntuple_mutant.go"]); err != nil || !strings.HasPrefix(string(got), "package low\n") {
		t.Errorf("%s, error %v", got, err)
	}
}

// TestFates makes all mutants of a small package.
func TestFates(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module tiny\n\ngo 1.26\n",
		"low/low.go": `package low

func Larger(a, b int) int {
	if a > b {
		return a
	}
	return b
}

func Count(n int) int {
	for n < 9 {
		n++
	}
	return n
}

func Untested(a int) int { return -a + a }
`,
		"low/low_test.go": `package low

import "testing"

func TestLow(t *testing.T) {
	if Larger(4, 3) != 4 || Larger(3, 4) != 4 {
		t.Error("Larger")
	}
	Count(0)
}
`,
		"high/high.go": "package high\n\nimport \"tiny/low\"\n\nfunc High() int { return low.Count(7) }\n",
		"high/high_test.go": `package high

import "testing"

func TestHigh(t *testing.T) {
	if High() != 9 {
		t.Error("High")
	}
}
`,
	} {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	equal := "low.Larger\n- if a > b {\n+ if a >= b {\nEqual numbers are both the larger one.\n"
	r := runner{
		root: root, targets: []target{{"low", "", []string{"high"}}}, equivalents: equal,
		n: 1000, workers: 2, together: 3, grace: 5 * time.Second, out: &out,
	}
	t.Setenv("GOWORK", "off")
	if err := r.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	untested := "func Untested(a int) int { return -a + a }"
	want := map[key]fate{
		{"low.Larger", "if a > b {", "if !(a > b) {"}:                      killedByOwn,
		{"low.Larger", "if a > b {", "if false && (a > b) {"}:              killedByOwn,
		{"low.Count", "for n < 9 {", "for n <= 9 {"}:                       killedByAbove,
		{"low.Count", "for n < 9 {", "for n < 10 {"}:                       killedByAbove,
		{"low.Count", "for n < 9 {", "for n < 8 {"}:                        killedByAbove,
		{"low.Count", "n++", ""}:                                           killedByOwn, // they hang
		{"low.Count", "n++", "n--"}:                                        killedByOwn,
		{"low.Untested", untested, strings.Replace(untested, "+", "-", 1)}: survived,
	}
	got := map[key]fate{}
	for _, res := range r.results {
		got[res.id] = res.fate
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if text := out.String(); !strings.HasPrefix(text, `SURVIVED low/low.go:17: low.Untested
- func Untested(a int) int { return -a + a }
+ func Untested(a int) int { return -a - a }

`) || !strings.HasSuffix(text, "\n         all     8                    4               3         1\n") {
		t.Errorf("prints\n%s", text)
	}
	for _, wrong := range []string{strings.ReplaceAll(equal, "a", "c"), equal + "\n" + equal, "low.Larger\n- a\n+ b\n"} {
		r = runner{root: root, targets: r.targets, equivalents: wrong}
		if err := r.run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "equivalents: ") {
			t.Errorf("equivalents\n%sgive %v", wrong, err)
		}
	}
}
