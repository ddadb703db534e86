package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

func (t *tool) renameCommand() *cobra.Command {
	var to, out string
	var fields []string
	var asJSON, force bool
	var d durability
	cmd := &cobra.Command{
		Use:   "rename FILE [NTUPLE]",
		Short: "Rename an RNTuple or its fields",
		Long: `rename gives the RNTuple in FILE, and fields of it, new names: in FILE itself, or in
a copy. Pages stay as they are; in FILE they are not even touched, and the metadata
with the names is written again at the end. If anything fails, FILE is as it was.
In FILE, older cycles get the name of --to as well, unless NTUPLE is one: "name;1".

Fields are top-level ones, or members of untyped records: "jet.pt=eta" makes
"jet.eta" of "jet.pt". Members of classes have the names that their classes define.`,
		Example: "  rnt rename --to Events in.root ntuple\n" +
			"  rnt rename --field pt=Muon_pt --field eta=Muon_eta --out copy.root in.root",
		Args:              fileArgs(2),
		ValidArgsFunction: completeArgs(1, 2),
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
				return usageError("what is to be renamed? Use --to or --field")
			}
			if out == "" && (asJSON || force) {
				return usageError("--json and --force go with --out")
			}
			in := surgery.Input{Path: args[0], Name: nameOf(args)}
			write := surgery.Write(d.options()...)
			if out == "" {
				t.output.begin(updated, in.Path)
				return surgery.RenameInPlace(cmd.Context(), in, renaming, write, t.readInputs())
			}
			inputs, err := t.inputs(cmd, args[:1], in.Name)
			if err != nil {
				return err
			}
			report, err := t.operate(cmd.Context(), out, force, inputs, func(more ...surgery.Option) (*surgery.Report, error) {
				return surgery.Rename(cmd.Context(), out, inputs[0], renaming, append(more, write)...)
			})
			if err != nil {
				return err
			}
			return t.printMerged(out, report, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&to, "to", "", "new name of the RNTuple")
	f.StringArrayVar(&fields, "field", nil, "OLD=NEW, repeated for more fields")
	f.StringVarP(&out, "out", "o", "", "make the new file `OUT`, and leave FILE as it is")
	f.BoolVar(&asJSON, "json", false, "with --out, print the report as JSON, sizes in bytes")
	f.BoolVar(&force, "force", false, "with --out, replace OUT if it exists")
	d.syncFlag(cmd)
	d.waitFlag(cmd)
	return cmd
}
