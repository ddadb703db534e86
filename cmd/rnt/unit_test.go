package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"
	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// unitFiles makes files of 8400 entries in the working directory, with clusters of at most 300, and
// returns their names.
func unitFiles(t *testing.T) (files []string) {
	t.Helper()
	type event struct {
		ID int64
		X  float32
		V  []float32
	}
	id := int64(0)
	for i := range 6 {
		name := fmt.Sprintf("in %d.root", i)
		w, err := rntuple.Create[event](name, "Events", nil)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 400 * (i + 1) {
			if err := w.Write(&event{id, float32(id%97) + 0.1, make([]float32, id%5)}); err != nil {
				t.Fatal(err)
			}
			if id++; k%300 == 299 {
				w.CommitCluster()
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
	}
	if err := os.WriteFile("files.txt", []byte(strings.Join(files, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return files
}

// TestUnits works on the units of a plan. What is joined has the entries that the command makes of
// the files, and the same bytes whether jobs ran once and in order, or not.
func TestUnits(t *testing.T) {
	t.Chdir(t.TempDir())
	files := unitFiles(t)
	rnt(t, append([]string{"merge", "-q", "merged.root"}, files...)...)
	makePlan := []string{"plan", "--json", "--force", "--units", "9", "--fields", "X", "--where", "ID >= 0",
		"plan.json", "@files.txt"}
	summary := decode[report](t, makePlan...)
	if least, most := summary.Least, summary.Most; summary.Entries != 8400 || summary.Units != 9 || summary.Files != 6 ||
		least < 1000 || most > 2*least {
		t.Errorf("%+v", summary)
	}
	for _, c := range []struct{ unit, whole, suffix string }{
		{"skim --where X>40 --fields ID,V OUT IN", "skim --where X>40 --fields ID,V OUT MERGED", ".root"},
		{"skim --define Y=2*X --where X>40 OUT IN", "skim --define Y=2*X --where X>40 OUT MERGED", ".root"},
		{"skim --where false OUT IN", "skim --where false OUT MERGED", ".root"},
		{"slim --fields ID,X --define Y=2*X OUT IN", "slim --fields ID,X --define Y=2*X OUT MERGED", ".root"},
		{"convert --to rntuple IN OUT", "convert MERGED OUT", ".root"},
		{"convert --where X>40 --fields V --to parquet IN OUT", "convert --where X>40 --fields V --to parquet MERGED OUT",
			".parquet"},
		{"convert --to arrows IN OUT", "convert --to arrows MERGED OUT", ".arrows"},
		{"convert --to csv --where X>40 IN OUT", "convert --to csv --where X>40 MERGED OUT", ".csv"},
	} {
		t.Run(c.unit, func(t *testing.T) {
			dir := strings.NewReplacer(" ", "_", ">", "").Replace(c.unit)
			once, often, want := dir+"/1/parts", dir+"/2/parts", dir+"/want"+c.suffix
			work := func(status int, folder, which string, more ...string) (stderr string) {
				t.Helper()
				_, stderr, got := try(append(clitest.Arguments(c.unit, "IN", "plan.json", "OUT", folder),
					append(more, "-q", "--unit", which)...)...)
				if got != status {
					t.Errorf("--unit %s %s: status %d, want %d, %s", which, more, got, status, stderr)
				}
				return stderr
			}
			work(exitOK, once, ":")

			// Jobs run in no order, some twice; some outputs are damaged or lost.
			for _, which := range []string{"7", "3", "0", "3", "5:8", "8", "2"} {
				work(exitOK, often, which, "-j", "1")
			}
			damage := func(name string, f func(b []byte) []byte) { change(t, filepath.Join(often, name), f) }
			damage("0003"+c.suffix, func(b []byte) []byte { b[len(b)/2]++; return b })
			damage("0005"+c.suffix, func(b []byte) []byte { return b[:len(b)-1] })
			damage("0006.unit.json", func(b []byte) []byte {
				return bytes.Replace(b, []byte(`"plan":"`),
					[]byte(`"plan":"0`), 1)
			})
			damage("0007.unit.json", func(b []byte) []byte { return b[:len(b)/2] })
			if err := os.Remove(filepath.Join(often, "0008"+c.suffix)); err != nil {
				t.Fatal(err)
			}
			merge := func(folder string, more ...string) (stdout, stderr string, status int) {
				return try(append([]string{"merge", "--plan", "plan.json", folder + "/../all.root", folder}, more...)...)
			}
			stdout, stderr, status := merge(often)
			if status != exitError || stdout != "1,3,4,5,6,7,8\n" || !strings.Contains(stderr, "7 of 9 units missing") ||
				!strings.Contains(stderr, "unit 0003: 0003"+c.suffix+" is damaged") {
				t.Errorf("%d, %q, %s", status, stdout, stderr)
			}
			if stdout, _, _ := merge(often, "-q", "--no-verify"); stdout != "1,4,5,6,7,8\n" { // the third has its size
				t.Errorf("by size: %q", stdout)
			}
			if _, err := os.Stat(dir + "/2/all.root"); err == nil {
				t.Error("there is an output")
			}
			if stderr := work(exitError, often, "6"); !strings.Contains(stderr, "made by another command") {
				t.Errorf("a unit of another plan: %s", stderr)
			}
			work(exitOK, often, "6", "--force")
			for _, which := range []string{"1", "3:6", "7:"} {
				work(exitOK, often, which)
			}
			same(t, once, often)

			whole := strings.Fields(strings.NewReplacer("MERGED", "merged.root", "OUT", want).Replace(c.whole))
			rnt(t, append(whole, "-q")...)
			_, stderr, status = merge(often, "-q")
			if c.suffix != ".root" {
				if status != exitError || !strings.Contains(stderr, "only RNTuples can be merged") {
					t.Errorf("merge: %d, %s", status, stderr)
				}
				args := []string{"diff", "", want}
				if args[1] = dir + "/all.root"; c.suffix == ".csv" { // whose strings are told apart by the first one only
					return
				}
				var units []string
				for i := range 9 {
					units = append(units, fmt.Sprintf("%s/000%d%s", often, i, c.suffix))
				}
				rnt(t, slices.Concat([]string{"convert", "-q"}, units, []string{args[1]})...)
				rnt(t, args...)
				return
			}
			if status != exitOK {
				t.Fatal(stderr)
			}
			if _, stderr, status := merge(once, "-q", "-j", "1"); status != exitOK {
				t.Fatal(stderr)
			}
			one, err1 := os.ReadFile(dir + "/1/all.root")
			two, err2 := os.ReadFile(dir + "/2/all.root")
			if err1 != nil || err2 != nil || !bytes.Equal(one, two) {
				t.Errorf("%d and %d bytes, which are not the same, %v, %v", len(one), len(two), err1, err2)
			}
			rnt(t, "diff", want, dir+"/1/all.root")
			rnt(t, "verify", "-q", dir+"/1/all.root")

			// Other work, and a file that has changed.
			if stderr := work(exitError, often, "0", "--compression", "none"); !strings.Contains(stderr, "made by another command") {
				t.Errorf("other work: %s", stderr)
			}
			damage("0002.unit.json", func(b []byte) []byte {
				return bytes.Replace(b, []byte(`"work":"`),
					[]byte(`"work":"not `), 1)
			})
			if stdout, stderr, _ := merge(often, "--force"); stdout != "2\n" ||
				!strings.Contains(stderr, "unit 0002: was made by another command") {
				t.Errorf("other work: %q, %s", stdout, stderr)
			}
			if stderr := work(exitUsage, often, "9"); !strings.Contains(stderr, "the plan has 9 units") {
				t.Errorf("no such unit: %s", stderr)
			}
			before, err := os.ReadFile(files[5])
			if err != nil {
				t.Fatal(err)
			}
			change(t, files[5], func(b []byte) []byte { return append(b, 0) })
			if stderr := work(exitError, dir+"/3", "8"); !strings.Contains(stderr,
				files[5]+": the file has changed since the plan was made") {
				t.Errorf("a changed file: %s", stderr)
			}
			if left, err := os.ReadDir(dir + "/3"); err != nil || len(left) > 0 {
				t.Errorf("%v are left, %v", left, err)
			}
			if err := os.WriteFile(files[5], before, 0o600); err != nil {
				t.Fatal(err)
			}
			rnt(t, makePlan...)
		})
	}
}

// same compares two folders.
func same(t *testing.T, a, b string) {
	t.Helper()
	read := func(dir string) map[string]string {
		all := map[string]string{}
		files, err := os.ReadDir(dir)
		for _, f := range files {
			var b []byte
			if b, err = os.ReadFile(filepath.Join(dir, f.Name())); err != nil {
				break
			}
			all[f.Name()] = string(b)
		}
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		return all
	}
	if one, two := read(a), read(b); !reflect.DeepEqual(one, two) {
		for name := range one {
			if one[name] != two[name] {
				t.Errorf("%s: %d bytes in %s, other %d in %s", name, len(one[name]), a, len(two[name]), b)
			}
		}
		t.Errorf("%s and %s differ", a, b)
	}
}

// TestUnitsDrawn fills histograms of units. They add up to those of all entries, with the same bits
// as one process that fills all units.
func TestUnitsDrawn(t *testing.T) {
	t.Chdir(t.TempDir())
	files := unitFiles(t)
	n := decode[report](t, "plan", "--json", "--size", "1k", "plan.json", "@files.txt").Units
	if n < 10 {
		t.Errorf("%d units", n)
	}
	for i, flags := range []string{
		"X --range 0:97", "-e X -e ID/100 --range 0:80 --bins 40 --weight X/3",
		"X:ID --range 0:8400,0:97 --bins 12,9 --where X>5",
		"X:ID --range 0:8400 --profile --bins 20", "V --range 0:1 --log y",
	} {
		folder, jobs := fmt.Sprint("folder", i), fmt.Sprint("jobs", i)
		draw := func(file string, more ...string) []string {
			return slices.Concat([]string{"draw", file}, more, strings.Fields(flags))
		}
		rnt(t, draw("plan.json", "-q", "--unit", "0:", "--out", folder)...)
		for k := range n {
			rnt(t, draw("plan.json", "-q", "-j", "1", "--unit", strconv.Itoa(n-1-k), "--out", jobs)...)
		}
		same(t, folder, jobs)
		got, want := decode[map[string]any](t, draw("plan.json", "--json", "--units", folder)...),
			decode[map[string]any](t, draw(files[0], append(files[1:], "--json")...)...)
		delete(got, "files")
		delete(want, "files")
		near(t, flags, got, want)
		if err := os.Remove(filepath.Join(folder, "0001.hist.json")); err != nil {
			t.Fatal(err)
		}
		if stdout, _, status := try(draw("plan.json", "--units", folder)...); status != exitError || stdout != "1\n" {
			t.Errorf("%d, %s", status, stdout)
		}
	}
	if text := rnt(t, "draw", "plan.json", "X", "--range", "0:97", "--units", "jobs0"); !strings.Contains(text, "8,400") {
		t.Errorf("drawn as text:\n%s", text)
	}
	if _, stderr, status := try("draw", "--units", "jobs0", "plan.json", "ID", "--range", "0:97"); status != exitError ||
		!strings.Contains(stderr, "made by another command") {
		t.Errorf("other work: %d, %s", status, stderr)
	}
}

// near compares values in which numbers may differ by what the order of additions makes.
func near(t *testing.T, what string, a, b any) {
	t.Helper()
	switch a := a.(type) {
	case float64:
		if b, ok := b.(float64); ok && math.Abs(a-b) <= 1e-9*math.Abs(b) {
			return
		}
	case []any:
		if b, ok := b.([]any); ok && len(a) == len(b) {
			for i := range a {
				near(t, fmt.Sprint(what, " ", i), a[i], b[i])
			}
			return
		}
	case map[string]any:
		if b, ok := b.(map[string]any); ok && len(a) == len(b) {
			for name := range a {
				near(t, what+" "+name, a[name], b[name])
			}
			return
		}
	default:
		if a == b {
			return
		}
	}
	t.Errorf("%s: %v, want %v", what, a, b)
}

// TestUnitsAtOnce has several jobs work on the same units at the same time.
func TestUnitsAtOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	unitFiles(t)
	rnt(t, "plan", "-q", "--units", "20", "plan.json", "@files.txt")
	for _, command := range []string{"skim --no-sync --where X>40 --unit : FOLDER plan.json",
		"convert --no-sync --to parquet --unit : plan.json FOLDER",
		"draw -e X --range 0:97 --unit : --out FOLDER plan.json"} {
		name := strings.Fields(command)[0]
		rnt(t, append(clitest.Arguments(command, "FOLDER", name+"-calm"), "-q")...)
		var jobs sync.WaitGroup
		for range 4 {
			jobs.Go(func() {
				if _, stderr, status := try(append(clitest.Arguments(command, "FOLDER", name), "-q")...); status != exitOK {
					t.Errorf("%s: status %d, %s", command, status, stderr)
				}
			})
		}
		jobs.Wait()
		same(t, name, name+"-calm")
	}
}

// TestUnitsFar plans and skims files on a web server.
func TestUnitsFar(t *testing.T) {
	t.Chdir(t.TempDir())
	files := unitFiles(t)
	s := remotetest.Serve(t, ".")
	var urls []string
	for _, f := range files {
		urls = append(urls, s.URL+"/"+strings.ReplaceAll(f, " ", "%20")+"?authz=secret")
	}
	rnt(t, append([]string{"plan", "-q", "--units", "5", "plan.json"}, urls...)...)
	for _, which := range []string{"3", ":3", "4:5"} {
		rnt(t, "skim", "-q", "--where", "X>40", "--unit", which, "parts", s.URL+"/plan.json")
	}
	rnt(t, "merge", "-q", "--plan", s.URL+"/plan.json", "got.root", "parts")
	rnt(t, append([]string{"skim", "-q", "--where", "X>40", "want.root"}, files...)...)
	rnt(t, "diff", "got.root", "want.root")
	change(t, files[5], func(b []byte) []byte { return append(b, 0) })
	for _, args := range []string{"skim -q --where X>40 --unit 4 others plan.json",
		"draw -q --range 0:1 --unit 4 --out others plan.json X", "convert -q --to csv --unit 4 plan.json others"} {
		_, stderr, status := try(strings.Fields(args)...)
		if status != exitError || !strings.Contains(stderr, "in%205.root") ||
			!strings.Contains(stderr, "the file has changed") || strings.Contains(stderr, "secret") {
			t.Errorf("%s: %d, %s", args, status, stderr)
		}
	}
}

// TestUnitErrors gives wrong arguments.
func TestUnitErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	unitFiles(t)
	write(t, "table.csv", "a\n1\n")
	rnt(t, "convert", "-q", "table.csv", "table.parquet")
	rnt(t, "convert", "-q", "table.csv", "table.root")
	rnt(t, "plan", "-q", "--units", "3", "plan.json", "@files.txt")
	write(t, "cut.json", "{")
	for _, c := range []struct {
		args   string
		status int
		stderr string
	}{
		{"plan OUT", exitUsage, "missing argument IN"},
		{"plan --units 2 --size 1M OUT FILE", exitUsage, "--units and --size cannot be combined"},
		{"plan --units -1 OUT FILE", exitUsage, "--units must be positive"},
		{"plan OUT -", exitUsage, "a plan cannot include standard input"},
		{"plan --where ( OUT FILE", exitUsage, "--where: "},
		{"plan --fields X --where Y>0 OUT FILE", exitError, "FILE: "},
		{"plan --fields Y OUT FILE", exitError, `no field "Y"`},
		{"plan plan.json FILE", exitError, "exists; --force replaces it"},
		{"plan --force FILE FILE", exitError, "is an input and would be overwritten"},
		{"plan OUT FILE none.root", exitError, "none.root: no such file"},
		{"plan OUT FILE table.parquet", exitError, "it is a Parquet file, which rnt convert converts to an RNTuple"},
		{"plan OUT table.csv", exitError, "it is a CSV file, which rnt convert converts to an RNTuple"},
		{"skim --where X>1 --unit 0 OUT FILE", exitError, "not a plan"},
		{"skim --where X>1 --unit 0 OUT cut.json", exitError, "not a plan"},
		{"skim --where X>1 --unit 0 OUT plan.json FILE", exitUsage, "--unit requires two arguments"},
		{"skim --where X>1 --unit 0 --explain OUT plan.json", exitUsage, "--unit cannot be combined with --explain"},
		{"skim --where X>1 --unit 0 --name Events OUT plan.json", exitUsage, "--unit cannot be combined with --name"},
		{"skim --where X>1 --unit 0 FILE plan.json", exitError, "FILE: "},
		{"skim --where X>1 --unit 0 http://localhost/x plan.json", exitUsage, "OUT must be a local folder"},
		{"skim --where Y>1 --unit 0 OUT plan.json", exitError, "unit 0000: "},
		{"slim --fields X --unit 2:1 OUT plan.json", exitUsage, "--unit 2:1: want a number K or a range K:L"},
		{"slim --fields X --unit x OUT plan.json", exitUsage, "--unit x: "},
		{"slim --fields X --unit -1 OUT plan.json", exitUsage, "--unit -1: "},
		{"slim --fields X --unit 3 OUT plan.json", exitUsage, "the plan has 3 units"},
		{"slim --fields X --unit 2:4 OUT plan.json", exitUsage, "the plan has 3 units"},
		{"convert --unit 0 plan.json OUT", exitUsage, "--unit requires a plan, a folder and --to"},
		{"convert --unit 0 --to ttree plan.json OUT", exitUsage, "writing TTrees is not supported"},
		{"convert --unit 0 --to csv --schema cut.json plan.json OUT", exitUsage, "--schema requires"},
		{"convert --unit 0 --to csv --from csv plan.json OUT", exitUsage, "--unit cannot be combined with --from"},
		{"convert --unit 0 --to rntuple --all plan.json OUT", exitUsage, "--unit cannot be combined with --all"},
		{"convert --unit 0 --to rntuple --dry-run plan.json OUT", exitUsage, "--unit cannot be combined with --dry-run"},
		{"draw --unit 0 --out OUT plan.json X", exitUsage, "--range with both ends"},
		{"draw --unit 0 --range 0: --out OUT plan.json X", exitUsage, "--range with both ends"},
		{"draw --unit 0 --range 0:1 plan.json X", exitUsage, "a folder as --out"},
		{"draw --unit 0 --range 0:1 --json --out OUT plan.json X", exitUsage, "excludes --json"},
		{"draw --unit 0 --explain --out OUT plan.json X", exitUsage, "--unit cannot be combined with --explain"},
		{"draw --units . --name a plan.json X --range 0:1", exitUsage, "excludes --name"},
		{"draw --units . plan.json plan.json X --range 0:1", exitUsage, "requires the plan in place of the files"},
		{"merge --plan plan.json OUT . .", exitUsage, "--plan requires"},
		{"merge --plan plan.json --into OUT .", exitUsage, "--plan requires"},
		{"merge --plan plan.json OUT .", exitError, "3 of 3 units missing"},
		{"merge --plan none.json OUT .", exitError, "none.json: no such file"},
	} {
		_, stderr, status := try(clitest.Arguments(c.args, "OUT", "out", "FILE", "in 0.root")...)
		if want := strings.ReplaceAll(c.stderr, "FILE", "in 0.root"); status != c.status || !strings.Contains(stderr, want) {
			t.Errorf("rnt %s: status %d, %s; want %d, %q", c.args, status, stderr, c.status, want)
		}
		if left, _ := os.ReadDir("out"); len(left) > 0 {
			t.Errorf("rnt %s leaves %v", c.args, left)
		}
		os.Remove("out")
	}
}

// change changes a file.
func change(t *testing.T, path string, f func(b []byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, f(b), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
