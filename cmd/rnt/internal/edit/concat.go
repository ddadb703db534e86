package edit

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/operation"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

func concatCommand(t *cli.Tool) *cobra.Command {
	var c cutting
	var clusters bool
	cmd := &cobra.Command{
		Use:   "concat OUT IN[FIRST:END]...",
		Short: "Concatenate ranges of entries",
		Long: `concat writes ranges of entries of the RNTuples in the files IN, in the given order, to
the ROOT file OUT. A range starts at FIRST, counted from 0, and excludes END. Either may
be omitted, and so may the brackets. With --clusters, FIRST and END count clusters.

Whole clusters and pages are copied as stored; partial ones are rewritten. OUT has the
fields of the first file; see "rnt skim --help". Ranges of attributes are cut and
renumbered with their entries.`,
		Example: "  rnt concat first.root 'events.root[:1000]'\n" +
			"  rnt concat --clusters out.root 'a.root[3:5]' 'a.root[0:1]' b.root",
		Args:              cli.OutArgs(cli.AnyNumber),
		ValidArgsFunction: cli.CompleteFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := c.options(cmd)
			if err != nil {
				return err
			}
			var pieces []surgery.Piece
			var paths []string
			for _, arg := range args[1:] {
				p, err := parsePiece(arg)
				if err != nil {
					return err
				}
				if p.Path, err = t.Input.Root(cmd.Context(), p.Path); err != nil {
					return err
				}
				p.Name, p.Clusters = c.name, clusters
				pieces, paths = append(pieces, p), append(paths, p.Path)
			}
			if err := t.Output.Begin(cmd.Context(), args[0], c.force, paths...); err != nil {
				return err
			}
			o := &surgery.MergeOptions{Options: opts.Options, Keep: opts.Keep, Drop: opts.Drop}
			report, err := operation.Run(cmd.Context(), t, false, &o.Options, func() (*surgery.Report, error) {
				return surgery.Concat(cmd.Context(), args[0], pieces, o)
			})
			if err != nil {
				return err
			}
			return printCut(t, args[0], report, c.asJSON)
		},
	}
	cmd.Flags().BoolVar(&clusters, "clusters", false, "FIRST and END count clusters, not entries")
	cli.NameFlag(cmd, &c.name, 1)
	c.flags(cmd)
	cli.ForceFlag(cmd, &c.force)
	return cmd
}

// parsePiece reads IN[FIRST:END], or IN alone.
func parsePiece(arg string) (p surgery.Piece, err error) {
	var ends [2]string
	p.Path, ends = cli.CutRange(arg)
	for i, n := range []*int64{&p.First, &p.End} {
		if ends[i] == "" {
			continue
		}
		if *n, err = strconv.ParseInt(ends[i], 10, 64); err != nil {
			return p, cli.UsageError(fmt.Sprintf("%s: %s is too large", arg, ends[i]))
		}
	}
	if ends[1] != "" && p.End <= p.First {
		return p, cli.UsageError(arg + ": the range is empty")
	}
	return p, nil
}
