package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/internal/disk/tempfile"
	"github.com/go-rntuple/go-rntuple/remote"
)

func main() {
	os.Exit(newTool(os.Stdin, os.Stdout, os.Stderr).runUntilSignal(os.Args[1:]))
}

// run runs a new tool and returns its exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return newTool(stdin, stdout, stderr).run(ctx, args)
}

func newTool(stdin io.Reader, stdout, stderr io.Writer) *tool {
	return &tool{out: bufio.NewWriterSize(stdout, 64<<10), stdin: stdin, stdout: stdout, stderr: stderr}
}

// run runs the tool and returns its exit status.
func (t *tool) run(ctx context.Context, args []string) int {
	defer t.cleanUp()
	root := t.command()
	root.SetArgs(shortCount(root, args))
	cmd, err := t.execute(ctx, root)
	t.printStats()
	if flushed := t.out.Flush(); flushed != nil && (err == nil || errors.Is(err, errDiffer) || errors.As(err, new(skippedError))) {
		err = flushed
	}
	return t.exit(ctx, cmd, err)
}

// execute runs the command that root finds. A panic is an error without a trace, which is printed
// if the environment variable GOTRACEBACK is set.
func (t *tool) execute(ctx context.Context, root *cobra.Command) (cmd *cobra.Command, err error) {
	defer func() {
		if value := recover(); value != nil {
			text, _, _ := strings.Cut(fmt.Sprint(value), "\n")
			cmd, err = root, fmt.Errorf("internal error in %q: %s; GOTRACEBACK=all in the environment prints a trace", t.operation, text)
			if os.Getenv("GOTRACEBACK") != "" {
				fmt.Fprintf(t.stderr, "%v\n\n%s", value, debug.Stack())
			}
		}
	}()
	return root.ExecuteContextC(ctx)
}

// tool is the state that the commands share.
type tool struct {
	out            *bufio.Writer // results; flushed by run
	stdin          io.Reader
	stdout, stderr io.Writer
	quiet          bool
	jobs           int
	maxMemory      byteCount // 0: a default that depends on the file
	running        bool      // a command has begun, so its arguments are in order
	operation      string    // the command that has begun
	incomplete     bool      // something was left out; see leave
	filtering      bool      // a flag leaves out fields that the first input lacks; see omit
	remote         remoteFlags
	spooled        string            // the path of the temporary file with what standard input held; see input
	copies         map[string]string // by path: what temporary files are copies of
	temporaries    []*os.File        // closed at the end
	named          []string          // paths of those that have a name, removed then
	look           func()            // looks for signals and, after one, cancels the context; may be nil
	output         output
	uploads        remote.UploadOptions // of the output, if its name is a URL
	skipped        []badFile            // see without
	wait           time.Duration        // for how long to wait for others who write the output
}

// cleanUp removes temporary files.
func (t *tool) cleanUp() {
	if t.remote.options.Pool != nil {
		t.remote.options.Pool.Close()
	}
	for _, f := range t.temporaries {
		f.Close()
	}
	for _, name := range t.named {
		tempfile.Remove(name)
	}
}

