package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/spf13/cobra"
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

// A statusError is an error with an exit status of its own.
type statusError struct {
	err    error // nil: the results have said it, and nothing is printed
	status int
	done   bool // the results are complete all the same
}

func (e *statusError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("status %d", e.status)
	}
	return e.err.Error()
}

func (e *statusError) Unwrap() error { return e.err }

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
	var own *statusError
	errors.As(err, &own)
	switch {
	case err == nil && t.report.incomplete:
		return exitSkipped
	case err == nil:
		return exitOK
	case !t.running || errors.As(err, new(usageError)):
		// Before a command runs, only the parsing of its arguments can fail.
		t.report.complain(err)
		fmt.Fprintf(t.stderr, "usage: %s\nMore with: %s --help\n", cmd.UseLine(), cmd.CommandPath())
		return exitUsage
	case own != nil && own.err == nil:
		return own.status
	case errors.As(context.Cause(ctx), &stopped):
		t.report.complain(fmt.Errorf("%w%s", stopped, t.output.fate(false)))
		return stopped.status()
	case errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe):
		return exitError // whoever reads the output has seen enough
	}
	t.report.complain(err)
	if own != nil {
		return own.status
	}
	return exitError
}
