package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/internal/formula"
)

// Command returns the root command with all others.
func (t *Tool) Command() *cobra.Command {
	printsVersion := false
	root := &cobra.Command{
		Use:   "rnt COMMAND",
		Short: "Show, check and make RNTuples in ROOT files",
		Long: "rnt shows the RNTuples in ROOT files, their schemas, entries and sizes, and\n" +
			"writes new files from them.\n\n" +
			"NTUPLE is the name of an RNTuple, with directories and cycle if needed:\n" +
			`"Events", "dir/Events", "Events;2". It may be omitted if the file has exactly one` + "\n" +
			"RNTuple at its top level. A FILE or IN \"-\" is standard input. FILE and IN can be URLs\n" +
			"with http, https, dav, davs, root, roots, xroot, xroots or s3, and so can OUT, except\n" +
			"with XRootD. Where a command takes several files, \"@LIST\" expands to the paths and\n" +
			"URLs in the text file LIST, one per line.\n\n" +
			"Exit status: 0 on success; 1 on failure, or if verify or diff found something; 2 for\n" +
			"invalid arguments, and for any error of diff; 3 if input that could not be read was\n" +
			"skipped, as listed in messages; 130 and 143 after Ctrl-C and SIGTERM, which stop every\n" +
			"command within a second and leave no incomplete output.",
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
	// The root command is runnable only to have Args called, and help and the version printed.
	// Cobra's templates would do the same, but text/template looks methods up by name, so that the
	// linker keeps those of all types.
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
	root.PersistentFlags().BoolVarP(&t.Report.Quiet, "quiet", "q", false,
		"print only results and errors, without progress, warnings and reports")
	root.PersistentFlags().IntVarP(&t.jobs, "jobs", "j", 0, "use at most `N` processors (default all)")
	root.PersistentFlags().Var(&t.Input.maxMemory, "max-memory",
		"limit memory for each of entries, pages, metadata and expression values to `SIZE`, such as 2G or 512M (default proportional to the file)")
	t.Input.remote.add(root.PersistentFlags())
	root.AddCommand(t.versionCommand(), expressionsTopic())
	for _, f := range t.families {
		root.AddCommand(f(t)...)
	}
	for _, c := range root.Commands() {
		if strings.Contains(c.Use, "...") {
			t.takeLists(c)
		}
	}
	root.SetOut(t.Out)
	root.SetErr(t.Stderr)
	root.InitDefaultCompletionCmd() // keeps the output of the moment
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Use = "completion SHELL"
		c.RunE = func(*cobra.Command, []string) error {
			return UsageError("missing argument SHELL: bash, fish, powershell or zsh")
		}
	}
	root.InitDefaultHelpCmd()
	if c, _, err := root.Find([]string{"help"}); err == nil {
		c.Args = func(_ *cobra.Command, args []string) error {
			if _, rest, err := root.Find(args); err != nil || len(rest) > 0 {
				return unknown(root, "no help topic", args)
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
	return UsageError(text)
}

// begin runs before every command.
func (t *Tool) begin(cmd *cobra.Command, _ []string) error {
	if cmd.Flags().Changed("jobs") {
		if t.jobs <= 0 {
			return UsageError("--jobs must be positive")
		}
		// The library uses as many workers as there are processors for Go.
		runtime.GOMAXPROCS(t.jobs)
	}
	t.running, t.operation = true, cmd.CommandPath()
	return t.Input.remote.begin(cmd.Flags())
}

func (t *Tool) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of rnt and of the format",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return t.printVersion() },
	}
}

func (t *Tool) printVersion() error {
	_, err := fmt.Fprintln(t.Out, version())
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

// expressionsTopic returns what "rnt help expressions" prints.
func expressionsTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "expressions",
		Short: "The expression language and its functions",
		Long:  formula.Help(),
	}
}
