//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/internal/disk/diskfile"
)

// A process is the real program in a folder of its own, which is also that of its
// temporary files.
type process struct {
	*exec.Cmd
	t              *testing.T
	stdout, stderr bytes.Buffer
	kill           *time.Timer // in case that it hangs
}

// start starts the tool in dir. Its output is kept unless stdout is set.
func start(t *testing.T, dir string, stdin io.Reader, stdout *os.File, args ...string) *process {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.Command(program, args...), t: t}
	p.Dir, p.Env, p.Stdin = dir, append(os.Environ(), "RNT_TEST_AS_TOOL=1", "TMPDIR="+dir), stdin
	p.Stdout, p.Stderr = &p.stdout, &p.stderr
	if stdout != nil {
		p.Stdout = stdout
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	p.kill = time.AfterFunc(time.Minute, func() {
		t.Errorf("%v hangs", args)
		p.Process.Kill()
	})
	return p
}

// result waits for the end and returns the exit status, or that which shells give a
// process that a signal ended, with which no handler could deal.
func (p *process) result() (status int, bySignal bool) {
	p.Wait()
	p.kill.Stop()
	if w := p.ProcessState.Sys().(syscall.WaitStatus); w.Signaled() {
		return exitSignal + int(w.Signal()), true
	}
	return p.ProcessState.ExitCode(), false
}

// settle waits until the processes wait for something: until all of their threads sleep, and
// have not run for a while. A thread that waits for a processor does not sleep.
func settle(all ...*process) {
	if runtime.GOOS != "linux" {
		time.Sleep(2 * time.Second)
		return
	}
	for last, quiet := "", 0; quiet < 5; time.Sleep(10 * time.Millisecond) {
		now, asleep := "", true
		for _, p := range all {
			dir := fmt.Sprintf("/proc/%d/task", p.Process.Pid)
			threads, _ := os.ReadDir(dir)
			for _, thread := range threads {
				b, _ := os.ReadFile(filepath.Join(dir, thread.Name(), "status"))
				_, state, _ := strings.Cut(string(b), "\nState:\t")
				asleep = asleep && strings.HasPrefix(state, "S")
				_, switches, _ := strings.Cut(state, "\nvoluntary_ctxt_switches:")
				now += switches
			}
		}
		if quiet++; now != last || !asleep {
			last, quiet = now, 0
		}
	}
}

var stopping = map[syscall.Signal]struct {
	status int
	word   string
}{
	syscall.SIGINT:  {130, "interrupted"},
	syscall.SIGTERM: {143, "terminated"},
}

// interruptedCommands are all commands that read files, with what is said of their
// output after a signal.
var interruptedCommands = []struct{ args, fate string }{
	{"ls IN", ""}, {"schema IN", ""}, {"cat IN", ""}, {"head -80000 IN", ""}, {"stat IN", ""},
	{"attrs IN", ""}, {"verify IN", ""},
	{"dump IN --page-lists", ""}, {"diff IN IN", ""},
	{"recover out.root IN", "; out.root was not written"},
	{"merge out.root IN IN --level recompress --compression lzma:1", "; out.root was not written"},
	{"merge --into old.root IN --max-level rewrite", "; old.root is unchanged"},
	{"append old.root IN IN", "; old.root is unchanged"},
	{"slim --fields Muon_* out.root IN", "; out.root was not written"},
	{"skim --where nMuon>2 out.root IN", "; out.root was not written"},
	{"concat out.root IN[5:] IN", "; out.root was not written"},
	{"split --entries 9999 out.root IN", "; out-%d.root were not written"},
	{"hmerge --prefix a,b out.root IN IN", "; out.root was not written"},
	{"repack --force --page-size 10000 old.root IN", "; old.root was not written"},
	{"rename --to New old.root", "; old.root is unchanged"},
	{"index old.root", "; old.root is unchanged"},
	{"rename --to New --out out.root IN", "; out.root was not written"},
}

