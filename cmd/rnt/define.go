package main

import (
	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/expression"
)

// defineFlag adds the flag --define, whose values definitions parses.
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
