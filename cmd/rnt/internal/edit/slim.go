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
	c.making.flags(cmd, "unchanged")
	selection.FieldsFlag(cmd, &c.fields, "fields to keep", 1)
	cmd.Flags().StringSliceVar(&c.drop, "drop", nil, "fields to drop, named as for --fields")
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

const defineHelp = `--define NAME=EXPR adds a field computed by an expression, which may use dropped fields
and fields defined earlier. The field is a bool, std::int64_t, double or std::string, a
vector of these, or an optional if the value can be missing. NAME:TYPE=EXPR sets another
type that can hold the values: a narrower number, optional<T>, ROOT::RVec<T>, or
array<T,N> for a vector. An integer out of range is an error, as is an array whose
length is not N; floats are rounded to float. The field's description is EXPR. To
replace a field, drop the old one with --drop.`

// printCut prints what was written to the file out.
func printCut(t *cli.Tool, out string, r *surgery.Report, asJSON bool) error {
	if asJSON {
		return text.JSON(t.Out, cutOf(r))
	}
	for _, f := range r.Dropped {
		t.Report.Warn("dropping field %q: it is a projection of a dropped field", f)
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
		Long: `slim writes some fields of the RNTuple in the file IN to the ROOT file OUT. Pages are
copied as stored; entries, clusters and attribute sets do not change.

Fields are named by path. In a path, * matches any characters except a dot, ? matches
one, and [a-z] one of a range: "Muon_*", "event.vertex.*". Fields that match --fields
are kept with all their subfields; fields that match --drop are always dropped. Members
can be selected only in untyped records, because a class needs all of its members. The
source of a projected field is kept with it; projections of a dropped field are dropped.

` + defineHelp,
		Example: "  rnt slim --fields 'Muon_*,run,event' muons.root events.root\n" +
			"  rnt slim --drop 'HLT_*' small.root events.root Events\n" +
			"  rnt slim --drop 'Muon_*' --define 'lead:float = max(Muon_pt)' leads.root events.root",
		Args:              cli.OutArgs(3),
		ValidArgsFunction: cli.CompleteArgs(2, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := c.options(cmd)
			if err != nil {
				return err
			}
			if len(c.fields)+len(c.drop)+len(c.define) == 0 {
				return cli.UsageError("no fields given; use --fields, --drop or --define")
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
