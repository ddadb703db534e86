package edit

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/operation"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/selection"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/source"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/units"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

func skimCommand(t *cli.Tool) *cobra.Command {
	var c cutting
	var f selection.Filter
	var explain, skipBad bool
	var unit string
	cmd := &cobra.Command{
		Use:   "skim --where EXPR OUT IN...",
		Short: "Keep the entries that meet a condition",
		Long: `skim makes a ROOT file OUT with those entries of the RNTuples in the files IN for
which EXPR is true. Clusters of which all entries are kept are copied as they are
stored, those of which none is kept are skipped; of the others, pages of which all is
kept are copied, and those of which some is are rewritten. OUT has the fields of the
first file, or those of --fields and --drop; fields that only others have are named in
a warning, and the exit status is 3, unless one of these flags leaves them out.

EXPR is an expression whose variables are the fields; "rnt help expressions" tells its
language. Muon_pt[0] > 20 is false without muons. A field whose name is not a word of
the language is written $env["a:b"]. Only the fields that EXPR names are read. Ranges
of attributes are cut and renumbered with their entries.

Clusters in which EXPR cannot be true are not read if IN has a zone map, which "rnt
index" makes; --no-zones reads them all the same. Zone maps of files at URLs are used
with --zones only.

--explain prints the type of EXPR and the fields that it reads, and makes no file.

` + source.SkipBadHelp + "\n\n" + defineHelp,
		Example: "  rnt skim --where 'nMuon == 2 && all(Muon_pt, # > 20)' pairs.root events.root\n" +
			"  rnt skim --define 'lead:float = max(Muon_pt)' --where 'lead > 50' hard.root events.root\n" +
			"  rnt skim --where 'MET_pt > 100' --fields 'MET_*,Jet_*' met.root run*.root",
		Args:              cli.OutArgs(cli.AnyNumber, "skimmed"),
		ValidArgsFunction: cli.CompleteFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(f.Where) == 0 {
				return cli.UsageError("which entries? Use --where")
			}
			f.Define = c.define
			if _, err := f.Condition(nil); err != nil {
				return err
			}
			if explain && (c.asJSON || skipBad) {
				return cli.UsageError("--explain makes no file and has no report; leave out --json and --skip-bad")
			}
			if explain && unit == "" {
				return explainWhere(cmd.Context(), t, args[1], c.name, &f)
			}
			opts, err := c.options(cmd)
			if err != nil {
				return err
			}
			bad := source.BadFiles{Skip: skipBad, Out: args[0], Force: c.force, Name: c.name}
			skim := func(out string, pieces []surgery.Piece, identity units.Identity) error {
				zones := &rntuple.ZoneUse{Off: f.NoZones}
				condition, err := f.Condition(zones)
				if err != nil {
					return err
				}
				o := *opts
				identity(&o.Write.File)
				report, err := operation.Run(cmd.Context(), t, false, &o.Options, func() (*surgery.Report, error) {
					return surgery.SkimPieces(cmd.Context(), out, pieces, condition, &o)
				})
				if err != nil {
					return operation.Lacking(err, operation.AdviseFields, c.fields...)
				}
				return printSkimmed(t, out, report, zones, c.asJSON, bad.Skipped)
			}
			if unit != "" {
				return units.Cut(t, cmd, unit, args, skim)
			}
			paths, err := t.Input.Roots(cmd.Context(), args[1:])
			if err != nil {
				return err
			}
			if err := t.Output.Begin(cmd.Context(), args[0], c.force, paths...); err != nil {
				return err
			}
			return bad.Without(cmd.Context(), t, paths, func(files []string) error {
				return skim(args[0], source.Pieces(files, c.name), func(*rntuple.FileOptions) {})
			})
		},
	}
	f.Flags(cmd)
	cmd.Flags().BoolVar(&explain, "explain", false,
		"print the types of the conditions and the fields that they read, and make no file")
	cli.NameFlag(cmd, &c.name, 1)
	c.flags(cmd)
	c.defineFlag(cmd)
	cli.ForceFlag(cmd, &c.force)
	source.SkipBadFlag(cmd, &skipBad)
	units.Flag(cmd, &unit)
	return cmd
}

// skimJSON is a report of skim as JSON.
type skimJSON struct {
	cutJSON
	Zoned  int64 `json:"zoned_clusters"`  // clusters of inputs with zone maps
	Passed int64 `json:"passed_clusters"` // those of them that were passed over because of these
}

// printSkimmed prints what was written to the file out, and what came of zone maps.
func printSkimmed(t *cli.Tool, out string, r *surgery.Report, zones *rntuple.ZoneUse, asJSON bool,
	skipped []source.BadFile) error {
	selection.WarnOfZones(t.Report, zones)
	zoned, passed := zones.Clusters()
	if asJSON {
		return text.JSON(t.Out, skimJSON{cutOf(r, skipped...), zoned, passed})
	}
	if err := printCut(t, out, r, false); err != nil || t.Report.Quiet || zoned == 0 {
		return err
	}
	_, err := fmt.Fprintf(t.Out, "\nzone maps: %s of %s passed over\n", text.Count(passed),
		text.Plural(int(zoned), "cluster"))
	return err
}

// explainWhere prints the types of conditions for the RNTuple of a file, and the fields that they
// read.
func explainWhere(ctx context.Context, t *cli.Tool, arg, name string, f *selection.Filter) error {
	all, err := selection.ParseWhere(f.Where)
	if err != nil {
		return err
	}
	defined, err := selection.Definitions(f.Define)
	if err != nil {
		return err
	}
	for i, e := range all {
		all[i] = e.With(defined...)
	}
	args := []string{arg}
	if name != "" {
		args = append(args, name)
	}
	r, err := source.OpenRNTuple(ctx, t, args)
	if err != nil {
		return err
	}
	defer r.Close()
	p, err := expression.Compile(r, all...)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(t.Out, p.Explain())
	return err
}
