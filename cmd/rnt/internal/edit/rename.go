package edit

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

func renameCommand(t *cli.Tool) *cobra.Command {
	var to, out string
	var fields []string
	var asJSON, force bool
	var d cli.Durability
	cmd := &cobra.Command{
		Use:   "rename FILE [NTUPLE]",
		Short: "Rename an RNTuple or its fields",
		Long: `rename renames the RNTuple in FILE, or its fields, in place or in a copy. Pages do not
change; in place, they are not even read, and the updated metadata is appended. If
anything fails, FILE is unchanged. In place, --to also renames older cycles, unless
NTUPLE selects one: "name;1".

Top-level fields and members of untyped records can be renamed: "jet.pt=eta" renames
"jet.pt" to "jet.eta". The names of class members are defined by the class.`,
		Example: "  rnt rename --to Events in.root ntuple\n" +
			"  rnt rename --field pt=Muon_pt --field eta=Muon_eta --out copy.root in.root",
		Args:              cli.FileArgs(2),
		ValidArgsFunction: cli.CompleteArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			renaming := surgery.Renaming{Name: to, Fields: map[string]string{}}
			for _, text := range fields {
				old, name, ok := strings.Cut(text, "=")
				if !ok || old == "" || name == "" {
					return cli.UsageError(fmt.Sprintf("--field %s: want OLD=NEW", text))
				}
				if _, twice := renaming.Fields[old]; twice {
					return cli.UsageError(fmt.Sprintf("--field has %q twice", old))
				}
				renaming.Fields[old] = name
			}
			if to == "" && len(fields) == 0 {
				return cli.UsageError("nothing to rename; use --to or --field")
			}
			if out == "" && (asJSON || force) {
				return cli.UsageError("--json and --force require --out")
			}
			in := surgery.Input{Path: args[0], Name: cli.NameOf(args)}
			if out == "" {
				t.Output.Update(in.Path)
				return surgery.RenameInPlace(cmd.Context(), in, renaming,
					&surgery.InPlaceOptions{Read: *t.Input.Options(cmd.Context()), File: d.Options()})
			}
			o := &surgery.Options{Write: rntuple.WriteOptions{File: d.Options()}}
			report, err := makeFrom(cmd.Context(), t, out, force, args[:1], in.Name, o,
				func(in []surgery.Input) (*surgery.Report, error) {
					return surgery.Rename(cmd.Context(), out, in[0], renaming, o)
				})
			if err != nil {
				return err
			}
			return printMerged(t, out, report, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&to, "to", "", "rename the RNTuple to this")
	f.StringArrayVar(&fields, "field", nil, "rename a field, OLD=NEW; may be repeated")
	f.StringVarP(&out, "out", "o", "", "write a copy to the new file `OUT`; FILE is not modified")
	f.BoolVar(&asJSON, "json", false, "with --out, print the report as JSON, with sizes in bytes")
	f.BoolVar(&force, "force", false, "with --out, replace OUT if it exists")
	d.SyncFlag(cmd)
	d.WaitFlag(cmd)
	return cmd
}
