package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/rescue"
	"github.com/go-rntuple/go-rntuple/schema"
)

func recoverCommand(t *cli.Tool) *cobra.Command {
	var only string
	var keepGoing, force, asJSON bool
	var d cli.Durability
	cmd := &cobra.Command{
		Use:   "recover OUT IN",
		Short: "Recover data from a damaged file",
		Long: `recover copies the intact data of RNTuples in the damaged file IN to the new file OUT
and reports what was lost. The end of IN may be missing, or its header, directories or
anchors may be damaged. Pages are copied as stored. OUT appears only when it is
complete.

Headers, footers and page lists are found by scanning the file and verified by their
checksums. A cluster is saved if its page list is intact and all of its pages exist and
match their checksums. Clusters are saved up to the first lost one; --keep-going also
saves later clusters, whose entries are renumbered. ROOT writes page lists at the end of
a file unless the program commits cluster groups earlier: if the end is missing, there
is then nothing to recover.

The exit status is 0 if nothing was lost, 3 if OUT was written but data was lost, and 1
if there was nothing to recover.`,
		Example:           "  rnt recover saved.root damaged.root",
		Args:              cli.OutArgs(2),
		ValidArgsFunction: cli.CompleteArgs(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := t.Input.Root(cmd.Context(), args[1])
			if err != nil {
				return err
			}
			if err := t.Output.Begin(cmd.Context(), args[0], force, in); err != nil {
				return err
			}
			opts := &rescue.Options{Only: only, KeepGoing: keepGoing, Limits: t.Input.Limits(), Remote: t.Input.Remote(),
				NoSync: d.NoSync, NoReplace: !force, Upload: t.Input.Remote()}
			report, err := rescue.File(cmd.Context(), args[0], in, opts)
			if report == nil || cmd.Context().Err() != nil && err != nil {
				return err
			}
			t.Output.Done()
			t.Report.Incomplete = lostAny(report)
			if asJSON {
				return errors.Join(text.JSON(t.Out, report), err)
			}
			printReport(t, report)
			if !keepGoing && skipped(report) {
				t.Report.Warn("entries after lost ones were not saved; --keep-going saves and renumbers them")
			}
			return err
		},
	}
	cmd.Flags().StringVar(&only, "ntuple", "", "path or name of the only RNTuple to recover (default all)")
	cmd.Flags().BoolVar(&keepGoing, "keep-going", false, "also save entries after lost ones, renumbered")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	cli.ForceFlag(cmd, &force)
	d.SyncFlag(cmd)
	cli.CompleteNames(cmd, "ntuple", 1)
	return cmd
}

// lostAny reports whether anything was lost.
func lostAny(r *rescue.Report) bool {
	return len(r.Lost) > 0 || slices.ContainsFunc(r.NTuples, func(n rescue.NTuple) bool {
		return len(n.Lost)+len(n.Missing) > 0 || n.Saved < n.Entries
	})
}

// skipped reports whether entries were not saved only because others before them
// are lost.
func skipped(r *rescue.Report) bool {
	for _, n := range r.NTuples {
		if slices.ContainsFunc(n.Lost, rescue.Loss.Skipped) {
			return true
		}
	}
	return false
}

func printReport(t *cli.Tool, r *rescue.Report) {
	if t.Report.Quiet {
		return
	}
	say := func(format string, args ...any) {
		fmt.Fprintln(t.Out, schema.Printable(cli.WithAdvice(fmt.Sprintf(format, args...))))
	}
	if r.Container != "" {
		say("container: %s", r.Container)
	}
	for _, n := range r.NTuples {
		of := "an unknown number of"
		if n.Entries >= 0 {
			of = text.Count(n.Entries)
		}
		say("%s: %s of %s entries saved, found by %s", n.Path, text.Count(n.Saved), of, n.Found)
		for _, l := range n.Lost {
			say("  lost: entries %s: %s", entryRange(l.EntryRange), strings.ReplaceAll(l.Why, "\n", "; "))
		}
		for _, m := range n.Missing {
			say("  lost: %s", m)
		}
		for _, note := range n.Notes {
			say("  note: %s", note)
		}
	}
	for _, l := range r.Lost {
		say("lost: %s", l)
	}
	for _, l := range r.Left {
		say("not copied: %s", l)
	}
}

// entryRange names entries: "5 to 9", or "5 and later".
func entryRange(e rntuple.EntryRange) string {
	switch {
	case e.End < 0:
		return fmt.Sprintf("%s and later", text.Count(e.First))
	case e.End == e.First+1:
		return text.Count(e.First)
	}
	return fmt.Sprintf("%s to %s", text.Count(e.First), text.Count(e.End-1))
}
