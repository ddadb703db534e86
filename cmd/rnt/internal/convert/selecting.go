package convert

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/selection"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/source"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

// selecting holds the flags of commands that choose entries and fields of a source.
type selecting struct {
	selection.Filter
	fields      []string
	name        string
	collections bool
}

// choose returns the entries that meet the condition of the flags, and the paths of their fields.
func (s *selecting) choose(ctx context.Context, t *cli.Tool, from *source.Source) (rntuple.Source, []string, error) {
	chosen, err := selection.Choose(from.Reader.Schema(), s.fields)
	if err != nil {
		return nil, nil, from.Named(err)
	}
	fields := selection.Paths(chosen)
	if len(fields) == 0 {
		source.WarnHidden(t, from.Reader, from.Name, nil, from.Left...)
		for _, f := range from.Reader.Schema().Fields {
			if s.collections || !source.IsProjected(f, from.Reader.Schema()) {
				fields = append(fields, f.Name)
			}
		}
	}
	entries, err := from.Where(ctx, t.Report, &s.Filter)
	return entries, fields, err
}

// skimmed makes an RNTuple of the chosen entries and fields of pieces, with the fields that
// --define adds.
func skimmed(ctx context.Context, t *cli.Tool, out string, pieces []surgery.Piece, c *conversion,
	common surgery.Options) (*surgery.Report, error) {
	zones := &rntuple.ZoneUse{Off: c.NoZones}
	condition, err := c.Condition(zones)
	if err != nil {
		return nil, err
	}
	defined, err := selection.NewFields(c.Define)
	if err != nil {
		return nil, err
	}
	o := &surgery.SkimOptions{Options: common, Keep: c.fields}
	if len(defined) > 0 {
		o.Define = []surgery.Definition{surgery.DefineColumns(defined)}
	}
	report, err := surgery.SkimPieces(ctx, out, pieces, condition, o)
	selection.WarnOfZones(t.Report, zones)
	return report, err
}

// withDefined makes a temporary RNTuple as skimmed does, of which c then takes everything.
func withDefined(ctx context.Context, t *cli.Tool, pieces []surgery.Piece, name string,
	c *conversion) (*source.Source, error) {
	f, err := t.Input.NamedTemporary(".root")
	if err != nil {
		return nil, err
	}
	bar := t.Report.ByteBar()
	report, err := skimmed(ctx, t, f.Name(), pieces, c, surgery.Options{
		Read: *t.Input.Options(ctx), Write: rntuple.WriteOptions{File: rntuple.FileOptions{NoSync: true}}, Progress: bar.Set,
	})
	bar.Done()
	if err != nil {
		return nil, err
	}
	t.Report.Omit(report.Omitted, false)
	if len(c.fields) > 0 {
		defined, err := selection.NewFields(c.Define)
		if err != nil {
			return nil, err
		}
		for _, d := range defined {
			c.fields = append(c.fields, d.Name)
		}
	}
	c.Filter = selection.Filter{}
	return source.FromTemporary(ctx, t, f.Name(), name)
}

// flags adds the flags.
func (s *selecting) flags(cmd *cobra.Command) {
	selection.FieldsFlag(cmd, &s.fields, "fields to read", 0)
	f := cmd.Flags()
	s.Flags(cmd)
	f.BoolVar(&s.collections, "collections", false,
		"include untyped collections whose members have projected fields")
	cli.NameFlag(cmd, &s.name, 0)
}
