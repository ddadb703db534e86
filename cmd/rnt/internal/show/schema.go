package show

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/foreign"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/selection"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/source"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/schema"
)

func schemaCommand(t *cli.Tool) *cobra.Command {
	var asJSON bool
	var fields []string
	cmd := &cobra.Command{
		Use:   "schema FILE [NTUPLE]",
		Short: "Print the fields of an RNTuple, their types and columns",
		Long: `schema prints the fields of an RNTuple as a tree: name, C++ type, shape, column types
and remarks. Column types joined by + belong to one representation; those joined by |
are alternative representations of the same field.

With --json it prints a complete description, from which "rnt create --schema" creates
an RNTuple like this one. --fields then selects top-level fields only, and includes the
sources of projected fields.`,
		Args:              cli.FileArgs(2),
		ValidArgsFunction: cli.CompleteArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := selection.CheckFields(cmd, fields); err != nil {
				return err
			}
			from, err := source.OpenArgs(cmd.Context(), t, args, source.Part{})
			if err != nil {
				return err
			}
			defer from.Close()
			if err := source.CheckName(from.Kind, cli.NameOf(args), from.Name); err != nil {
				return err
			}
			t.Report.Incomplete = len(from.Left) > 0
			r := from.Reader
			chosen, err := selection.Choose(r.Schema(), fields)
			if err != nil {
				return fmt.Errorf("%s: %w", cli.Shown(args[0]), err)
			}
			if !asJSON {
				if from.Kind != foreign.RNTuple {
					fmt.Fprintf(t.Out, "%s is %s. convert would write this\n", cli.Shown(args[0]), from.Kind.Title())
				}
				return r.Schema().Print(t.Out, selection.Fields(chosen)...)
			}
			doc := r.Schema().Document()
			if len(chosen) > 0 {
				doc.Fields = withTop(doc.Fields, topsOf(chosen))
			}
			return text.JSON(t.Out, doc)
		},
	}
	selection.FieldsFlag(cmd, &fields, "fields to print", 0)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, as read by rnt create")
	return cmd
}

// topsOf returns the names of the top-level fields that hold chosen fields, and of
// those that hold the sources of their projected fields.
func topsOf(chosen []selection.Choice) map[string]bool {
	tops := map[string]bool{}
	var sources func(f *schema.Field)
	add := func(f *schema.Field) {
		for f.Parent != nil {
			f = f.Parent
		}
		if !tops[f.Name] {
			tops[f.Name] = true
			sources(f)
		}
	}
	sources = func(f *schema.Field) {
		if f.Source != nil {
			add(f.Source)
		}
		for _, child := range f.Children {
			sources(child)
		}
	}
	for _, c := range chosen {
		add(c.Field)
	}
	return tops
}

// withTop returns the fields of a document with the given names.
func withTop(fields []*schema.FieldDocument, names map[string]bool) []*schema.FieldDocument {
	return slices.DeleteFunc(fields, func(f *schema.FieldDocument) bool { return !names[f.Name] })
}
