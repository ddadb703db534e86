package histogram

import (
	"context"
	"fmt"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/terminal"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// muons are the fields of the sample that the tests draw.
type muons struct {
	N      uint32    `rntuple:"nMuon"`
	Pt     []float64 `rntuple:"Muon_pt"`
	Eta    []float64 `rntuple:"Muon_eta"`
	Charge []int32   `rntuple:"Muon_charge"`
}

// The bins of rnt draw are those of loops over the entries, also of several files.
func TestDrawJSON(t *testing.T) {
	r, err := rntuple.Open(dimuon, "Events", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var plain, selected, weighted, squares [10]float64
	var two [4][2]float64
	var sums, counts [4]float64
	var flow [3][3]float64
	under, over := 0.0, 0.0
	n, mean := 0.0, 0.0
	for ev, err := range rntuple.Entries[muons](r) {
		if err != nil {
			t.Fatal(err)
		}
		for k, pt := range ev.Pt {
			bin := int(math.Floor((pt - 5) / 2))
			if pt >= 5 && pt < 25 {
				n++
				mean += pt
				plain[bin]++
				if ev.N == 2 {
					selected[bin]++
				}
				weighted[bin] += ev.Eta[k]
				squares[bin] += ev.Eta[k] * ev.Eta[k]
			} else if pt < 5 {
				under++
			} else {
				over++
			}
			x, y := int(math.Floor(ev.Eta[k]+2)), int(math.Floor(pt/10))
			inX, inY := 0, min(2, 1+y/2)
			if x >= 0 {
				inX = 1 + x/4
			}
			flow[inX][inY]++
			if inX == 1 {
				sums[x] += pt
				counts[x]++
				if inY == 1 {
					two[x][y]++
				}
			}
		}
	}

	d := clitest.JSON[drawn](t, tool, "draw", dimuon, "Muon_pt", "--bins", "10", "--range", "5:25", "--json")
	h := d.Histograms[0]
	if d.Kind != "histogram" || len(d.Histograms) != 1 || d.X.Title != "Muon_pt" || len(d.X.Edges) != 11 ||
		d.X.Edges[0] != 5 || d.X.Edges[10] != 25 ||
		!slices.Equal(h.Contents, plain[:]) || !slices.Equal(h.SumW2, plain[:]) ||
		*h.Underflow != under || *h.Overflow != over ||
		float64(h.Entries) != n+under+over || h.Inside != n || math.Abs(*h.MeanX-mean/n) > 1e-9 {
		t.Errorf("%+v", d)
	}

	d = clitest.JSON[drawn](t, tool, "draw", dimuon, "Muon_pt", "--where", "nMuon == 2", "--where", "true", "--bins", "10",
		"--range", "5:25", "--json", "--label", "two muons")
	if len(d.Histograms) != 2 || !slices.Equal(d.Histograms[0].Contents, selected[:]) ||
		!slices.Equal(d.Histograms[1].Contents, plain[:]) ||
		d.Histograms[0].Label != "two muons" || d.Histograms[1].Label != "true" || d.Histograms[0].Where != "nMuon == 2" {
		t.Errorf("%+v", d)
	}

	d = clitest.JSON[drawn](t, tool, "draw", dimuon, dimuon, "pt", "--weight", "Muon_eta", "--define", "pt = Muon_pt",
		"--bins", "10", "--range", "5:25", "--json")
	for i, w := range weighted {
		if got := d.Histograms[0].Contents[i]; math.Abs(got-2*w) > 1e-9*math.Abs(w) {
			t.Errorf("bin %d of two files: %g, want %g", i, got, 2*w)
		}
		if got := d.Histograms[0].SumW2[i]; math.Abs(got-2*squares[i]) > 1e-9*squares[i] {
			t.Errorf("bin %d of two files: sum of squares %g, want %g", i, got, 2*squares[i])
		}
	}
	if len(d.Files) != 2 || d.Histograms[0].Weight != "Muon_eta" || d.Histograms[0].X != "pt" {
		t.Errorf("%+v", d)
	}

	d = clitest.JSON[drawn](t, tool, "draw", dimuon, "Muon_pt:Muon_eta", "--bins", "4,2", "--range=-2:2,0:20", "--json")
	h = d.Histograms[0]
	if d.Kind != "histogram2d" || d.Y == nil || d.Y.Title != "Muon_pt" || len(h.Contents2) != 4 || *h.Flow != flow {
		t.Fatalf("%+v, want the flow %v", d, flow)
	}
	for x := range two {
		if !slices.Equal(h.Contents2[x], two[x][:]) {
			t.Errorf("column %d: %v, want %v", x, h.Contents2[x], two[x])
		}
	}

	d = clitest.JSON[drawn](t, tool, "draw", dimuon, "Muon_pt:Muon_eta", "--profile", "--bins", "4",
		"--range=-2:2", "--json")
	h = d.Histograms[0]
	for i, sum := range sums {
		if h.Contents[i] != counts[i] || math.Abs(*h.Means[i]-sum/counts[i]) > 1e-9 || !(*h.Errors[i] > 0) {
			t.Errorf("bin %d: mean %g of %g, want %g of %g", i, *h.Means[i], h.Contents[i], sum/counts[i], counts[i])
		}
	}
	if d.Kind != "profile" || h.X != "Muon_eta" || h.Y != "Muon_pt" {
		t.Errorf("%+v", d)
	}

	d = clitest.JSON[drawn](t, tool, "draw", dimuon, "nMuon == 2", "--json")
	if !slices.Equal(d.X.Labels, []string{"false", "true"}) ||
		d.Histograms[0].Contents[0]+d.Histograms[0].Contents[1] != 80000 {
		t.Errorf("%+v", d)
	}
	d = clitest.JSON[drawn](t, tool, "draw", dimuon, "string(nMuon)", "--json", "--bins", "1")
	if !slices.Equal(d.X.Labels, []string{"2"}) || d.Histograms[0].Contents[0]+*d.Histograms[0].Overflow != 80000 ||
		d.Histograms[0].MeanX != nil {
		t.Errorf("%+v", d)
	}
}

// The same bits come from any number of processors.
func TestDrawJobs(t *testing.T) {
	one := tool.RNT(t, "draw", "-j", "1", dimuon, dimuon, "Muon_pt", "--weight", "Muon_eta", "--json")
	for _, jobs := range []string{"2", "5"} {
		if more := tool.RNT(t, "draw", "-j", jobs, dimuon, dimuon, "Muon_pt", "--weight", "Muon_eta", "--json"); more != one {
			t.Errorf("-j %s prints something else", jobs)
		}
	}
}

// numbersToDraw is a file with entries x from 0 to 4, of which 3 occurs twice.
func numbersToDraw(t *testing.T) string {
	t.Helper()
	return clitest.Made(t, "n", `{"name": "x", "type": "int", "description": "a number"}, {"name": "v", "type": "std::vector<float>"}, {"name": "w", "type": "std::vector<float>"}`,
		`{"x":0,"v":[],"w":[]}`+"\n"+`{"x":1,"v":[1],"w":[1]}`+"\n"+`{"x":2,"v":[1,2],"w":[1,2]}`+"\n"+`{"x":3,"v":[1,2,3],"w":[1,2]}`+"\n"+`{"x":3,"v":[],"w":[]}`+"\n")
}

func TestDrawText(t *testing.T) {
	t.Setenv("LC_ALL", "C.UTF-8")
	file := numbersToDraw(t)
	defer terminal.Pretend(40, 14)()
	t.Setenv("NO_COLOR", "1")
	clitest.Compare(t, tool.RNT(t, "draw", file, "x"), `entries
2┤                           █████████
 │                           █████████
 │                           █████████
1┤████████████████████████████████████
 │████████████████████████████████████
 │████████████████████████████████████
0└────┬────────┬────────┬────────┬─────
      0        1        2        3
                            x: a number

ENTRIES  MEAN  STD DEV  UNDERFLOW  OVERFLOW
      5   1.8   1.1662          0         0  x
`)
	clitest.Compare(t, tool.RNT(t, "draw", file, "-e", "v", "-e", "v[0]", "--where", "x != 2", "--label", "all", "--label", "first"), `entries / 0.08
2┤o
 │█
 │█
1┤█            █           █
 │█            █           █
 │█            █           █
0└┬────────────┬───────────┬─
  1            2           3
                      v, v[0]

ENTRIES  MEAN  STD DEV  UNDERFLOW  OVERFLOW  MISSING
      4  1.75  0.82916          0         0        0  █ all
      2     1        0          0         0        2  o first
`)
	t.Setenv("LC_ALL", "POSIX")
	if got := tool.RNT(t, "draw", file, "x"); !strings.Contains(got, "####") ||
		strings.Trim(got, "\n\r -~:.#|+") != strings.Trim(got, "\n\r -~:.#|+█") {
		t.Errorf("in ASCII:\n%s", got)
	}

	defer terminal.Pretend(120, 30)()
	for _, noColour := range []string{"", "1"} {
		t.Setenv("NO_COLOR", noColour)
		t.Setenv("TERM", "xterm")
		got := tool.RNT(t, "draw", file, "x")
		if strings.Contains(got, "\x1b[") != (noColour == "") {
			t.Errorf("NO_COLOR=%s: %q", noColour, got)
		}
		if n := strings.Index(got, "x: a number"); n < 0 || strings.LastIndex(got[:n], "\n") < n-120 ||
			n-strings.LastIndex(got[:n], "\n") < 100 {
			t.Errorf("the terminal of 120 columns is not used:\n%s", got)
		}
	}
}

func TestDrawFiles(t *testing.T) {
	in := numbersToDraw(t)
	before, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "a folder")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"png", "svg", "pdf"} {
		out := filepath.Join(dir, "plot."+format)
		if got := tool.RNT(t, "draw", in, "x", "-o", out); !strings.HasPrefix(got, "ENTRIES") {
			t.Errorf("prints %q", got)
		}
		if got := tool.RNT(t, "draw", in, "x", "-q", "--force", "-o", out); got != "" {
			t.Errorf("prints %q", got)
		}
		_, stderr := tool.Fed(t, cli.ExitError, "", "draw", in, "x", "-o", out)
		clitest.Compare(t, stderr, "rnt: "+out+": exists; --force replaces it\n")
	}
	f, err := os.Open(filepath.Join(dir, "plot.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if img, err := png.Decode(f); err != nil || img.Bounds().Dx() != 1600 {
		t.Error(err)
	}
	link := filepath.Join(dir, "link.png")
	if err := os.Symlink(in, link); err != nil {
		t.Fatal(err)
	}
	_, stderr := tool.Fed(t, cli.ExitError, "", "draw", in, "x", "--force", "-o", link)
	clitest.Compare(t, stderr, "rnt: "+link+": is an input and would be overwritten\n")
	if after, err := os.ReadFile(in); err != nil || string(after) != string(before) {
		t.Errorf("the input has changed: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 4 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestDrawErrors(t *testing.T) {
	in := numbersToDraw(t)
	for _, c := range []struct {
		args   []string // after "draw"
		status int
		stderr string // the first line
	}{
		{nil, 2, "missing argument FILE"},
		{[]string{in}, 2, "missing argument EXPR after the files"},
		{[]string{in, in}, 2, "missing argument EXPR after the files"},
		{[]string{in, ""}, 2, "the expression is empty"},
		{[]string{in, "x:"}, 2, "the expression is empty"},
		{[]string{in, "x:x:x"}, 2, "x:x:x: more than two dimensions cannot be drawn"},
		{[]string{in, "-e", "x:x", "-e", "x"}, 2, "one- and two-dimensional histograms cannot be combined"},
		{[]string{in, "-e", "x:x", "-e", "x:v"}, 2,
			"two-dimensional histograms cannot be overlaid; consider --profile"},
		{[]string{in, "x +"}, 2, "expression, character 3: unexpected token EOF"},
		{[]string{in, "x", "--where", "("}, 2, "--where: expression, character 1: unexpected token EOF"},
		{[]string{in, "x", "--define", "y"}, 2, ""},
		{[]string{in, "y", "--define", "y:float=x"}, 2, "--define: y cannot have a type here; omit float"},
		{[]string{in, "x", "--profile"}, 2, "--profile requires two expressions, Y:X"},
		{[]string{in, "x", "--bins", "0"}, 2, "--bins 0: want a number from 1 to 1048576"},
		{[]string{in, "x", "--bins", "1,2"}, 2, "--bins: only one axis has bins"},
		{[]string{in, "x", "--range", "3"}, 2, "--range 3: want LOW:HIGH"},
		{[]string{in, "x", "--range", ":"}, 2, "--range :: want LOW:HIGH"},
		{[]string{in, "x", "--range", "3:1"}, 2, "--range 3:1: the range is empty"},
		{[]string{in, "x", "--range", "a:1"}, 2, `--range a:1: "a" is not a number`},
		{[]string{in, "x", "--log", "z"}, 2, "--log z: there is no axis z"},
		{[]string{in, "x", "--log", "x", "--range", "0:1"}, 2, "--range: a logarithmic axis cannot include zero"},
		{[]string{in, "x", "-o", "a.gif"}, 2, "--out: the file extension must be .png, .svg or .pdf"},
		{[]string{in, "x", "--force"}, 2, "--force requires --out"},
		{[]string{in, "x", "--label", "a", "--label", "b"}, 2, "more --label flags than histograms"},

		{[]string{"missing.root", "x"}, 1, "open missing.root: no such file or directory"},
		{[]string{in, "missing.root", "x"}, 1, "open missing.root: no such file or directory"},
		{[]string{in, "x", "--name", "nope"}, 1, "FILE: RNTuple \"nope\": not found; the file has n"},
		{[]string{in, "y"}, 1, "FILE: expression, character 1: no field \"y\" in RNTuple \"n\""},
		{[]string{in, "-e", "x", "-e", "xx"}, 1,
			"FILE: xx: expression, character 1: no field \"xx\" in RNTuple \"n\"; did you mean \"x\"?"},
		{[]string{in, "x", "--where", "x"}, 1, "FILE: x is int, not a condition"},
		{[]string{in, "v:w"}, 1, "FILE: entry 3: w has 2 values, v has 3"},
	} {
		stdout, stderr, status := tool.Try(append([]string{"draw"}, c.args...)...)
		first, _, _ := strings.Cut(strings.ReplaceAll(stderr, in, "FILE"), "\n")
		if status != c.status || !strings.HasPrefix(first, "rnt: "+c.stderr) || stdout != "" {
			t.Errorf("%q: status %d, %q, want %d, %q", c.args, status, first, c.status, c.stderr)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"x --where x>9", "warning: x where x>9: no values to draw"},
		{"x --range 50:60", "warning: x: no values in range"},
		{"x:x --range 50:60,0:10", "warning: x:x: no values in range"},
	} {
		stdout, stderr, status := tool.Try(slices.Concat([]string{"draw", in}, strings.Fields(c.args))...)
		if status != cli.ExitOK || stderr != "rnt: "+c.want+"\n" || !strings.Contains(stdout, "ENTRIES") {
			t.Errorf("%s: status %d, %q", c.args, status, stderr)
		}
	}
}

func TestDrawOthers(t *testing.T) {
	in := numbersToDraw(t)
	if got := tool.RNT(t, "draw", in, "x", "--explain"); !strings.HasPrefix(got, "x: int\n") ||
		!strings.HasSuffix(got, "fields that are read: x\n") {
		t.Errorf("--explain prints %q", got)
	}
	content, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	stdout, _ := tool.Fed(t, cli.ExitOK, string(content), "draw", "-", "x", "--json")
	if !strings.Contains(stdout, fmt.Sprintf("%q", cli.StdinName)) {
		t.Errorf("of standard input: %s", stdout)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cli.SignalError{Signal: os.Interrupt})
	out := filepath.Join(t.TempDir(), "out.png")
	var said strings.Builder
	if status := tool.Run(ctx, []string{"draw", dimuon, "nMuon", "-o", out}, strings.NewReader(""), io.Discard,
		&said); status != 130 || !strings.HasPrefix(said.String(), "rnt: interrupted") {
		t.Errorf("interrupted: %d, %q", status, &said)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("the file is there after an interruption")
	}
	for args, want := range map[string]string{
		"draw|":                        "root\n:8\n",
		"draw|" + dimuon + "|Muon_p":   "Muon_pt\nMuon_phi\n:6\n",
		"draw|" + dimuon + "|zz":       "root\n:8\n",
		"draw|" + dimuon + "|x|--log|": "x\ny\nz\n:4\n",
	} {
		stdout, _, _ := tool.Try(append([]string{"__complete"}, strings.Split(args, "|")...)...)
		clitest.Compare(t, stdout, want)
	}
}

// TestDrawZones draws from a file that is damaged in a cluster which its zone map rules out.
func TestDrawZones(t *testing.T) {
	file := filepath.Join(t.TempDir(), "zones.root")
	type event struct {
		Run int32
		Pt  []float64
	}
	w, err := rntuple.Create[event](file, "events", &rntuple.WriteOptions{ZoneMap: []string{"Run"}})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 5010 {
		if i == 5000 {
			w.CommitCluster()
		}
		w.Write(&event{int32(i / 5000), []float64{random.Float64(), 2}})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1 // in the values of run 0, which are most of the file
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		status int
		args   string
	}{
		{cli.ExitOK, "--where Run==1"},
		{cli.ExitOK, "--where Run==1 --range 0:3"},
		{cli.ExitOK, "--where Run==1 --where Run==2"},
		{cli.ExitOK, "--where Run==1 --no-zones"}, // Pt is read where it is drawn
		{cli.ExitError, "--where Run==1 --where Run==0"},
		{cli.ExitError, ""},
	} {
		out, _ := tool.Fed(t, c.status, "", append([]string{"draw", file, "Pt", "--json"}, strings.Fields(c.args)...)...)
		if c.status == cli.ExitOK && !strings.Contains(out, `"entries": 20,`) {
			t.Errorf("%s: %s, want 20 items", c.args, out)
		}
	}
}