// state says what the files in a folder hold, each of which must be sound.
func state(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range files {
		switch path := filepath.Join(dir, f.Name()); {
		case !f.Type().IsRegular():
		case filepath.Ext(path) == ".root":
			var problems strings.Builder
			if status := tool.Run(t.Context(), []string{"verify", path}, nil, &problems, &problems); status != exitOK {
				t.Errorf("%s", &problems)
			}
			all[f.Name()] = rnt(t, "ls", path)
		default:
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all[f.Name()] = string(content)
		}
	}
	return all
}

// newFolder returns a folder with a file old.root, a schema, and a FIFO to which nobody
// writes, which no command waits for.
func newFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	content, err := os.ReadFile(dimuon)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "old.root"), content, 0o644)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "schema.json"), []byte(`{"name": "n", "fields": [`+leftFields+`]}`), 0o644)
	}
	if err == nil {
		err = syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// argumentsOf returns the arguments in a line, in which IN stands for a path that may have
// spaces.
func argumentsOf(line, in string) []string {
	args := strings.Fields(line)
	for i := range args {
		args[i] = strings.Replace(args[i], "IN", in, 1)
	}
	return args
}

// A signal at any time leaves the files as they were, or as they are without it.
func TestSignalAnyTime(t *testing.T) {
	in, err := filepath.Abs(dimuon)
	if err != nil {
		t.Fatal(err)
	}
	runs, commands := 6, interruptedCommands
	rnd := rand.New(rand.NewPCG(13, 5))
	if testing.Short() {
		runs, commands = 2, nil
		for i := range 5 {
			commands = append(commands, interruptedCommands[9+2*i])
		}
	}
	stopped := 0
	t.Setenv("RNT_TEST_GRACE", "1h")
	for _, c := range commands {
		args := argumentsOf(c.args, in)
		dir := newFolder(t)
		old := state(t, dir)
		begin := time.Now()
		p := start(t, dir, nil, nil, args...)
		if status, _ := p.result(); status != exitOK {
			t.Fatalf("%v: status %d, %s", args, status, &p.stderr)
		}
		took, complete := time.Since(begin), state(t, dir)
		for i := range runs {
			s := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}[i%2]
			dir := newFolder(t)
			p := start(t, dir, nil, nil, args...)
			time.Sleep(time.Duration(rnd.Float64() * float64(took)))
			p.Process.Signal(s)
			status, early := p.result()
			want, now := complete, state(t, dir)
			if status != exitOK {
				stopped++
				want = old
				// Before it has begun with an output, it says nothing of that.
				line, short := fmt.Sprintf("rnt: %s%s\n", stopping[s].word, c.fate), fmt.Sprintf("rnt: %s\n", stopping[s].word)
				if said := p.stderr.String(); status != stopping[s].status || !early && said != line && said != short {
					t.Errorf("%v, %v: status %d, %q", args, s, status, said)
				}
			}
			if !maps.Equal(now, want) {
				t.Errorf("%v, %v, status %d: there are\n%v\nwant\n%v", args, s, status, now, want)
			}
		}
	}
	t.Logf("%d of %d runs were stopped", stopped, runs*len(commands))
	if stopped == 0 {
		t.Error("no run was stopped")
	}
}

// blockedCommands wait for standard input, and the last one for somebody to read its
// output.
var blockedCommands = []struct{ args, stdin, fate string }{
	{"create --schema schema.json out.root", "", "; out.root was not written"},
	{"create --schema schema.json out.root", leftLines, "; out.root was not written"},
	{"create --schema schema.json out.root", leftLines + `{"a":`, "; out.root was not written"},
	{"append old.root -", "{", "; old.root is unchanged"},
	{"ls -", "root", ""}, {"schema -", "root", ""}, {"cat -", "", ""}, {"head -", "root", ""}, {"stat -", "root", ""},
	{"attrs -", "root", ""},
	{"verify -", "root", ""}, {"dump -", "root", ""}, {"diff IN -", "root", ""}, {"merge out.root IN -", "root", ""},
	{"recover out.root -", "root", ""},
	{"slim --drop run out.root -", "root", ""}, {"skim --where run>1 out.root -", "root", ""},
	{"concat out.root -", "root", ""},
	{"split --entries 1 out.root -", "root", ""}, {"hmerge out.root -", "root", ""}, {"repack out.root -", "root", ""},
	{"rename --to n --out out.root -", "root", ""},
	{"cat IN > full pipe", "", ""},
}

