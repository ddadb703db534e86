package interop

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	slashpath "path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/verify"
)

// A rootProcess is ROOT in another process, which updates and reads files; see
// durable.py.
type rootProcess struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Scanner
}

// A rootJob is what it is to do.
type rootJob struct {
	Update    string  `json:"update,omitempty"`
	Read      string  `json:"read,omitempty"`
	Field     string  `json:"field,omitempty"`
	NTuple    string  `json:"ntuple,omitempty"`
	Entries   int     `json:"entries,omitempty"`
	Histogram string  `json:"histogram,omitempty"`
	Before    float64 `json:"before,omitempty"`
	Within    float64 `json:"within,omitempty"`
	After     float64 `json:"after,omitempty"`
}

// A rootResult is what came of it.
type rootResult struct {
	Error, Said string
	Recovered   bool
	NTuples     map[string]sums
	Keys        []string
}

// sums are the number of entries of an RNTuple, and the sum of the numbers in them.
type sums [2]float64

func startROOT(t *testing.T) *rootProcess {
	t.Helper()
	needed(t)
	dir, err := environment()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "bin", "python"), "../../testdata/gen/durable.py")
	cmd.Env = append(os.Environ(), "PYTHONWARNINGS=ignore")
	cmd.Stderr = os.Stderr
	r := &rootProcess{t: t}
	r.in, err = cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	r.out = bufio.NewScanner(out)
	r.out.Buffer(nil, 1<<24)
	t.Cleanup(func() {
		r.in.Close()
		cmd.Wait()
	})
	return r
}

// begin begins a job; end waits for its end.
func (r *rootProcess) begin(j rootJob) {
	r.t.Helper()
	if err := json.NewEncoder(r.in).Encode(j); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rootProcess) end() (result rootResult) {
	r.t.Helper()
	if !r.out.Scan() {
		r.t.Fatalf("ROOT has ended: %v", r.out.Err())
	}
	if err := json.Unmarshal(r.out.Bytes(), &result); err != nil {
		r.t.Fatalf("%v: %s", err, r.out.Bytes())
	}
	return result
}

// do does a job, during which ROOT must have nothing to say.
func (r *rootProcess) do(j rootJob) rootResult {
	r.t.Helper()
	r.begin(j)
	result := r.end()
	if result.Error != "" || result.Said != "" || result.Recovered {
		r.t.Errorf("%+v: ROOT says %+v", j, result)
	}
	return result
}

// numbered are entries with numbers, which make sums easy.
type numbered struct {
	X int64 `rntuple:"x"`
}

// oneTo returns the sums of the numbers from 1 to n.
func oneTo(n int) sums { return sums{float64(n), float64(n * (n + 1) / 2)} }

func (s sums) plus(o sums) sums { return sums{s[0] + o[0], s[1] + o[1]} }

// sumsOf returns the sums of an RNTuple of numbered entries, as this library reads
// it.
func sumsOf(path, name string) (s sums, err error) {
	r, err := rntuple.Open(path, name, nil)
	if err != nil {
		return s, err
	}
	defer r.Close()
	for e, err := range rntuple.Entries[numbered](r) {
		if err != nil {
			return s, err
		}
		s[0]++
		s[1] += float64(e.X)
	}
	return s, nil
}

// write writes the numbers from 1 to n.
func write(w *rntuple.Writer[numbered], n int) error {
	for x := range n {
		if err := w.Write(&numbered{int64(x + 1)}); err != nil {
			return err
		}
	}
	return nil
}

// problems returns what verify finds wrong with a file.
func problems(t *testing.T, path string) (found []string) {
	t.Helper()
	if _, err := verify.File(t.Context(), path, func(p verify.Problem) error {
		found = append(found, p.String())
		return nil
	}, nil); err != nil {
		found = append(found, err.Error())
	}
	return found
}

// content checks that verify finds nothing wrong with a file.
func content(t *testing.T, path, what string) {
	t.Helper()
	for _, p := range problems(t, path) {
		t.Errorf("%s: %s", what, p)
	}
}

