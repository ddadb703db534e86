package main

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

func (t *tool) concatCommand() *cobra.Command {
	var c cutting
	var clusters bool
	cmd := &cobra.Command{
		Use:   "concat OUT IN[FIRST:END]...",
		Short: "Join ranges of entries",
		Long: `concat makes a ROOT file OUT with ranges of entries of the RNTuples in the files IN,
in this order: from FIRST, counted from 0, up to but not including END. Both may be
left out, and so may the brackets. With --clusters the numbers count clusters.

Clusters and pages that are taken whole are copied as they are stored, others are
rewritten. OUT has the fields of the first file, as "rnt skim --help" says.
Ranges of attributes are cut and renumbered with their entries.`,
		Example: "  rnt concat first.root 'events.root[:1000]'\n" +
			"  rnt concat --clusters out.root 'a.root[3:5]' 'a.root[0:1]' b.root",
		Args:              outArgs(anyNumber, "concatenated"),
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := c.options(cmd)
			if err != nil {
				return err
			}
			var pieces []surgery.Piece
			var inputs []surgery.Input
			for _, arg := range args[1:] {
				p, err := parsePiece(arg)
				if err != nil {
					return err
				}
				if p.Path, err = t.input(cmd.Context(), p.Path); err != nil {
					return err
				}
				p.Name, p.Clusters = c.name, clusters
				pieces, inputs = append(pieces, p), append(inputs, p.Input)
			}
			report, err := t.operate(cmd.Context(), args[0], c.force, inputs, func(more ...surgery.Option) (*surgery.Report, error) {
				return surgery.Concat(cmd.Context(), args[0], pieces, append(opts, more...)...)
			})
			if err != nil {
				return err
			}
			return t.printCut(args[0], report, c.asJSON)
		},
	}
	cmd.Flags().BoolVar(&clusters, "clusters", false, "FIRST and END count clusters")
	c.nameFlag(cmd, "name of the RNTuples (default the only one of each file)", 1)
	c.flags(cmd)
	forceFlag(cmd, &c.force)
	return cmd
}

// pieceOf matches IN[FIRST:END].
var pieceOf = regexp.MustCompile(`^(.+)\[(\d*):(\d*)\]$`)

// parsePiece reads IN[FIRST:END], or IN alone.
func parsePiece(arg string) (p surgery.Piece, err error) {
	m := pieceOf.FindStringSubmatch(arg)
	if m == nil {
		p.Path = arg
		return p, nil
	}
	p.Path = m[1]
	for i, n := range []*int64{&p.First, &p.End} {
		if m[i+2] == "" {
			continue
		}
		if *n, err = strconv.ParseInt(m[i+2], 10, 64); err != nil {
			return p, usageError(fmt.Sprintf("%s: %s is too large", arg, m[i+2]))
		}
	}
	if m[3] != "" && p.End <= p.First {
		return p, usageError(arg + ": the range is empty")
	}
	return p, nil
}
