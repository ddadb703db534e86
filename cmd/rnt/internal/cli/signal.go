package cli

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
)

// grace is the time that a command has to return after a signal. Most need less than a
// millisecond, but a write to a full pipe or the syncing of a disk can take any time.
const grace = 500 * time.Millisecond

// RunUntilSignal runs the tool and returns its exit status. After SIGINT or SIGTERM
// the command has grace to return; then it is left to die with the process, as by
// kill -9, but temporary files are removed. A second signal ends the process at once.
//
// The command decides what a signal does to its output: one that was delivered before
// the commit stops it, whether or not the goroutine here has learned of it, because the
// command looks for signals itself just before. After that the output is complete, and
// the status tells of the command's success, for which there is no limit of time.
func (t *Tool) RunUntilSignal(args []string) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals, unseen := notify(), notify()
	var mu sync.Mutex
	look := func() {
		mu.Lock()
		defer mu.Unlock()
		deliverSignals()
		select {
		case s := <-unseen:
			cancel(SignalError{s})
		default:
		}
	}
	t.Input.look = look
	ctx = diskfile.WithLastLook(ctx, func(path string) {
		if look(); ctx.Err() == nil {
			t.Output.commit(path)
		}
	})
	status := make(chan int, 1)
	go func() { status <- t.Run(ctx, args) }()
	select {
	case s := <-status:
		return s
	case s := <-signals:
		signal.Stop(signals)
		signal.Stop(unseen)
		stopped := SignalError{s}
		cancel(stopped)
		select {
		case s := <-status:
			return s
		case <-time.After(t.Grace):
		}
		if t.Output.isCommitted() {
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
func (t *Tool) abandon(stopped SignalError) int {
	tempfile.RemoveAll()
	said := make(chan struct{})
	go func() {
		fmt.Fprintf(t.Stderr, "rnt: %v%s\n", stopped, t.Output.fate(true))
		close(said)
	}()
	select {
	case <-said:
	case <-time.After(t.Grace / 5): // standard error may be what is blocked
	}
	return stopped.status()
}

// afterEnd is how long a signal may arrive after the end of standard input. Ctrl-C
// also ends the program that writes to standard input, so that the end arrives at the
// same time; it must not be taken for a regular one.
const afterEnd = 50 * time.Millisecond

// Stdin returns a reader of standard input whose Read fails once ctx is
// done, even while no input arrives.
func (in *Input) Stdin(ctx context.Context) io.Reader {
	r, w := io.Pipe()
	context.AfterFunc(ctx, func() { w.CloseWithError(context.Cause(ctx)) })
	go func() {
		_, err := io.Copy(w, in.stdin)
		if err == nil && isPipe(in.stdin) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(afterEnd):
			}
		}
		if in.look != nil {
			in.look()
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
