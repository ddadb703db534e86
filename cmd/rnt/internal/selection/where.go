package selection

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
)

// DefineFlag adds the flag --define, whose values NewFields parses.
func DefineFlag(cmd *cobra.Command, define *[]string, what string) {
	cmd.Flags().StringArrayVar(define, "define", nil, what)
}

// NewFieldUsage is for flags --define that add fields.
const NewFieldUsage = "add a field, `'NAME=EXPR'` or 'NAME:TYPE=EXPR'; may be repeated"

// NewFields returns the fields of the flag --define, NAME=EXPR or NAME:TYPE=EXPR. Each may use
// the names of those before it.
func NewFields(define []string) (expression.Fields, error) {
	fields, err := expression.ParseFields(define...)
	if err != nil {
		return nil, cli.UsageError("--define: " + err.Error())
	}
	return fields, nil
}

// Definitions returns the definitions of the flag --define, for Expression.With.
func Definitions(define []string) ([]expression.Definition, error) {
	fields, err := NewFields(define)
	return fields.Definitions(), err
}

// Untyped returns the definitions of the flag --define of a command that adds no fields, so that
// types have no effect.
func Untyped(define []string) ([]expression.Definition, error) {
	fields, err := NewFields(define)
	for _, f := range fields {
		if f.Type != "" {
			return nil, cli.UsageError(fmt.Sprintf("--define: %s cannot have a type here; omit %s", f.Name,
				f.Type))
		}
	}
	return fields.Definitions(), err
}

// A Filter holds the flags that choose entries.
type Filter struct {
	Where   []string // conditions, which all hold
	Define  []string // names that they may use
	NoZones bool
}

// Flags adds the flags --where and --no-zones.
func (f *Filter) Flags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.Where, "where", nil,
		"only entries for which `COND` is true: 'nMuon == 2 && any(Muon_pt, # > 20)'; if repeated, all must be true")
	cmd.Flags().BoolVar(&f.NoZones, "no-zones", false, "do not use zone maps")
}

// ParseWhere returns the expressions of the flag --where.
func ParseWhere(where []string) ([]*expression.Expression, error) {
	all := make([]*expression.Expression, len(where))
	for i, text := range where {
		e, err := expression.Parse(text)
		if err != nil {
			return nil, cli.UsageError("--where: " + err.Error())
		}
		all[i] = e
	}
	return all, nil
}

// Condition returns the condition that all of --where hold, or nil if there is none.
func (f *Filter) Condition(zones *rntuple.ZoneUse) (rntuple.Condition, error) {
	all, err := ParseWhere(f.Where)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	defined, err := Definitions(f.Define)
	if err != nil {
		return nil, err
	}
	return expression.And(all...).With(defined...).ConditionUsing(zones), nil
}

// WarnOfZones says which zone maps could not be used.
func WarnOfZones(t *cli.Reporter, zones *rntuple.ZoneUse) {
	for _, problem := range zones.Problems() {
		t.Warn("%s; rnt index rebuilds it", problem)
	}
}
