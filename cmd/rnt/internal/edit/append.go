package edit

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

func appendCommand(t *cli.Tool) *cobra.Command {
	m := merging{into: true, level: "copy", maxLevel: "rewrite"}
	cmd := &cobra.Command{
		Use:   "append INTO IN...",
		Short: "Add entries to an RNTuple in its file",
		Long: `append adds the entries of the RNTuples in the files IN to the end of the one in the
file INTO. If IN is "-", it reads entries from standard input, as JSON Lines in the
format of cat.

The existing entries of INTO are neither moved nor read; pages of IN are copied where
possible. Readers see the new entries once all of them are written. The RNTuple gets a
new cycle number; the old cycle remains readable.

If another process is updating INTO, append fails; --wait makes it wait.`,
		Example: "  rnt append all.root today.root\n" +
			`  echo '{"run": 7, "pt": [1.5, 2]}' | rnt append all.root -`,
		Args: func(_ *cobra.Command, args []string) error {
			switch len(args) {
			case 0:
				return cli.UsageError("missing argument INTO")
			case 1:
				return cli.UsageError("missing argument IN")
			}
			return nil
		},
		ValidArgsFunction: cli.CompleteFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch lines := slices.Contains(args[1:], "-"); {
			case lines && len(args) > 2:
				return cli.UsageError(`"-" cannot be combined with files`)
			case lines && (cmd.Flags().Changed("mode") || m.convert || m.keep || m.dropSets):
				return cli.UsageError(
					"--mode, --convert, --keep-compression and --drop-attributes require files as input")
			case lines:
				return appendLines(t, cmd, args[0], m)
			}
			return merge(t, cmd, args[0], args[1:], m)
		},
	}
	m.flags(cmd, "that of INTO")
	m.modeFlag(cmd)
	m.WaitFlag(cmd)
	return cmd
}

// appendLines adds the entries on standard input.
func appendLines(t *cli.Tool, cmd *cobra.Command, into string, m merging) error {
	opts, err := m.WriteFlags.Options(cmd.Context())
	if err != nil {
		return err
	}
	t.Output.Update(into)
	opts.Limits = t.Input.Limits()
	w, err := rntuple.AppendRecords(into, m.name, opts)
	if err != nil {
		return err
	}
	before := w.NumEntries()
	if err := writeLines(cmd.Context(), t, into, w); err != nil {
		return err
	}
	added, all := w.NumEntries()-before, w.NumEntries()
	switch {
	case m.asJSON:
		return text.JSON(t.Out, map[string]int64{"added": added, "entries": all})
	case t.Report.Quiet:
		return nil
	}
	_, err = fmt.Fprintf(t.Out, "added %s, %s in total\n", text.PluralOf(added, "entry", "entries"), text.Count(all))
	return err
}
