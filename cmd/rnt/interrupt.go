package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/disk/diskfile"
	"github.com/go-rntuple/go-rntuple/internal/disk/tempfile"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/schema"
)

// grace is the time that a command has to return after a signal. Most need less than a
// millisecond, but a write to a full pipe or the syncing of a disk can take any time. It is
// a variable for tests.
var grace = 500 * time.Millisecond

// runUntilSignal runs the tool and returns its exit status. After SIGINT or SIGTERM
// the command has grace to return; then it is left to die with the process, as by
// kill -9, but temporary files are removed. A second signal ends the process at once.
//
// The command decides what a signal does to its output: one that was delivered before
// the commit stops it, whether or not the goroutine here has learned of it, because the
// command looks for signals itself just before. After that the output is complete, and
// the status tells of the command's success, for which there is no limit of time.
func (t *tool) runUntilSignal(args []string) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals, unseen := notify(), notify()
	var mu sync.Mutex
	t.look = func() {
		mu.Lock()
		defer mu.Unlock()
		deliverSignals()
		select {
		case s := <-unseen:
			cancel(signalError{s})
		default:
		}
	}
	ctx = diskfile.WithLastLook(ctx, func(path string) {
		if t.look(); ctx.Err() == nil {
			t.output.commit(path)
		}
	})
	status := make(chan int, 1)
	go func() { status <- t.run(ctx, args) }()
	select {
	case s := <-status:
		return s
	case s := <-signals:
		signal.Stop(signals)
		signal.Stop(unseen)
		stopped := signalError{s}
		cancel(stopped)
		select {
		case s := <-status:
			return s
		case <-time.After(grace):
		}
		if t.output.isCommitted() {
			return <-status
		}
		return t.abandon(stopped)
	}
}

// notify returns a channel that gets the first signal which stops the tool.
func notify() chan os.Signal {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	return c
}

// deliverSignals returns once each signal that has reached the process is in the
// channels which want it.
func deliverSignals() {
	takePending()
	signal.Stop(notify()) // waits until the runtime has passed on what it took
}

// abandon ends the tool while its command is still running, and returns the exit
// status.
func (t *tool) abandon(stopped signalError) int {
	tempfile.RemoveAll()
	said := make(chan struct{})
	go func() {
		fmt.Fprintf(t.stderr, "rnt: %v%s\n", stopped, t.output.fate(true))
		close(said)
	}()
	select {
	case <-said:
	case <-time.After(grace / 5): // standard error may be what is blocked
	}
	return stopped.status()
}

// output is the file that a command makes or changes. It is safe for concurrent use.
type output struct {
	mu     sync.Mutex
	kind   outputKind
	path   string
	before os.FileInfo // of the file that was there, or nil

	committed bool // or about to be; nothing stops that any more
}

type outputKind int

const (
	noOutput outputKind = iota
	newFile             // made under another name, and then given its own
	parts               // several new files
	updated             // an existing file, changed where it is
)

// begin says what the command is going to write.
func (o *output) begin(kind outputKind, path string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kind, o.path, o.committed = kind, path, false
	o.before, _ = os.Stat(path)
}

// done says that it is written, so that a message need not tell its fate.
func (o *output) done() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kind = noOutput
}

// commit says that the file at path is about to be committed. What is uploaded can still
// be interrupted, and parts are not complete with the first.
func (o *output) commit(path string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if path == o.path && !remote.IsURL(path) && (o.kind == newFile || o.kind == updated) {
		o.committed = true
	}
}

func (o *output) isCommitted() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.committed
}

// fate says, for the message after a signal, what has become of the output. The
// command is still running if running is set.
func (o *output) fate(running bool) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	now, err := os.Stat(o.path)
	replaced := err == nil && (o.before == nil || !os.SameFile(o.before, now))
	switch name := schema.Printable(remote.Redact(o.path)); {
	case o.kind == newFile && remote.IsURL(o.path):
		return fmt.Sprintf("; %s was not written, or is complete", name)
	case o.kind == newFile && !replaced:
		return fmt.Sprintf("; %s was not written", name)
	case o.kind == parts && !running:
		return fmt.Sprintf("; %s were not written", name)
	case o.kind == parts:
		return fmt.Sprintf("; some of %s may have been written", name)
	case o.kind == updated && !running && !o.committed:
		return fmt.Sprintf("; %s is as it was", name)
	case o.kind == updated:
		return fmt.Sprintf("; %s is as it was, or complete", name)
	}
	return ""
}

// afterEnd is how long a signal may arrive after the end of standard input. Ctrl-C
// also ends the program that writes to standard input, so that the end arrives at the
// same time; it must not be taken for a regular one.
const afterEnd = 50 * time.Millisecond

// interruptible returns a reader of standard input whose Read fails once ctx is
// done, even while no input arrives.
func (t *tool) interruptible(ctx context.Context) io.Reader {
	r, w := io.Pipe()
	context.AfterFunc(ctx, func() { w.CloseWithError(context.Cause(ctx)) })
	go func() {
		_, err := io.Copy(w, t.stdin)
		if err == nil && isPipe(t.stdin) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(afterEnd):
			}
		}
		if t.look != nil {
			t.look()
		}
		if ctx.Err() == nil {
			w.CloseWithError(err) // nil is io.EOF
		}
	}()
	return r
}

// isPipe reports whether a stream comes from another program.
func isPipe(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}
