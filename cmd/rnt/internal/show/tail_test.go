package show

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

func TestTail(t *testing.T) {
	const (
		fields = "--fields=run,event"
		last   = `{"run":194125,"event":598313}` + "\n" + `{"run":194125,"event":598905}` + "\n" // uproot's values
	)
	clitest.Compare(t, tool.RNT(t, "tail", dimuon, fields, "-n", "2"), last)
	clitest.Compare(t, tool.RNT(t, "tail", "-2", dimuon, "Events", fields), last)
	clitest.Compare(t, tool.RNT(t, "tail", dimuon, "-n0"), "")
	if n := strings.Count(tool.RNT(t, "tail", dimuon), "\n"); n != 10 {
		t.Errorf("tail prints %d lines", n)
	}
	if n := strings.Count(tool.RNT(t, "tail", dimuon, fields, "--count", "99999999"), "\n"); n != 80000 {
		t.Errorf("tail prints %d lines of all", n)
	}
	for _, test := range []struct{ args, want string }{
		{"tail", "rnt: missing argument FILE"},
		{"tail -F -", "rnt: standard input: cannot follow it"},
		{"tail --interval 0s x", "rnt: --interval must be positive"},
		{"tail -F nowhere.root", "rnt: stat nowhere.root: "},
		{"tail -F " + dimuon + " other", "rnt: " + dimuon + `: RNTuple "other": not found`},
	} {
		if _, stderr, status := tool.Try(strings.Fields(test.args)...); status == cli.ExitOK ||
			!strings.HasPrefix(stderr, test.want) {
			t.Errorf("rnt %s: status %d, %s", test.args, status, stderr)
		}
	}
}

// TestFollow follows a file to which a writer adds entries, then another one of the same
// name, until a signal comes.
func TestFollow(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be replaced on Windows")
	}
	path := filepath.Join(t.TempDir(), "x.root")
	type entry struct{ X int }
	next := 0
	create := func() *rntuple.Writer[entry] {
		w, err := rntuple.Create[entry](path, "n", nil)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	add := func(w *rntuple.Writer[entry], n int) {
		t.Helper()
		for range n {
			if err := w.Write(&entry{next}); err != nil {
				t.Fatal(err)
			}
			next++
		}
		if err := w.Checkpoint(); err != nil {
			t.Fatal(err)
		}
	}
	w := create()
	add(w, 5)

	ctx, cancel := context.WithCancelCause(t.Context())
	out, in := io.Pipe()
	var stderr strings.Builder
	ended := make(chan int, 1)
	go func() {
		ended <- tool.Run(ctx, []string{"tail", "-F", "-2", path, "--interval", "1ms"}, strings.NewReader(""), in, &stderr)
		in.Close()
	}()
	lines := bufio.NewScanner(out)
	want := func(first, end int) {
		t.Helper()
		for i := first; i < end; i++ {
			if !lines.Scan() {
				t.Fatalf("the output ends before entry %d: %v, %s", i, lines.Err(), stderr.String())
			}
			if line := fmt.Sprintf(`{"X":%d}`, i); lines.Text() != line {
				t.Fatalf("got %s, want %s", lines.Text(), line)
			}
		}
	}
	want(3, 5)
	for range 5 {
		add(w, 3)
		want(next-3, next)
	}
	if err := w.Write(&entry{next}); err != nil {
		t.Fatal(err)
	}
	next++
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want(next-1, next)
	w = create() // replaces the file with the first checkpoint
	add(w, 4)
	want(next-4, next)
	add(w, 1)
	want(next-1, next)

	cancel(cli.SignalError{Signal: syscall.SIGINT})
	select {
	case status := <-ended:
		want := fmt.Sprintf("rnt: %s: the file was replaced\nrnt: interrupted\n", path)
		if status != 130 || stderr.String() != want {
			t.Errorf("status %d, %s; want %s", status, stderr.String(), want)
		}
	case <-time.After(time.Minute):
		t.Fatal("it goes on after the signal")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	removed := make(chan string, 1)
	out, last := io.Pipe()
	go func() {
		var stderr strings.Builder
		status := tool.Run(t.Context(), []string{"tail", "-F", "-1", path, "--interval=1ms"},
			strings.NewReader(""), last, &stderr)
		removed <- fmt.Sprint(status, " ", stderr.String())
	}()
	if _, err := out.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got, want := <-removed, fmt.Sprintf("1 rnt: %s: the file was removed\n", path); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
