package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The files that the killed commands read, and the one that they replace.
var (
	killIn  = numbers{0, 30000, 1}
	killOld = numbers{1_000_000, 1_000_100, 1}
)

// A killed is a command that is killed while it writes. Its arguments have OUT for
// what it makes or updates, IN for an RNTuple "n" of killIn, OTHER for one of the
// same numbers in other fields, SCHEMA for the schema of IN, and FORCE for --force
// where it replaces files.
type killed struct {
	what, args string
	lines      string // standard input
	idle       bool   // standard input does not end after them
	spool      bool   // standard input is the file IN
	update     bool   // OUT is an RNTuple of killIn
	fresh      bool   // OUT must not exist
	outs       []string
	want       []held // of the outputs in the end
}

func killCases() []killed {
	one := []string{"out.root"}
	odd := numbers{1, killIn.end, 2}
	both := of("n", killIn)
	both.sum *= 2
	return []killed{
		{what: "create", args: "create FORCE --schema SCHEMA OUT", lines: killIn.lines(), outs: one,
			want: []held{of("n", killIn)}},
		{what: "create from idle input", args: "create FORCE --cluster-size 10000 --schema SCHEMA OUT", lines: killIn.lines(),
			idle: true, outs: one},
		{what: "merge", args: "merge FORCE --level rewrite OUT IN IN", outs: one, want: []held{of("n", killIn, killIn)}},
		{what: "merge by copying", args: "merge FORCE OUT IN IN", outs: one, want: []held{of("n", killIn, killIn)}},
		{what: "slim", args: "slim FORCE --compression lzma:7 --fields x,v OUT IN", outs: one, want: []held{of("n", killIn)}},
		{what: "slim of standard input", args: "slim FORCE --compression lzma:7 --fields x,v OUT -", spool: true, outs: one,
			want: []held{of("n", killIn)}},
		{what: "skim", args: "skim FORCE --where x%2==1 OUT IN", outs: one, want: []held{of("n", odd)}},
		{what: "concat", args: "concat FORCE OUT IN[10:9000] IN[500:]", outs: one,
			want: []held{of("n", numbers{10, 9000, 1}, numbers{500, killIn.end, 1})}},
		{what: "split", args: "split --compression lzma:7 --entries 10000 OUT IN", fresh: true,
			outs: []string{"out-0.root", "out-1.root", "out-2.root"},
			want: []held{of("n", numbers{0, 10000, 1}), of("n", numbers{10000, 20000, 1}), of("n", numbers{20000, 30000, 1})}},
		{what: "hmerge", args: "hmerge FORCE --compression lzma:7 OUT IN OTHER", outs: one, want: []held{both}},
		{what: "repack", args: "repack FORCE --cluster-size 20000 --compression lzma:7 OUT IN", outs: one,
			want: []held{of("n", killIn)}},
		{what: "append", args: "append OUT IN", update: true, outs: one, want: []held{of("n", killIn, killIn)}},
		{what: "append lines", args: "append --cluster-size 10000 OUT -", update: true, lines: killIn.lines(), outs: one,
			want: []held{of("n", killIn, killIn)}},
		{what: "append idle lines", args: "append --cluster-size 10000 OUT -", update: true, lines: killIn.lines(),
			idle: true, outs: one},
		{what: "merge into", args: "merge --into --level rewrite OUT IN", update: true, outs: one,
			want: []held{of("n", killIn, killIn)}},
		{what: "rename", args: "rename --to new OUT", update: true, outs: one, want: []held{of("new", killIn)}},
		{what: "index", args: "index OUT", update: true, outs: one, want: []held{of("n", killIn)}},
		{what: "rename in a copy", args: "rename FORCE --to new --out OUT IN", outs: one, want: []held{of("new", killIn)}},
		{what: "convert", args: "convert FORCE --compression lzma:7 --fields x,v IN OUT", outs: one,
			want: []held{of("n", killIn)}},
		{what: "recover", args: "recover FORCE OUT IN", outs: one, want: []held{of("n", killIn)}},
	}
}

// Signals at random times, SIGKILL among them, leave each output of each command as
// it was or as it is to be, and nothing else. What SIGKILL leaves behind is removed by
// the next command that writes there.
func TestKilled(t *testing.T) {
	repeat := crashes(t)
	t.Setenv("RNT_TEST_GRACE", "10s") // the machine is busy
	dir := t.TempDir()
	in, other, old, schema := filepath.Join(dir, "in.root"), filepath.Join(dir, "other.root"),
		filepath.Join(dir, "old.root"), filepath.Join(dir, "schema.json")
	numbersFile(t, in, "n", numbersFields, killIn.lines())
	numbersFile(t, other, "n", otherFields, killIn.linesOf("z", "w"))
	numbersFile(t, old, "old", numbersFields, killOld.lines())
	schemaFile(t, schema, "n", numbersFields)
	var slowest slowest
	t.Run("commands", func(t *testing.T) {
		for _, c := range killCases() {
			t.Run(c.what, func(t *testing.T) {
				t.Parallel()
				k := &killer{killed: c, random: rand.New(rand.NewPCG(13, uint64(len(c.what)))), in: in, old: old, slowest: &slowest,
					names: strings.NewReplacer("IN", in, "OTHER", other, "SCHEMA", schema)}
				k.duration = min(k.run(t, 0, false, 0), k.run(t, 0, true, 0))
				for i := range repeat {
					for _, s := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT, syscall.SIGTERM} {
						k.run(t, s, i%2 == 1, time.Duration(k.random.Int64N(int64(k.duration))))
					}
				}
				t.Logf("%d runs: %v", len(k.ends), counted(k.ends))
			})
		}
	})
	t.Logf("the slowest reaction to SIGINT and SIGTERM: %v", slowest.d)
}