// A command that waits for something stops, too.
func TestSignalBlocked(t *testing.T) {
	in, err := filepath.Abs(dimuon)
	if err != nil {
		t.Fatal(err)
	}
	for s, want := range stopping {
		if testing.Short() && s != syscall.SIGINT {
			continue
		}
		var all []*process
		var pipes []*os.File
		pipe := func() (r, w *os.File) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			pipes = append(pipes, r, w)
			return r, w
		}
		for _, c := range blockedCommands {
			args, full := strings.CutSuffix(c.args, " > full pipe")
			var to *os.File
			if full {
				_, to = pipe()
			}
			// What waits for input ends by itself, however slow the machine is. The other has a
			// fifth of the time to say that it ends.
			grace := "1h"
			if full {
				grace = "3s"
			}
			t.Setenv("RNT_TEST_GRACE", grace)
			stdin, feed := pipe()
			all = append(all, start(t, newFolder(t), stdin, to, argumentsOf(args, in)...))
			if _, err := io.WriteString(feed, c.stdin); err != nil {
				t.Fatal(err)
			}
		}
		settle(all...)
		for _, p := range all {
			p.Process.Signal(s)
		}
		for i, p := range all {
			c := blockedCommands[i]
			status, _ := p.result()
			if line := fmt.Sprintf("rnt: %s%s\n", want.word, c.fate); status != want.status || p.stderr.String() != line {
				t.Errorf("%v, %v: status %d, %q, want %q", c.args, s, status, &p.stderr, line)
			}
			if now := state(t, p.Dir); len(now) != 2 || !strings.Contains(now["old.root"], "80,000") {
				t.Errorf("%v, %v: there are %v", c.args, s, now)
			}
		}
		for _, f := range pipes {
			f.Close()
		}
	}
}

