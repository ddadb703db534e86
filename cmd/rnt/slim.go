package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

// cutting holds the flags that slim, skim, concat and split share.
type cutting struct {
	making
	fields, drop, define []string
}

// flags adds the flags to a command.
func (c *cutting) flags(cmd *cobra.Command) {
	c.making.flags(cmd, "as it is")
	fieldsFlag(cmd, &c.fields, "fields to keep")
	cmd.Flags().StringSliceVar(&c.drop, "drop", nil, "fields to leave out, named like those of --fields")
	for _, flag := range []string{"fields", "drop"} {
		completeFields(cmd, flag, 1)
	}
}

// options returns the options of package surgery.
func (c *cutting) options(cmd *cobra.Command) ([]surgery.Option, error) {
	if err := checkFields(cmd, c.fields); err != nil {
		return nil, err
	}
	opts, err := c.making.options()
	if err != nil {
		return nil, err
	}
	if len(c.define) > 0 {
		defined, err := newFields(c.define)
		if err != nil {
			return nil, err
		}
		opts = append(opts, surgery.DefineColumns(defined))
	}
	return append(opts, surgery.Keep(c.fields...), surgery.Drop(c.drop...)), nil
}

// defineFlag adds the flag --define of slim and skim, which defineHelp describes.
func (c *cutting) defineFlag(cmd *cobra.Command) {
	defineFlag(cmd, &c.define, newFieldUsage)
}

const newFieldUsage = "a new field, `'NAME=EXPR'` or 'NAME:TYPE=EXPR'; may be given again"

const defineHelp = `--define NAME=EXPR adds a field with the values of an expression, which may name
fields that are left out, and those defined before. The field is a bool, std::int64_t,
double or std::string, or a vector of these, and an optional if the value may be
missing. NAME:TYPE=EXPR gives it another type that takes the values: a narrower one for
numbers, optional<T>, ROOT::RVec<T> or array<T,N> for a vector. An integer that it
cannot hold is an error, as is an array that has not N items; floats are rounded to
float. Its description is EXPR. To replace a field, drop the old one with --drop.`

// printCut prints what was written to the file out.
func (t *tool) printCut(out string, r *surgery.Report, asJSON bool) error {
	if asJSON {
		return printJSON(t.out, t.cutOf(r))
	}
	for _, f := range r.Dropped {
		t.warn("field %q is dropped: it is a projection of a field that is dropped", f)
	}
	if t.quiet {
		return nil
	}
	fmt.Fprintf(t.out, "%s: %s of %s entries%s\n\n", remote.Base(out), count(r.Entries), count(r.InputEntries), sizeOf(out))
	return t.printLevels(r)
}

// cutJSON is a report as JSON.
type cutJSON struct {
	reportJSON
	InputEntries int64    `json:"input_entries"`
	Dropped      []string `json:"dropped"` // projections of fields that were dropped
}

func (t *tool) cutOf(r *surgery.Report) cutJSON {
	return cutJSON{t.reportOf(r), r.InputEntries, append([]string{}, r.Dropped...)}
}

func (t *tool) slimCommand() *cobra.Command {
	var c cutting
	var unit string
	cmd := &cobra.Command{
		Use:   "slim OUT IN [NTUPLE]",
		Short: "Keep, drop or define fields",
		Long: `slim makes a ROOT file OUT with some fields of the RNTuple in the file IN. Pages are
copied as they are stored; entries, clusters and attribute sets stay the same.

Fields are named by their paths, in which * stands for any characters but a dot, ?
for one and [a-z] for one of several: "Muon_*", "event.vertex.*". Those that match
--fields are kept with everything below them; those that match --drop are left out
in any case. Members can be chosen of untyped records only: a class without one of
its members would not be that class. The source of a projected field that is kept is
kept, too; projections of a field that is dropped are dropped.

` + defineHelp,
		Example: "  rnt slim --fields 'Muon_*,run,event' muons.root events.root\n" +
			"  rnt slim --drop 'HLT_*' small.root events.root Events\n" +
			"  rnt slim --drop 'Muon_*' --define 'lead:float = max(Muon_pt)' leads.root events.root",
		Args:              outArgs(3, "slimmed"),
		ValidArgsFunction: completeArgs(2, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := c.options(cmd)
			if err != nil {
				return err
			}
			if len(c.fields)+len(c.drop)+len(c.define) == 0 {
				return usageError("which fields? Use --fields, --drop or --define")
			}
			if unit != "" {
				return t.cutUnits(cmd, unit, args, func(out string, pieces []surgery.Piece, identity ...surgery.Option) error {
					report, err := t.withBar(func(more ...surgery.Option) (*surgery.Report, error) {
						return surgery.SkimPieces(cmd.Context(), out, pieces, nil, slices.Concat(opts, more, identity)...)
					})
					if err != nil {
						return err
					}
					return t.printCut(out, report, c.asJSON)
				})
			}
			inputs, err := t.inputs(cmd, args[1:2], nameOf(args[1:]))
			if err != nil {
				return err
			}
			report, err := t.operate(cmd.Context(), args[0], c.force, inputs, func(more ...surgery.Option) (*surgery.Report, error) {
				return surgery.Slim(cmd.Context(), args[0], inputs[0], append(opts, more...)...)
			})
			if err != nil {
				return err
			}
			return t.printCut(args[0], report, c.asJSON)
		},
	}
	c.flags(cmd)
	c.defineFlag(cmd)
	forceFlag(cmd, &c.force)
	unitFlag(cmd, &unit)
	return cmd
}

// nameOf returns NTUPLE of the arguments FILE [NTUPLE], or nothing.
func nameOf(args []string) string {
	if len(args) > 1 {
		return args[1]
	}
	return ""
}
