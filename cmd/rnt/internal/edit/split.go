package edit

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/operation"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

func splitCommand(t *cli.Tool) *cobra.Command {
	var c cutting
	var size surgery.PartSize
	cmd := &cobra.Command{
		Use:   "split OUT IN [NTUPLE]",
		Short: "Split an RNTuple into several files",
		Long: `split distributes the entries of the RNTuple in the file IN over new ROOT files. OUT is
their path, with %d, %03d or similar for the number, counted from 0. Without such a
verb, the number is inserted before the extension: "out.root" becomes "out-0.root",
"out-1.root" and so on.

A part ends after a number of entries or clusters, or before the cluster whose pages
would exceed a number of bytes. Pages of whole clusters are copied as stored. Ranges of
attributes are cut and renumbered.

Existing files are never replaced; after an error, all parts are removed.`,
		Example: "  rnt split --entries 100000 part.root events.root\n" +
			"  rnt split --size 2000000000 'part-%03d.root' events.root",
		Args:              cli.OutArgs(3),
		ValidArgsFunction: cli.CompleteArgs(2, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			given := 0
			for _, name := range []string{"entries", "clusters", "size"} {
				if cmd.Flags().Changed(name) {
					given++
				}
			}
			if given != 1 {
				return cli.UsageError("use exactly one of --entries, --clusters and --size")
			}
			opts, err := c.options(cmd)
			if err != nil {
				return err
			}
			in, err := t.Input.Root(cmd.Context(), args[1])
			if err != nil {
				return err
			}
			var made []surgery.Part
			t.Output.Split(numbered(args[0]))
			o := &surgery.SplitOptions{Options: opts.Options, Keep: opts.Keep, Drop: opts.Drop}
			if _, err := operation.Run(cmd.Context(), t, false, &o.Options, func() (_ *surgery.Report, err error) {
				made, err = surgery.Split(cmd.Context(), numbered(args[0]), surgery.Input{Path: in, Name: cli.NameOf(args[1:])},
					size, o)
				if err != nil {
					return nil, err
				}
				return made[0].Report, nil // what is left behind is the same for all
			}); err != nil {
				return err
			}
			return printParts(t, made, c.asJSON)
		},
	}
	f := cmd.Flags()
	f.Int64Var(&size.Entries, "entries", 0, "number of entries per part")
	f.Int64Var(&size.Clusters, "clusters", 0, "number of clusters per part")
	f.Int64Var(&size.Bytes, "size", 0, "maximum bytes of pages per part; every part has at least one cluster")
	c.flags(cmd)
	return cmd
}

// numbered returns path with a place for the number if it has none.
func numbered(path string) string {
	if strings.Contains(path, "%") {
		return path
	}
	if stem, ok := strings.CutSuffix(path, ".root"); ok {
		return stem + "-%d.root"
	}
	return path + "-%d"
}

// partJSON is a part as JSON.
type partJSON struct {
	Path  string `json:"path"`
	First int64  `json:"first"`
	End   int64  `json:"end"`
	cutJSON
}

func printParts(t *cli.Tool, parts []surgery.Part, asJSON bool) error {
	if asJSON {
		all := []partJSON{}
		for _, p := range parts {
			all = append(all, partJSON{p.Path, p.Entries.First, p.Entries.End, cutOf(p.Report)})
		}
		return text.JSON(t.Out, all)
	}
	if t.Report.Quiet {
		return nil
	}
	table := text.NewTable("FILE", ">FIRST", ">ENTRIES", ">COPIED", ">REWRITTEN")
	for _, p := range parts {
		copied, rewritten := int64(0), p.Report.Levels[surgery.Rewrite].Bytes
		for _, l := range p.Report.Levels[:surgery.Rewrite] {
			copied += l.Bytes
		}
		table.Row(p.Path, text.Count(p.Entries.First), text.Count(p.Entries.Len()), text.Size(copied), text.Size(rewritten))
	}
	return table.Print(t.Out)
}
