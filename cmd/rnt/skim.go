package main

import (
	"math"

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
		Long: `skim makes a ROOT file OUT with the entries of the RNTuples in the files IN of which
EXPR is true. Clusters of which all entries are kept are copied as they are stored,
those of which none is are skipped, the others are rewritten.

EXPR is an expression as https://expr-lang.org/docs/language-definition has it, whose
variables are the fields: numbers, strings, arrays, records with members, and nil for
an optional without a value. Only the fields that it names are read. Ranges of
attributes are cut and numbered anew with their entries.`,
		Example: "  rnt skim --where 'nMuon == 2 && all(Muon_pt, # > 20)' pairs.root events.root\n" +
			"  rnt skim --where 'MET_pt > 100' --fields 'MET_*,Jet_*' met.root run*.root",
		Args:              outIn(math.MaxInt),
		ValidArgsFunction: rootFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if condition == "" {
				return usageError("which entries? Say --where")
			}
			w, err := where.Parse(condition)
			if err != nil {
				return usageError("--where: " + err.Error())
			}
			opts, done, err := t.cutting(&c)
			if err != nil {
				return err
			}
			var inputs []surgery.Input
			for _, path := range args[1:] {
				inputs = append(inputs, surgery.Input{Path: path, Name: c.name})
			}
			report, err := surgery.Skim(cmd.Context(), args[0], inputs, w.Select, opts...)
			done()
			if err != nil {
				return err
			}
			return t.printCut(args[0], report, c.asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&condition, "where", "", `the condition: 'nMuon == 2 && any(Muon_pt, # > 20)'`)
	f.StringVar(&c.name, "name", "", "name of the RNTuples (default the one that a file has)")
	c.flags(cmd, "fields")
	return cmd
}

// rootFiles completes names of ROOT files in the shell.
func rootFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"root"}, cobra.ShellCompDirectiveFilterFileExt
}