// command returns the root command with all others.
func (t *tool) command() *cobra.Command {
	printsVersion := false
	root := &cobra.Command{
		Use:   "rnt COMMAND",
		Short: "Show, check and make RNTuples in ROOT files",
		Long: "rnt shows which RNTuples a ROOT file holds, their schemas, entries and sizes, and\n" +
			"makes new files from them.\n\n" +
			"NTUPLE is the name of an RNTuple, with its directories and its cycle if needed:\n" +
			`"Events", "dir/Events", "Events;2". It may be left out if the file has exactly one` + "\n" +
			"RNTuple at its top level. A FILE or IN \"-\" is standard input. It may be a URL with\n" +
			"http, https, dav, davs, root, roots, xroot, xroots or s3, and so may the file OUT that is\n" +
			"made, but for those of XRootD. Where a command takes several files, \"@LIST\" stands for the\n" +
			"paths and URLs in the lines of the text file LIST.\n\n" +
			"Exit status: 0 if all went well; 1 if it failed, or if verify or diff found something;\n" +
			"2 for wrong arguments, and for any error of diff; 3 if all is done but what could not be\n" +
			"read, which messages name; 130 and 143 after Ctrl-C and SIGTERM, which stop every command\n" +
			"within a second and leave no output, unless it is complete.",
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: t.begin,

		SuggestionsMinimumDistance: 2,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || printsVersion {
				return nil
			}
			return unknown(cmd, "unknown command", args[:1])
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if printsVersion {
				return t.printVersion()
			}
			return cmd.Help()
		},
	}
	// The root command is runnable only to have Args called, and help and the version printed. Cobra's templates would do the same, but
	// text/template looks methods up by name, so that the linker keeps those of all types.
	usage := root.UsageFunc()
	root.SetUsageFunc(func(c *cobra.Command) error {
		if c == root {
			run := root.RunE
			root.RunE = nil
			defer func() { root.RunE = run }()
		}
		return usage(c)
	})
	root.Flags().BoolVarP(&printsVersion, "version", "v", false, "version for rnt")
	root.PersistentFlags().BoolVarP(&t.quiet, "quiet", "q", false, "no progress, warnings or reports; errors and results only")
	root.PersistentFlags().IntVarP(&t.jobs, "jobs", "j", 0, "use at most `N` processors (default all)")
	root.PersistentFlags().Var(&t.maxMemory, "max-memory", "let entries, pages, metadata and the values of expressions need up to `SIZE` of memory each: 2G, 512M (default: in proportion to the file)")
	t.remote.add(root.PersistentFlags())
	root.AddCommand(
		t.lsCommand(), t.schemaCommand(), t.catCommand(), t.headCommand(), t.tailCommand(), t.statCommand(), t.drawCommand(), t.attrsCommand(),
		t.arrowCommand(), t.convertCommand(), t.verifyCommand(), t.dumpCommand(), t.diffCommand(), t.recoverCommand(), t.createCommand(),
		t.mergeCommand(), t.slimCommand(), t.skimCommand(), t.concatCommand(), t.splitCommand(), t.hmergeCommand(), t.planCommand(),
		t.repackCommand(), t.appendCommand(), t.renameCommand(), t.indexCommand(), t.serveCommand(), t.pageCommand(), t.versionCommand(), expressionsTopic())
	for _, c := range root.Commands() {
		if strings.Contains(c.Use, "...") {
			t.takeLists(c)
		}
	}
	root.SetOut(t.out)
	root.SetErr(t.stderr)
	root.InitDefaultCompletionCmd() // keeps the output of the moment
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Use = "completion SHELL"
		c.RunE = func(*cobra.Command, []string) error {
			return usageError("which shell? There are bash, fish, powershell and zsh")
		}
	}
	root.InitDefaultHelpCmd()
	if c, _, err := root.Find([]string{"help"}); err == nil {
		c.Args = func(_ *cobra.Command, args []string) error {
			if _, rest, err := root.Find(args); err != nil || len(rest) > 0 {
				return unknown(root, "no help about", args)
			}
			return nil
		}
	}
	eachCommand(root, takeFlagsOnce)
	return root
}

// unknown returns an error about words that name no command.
func unknown(root *cobra.Command, what string, words []string) error {
	text := fmt.Sprintf("%s %q", what, strings.Join(words, " "))
	if like := root.SuggestionsFor(words[0]); len(words) == 1 && len(like) > 0 {
		text += fmt.Sprintf("; did you mean %q?", like[0])
	}
	return usageError(text)
}

// begin runs before every command.
func (t *tool) begin(cmd *cobra.Command, _ []string) error {
	if cmd.Flags().Changed("jobs") {
		if t.jobs <= 0 {
			return usageError("--jobs must be positive")
		}
		// The library uses as many workers as there are processors for Go.
		runtime.GOMAXPROCS(t.jobs)
	}
	t.running, t.operation = true, cmd.CommandPath()
	return t.remote.begin(cmd.Flags())
}

func (t *tool) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of rnt and of the format it reads",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return t.printVersion() },
	}
}

func (t *tool) printVersion() error {
	_, err := fmt.Fprintln(t.out, version())
	return err
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
