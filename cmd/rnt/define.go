package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/foreign"
	"github.com/go-rntuple/go-rntuple/internal/disk/tempfile"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
)

// defineFlag adds the flag --define, whose values newFields parses.
func defineFlag(cmd *cobra.Command, define *[]string, what string) {
	cmd.Flags().StringArrayVar(define, "define", nil, what)
}

// newFields returns the fields of the flag --define, NAME=EXPR or NAME:TYPE=EXPR. Each may use
// the names of those before it.
func newFields(define []string) (expression.Fields, error) {
	fields, err := expression.ParseFields(define...)
	if err != nil {
		return nil, usageError("--define: " + err.Error())
	}
	return fields, nil
}

// definitions returns the definitions of the flag --define, for Expression.With.
func definitions(define []string) ([]expression.Definition, error) {
	fields, err := newFields(define)
	return fields.Definitions(), err
}

// untyped returns the definitions of the flag --define of a command that adds no fields, so that types have no effect.
func untyped(define []string) ([]expression.Definition, error) {
	fields, err := newFields(define)
	for _, f := range fields {
		if f.Type != "" {
			return nil, usageError(fmt.Sprintf("--define: %s is a name, which has no type here; leave out %s", f.Name, f.Type))
		}
	}
	return fields.Definitions(), err
}

// A filter holds the flags that choose entries.
type filter struct {
	where   []string // conditions, which all hold
	define  []string // names that they may use
	noZones bool
}

// whereFlags adds the flags --where and --no-zones.
func (f *filter) whereFlags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.where, "where", nil, "only entries for which `COND` is true: 'nMuon == 2 && any(Muon_pt, # > 20)'; all hold if it is given again")
	cmd.Flags().BoolVar(&f.noZones, "no-zones", false, "do not use zone maps")
}

// parseWhere returns the expressions of the flag --where.
func parseWhere(where []string) ([]*expression.Expression, error) {
	all := make([]*expression.Expression, len(where))
	for i, text := range where {
		e, err := expression.Parse(text)
		if err != nil {
			return nil, usageError("--where: " + err.Error())
		}
		all[i] = e
	}
	return all, nil
}

// condition returns the condition that all of --where hold, or nil if there is none.
func (f *filter) condition(zones *zonemap.Use) (rntuple.Condition, error) {
	all, err := parseWhere(f.where)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	defined, err := definitions(f.define)
	if err != nil {
		return nil, err
	}
	return expression.And(all...).With(defined...).ConditionUsing(zones), nil
}

// entries returns the entries of a source for which all of --where hold.
func (f *filter) entries(ctx context.Context, t *tool, from *source) (rntuple.Source, error) {
	if len(f.where) == 0 && len(f.define) > 0 {
		return nil, usageError("--define gives names for --where; rnt slim and rnt convert add fields")
	}
	if _, err := untyped(f.define); err != nil {
		return nil, err
	}
	zones := &zonemap.Use{Off: f.noZones}
	c, err := f.condition(zones)
	if err != nil || c == nil {
		return from.entries, err
	}
	some, err := rntuple.Where(from.entries, c)
	if err != nil {
		return nil, from.named(err)
	}
	t.warnOfZones(zones)
	return some.WithContext(ctx), nil
}

// skimmed makes an RNTuple of the chosen entries and fields of pieces, with the fields that --define adds.
func (t *tool) skimmed(ctx context.Context, out string, pieces []surgery.Piece, c *conversion, opts ...surgery.Option) (*surgery.Report, error) {
	zones := &zonemap.Use{Off: c.noZones}
	condition, err := c.condition(zones)
	if err != nil {
		return nil, err
	}
	defined, err := newFields(c.define)
	if err != nil {
		return nil, err
	}
	opts = append(opts, surgery.Keep(c.fields...))
	if len(defined) > 0 {
		opts = append(opts, surgery.DefineColumns(defined))
	}
	report, err := surgery.SkimPieces(ctx, out, pieces, condition, opts...)
	t.warnOfZones(zones)
	return report, err
}

// withDefined makes a temporary RNTuple as skimmed does, of which c then takes everything.
func (t *tool) withDefined(ctx context.Context, pieces []surgery.Piece, name string, c *conversion) (*source, error) {
	f, err := tempfile.Create(func() (*os.File, error) { return os.CreateTemp("", "rnt-*.root") })
	if err != nil {
		return nil, err
	}
	t.named, t.temporaries = append(t.named, f.Name()), append(t.temporaries, f)
	bar := t.byteBar()
	report, err := t.skimmed(ctx, f.Name(), pieces, c, t.readInputs(), surgery.Write(rntuple.Sync(false)), surgery.Progress(bar.setOf))
	bar.done()
	if err != nil {
		return nil, err
	}
	t.omit(report.Omitted)
	if len(c.fields) > 0 {
		defined, err := newFields(c.define)
		if err != nil {
			return nil, err
		}
		for _, d := range defined {
			c.fields = append(c.fields, d.Name)
		}
	}
	c.filter = filter{}
	r, err := rntuple.Open(f.Name(), "", append(t.reading(), rntuple.Context(ctx))...)
	if err != nil {
		return nil, err
	}
	return &source{entries: r, first: r, paths: []string{f.Name()}, name: name, kind: foreign.RNTuple}, nil
}
