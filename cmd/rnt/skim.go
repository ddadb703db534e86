package main

import (
	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/surgery/where"
)

func (t *tool) skimCommand() *cobra.Command {
	var c cutting
	var condition string
	cmd := &cobra.Command{
		Use:   "skim --where EXPR OUT IN...",
		Short: "Keep the entries that meet a condition",
		Long: `skim makes a ROOT file OUT with those entries of the RNTuples in the files IN for
which EXPR is true. Clusters of which all entries are kept are copied as they are
stored, those of which none is kept are skipped, and the others are rewritten.

EXPR is an expression of the language https://expr-lang.org/docs/language-definition
whose variables are the fields: numbers, strings, arrays, records with members, and
nil for an optional without a value. A field whose name is not a word of the language
is written $env["a:b"]. Only the fields that EXPR names are read. Ranges of attributes
are cut and renumbered with their entries.`,
		Example: "  rnt skim --where 'nMuon == 2 && all(Muon_pt, # > 20)' pairs.root events.root\n" +
			"  rnt skim --where 'MET_pt > 100' --fields 'MET_*,Jet_*' met.root run*.root",
		Args:              outArgs(anyNumber, "skimmed"),
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if condition == "" {
				return usageError("which entries? Use --where")
			}
			w, err := where.Parse(condition)
			if err != nil {
				return usageError("--where: " + err.Error())
			}
			opts, err := c.options(cmd)
			if err != nil {
				return err
			}
			inputs, err := t.inputs(cmd, args[1:], c.name)
			if err != nil {
				return err
			}
			report, err := t.operate(args[0], c.force, inputs, func(more ...surgery.Option) (*surgery.Report, error) {
				return surgery.Skim(cmd.Context(), args[0], inputs, w, append(opts, more...)...)
			})
			if err != nil {
				return err
			}
			return t.printCut(args[0], report, c.asJSON)
		},
	}
	cmd.Flags().StringVar(&condition, "where", "", `the condition: 'nMuon == 2 && any(Muon_pt, # > 20)'`)
	c.nameFlag(cmd, "name of the RNTuples (default the only one of each file)", 1)
	c.flags(cmd)
	forceFlag(cmd, &c.force)
	return cmd
}
