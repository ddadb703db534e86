package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/rntuple/expression"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
)

func (t *tool) skimCommand() *cobra.Command {
	var c cutting
	var f filter
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

` + skipBadHelp + "\n\n" + defineHelp,
		Example: "  rnt skim --where 'nMuon == 2 && all(Muon_pt, # > 20)' pairs.root events.root\n" +
			"  rnt skim --define 'lead:float = max(Muon_pt)' --where 'lead > 50' hard.root events.root\n" +
			"  rnt skim --where 'MET_pt > 100' --fields 'MET_*,Jet_*' met.root run*.root",
		Args:              outArgs(anyNumber, "skimmed"),
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(f.where) == 0 {
				return usageError("which entries? Use --where")
			}
			f.define = c.define
			if _, err := f.condition(nil); err != nil {
				return err
			}
			if explain && (c.asJSON || skipBad) {
				return usageError("--explain makes no file and has no report; leave out --json and --skip-bad")
			}
			if explain && unit == "" {
				return t.explain(cmd.Context(), args[1], c.name, &f)
			}
			opts, err := c.options(cmd)
			if err != nil {
				return err
			}
			skim := func(out string, pieces []surgery.Piece, more ...surgery.Option) error {
				zones := &zonemap.Use{Off: f.noZones}
				condition, err := f.condition(zones)
				if err != nil {
					return err
				}
				report, err := t.withBar(func(all ...surgery.Option) (*surgery.Report, error) {
					return surgery.SkimPieces(cmd.Context(), out, pieces, condition, slices.Concat(opts, more, all)...)
				})
				if err != nil {
					return lacking(err, adviseFields, c.fields...)
				}
				return t.printSkimmed(out, report, zones, c.asJSON)
			}
			if unit != "" {
				return t.cutUnits(cmd, unit, args, skim)
			}
			inputs, err := t.inputs(cmd, args[1:], c.name)
			if err != nil {
				return err
			}
			if err := t.beginOutput(cmd.Context(), args[0], c.force, pathsOf(inputs)...); err != nil {
				return err
			}
			b := t.bad(cmd.Context(), skipBad, args[0], c.force, c.name)
			return t.without(cmd.Context(), b, pathsOf(inputs), func(files []string) error {
				return skim(args[0], piecesOf(inputsOf(files, c.name)))
			})
		},
	}
	f.whereFlags(cmd)
	cmd.Flags().BoolVar(&explain, "explain", false, "print the types of the conditions and the fields that they read, and make no file")
	c.nameFlag(cmd, "name of the RNTuples (default the only one of each file)", 1)
	c.flags(cmd)
	c.defineFlag(cmd)
	forceFlag(cmd, &c.force)
	skipBadFlag(cmd, &skipBad)
	unitFlag(cmd, &unit)
	return cmd
}

// skimJSON is a report of skim as JSON.
type skimJSON struct {
	cutJSON
	Zoned  int64 `json:"zoned_clusters"`  // clusters of inputs with zone maps
	Passed int64 `json:"passed_clusters"` // those of them that were passed over because of these
}

// printSkimmed prints what was written to the file out, and what came of zone maps.
func (t *tool) printSkimmed(out string, r *surgery.Report, zones *zonemap.Use, asJSON bool) error {
	t.warnOfZones(zones)
	zoned, passed := zones.Clusters()
	if asJSON {
		return printJSON(t.out, skimJSON{t.cutOf(r), zoned, passed})
	}
	if err := t.printCut(out, r, false); err != nil || t.quiet || zoned == 0 {
		return err
	}
	_, err := fmt.Fprintf(t.out, "\nzone maps: %s of %s passed over\n", count(passed), plural(int(zoned), "cluster"))
	return err
}

// warnOfZones says which zone maps could not be used.
func (t *tool) warnOfZones(zones *zonemap.Use) {
	for _, problem := range zones.Problems() {
		t.warn("%s; rnt index makes it anew", problem)
	}
}

// explain prints the types of conditions for the RNTuple of a file, and the fields that they read.
func (t *tool) explain(ctx context.Context, arg, name string, f *filter) error {
	all, err := parseWhere(f.where)
	if err != nil {
		return err
	}
	defined, err := definitions(f.define)
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
	r, err := t.open(ctx, args)
	if err != nil {
		return err
	}
	defer r.Close()
	p, err := expression.Compile(r, all...)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(t.out, p.Explain())
	return err
}
