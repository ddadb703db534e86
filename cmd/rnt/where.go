package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
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
		return nil, cli.UsageError("--define: " + err.Error())
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
			return nil, cli.UsageError(fmt.Sprintf("--define: %s is a name, which has no type here; leave out %s", f.Name, f.Type))
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
			return nil, cli.UsageError("--where: " + err.Error())
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

// warnOfZones says which zone maps could not be used.
func warnOfZones(t *cli.Reporter, zones *zonemap.Use) {
	for _, problem := range zones.Problems() {
		t.Warn("%s; rnt index makes it anew", problem)
	}
}
