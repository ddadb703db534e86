package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// pairs returns how many pairs of processes tests run: 200, or fewer unless
// RNTUPLE_CRASHES is set.
func pairs(t *testing.T) int { return min(200, 10*crashes(t)) }

// A running is the tool in another process.
type running struct {
	*exec.Cmd
	stdin  io.WriteCloser
	stderr bytes.Buffer
}

// busy is the error of a process that finds the file locked.
const busy = "another process is updating the file"

func launch(t *testing.T, temp string, args ...string) *running {
	t.Helper()
	r := &running{Cmd: another(t, temp, args...)}
	r.Stderr = &r.stderr
	var err error
	if r.stdin, err = r.StdinPipe(); err == nil {
		err = r.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// feed writes lines to the standard input of the process, with a pause in the middle,
// and ends it.
func (r *running) feed(lines string, pause time.Duration) {
	half := len(lines) / 2
	io.WriteString(r.stdin, lines[:half])
	time.Sleep(pause)
	io.WriteString(r.stdin, lines[half:])
	r.stdin.Close()
}

// succeeded reports whether the process ended with status 0. If it did not, it must
// have said why: because of a lock.
func (r *running) succeeded(t *testing.T) bool {
	t.Helper()
	r.Wait()
	status := r.ProcessState.ExitCode()
	if status != 0 && (status != exitError || !strings.Contains(r.stderr.String(), busy)) {
		t.Errorf("%q: status %d, %q, which does not speak of another process", r.Args[1:], status, r.stderr.String())
	}
	return status == 0
}

var (
	pairBase = numbers{0, 100, 1}
	pairA    = numbers{1000, 1200, 1}
	pairB    = numbers{5000, 5300, 1}
)

// Of two processes that append to one file at the same moment, each adds its entries
// or fails because of the other's lock; with --wait, both add them.
func TestPairs(t *testing.T) {
	dir := t.TempDir()
	base, a, b := filepath.Join(dir, "base.root"), filepath.Join(dir, "a.root"), filepath.Join(dir, "b.root")
	numbersFile(t, base, "n", numbersFields, pairBase.lines())
	numbersFile(t, a, "n", numbersFields, pairA.lines())
	numbersFile(t, b, "n", numbersFields, pairB.lines())
	random := rand.New(rand.NewPCG(13, 2))
	for _, wait := range []bool{false, true} {
		ends := map[string]int{}
		for i := range pairs(t) {
			out := filepath.Join(dir, "out.root")
			copyFile(t, out, base)
			inputs, flags := [2]string{a, b}, []string{"-q"}
			if wait {
				flags = append(flags, "--wait", "10m")
			}
			var both [2]*running
			for k, lines := range []string{pairA.lines(), pairB.lines()} {
				if random.IntN(2) == 0 {
					inputs[k] = "-"
				}
				both[k] = launch(t, dir, append([]string{"append", out, inputs[k]}, flags...)...)
				if inputs[k] == "-" {
					pause := time.Duration(random.Int64N(int64(20 * time.Millisecond)))
					go both[k].feed(lines, pause)
				}
				if k == 0 {
					time.Sleep(time.Duration(random.Int64N(int64(15 * time.Millisecond))))
				}
			}
			in := []numbers{pairBase}
			for k, entries := range []numbers{pairA, pairB} {
				if both[k].succeeded(t) {
					in = append(in, entries)
				}
			}
			if got, want := heldBy(t, out), of("n", in...); got != want {
				t.Fatalf("pair %d, %v, wait %v: %d succeeded, but the file has %+v, want %+v", i, inputs,
					wait, len(in)-1, got, want)
			}
			if len(in) < 2 || wait && len(in) < 3 {
				t.Errorf("pair %d, wait %v: %d succeeded: %s%s", i, wait, len(in)-1, &both[0].stderr, &both[1].stderr)
			}
			ends[fmt.Sprint(len(in)-1, " succeeded")]++
		}
		t.Logf("wait %v: %v", wait, ends)
	}
}

// An append beside another command that renames the RNTuple, or replaces the file, is
// before or after it, or one of them fails because of the other's lock.
func TestPairsOfOthers(t *testing.T) {
	dir := t.TempDir()
	base, a, schema := filepath.Join(dir, "base.root"), filepath.Join(dir, "a.root"), filepath.Join(dir, "schema.json")
	numbersFile(t, base, "n", numbersFields, pairBase.lines())
	numbersFile(t, a, "n", numbersFields, pairA.lines())
	schemaFile(t, schema, "n", numbersFields)
	random := rand.New(rand.NewPCG(13, 3))
	out := filepath.Join(dir, "out.root")
	for _, other := range []struct {
		args     []string
		name     string
		replaced []numbers // by
	}{
		{[]string{"rename", "--to", "new", out}, "new", []numbers{pairBase}},
		{[]string{"merge", "-q", "--force", out, a, base}, "n", []numbers{pairA, pairBase}},
		{[]string{"create", "-q", "--force", "--schema", schema, out}, "n", []numbers{pairA}},
	} {
		ends := map[string]int{}
		for i := range pairs(t) {
			copyFile(t, out, base)
			commands := [][]string{{"append", "-q", out, "-"}, other.args}
			first := random.IntN(2)
			var both [2]*running
			for _, k := range []int{first, 1 - first} {
				both[k] = launch(t, dir, commands[k]...)
				pause := time.Duration(random.Int64N(int64(20 * time.Millisecond)))
				go both[k].feed([]string{pairB.lines(), pairA.lines()}[k], pause)
				if k == first {
					time.Sleep(time.Duration(random.Int64N(int64(15 * time.Millisecond))))
				}
			}
			appended, done := both[0].succeeded(t), both[1].succeeded(t)
			var want []held
			alone := of(other.name, other.replaced...)
			switch {
			case appended && done:
				want = []held{of(other.name, append([]numbers{pairB}, other.replaced...)...)}
				if other.args[0] != "rename" {
					want = append(want, alone) // it replaced what was appended
				}
			case appended:
				want = []held{of("n", pairBase, pairB)}
			case done:
				want = []held{alone}
			default:
				t.Errorf("pair %d, %v: none succeeded: %s%s", i, other.args, &both[0].stderr, &both[1].stderr)
				want = []held{of("n", pairBase)}
			}
			if got := heldBy(t, out, other.name, "n"); !slices.Contains(want, got) {
				t.Fatalf("pair %d, %v: appended %v, done %v, but the file has %+v, want %+v", i, other.args,
					appended, done, got, want)
			}
			ends[fmt.Sprintf("appended %v, done %v", appended, done)]++
		}
		t.Logf("%v: %v", other.args[0], ends)
	}
}

// locked reports whether another process has a file locked.
func locked(t *testing.T, path string) bool {
	t.Helper()
	f, err := rntuple.UpdateFile(path, nil)
	if err != nil {
		if !strings.Contains(err.Error(), busy) {
			t.Fatal(err)
		}
		return true
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return false
}

// A file is not replaced under a process that is about to append to it; if it is
// nevertheless, that process fails.
func TestReplacedWhileAppending(t *testing.T) {
	dir := t.TempDir()
	out, base, a := filepath.Join(dir, "out.root"), filepath.Join(dir, "base.root"), filepath.Join(dir, "a.root")
	numbersFile(t, base, "n", numbersFields, pairBase.lines())
	numbersFile(t, a, "n", numbersFields, pairA.lines())
	for _, c := range []struct {
		what    string
		replace func() bool
		want    held
	}{
		{"merge --force", func() bool { return launch(t, dir, "merge", "-q", "--force", out, a).succeeded(t) },
			of("n", pairA)},
		{"mv", func() bool {
			moved := filepath.Join(dir, "moved.root")
			copyFile(t, moved, a)
			return os.Rename(moved, out) == nil
		}, of("n", pairA)},
	} {
		copyFile(t, out, base)
		appending := launch(t, dir, "append", "-q", "--wait", "1m", "--cluster-size", "1000", out, "-")
		lines := pairB.lines()
		io.WriteString(appending.stdin, lines)
		for begin := time.Now(); !locked(t, out); time.Sleep(time.Millisecond) {
			if time.Since(begin) > time.Minute {
				appending.stdin.Close()
				appending.Wait()
				t.Fatalf("the file is not locked: %s", &appending.stderr)
			}
		}
		replaced := c.replace()
		appending.stdin.Close()
		appending.Wait()
		switch appended := appending.ProcessState.ExitCode() == 0; {
		case appended && replaced:
			t.Errorf("%s: both succeeded", c.what)
		case !appended && !replaced:
			t.Errorf("%s: none succeeded: %s", c.what, &appending.stderr)
		case appended:
			c.want = of("n", pairBase, pairB)
		}
		if got := heldBy(t, out); got != c.want {
			t.Errorf("%s: the file has %+v, want %+v", c.what, got, c.want)
		}
		t.Logf("%s: replaced %v; %s", c.what, replaced, &appending.stderr)
	}
}
