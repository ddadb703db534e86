package edit

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/selection"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

func indexCommand(t *cli.Tool) *cobra.Command {
	var fields, drop []string
	var remove, asJSON bool
	var d cli.Durability
	cmd := &cobra.Command{
		Use:   "index FILE [NTUPLE]",
		Short: "Store value bounds that let conditions skip clusters",
		Long: `index adds a zone map to the RNTuple in FILE: for each cluster, the minimum and maximum
of its fields, and whether they contain NaNs. Conditions, such as those of "rnt skim
--where", then skip clusters that cannot match without reading them. This is most
effective if entries are sorted or change slowly.

The zone map is an attribute set, so other programs still read FILE. Pages do not
change. An existing zone map is replaced. merge, skim and the other commands maintain
zone maps, verify checks them, and stat shows their size.`,
		Example: "  rnt index data.root\n" +
			"  rnt index --fields run,luminosityBlock,'Muon_*' data.root Events",
		Args:              cli.FileArgs(2),
		ValidArgsFunction: cli.CompleteArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := selection.CheckFields(cmd, fields); err != nil {
				return err
			}
			if remove && len(fields)+len(drop) > 0 {
				return cli.UsageError("--remove removes the bounds of all fields")
			}
			if remove && asJSON {
				return cli.UsageError("--remove has no report; omit --json")
			}
			in := surgery.Input{Path: args[0], Name: cli.NameOf(args)}
			o := surgery.InPlaceOptions{Read: *t.Input.Options(cmd.Context()), File: d.Options()}
			t.Output.Update(in.Path)
			if remove {
				return surgery.RemoveIndex(cmd.Context(), in, &o)
			}
			bar := t.Report.Bar("clusters")
			report, err := surgery.Index(cmd.Context(), in,
				&surgery.IndexOptions{InPlaceOptions: o, Keep: fields, Drop: drop, Progress: bar.Set})
			bar.Done()
			if err != nil {
				return err
			}
			t.Output.Done()
			return printIndexed(t, in.Path, report, asJSON)
		},
	}
	f := cmd.Flags()
	selection.FieldsFlag(cmd, &fields, "fields to index", 0)
	f.StringSliceVar(&drop, "drop", nil, "fields to exclude, named as for --fields")
	cli.CompleteFields(cmd, "drop", 0)
	f.BoolVar(&remove, "remove", false, "remove the zone map")
	f.BoolVar(&asJSON, "json", false, "print the report as JSON")
	d.SyncFlag(cmd)
	d.WaitFlag(cmd)
	return cmd
}

// printIndexed prints what a zone map has.
func printIndexed(t *cli.Tool, path string, r *surgery.Indexed, asJSON bool) error {
	switch {
	case asJSON:
		return text.JSON(t.Out, struct {
			Fields   []string `json:"fields"`
			Clusters int      `json:"clusters"`
		}{append([]string{}, r.Fields...), r.Clusters})
	case t.Report.Quiet:
		return nil
	}
	_, err := fmt.Fprintf(t.Out, "%s: bounds of %s in %s\n", filepath.Base(path), text.Plural(len(r.Fields), "field"),
		text.Plural(r.Clusters, "cluster"))
	return err
}
