package edit

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/operation"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/selection"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/source"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/units"
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
	selection.FieldsFlag(cmd, &c.fields, "fields to keep", 1)
	cmd.Flags().StringSliceVar(&c.drop, "drop", nil, "fields to leave out, named like those of --fields")
	cli.CompleteFields(cmd, "drop", 1)
}

// options returns the options of package surgery.
func (c *cutting) options(cmd *cobra.Command) (*surgery.SkimOptions, error) {
	if err := selection.CheckFields(cmd, c.fields); err != nil {
		return nil, err
	}
	common, err := c.making.options()
	if err != nil {
		return nil, err
	}
	o := &surgery.SkimOptions{Options: common, Keep: c.fields, Drop: c.drop}
	if len(c.define) > 0 {
		defined, err := selection.NewFields(c.define)
		if err != nil {
			return nil, err
		}
		o.Define = []surgery.Definition{surgery.DefineColumns(defined)}
	}
	return o, nil
}

// defineFlag adds the flag --define of slim and skim, which defineHelp describes.
func (c *cutting) defineFlag(cmd *cobra.Command) {
	selection.DefineFlag(cmd, &c.define, selection.NewFieldUsage)
}

const defineHelp = `--define NAME=EXPR adds a field with the values of an expression, which may name
fields that are left out, and those defined before. The field is a bool, std::int64_t,
double or std::string, or a vector of these, and an optional if the value may be
missing. NAME:TYPE=EXPR gives it another type that takes the values: a narrower one for
numbers, optional<T>, ROOT::RVec<T> or array<T,N> for a vector. An integer that it
cannot hold is an error, as is an array that has not N items; floats are rounded to
float. Its description is EXPR. To replace a field, drop the old one with --drop.`

// printCut prints what was written to the file out.
func printCut(t *cli.Tool, out string, r *surgery.Report, asJSON bool) error {
	if asJSON {
		return text.JSON(t.Out, cutOf(r))
	}
	for _, f := range r.Dropped {
		t.Report.Warn("field %q is dropped: it is a projection of a field that is dropped", f)
	}
	if t.Report.Quiet {
		return nil
	}
	fmt.Fprintf(t.Out, "%s: %s of %s entries%s\n\n", remote.Base(out), text.Count(r.Entries),
		text.Count(r.InputEntries), sizeOf(out))
	return printLevels(t, r)
}

// cutJSON is a report as JSON.
type cutJSON struct {
	reportJSON
	InputEntries int64    `json:"input_entries"`
	Dropped      []string `json:"dropped"` // projections of fields that were dropped
}

func cutOf(r *surgery.Report, skipped ...source.BadFile) cutJSON {
	return cutJSON{reportOf(r, skipped), r.InputEntries, append([]string{}, r.Dropped...)}
}

func slimCommand(t *cli.Tool) *cobra.Command {
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
		Args:              cli.OutArgs(3, "slimmed"),
		ValidArgsFunction: cli.CompleteArgs(2, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := c.options(cmd)
			if err != nil {
				return err
			}
			if len(c.fields)+len(c.drop)+len(c.define) == 0 {
				return cli.UsageError("which fields? Use --fields, --drop or --define")
			}
			if unit != "" {
				return units.Cut(t, cmd, unit, args, func(out string, pieces []surgery.Piece, identity units.Identity) error {
					o := *opts
					identity(&o.Write.File)
					report, err := operation.Run(cmd.Context(), t, false, &o.Options, func() (*surgery.Report, error) {
						return surgery.SkimPieces(cmd.Context(), out, pieces, nil, &o)
					})
					if err != nil {
						return err
					}
					return printCut(t, out, report, c.asJSON)
				})
			}
			o := &surgery.SlimOptions{Options: opts.Options, Keep: opts.Keep, Drop: opts.Drop, Define: opts.Define}
			report, err := makeFrom(cmd.Context(), t, args[0], c.force, args[1:2], cli.NameOf(args[1:]), &o.Options,
				func(in []surgery.Input) (*surgery.Report, error) {
					return surgery.Slim(cmd.Context(), args[0], in[0], o)
				})
			if err != nil {
				return err
			}
			return printCut(t, args[0], report, c.asJSON)
		},
	}
	c.flags(cmd)
	c.defineFlag(cmd)
	cli.ForceFlag(cmd, &c.force)
	units.Flag(cmd, &unit)
	return cmd
}
