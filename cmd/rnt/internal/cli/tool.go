package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// A Tool is one run of the program: what its commands share.
type Tool struct {
	Out            *bufio.Writer // results; flushed at the end
	Stdout, Stderr io.Writer     // what lies below Out, and where messages go
	Report         *Reporter
	Input          *Input
	Output         *Output
	Grace          time.Duration // that a command has to return after a signal

	families  []Family
	jobs      int
	running   bool   // a command has begun, so its arguments are in order
	operation string // the command that has begun
}

// A Family returns commands that belong together.
type Family func(*Tool) []*cobra.Command

// New returns a tool with the commands of families.
func New(stdin io.Reader, stdout, stderr io.Writer, families ...Family) *Tool {
	t := &Tool{Out: bufio.NewWriterSize(stdout, 64<<10), Stdout: stdout, Stderr: stderr, Grace: grace, families: families,
		Report: &Reporter{w: stderr}}
	t.Input = &Input{stdin: stdin, report: t.Report}
	t.Output = &Output{input: t.Input}
	return t
}

// Run runs the command that args name and returns the exit status.
func (t *Tool) Run(ctx context.Context, args []string) int {
	defer t.Input.close()
	root := t.Command()
	root.SetArgs(shortCount(root, args))
	cmd, err := t.execute(ctx, root)
	t.Input.remote.printStats(t.Stderr)
	var status *StatusError
	if flushed := t.Out.Flush(); flushed != nil && (err == nil || errors.As(err, &status) && status.Done) {
		err = flushed
	}
	return t.exit(ctx, cmd, err)
}

// execute runs the command that root finds. A panic is an error without a trace, which is printed
// if the environment variable GOTRACEBACK is set.
func (t *Tool) execute(ctx context.Context, root *cobra.Command) (cmd *cobra.Command, err error) {
	defer func() {
		if value := recover(); value != nil {
			text, _, _ := strings.Cut(fmt.Sprint(value), "\n")
			cmd, err = root, fmt.Errorf("internal error in %q: %s; set GOTRACEBACK=all to print a stack trace",
				t.operation, text)
			if os.Getenv("GOTRACEBACK") != "" {
				fmt.Fprintf(t.Stderr, "%v\n\n%s", value, debug.Stack())
			}
		}
	}()
	return root.ExecuteContextC(ctx)
}
