package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

func (t *tool) indexCommand() *cobra.Command {
	var fields, drop []string
	var remove, asJSON bool
	var d durability
	cmd := &cobra.Command{
		Use:   "index FILE [NTUPLE]",
		Short: "Store the bounds of values, so that conditions skip clusters",
		Long: `index gives the RNTuple in FILE a zone map: for each cluster the least and the
greatest value of its fields, and whether there are NaNs. Conditions, as of
"rnt skim --where", then pass over clusters in which they cannot be true, unread; that
helps most where entries are sorted, or change slowly.

The zone map is an attribute set, so other programs read FILE as before. Pages stay as
they are. An older zone map is replaced. merge, skim and the other commands keep zone
maps up, verify checks them, and stat tells what they have.`,
		Example: "  rnt index data.root\n" +
			"  rnt index --fields run,luminosityBlock,'Muon_*' data.root Events",
		Args:              fileArgs(2),
		ValidArgsFunction: completeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFields(cmd, fields); err != nil {
				return err
			}
			if remove && len(fields)+len(drop) > 0 {
				return usageError("--remove removes the bounds of all fields")
			}
			if remove && asJSON {
				return usageError("--remove has no report; leave out --json")
			}
			in := surgery.Input{Path: args[0], Name: nameOf(args)}
			write := surgery.Write(d.options()...)
			t.output.begin(updated, in.Path)
			if remove {
				return surgery.RemoveIndex(cmd.Context(), in, write, t.readInputs())
			}
			bar := t.bar("clusters")
			report, err := surgery.Index(cmd.Context(), in, surgery.Keep(fields...), surgery.Drop(drop...), write, t.readInputs(),
				surgery.Progress(bar.setOf))
			bar.done()
			if err != nil {
				return err
			}
			t.output.done()
			return t.printIndexed(in.Path, report, asJSON)
		},
	}
	f := cmd.Flags()
	fieldsFlag(cmd, &fields, "fields to index")
	f.StringSliceVar(&drop, "drop", nil, "fields to leave out, named like those of --fields")
	for _, flag := range []string{"fields", "drop"} {
		completeFields(cmd, flag, 0)
	}
	f.BoolVar(&remove, "remove", false, "remove the zone map")
	f.BoolVar(&asJSON, "json", false, "print the report as JSON")
	d.syncFlag(cmd)
	d.waitFlag(cmd)
	return cmd
}

// printIndexed prints what a zone map has.
func (t *tool) printIndexed(path string, r *surgery.Indexed, asJSON bool) error {
	switch {
	case asJSON:
		return printJSON(t.out, struct {
			Fields   []string `json:"fields"`
			Clusters int      `json:"clusters"`
		}{append([]string{}, r.Fields...), r.Clusters})
	case t.quiet:
		return nil
	}
	_, err := fmt.Fprintf(t.out, "%s: bounds of %s in %s\n", filepath.Base(path), plural(len(r.Fields), "field"), plural(r.Clusters, "cluster"))
	return err
}
