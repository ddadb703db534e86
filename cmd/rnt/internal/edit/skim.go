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
		Short: "Keep the entries that satisfy a condition",
		Long: `skim writes the entries of the RNTuples in the files IN for which EXPR is true to the
ROOT file OUT. Clusters are copied as stored if all their entries are kept and skipped
if none is. In other clusters, pages are copied if all their entries are kept, and
rewritten otherwise. OUT has the fields of the first file, or those selected by --fields
and --drop. Fields that only other files have are listed in a warning, and the exit
status is 3, unless one of these flags excludes them.

EXPR is an expression over the fields; see "rnt help expressions". Muon_pt[0] > 20 is
false if there are no muons. A field whose name is not an identifier is written
$env["a:b"]. Only the fields used by EXPR are read. Ranges of attributes are cut and
renumbered with their entries.

If IN has a zone map ("rnt index" adds one), clusters in which EXPR cannot be true are
not read; --no-zones disables this. Zone maps of remote files are used only with
--zones.

--explain prints the type of EXPR and the fields it reads, and writes no file.

` + source.SkipBadHelp + "\n\n" + defineHelp,
		Example: "  rnt skim --where 'nMuon == 2 && all(Muon_pt, # > 20)' pairs.root events.root\n" +
			"  rnt skim --define 'lead:float = max(Muon_pt)' --where 'lead > 50' hard.root events.root\n" +
			"  rnt skim --where 'MET_pt > 100' --fields 'MET_*,Jet_*' met.root run*.root",
		Args:              cli.OutArgs(cli.AnyNumber),
		ValidArgsFunction: cli.CompleteFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(f.Where) == 0 {
				return cli.UsageError("missing condition; use --where")
			}
			f.Define = c.define
			if _, err := f.Condition(nil); err != nil {
				return err
			}
			if explain && (c.asJSON || skipBad) {
				return cli.UsageError("--explain writes no file and has no report; omit --json and --skip-bad")
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
		"print the types of the conditions and the fields they read, and write no file")
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
	_, err := fmt.Fprintf(t.Out, "\nzone maps: skipped %s of %s\n", text.Count(passed),
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
