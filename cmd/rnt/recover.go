package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/rescue"
	"github.com/go-rntuple/go-rntuple/schema"
)

func (t *tool) recoverCommand() *cobra.Command {
	var opts rescue.Options
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "recover IN OUT",
		Short: "Save what is left of a damaged file in a new one",
		Long: `recover saves the RNTuples of a file whose end is missing, or whose header,
directories or anchors are broken, in the new file OUT, and says what was lost. IN
is not touched. OUT comes into being as a whole, with pages as they are in IN.

Headers, footers and page lists are found without directories, and proved by their
checksums. Saved are the clusters whose page list is there, and whose pages are and
pass their checksums, up to the first one that is lost; with --keep-going those
behind it, too, which get other entry numbers than they had. ROOT writes the page
lists of a file at its end, unless its writer commits cluster groups: if the end is
missing, there is nothing to save then.

The exit status is 0 if OUT was written, even if much was lost, and 1 if there was
nothing to save.`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usageError("which file?")
			case len(args) == 1:
				return usageError("to which file?")
			}
			return fileArgs(2)(nil, args)
		},
		ValidArgsFunction: completeArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			report, err := rescue.File(cmd.Context(), args[0], args[1], opts)
			if report == nil {
				return err
			}
			if asJSON {
				return errors.Join(printJSON(t.out, report), err)
			}
			t.printReport(report)
			return err
		},
	}
	cmd.Flags().StringVar(&opts.NTuple, "ntuple", "", "the one RNTuple to save, by path or name (default all)")
	cmd.Flags().BoolVar(&opts.KeepGoing, "keep-going", false, "save entries behind lost ones, too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (t *tool) printReport(r *rescue.Report) {
	say := func(format string, args ...any) {
		fmt.Fprintln(t.out, schema.Printable(fmt.Sprintf(format, args...)))
	}
	if r.Container != "" {
		say("container: %s", r.Container)
	}
	for _, n := range r.NTuples {
		of := "an unknown number of"
		if n.Entries >= 0 {
			of = count(n.Entries)
		}
		say("%s: %s of %s entries saved, found by %s", n.Path, count(n.Saved), of, n.Found)
		for _, l := range n.Lost {
			say("  lost: entries %s: %s", entryRange(l.Entries), strings.ReplaceAll(l.Why, "\n", "; "))
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
func entryRange(e rescue.Entries) string {
	switch {
	case e.End < 0:
		return fmt.Sprintf("from %s on", count(e.First))
	case e.End == e.First+1:
		return count(e.First)
	}
	return fmt.Sprintf("%s to %s", count(e.First), count(e.End-1))
}
