package main

import (
	"github.com/spf13/cobra"
)

func (t *tool) schemaCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "schema FILE [NTUPLE]",
		Short: "Print the fields of an RNTuple, their types and columns",
		Long: "schema prints the fields of an RNTuple as a tree: name, C++ type, shape, column\n" +
			"types and remarks. Column types joined by + belong together; those joined by |\n" +
			"are different representations of the same field.",
		Args:              fileArgs(2),
		ValidArgsFunction: completeArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := open(cmd.Context(), args)
			if err != nil {
				return err
			}
			defer r.Close()
			if asJSON {
				return printJSON(t.out, r.Schema().Document())
			}
			return r.Schema().Print(t.out)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, all that is needed to make an RNTuple like this one")
	return cmd
}
