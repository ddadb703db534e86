package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/schema"
)

// The exit statuses. After a signal it is exitSignal plus the signal's number, as
// in shells.
const (
	exitOK      = 0
	exitError   = 1
	exitUsage   = 2
	exitSkipped = 3 // all is done but what messages name
	exitSignal  = 128
)

// A usageError reports wrong arguments.
type usageError string

func (e usageError) Error() string { return string(e) }

// A signalError is the cause of a context that a signal cancels.
type signalError struct{ os.Signal }

func (e signalError) Error() string {
	if e.Signal == syscall.SIGTERM {
		return "terminated"
	}
	return "interrupted"
}

func (e signalError) status() int {
	if s, ok := e.Signal.(syscall.Signal); ok {
		return exitSignal + int(s)
	}
	return exitError
}

// exit prints the error that a command ended with and returns the exit status.
func (t *tool) exit(ctx context.Context, cmd *cobra.Command, err error) int {
	var stopped signalError
	switch {
	case err == nil && t.incomplete:
		return exitSkipped
	case err == nil:
		return exitOK
	case !t.running || errors.As(err, new(usageError)):
		// Before a command runs, only the parsing of its arguments can fail.
		t.complain(err)
		fmt.Fprintf(t.stderr, "usage: %s\nMore with: %s --help\n", cmd.UseLine(), cmd.CommandPath())
		return exitUsage
	case errors.Is(err, errDiffer):
		return exitError
	case errors.As(context.Cause(ctx), &stopped):
		t.complain(fmt.Errorf("%w%s", stopped, t.output.fate(false)))
		return stopped.status()
	case errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe):
		return exitError // whoever reads the output has seen enough
	}
	t.complain(err)
	switch {
	case errors.As(err, new(troubleError)):
		return exitUsage
	case errors.As(err, new(skippedError)):
		return exitSkipped
	}
	return exitError
}

// complain prints an error. Joined errors get a line each, and so do the items of a
// list, which are indented.
func (t *tool) complain(err error) {
	text := withAdvice(err.Error())
	if t.spooled != "" {
		text = strings.ReplaceAll(text, t.spooled, stdinName)
	}
	for path, url := range t.copies {
		text = strings.ReplaceAll(text, path, url)
	}
	for line := range strings.SplitSeq(text, "\n") {
		prefix := "rnt: "
		if item, ok := strings.CutPrefix(line, "\t"); ok {
			prefix, line = "  ", item
		}
		// Messages may quote bytes of the file, which must not control the
		// terminal.
		fmt.Fprintf(t.stderr, "%s%s\n", prefix, schema.Printable(line))
	}
}

// warn prints a warning, unless --quiet is set.
func (t *tool) warn(format string, args ...any) { t.note("warning: "+format, args...) }

// leave warns that something was left out, which the exit status says, too.
func (t *tool) leave(format string, args ...any) {
	t.incomplete = true
	t.warn(format, args...)
}

// note prints a remark, unless --quiet is set.
func (t *tool) note(format string, args ...any) {
	if !t.quiet {
		t.complain(fmt.Errorf(format, args...))
	}
}