// A FIFO is no input, however it is named: no command waits for somebody to write to it.
func TestFIFO(t *testing.T) {
	in, err := filepath.Abs(dimuon)
	if err != nil {
		t.Fatal(err)
	}
	planned := filepath.Join(t.TempDir(), "plan.json")
	rnt(t, "plan", planned, in)
	plan, err := os.ReadFile(planned)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"create --schema fifo out.root", "cat fifo", "ls fifo", "verify fifo", "merge out.root IN fifo",
		"append old.root fifo", "recover out.root fifo",
		"merge out.root @fifo", "convert fifo out.root", "convert --from csv fifo out.root",
		"convert --from jsonl fifo out.root", "convert --from parquet fifo out.root",
		"convert --from arrow fifo out.root", "convert --from ttree fifo out.root", "skim --where run>1 --unit 0 . plan.json",
		"index fifo", "rename --to n fifo",
		"skim --where run>1 --unit 0 . fifo",
	} {
		dir := newFolder(t)
		text := strings.ReplaceAll(string(plan), in, filepath.Join(dir, "fifo"))
		if err := os.WriteFile(filepath.Join(dir, "plan.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p := start(t, dir, nil, nil, argumentsOf(args, in)...)
		if status, _ := p.result(); status != exitError && status != exitUsage ||
			!strings.Contains(p.stderr.String(), "not a regular file") {
			t.Errorf("%s: status %d, %q", args, status, &p.stderr)
		}
	}
}

// Ctrl-C ends the program that writes to standard input, too, whose end must not pass
// for that of the entries.
func TestSignalToPipeline(t *testing.T) {
	runs := 20
	if testing.Short() {
		runs = 4
	}
	t.Setenv("RNT_TEST_GRACE", "1h")
	for range runs {
		dir := newFolder(t)
		stdin, feed, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		p := start(t, dir, stdin, nil, "create", "--schema", "schema.json", "out.root")
		io.WriteString(feed, leftLines)
		settle(p)
		p.Process.Signal(syscall.SIGINT)
		feed.Close()
		status, _ := p.result()
		stdin.Close()
		if now := state(t, dir); status != 130 || len(now) != 2 ||
			p.stderr.String() != "rnt: interrupted; out.root was not written\n" {
			t.Errorf("status %d, %q, %d files", status, &p.stderr, len(now))
		}
	}
}

// The moments of a command at which a test sends it a signal: before the n-th operation
// of a kind on the disk.
var moments = map[string]diskfile.OpKind{"write": diskfile.WriteOp, "sync": diskfile.SyncOp,
	"rename": diskfile.RenameOp, "syncdir": diskfile.SyncDirOp}

func init() {
	prepareTool = func(tool *cli.Tool) {
		if d, err := time.ParseDuration(os.Getenv("RNT_TEST_GRACE")); err == nil {
			tool.Grace = d
		}
		if moment := os.Getenv("RNT_TEST_SIGNAL_AT"); moment != "" {
			signalAt(moment)
		}
	}
}

// signalAt has the process interrupt itself at a moment, such as "2 sync".
func signalAt(moment string) {
	var n int64
	var name string
	fmt.Sscan(moment, &n, &name)
	left := &atomic.Int64{}
	left.Store(n)
	diskfile.Hook = func(op diskfile.Op) (int, error) {
		if op.Kind == moments[name] && (name != "write" || op.Off == 0) && left.Add(-1) == 0 {
			syscall.Kill(os.Getpid(), syscall.SIGINT)
		}
		return 0, nil
	}
}

// A signal before the commit stops the command, and a later one does not change that it
// has succeeded. There is no time for the signal to go its way.
func TestSignalAtCommit(t *testing.T) {
	in, err := filepath.Abs(dimuon)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, before, after, fate string }{
		{"slim --fields Muon_pt out.root IN", "1 sync", "1 rename", "; out.root was not written"},
		{"slim --fields Muon_pt out.root IN", "1 sync", "1 syncdir", "; out.root was not written"},
		{"repack --force --page-size 10000 old.root IN", "1 sync", "1 rename", "; old.root was not written"},
		{"convert --to csv --fields run IN out.csv", "1 sync", "1 rename", "; out.csv was not written"},
		{"rename --to New old.root", "1 sync", "1 write", "; old.root is unchanged"}, // of the head
		{"rename --to New old.root", "1 sync", "2 sync", "; old.root is unchanged"},
		{"append old.root IN", "1 sync", "1 write", "; old.root is unchanged"},
		{"index old.root", "1 sync", "1 write", "; old.root is unchanged"},
	} {
		t.Setenv("RNT_TEST_GRACE", "1h")
		at := func(moment string) (status int, said string, now map[string]string) {
			t.Setenv("RNT_TEST_SIGNAL_AT", moment)
			p := start(t, newFolder(t), nil, nil, argumentsOf(c.args, in)...)
			status, _ = p.result()
			return status, p.stderr.String(), state(t, p.Dir)
		}
		old := state(t, newFolder(t))
		_, _, complete := at("")
		if status, said, now := at(c.before); status != 130 || said != "rnt: interrupted"+c.fate+"\n" ||
			!maps.Equal(now, old) {
			t.Errorf("%s, before the commit: status %d, %q, there are\n%v\nwant\n%v", c.args, status, said, now, old)
		}
		if status, said, now := at(c.after); status != exitOK || said != "" || !maps.Equal(now, complete) {
			t.Errorf("%s, with the commit: status %d, %q, there are\n%v\nwant\n%v", c.args, status, said, now, complete)
		}
	}
}

// A second signal ends the program at once, although it has not cleaned up.
func TestSecondSignal(t *testing.T) {
	in, err := filepath.Abs(dimuon)
	if err != nil {
		t.Fatal(err)
	}
	r, full, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer full.Close()
	t.Setenv("RNT_TEST_GRACE", "1h")
	p := start(t, newFolder(t), nil, full, "cat", in)
	settle(p)
	p.Process.Signal(syscall.SIGINT)
	settle(p) // it waits for the command, which waits for somebody to read its output
	p.Process.Signal(syscall.SIGINT)
	if status, bySignal := p.result(); status != 130 || !bySignal || p.stderr.Len() > 0 {
		t.Errorf("status %d, by the signal: %v, %q", status, bySignal, &p.stderr)
	}
}