// A killer runs a command and kills it.
type killer struct {
	killed
	random   *rand.Rand
	names    *strings.Replacer
	in, old  string
	duration time.Duration // of an undisturbed run
	slowest  *slowest
	fed      chan struct{} // closed when idle standard input has no more lines
	ends     []string
}

// slowest is the longest of several durations.
type slowest struct {
	sync.Mutex
	d time.Duration
}

func (s *slowest) add(d time.Duration) {
	s.Lock()
	s.d = max(s.d, d)
	s.Unlock()
}

// run runs the command and sends it a signal after some time, unless that is 0, and
// returns how long it ran. If replace is set, there are files at the outputs, which it
// is to replace.
func (k *killer) run(t *testing.T, s syscall.Signal, replace bool, after time.Duration) time.Duration {
	t.Helper()
	dir, temp := t.TempDir(), t.TempDir()
	before, force, base := held{}, "", ""
	switch {
	case k.update:
		before, base = of("n", killIn), k.in
	case replace && !k.fresh:
		before, force, base = of("old", killOld), "--force", k.old
	}
	for _, out := range k.outs {
		copyFile(t, filepath.Join(dir, out), base)
	}
	args := strings.Fields(k.args)
	for i, arg := range args {
		switch arg {
		case "FORCE":
			args[i] = force
		case "OUT":
			args[i] = filepath.Join(dir, "out.root")
		default:
			args[i] = k.names.Replace(arg)
		}
	}
	cmd := another(t, temp, slices.DeleteFunc(args, func(a string) bool { return a == "" })...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stop := k.feed(t, cmd)
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	sent := begin
	if s != 0 {
		select {
		case err := <-done:
			done <- err
		case <-time.After(after):
			sent = time.Now()
			cmd.Process.Signal(s)
		}
	} else if k.idle {
		select {
		case err := <-done:
			done <- err
		case <-k.fed:
			stop()
		}
	}
	select {
	case <-done:
	case <-time.After(time.Minute):
		cmd.Process.Kill()
		t.Fatalf("%v after %v: it goes on for a minute", s, after)
	}
	stop()
	end := time.Now()
	if s == syscall.SIGINT || s == syscall.SIGTERM {
		k.slowest.add(end.Sub(sent))
	}

	// A command that does not return in time dies without knowing how far it has come.
	unsure := strings.Contains(stderr.String(), "is either unchanged or complete") ||
		strings.Contains(stderr.String(), "might have been written")
	what := fmt.Sprintf("%v after %v, replace %v", s, after, replace)
	how := ended(cmd)
	k.ends = append(k.ends, how)
	if want := []string{"0"}; how != "0" {
		switch s {
		case syscall.SIGINT:
			want = []string{"130", s.String()}
		case syscall.SIGTERM:
			want = []string{"143", s.String()}
		case syscall.SIGKILL:
			want = []string{s.String()}
		}
		if said := stderr.String(); !slices.Contains(want, how) || how == "130" &&
			!strings.HasPrefix(said, "rnt: interrupted") || how == "143" && !strings.HasPrefix(said, "rnt: terminated") {
			t.Errorf("%s: ended with %s, %q", what, how, said)
		}
	}
	// The outputs, and what else is there.
	left := names(t, dir)
	for i, out := range k.outs {
		got := heldBy(t, filepath.Join(dir, out))
		isOld, isNew := got == before, k.want != nil && got == k.want[i]
		if k.idle {
			isNew = got != before && how == "0" // its input ended
		}
		if how == "0" && !isNew || (how == "130" || how == "143") && !isOld && !unsure || !isOld && !isNew {
			t.Errorf("%s: ended with %s: %s has %+v", what, how, out, got)
		}
		left = slices.DeleteFunc(left, func(name string) bool { return name == out })
	}
	spooled := names(t, temp)
	if s == syscall.SIGKILL && how != "0" {
		for _, name := range left {
			if ok, _ := filepath.Match(".rntuple-*.tmp", name); !ok {
				t.Errorf("%s: left behind: %s", what, name)
			}
		}
		if len(left) > 0 {
			numbersFile(t, filepath.Join(dir, "next.root"), "n", numbersFields, "")
			left = slices.DeleteFunc(names(t, dir),
				func(name string) bool { return name == "next.root" || slices.Contains(k.outs, name) })
		}
	}
	if len(left) > 0 || len(spooled) > 0 {
		t.Errorf("%s: ended with %s: left behind: %q %q", what, how, left, spooled)
	}
	return end.Sub(begin)
}

// feed gives the process its standard input. The function that it returns ends it.
func (k *killer) feed(t *testing.T, cmd *exec.Cmd) (stop func()) {
	switch {
	case k.spool:
		f, err := os.Open(k.in)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdin = f
		return func() { f.Close() }
	case k.idle:
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdin = r
		fed := make(chan struct{})
		go func() {
			w.WriteString(k.lines)
			close(fed)
		}()
		k.fed = fed
		return sync.OnceFunc(func() { w.Close(); r.Close() })
	}
	cmd.Stdin = strings.NewReader(k.lines)
	return func() {}
}

// ended returns the exit status of a process, or the signal that it ended with.
func ended(cmd *exec.Cmd) string {
	if s := cmd.ProcessState.Sys().(syscall.WaitStatus); s.Signaled() {
		return s.Signal().String()
	}
	return fmt.Sprint(cmd.ProcessState.ExitCode())
}

// counted counts equal strings.
func counted(all []string) map[string]int {
	m := map[string]int{}
	for _, one := range all {
		m[one]++
	}
	return m
}
