package cli

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
	ExitOK      = 0
	ExitError   = 1
	ExitUsage   = 2
	ExitSkipped = 3 // all is done but what messages name
	ExitSignal  = 128
)

// A UsageError reports wrong arguments.
type UsageError string

func (e UsageError) Error() string { return string(e) }

// A StatusError is an error with an exit status of its own.
type StatusError struct {
	Err    error // nil: the results have said it, and nothing is printed
	Status int
	Done   bool // the results are complete all the same
}

func (e *StatusError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("status %d", e.Status)
	}
	return e.Err.Error()
}

func (e *StatusError) Unwrap() error { return e.Err }

// A SignalError is the cause of a context that a signal cancels.
type SignalError struct{ os.Signal }

func (e SignalError) Error() string {
	if e.Signal == syscall.SIGTERM {
		return "terminated"
	}
	return "interrupted"
}

func (e SignalError) status() int {
	if s, ok := e.Signal.(syscall.Signal); ok {
		return ExitSignal + int(s)
	}
	return ExitError
}

// exit prints the error that a command ended with and returns the exit status.
func (t *Tool) exit(ctx context.Context, cmd *cobra.Command, err error) int {
	var stopped SignalError
	var own *StatusError
	errors.As(err, &own)
	switch {
	case err == nil && t.Report.Incomplete:
		return ExitSkipped
	case err == nil:
		return ExitOK
	case !t.running || errors.As(err, new(UsageError)):
		// Before a command runs, only the parsing of its arguments can fail.
		t.Report.complain(err)
		fmt.Fprintf(t.Stderr, "usage: %s\nRun '%s --help' for details.\n", cmd.UseLine(), cmd.CommandPath())
		return ExitUsage
	case own != nil && own.Err == nil:
		return own.Status
	case errors.As(context.Cause(ctx), &stopped):
		t.Report.complain(fmt.Errorf("%w%s", stopped, t.Output.fate(false)))
		return stopped.status()
	case errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe):
		return ExitError // whoever reads the output has seen enough
	}
	t.Report.complain(err)
	if own != nil {
		return own.Status
	}
	return ExitError
}
