package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/surgery"
)

func (t *tool) renameCommand() *cobra.Command {
	var to, out string
	var fields []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "rename FILE [NTUPLE]",
		Short: "Give an RNTuple or its fields other names",
		Long: `rename gives the RNTuple in FILE, and fields of it, other names: in the file, or in a
copy. Pages stay as they are; in the file they are not even touched, and what says
which names there are is written anew behind all else. If anything fails the file is
as it was.

Fields are top-level ones, or members of untyped records: "jet.pt=eta" makes
"jet.eta" of "jet.pt". Members of classes are called as their classes say.`,
		Example: "  rnt rename --to Events in.root ntuple\n" +
			"  rnt rename --field pt=Muon_pt --field eta=Muon_eta --out copy.root in.root",
		Args:              fileArgs(2),
		ValidArgsFunction: completeArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			renaming := surgery.Renaming{Name: to, Fields: map[string]string{}}
			for _, text := range fields {
				old, name, ok := strings.Cut(text, "=")
				if !ok || old == "" || name == "" {
					return usageError(fmt.Sprintf("--field %s: want OLD=NEW", text))
				}
				if _, twice := renaming.Fields[old]; twice {
					return usageError(fmt.Sprintf("--field has %q twice", old))
				}
				renaming.Fields[old] = name
			}
			if to == "" && len(fields) == 0 {
				return usageError("what is to be renamed? There are --to and --field")
			}
			in := surgery.Input{Path: args[0]}
			if len(args) > 1 {
				in.Name = args[1]
			}
			if out == "" {
				return surgery.RenameInPlace(cmd.Context(), in, renaming)
			}
			return t.operate(out, asJSON, func(progress surgery.Option) (*surgery.Report, error) {
				return surgery.Rename(cmd.Context(), out, in, renaming, progress)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&to, "to", "", "new name of the RNTuple")
	f.StringArrayVar(&fields, "field", nil, "OLD=NEW, again for more fields")
	f.StringVarP(&out, "out", "o", "", "make a new file, and leave FILE as it is")
	f.BoolVar(&asJSON, "json", false, "with --out, print JSON, sizes in bytes")
	return cmd
}