// TestPairsWithROOT has this library and ROOT, which knows no locks, update a file at
// the same time, 200 times. No entries are lost unless one side says so.
func TestPairsWithROOT(t *testing.T) {
	root := startROOT(t)
	dir := t.TempDir()
	base, path := filepath.Join(dir, "base.root"), filepath.Join(dir, "both.root")
	w, err := rntuple.Create[numbered](base, "n", nil)
	if err == nil {
		err = errors.Join(write(w, 100), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	root.do(rootJob{Update: base, Histogram: "older"})
	root.do(rootJob{Update: base, NTuple: "dir/older", Entries: 50})

	random := rand.New(rand.NewPCG(13, 4))
	pause := func() float64 { return float64(random.IntN(4)*random.IntN(5)) / 1000 }
	sleep := func(seconds float64) { time.Sleep(time.Duration(seconds * float64(time.Second))) }
	const pairs = 200
	ends, damaged := map[string]int{}, 0
	for i := range pairs {
		b, err := os.ReadFile(base)
		if err == nil {
			err = os.WriteFile(path, b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		job := rootJob{Update: path, Before: pause(), Within: pause(), After: pause()}
		if i%4 != 0 {
			job.NTuple, job.Entries = "root", 1000
		}
		if i%4 == 0 || i%3 == 0 {
			job.Histogram = "h"
		}
		root.begin(job)
		sleep(pause())
		ours := func() error {
			w, err := rntuple.Append[numbered](path, "n", &rntuple.WriteOptions{ClusterSize: 2000})
			if err != nil {
				return err
			}
			sleep(pause())
			if err := write(w, 1000); err != nil {
				w.Abort()
				return err
			}
			sleep(pause())
			return w.Close()
		}()
		theirs := root.end()
		failed := theirs.Error != "" || theirs.Recovered

		// What is there, as both read it. If this library notices ROOT too late, each may have
		// written over records of the other; then at least our call fails. What was overwritten
		// may be a record's key alone, which ROOT does not read, but verify does.
		said := fmt.Sprintf("pair %d, %+v: ours: %v; ROOT: %+v", i, job, ours, theirs)
		root.begin(rootJob{Read: path})
		read := root.end()
		n, want, same := sums{}, oneTo(100).plus(oneTo(1000)), true
		for name, s := range read.NTuples {
			if strings.HasPrefix(name, "n;") && s[0] > n[0] {
				n = s
			}
			got, err := sumsOf(path, name)
			same = same && err == nil && got == s
		}
		kept := (job.NTuple == "" || read.NTuples["root;1"] == oneTo(1000)) && read.NTuples["dir/older;1"] == oneTo(50) &&
			(job.Histogram == "" || slices.Contains(read.Keys, "h;1")) && slices.Contains(read.Keys, "older;1")
		whole := same && kept && read.Error+read.Said == "" && !read.Recovered && (n == want || n == oneTo(100))
		switch {
		case ours == nil && (n != want || !failed && !whole):
			t.Errorf("%s: entries are lost: %+v", said, read)
		case !whole:
			damaged++
			t.Logf("%s: %+v", said, read)
		default:
			found := problems(t, path)
			switch {
			case len(found) == 0:
			case ours == nil:
				t.Errorf("%s: %q", said, found)
			default:
				damaged++
				t.Logf("%s: %q", said, found)
			}
		}
		end := fmt.Sprintf("ours %v, ROOT's %v", outcome(ours == nil, n == want), outcome(!failed, kept))
		ends[end]++
		if ours != nil {
			ends[fmt.Sprintf("%.80s", strings.ReplaceAll(ours.Error(), path, "FILE"))]++
		}
		if theirs.Said != "" {
			ends["ROOT: "+theirs.Said]++
		}
	}
	if damaged > pairs/10 {
		t.Errorf("%d of %d pairs end with an error of ours and damage", damaged, pairs)
	}
	for _, end := range slices.Sorted(maps.Keys(ends)) {
		t.Logf("%4d %s", ends[end], end)
	}
}

func outcome(succeeded, there bool) string {
	s := "failed"
	if succeeded {
		s = "succeeded"
	}
	if there {
		return s + " and is there"
	}
	return s + " and is not there"
}

// TestManyCheckpoints has ROOT read and update a small file that has been committed
// thousands of times.
func TestManyCheckpoints(t *testing.T) {
	root := startROOT(t)
	type entry struct {
		A, B, C, D, E int64
		F, G, H, I, J float64
	}
	const checkpoints, later = 4000, 10
	of := func(x int) (e entry, sum float64) {
		n := int64(x)
		e = entry{n, n + 1, n + 2, n + 3, n + 4, 0.5 * float64(x), float64(x), 2 * float64(x), 3 * float64(x), 4 * float64(x)}
		return e, float64(5*x+10) + 10.5*float64(x)
	}
	for _, name := range []string{"n", "dir/sub/n"} {
		path := filepath.Join(t.TempDir(), "many.root")
		f, err := rntuple.CreateFile(path, &rntuple.FileOptions{NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		w, err := rntuple.NewWriter[entry](f, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		var want sums
		add := func(w *rntuple.Writer[entry], n int, checkpoint bool) {
			for range n {
				e, sum := of(int(want[0]))
				want = want.plus(sums{1, sum})
				err := w.Write(&e)
				if err == nil && checkpoint {
					err = w.Checkpoint()
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		// check has ROOT read what should be there.
		check := func(what string, more map[string]sums) {
			t.Helper()
			found := root.do(rootJob{Read: path})
			latest := sums{}
			for n, s := range found.NTuples {
				if strings.HasPrefix(n, name+";") {
					delete(found.NTuples, n)
					if s[0] > latest[0] {
						latest = s
					}
				}
			}
			if latest != want || !maps.Equal(found.NTuples, more) {
				t.Errorf("%s, %s: ROOT reads %v and %v, want %v and %v", name, what, latest, found.NTuples, want, more)
			}
			content(t, path, what)
		}
		add(w, checkpoints, true)
		check("before the end", map[string]sums{})
		if err := errors.Join(w.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes after %d checkpoints", name, info.Size(), checkpoints)
		if info.Size() >= 4_000_000 {
			t.Errorf("%s: %d bytes after %d checkpoints", name, info.Size(), checkpoints)
		}
		check("after the end", map[string]sums{})
		keys := map[string]string{}
		for dir := slashpath.Dir(name); dir != "."; dir = slashpath.Dir(dir) {
			keys[dir+";1"] = "TDirectoryFile"
		}
		keys[name+";1"] = "ROOT::RNTuple"
		whole(t, path, keys)

		root.do(rootJob{Update: path, NTuple: "root", Entries: 1000, Histogram: "h"})
		root.do(rootJob{Update: path, NTuple: "dir/root", Entries: 1000})
		roots := map[string]sums{"root;1": oneTo(1000), "dir/root;1": oneTo(1000)}
		check("after an update by ROOT", roots)
		w, err = rntuple.Append[entry](path, name, &rntuple.WriteOptions{File: rntuple.FileOptions{NoSync: true}})
		if err != nil {
			t.Fatal(err)
		}
		add(w, later, true)
		check("before the end of an update", roots)
		add(w, later, false)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		check("after an update", roots)
		root.do(rootJob{Update: path, NTuple: "again", Entries: 10})
		check("after the last update by ROOT",
			map[string]sums{"root;1": oneTo(1000), "dir/root;1": oneTo(1000), "again;1": oneTo(10)})
	}
}

// TestPowerCuts has ROOT read a hundred of the files that power cuts leave, which the
// test of package powercut makes.
func TestPowerCuts(t *testing.T) {
	root := startROOT(t)
	dir := t.TempDir()
	cmd := exec.Command("go", "test", "-short", "-count=1", "-run", "^TestPowerCuts$", "../../internal/test/powercut")
	cmd.Env = append(os.Environ(), "RNTUPLE_IMAGES="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	scenarios, ntuples := map[string]int{}, 0
	for line := range bytes.Lines(manifest) {
		var image struct {
			File, Scenario string
			Keys           []string
			NTuples        []struct {
				Path         string
				Entries, Sum float64
			}
		}
		if err := json.Unmarshal(line, &image); err != nil {
			t.Fatal(err)
		}
		scenarios[image.Scenario]++
		got := root.do(rootJob{Read: filepath.Join(dir, image.File), Field: "ID"})
		for _, n := range image.NTuples {
			found, ok := got.NTuples[n.Path]
			if n.Sum == -1 { // it has no such field
				found[1] = -1
			}
			if !ok || found != (sums{n.Entries, n.Sum}) {
				t.Errorf("%s: ROOT reads %v", line, got)
			}
			ntuples++
		}
		slices.Sort(got.Keys)
		slices.Sort(image.Keys)
		if len(got.NTuples) != len(image.NTuples) || !slices.Equal(got.Keys, image.Keys) {
			t.Errorf("%s: ROOT finds %v", line, got)
		}
	}
	t.Logf("ROOT has read %d RNTuples of %v", ntuples, scenarios)
	if ntuples < 100 {
		t.Errorf("%d RNTuples in all images", ntuples)
	}
}
