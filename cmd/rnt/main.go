// Command rnt looks into RNTuples, the columnar data sets in ROOT files: which
// there are, what they hold, and what that costs. It can make them, too.
//
//	rnt ls FILE                 the RNTuples in a file
//	rnt schema FILE [NTUPLE]    the fields, their types and columns
//	rnt cat FILE [NTUPLE]       the entries, as JSON Lines
//	rnt head FILE [NTUPLE]      the first of them
//	rnt stat FILE [NTUPLE]      sizes on disk and in memory
//	rnt attrs FILE [NTUPLE]     what is said of ranges of entries
//	rnt verify FILE...          what is damaged
//	rnt dump FILE [NTUPLE]      its records, byte by byte
//	rnt recover IN OUT          what is left of a damaged file
//	rnt create --schema S OUT   a file of entries in JSON Lines
//	rnt merge OUT IN...         the entries of several, one after the other
//	rnt slim OUT IN             some of its fields
//	rnt skim --where E OUT IN   the entries that meet a condition
//	rnt concat OUT IN[A:B]...   ranges of entries, one after the other
//	rnt split OUT IN            several files with some entries each
//	rnt hmerge OUT IN...        the fields of several, side by side
//	rnt append INTO IN...       more entries, in the same file
//	rnt repack OUT IN           the same, stored in another way
//	rnt rename FILE [NTUPLE]    other names
//	rnt diff A B [NTUPLE]       in what two differ
//
// It ends with the status 0, with 1 after an error, or with 2 if it was called
// wrongly; diff with 1 if there are differences, and 2 after an error. Results go
// to standard output, all else to standard error.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/schema"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C does not wait
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// The exit statuses.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

// run runs the tool and returns its exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	t := &tool{out: bufio.NewWriterSize(stdout, 64<<10), stdout: stdout, stderr: stderr}
	root := t.command()
	root.SetIn(stdin)
	root.SetArgs(append([]string{}, args...)) // for nil, cobra would take os.Args
	cmd, err := root.ExecuteContextC(ctx)
	if flushed := t.out.Flush(); flushed != nil && (err == nil || errors.Is(err, errDiffer)) {
		err = flushed
	}
	switch {
	case err == nil:
		return exitOK
	case !t.running || errors.As(err, new(usageError)):
		// What fails before a command runs is the parsing of its arguments.
		fmt.Fprintf(stderr, "rnt: %v\nusage: %s\nMore with: %s --help\n", err, cmd.UseLine(), cmd.CommandPath())
		return exitUsage
	case errors.Is(err, errDiffer):
		return exitError
	case errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe):
		return exitError // whoever read the output has seen enough
	}
	status := exitError
	if errors.As(err, new(troubleError)) {
		status = exitUsage
	}
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	// Messages may quote the file, which must not get at the terminal.
	fmt.Fprintf(stderr, "rnt: %s\n", schema.Printable(oneLine.Replace(err.Error())))
	return status
}

// oneLine makes a line of a message that lists several things, a line each.
var oneLine = strings.NewReplacer(":\n\t", ": ", "\n\t", "; ", "\n", "; ")

// A usageError says that the tool was called wrongly.
type usageError string

func (e usageError) Error() string { return string(e) }

// tool is what the commands share.
type tool struct {
	out            *bufio.Writer // results; flushed by run
	stdout, stderr io.Writer
	running        bool // a command has begun: its arguments are in order
}

// command returns the root command with all others.
func (t *tool) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "rnt COMMAND",
		Short: "Look into the RNTuples of ROOT files, and make them",
		Long: "rnt shows which RNTuples a ROOT file holds, their schemas, entries and sizes.\n\n" +
			"NTUPLE is the name of an RNTuple, with directories and a cycle if need be:\n" +
			`"Events", "dir/Events", "Events;2". It may be left out if there is one at the` + "\n" +
			"top level of the file.",
		Version:          version(),
		SilenceErrors:    true,
		SilenceUsage:     true,
		PersistentPreRun: func(*cobra.Command, []string) { t.running = true },

		SuggestionsMinimumDistance: 2,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("which command? There are ls, schema, cat, head, stat, attrs, verify, dump, recover, create, merge, slim, skim, concat, split, hmerge, append, repack, rename, diff and completion")
			}
			if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
				return usageError(fmt.Sprintf("unknown command %q; did you mean %q?", args[0], like[0]))
			}
			return usageError(fmt.Sprintf("unknown command %q", args[0]))
		},
		RunE: func(*cobra.Command, []string) error { return nil }, // never: Args refuses all
	}
	// The root only looks runnable, so that Args is asked.
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "{{if .Runnable}}", "{{if and .Runnable .HasParent}}", 1))
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(t.lsCommand(), t.schemaCommand(), t.catCommand(), t.headCommand(), t.statCommand(), t.attrsCommand(), t.verifyCommand(), t.dumpCommand(), t.recoverCommand(), t.createCommand(), t.mergeCommand(), t.slimCommand(), t.skimCommand(), t.concatCommand(), t.splitCommand(), t.hmergeCommand(), t.appendCommand(), t.repackCommand(), t.renameCommand(), t.diffCommand(), &cobra.Command{
		Use:   "version",
		Short: "Print which build this is",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(t.out, version())
			return err
		},
	})
	root.SetOut(t.out)
	root.SetErr(t.stderr)
	root.InitDefaultCompletionCmd() // uses the output as it is now
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Use = "completion SHELL"
		c.RunE = func(*cobra.Command, []string) error {
			return usageError("which shell? There are bash, fish, powershell and zsh")
		}
	}
	return root
}

// version describes the build: module version, commit, Go version, and the
// format that it reads.
func version() string {
	text := "rnt"
	if info, ok := debug.ReadBuildInfo(); ok {
		text += " " + info.Main.Version
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				text += ", commit " + s.Value[:min(12, len(s.Value))]
			case s.Key == "vcs.modified" && s.Value == "true":
				text += " with changes"
			}
		}
		text += ", " + info.GoVersion
	}
	return fmt.Sprintf("%s, reads RNTuple format %d", text, anchor.Epoch)
}
