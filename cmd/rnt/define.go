package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/expression"
)

// defineFlag adds the flag --define, whose values definitions parses.
func defineFlag(cmd *cobra.Command, define *[]string, what string) {
	cmd.Flags().StringArrayVar(define, "define", nil, what)
}

// definitions returns the definitions NAME=EXPR of the flag --define. Each may use the names of
// those before it.
func definitions(define []string) ([]expression.Definition, error) {
	var all []expression.Definition
	for _, text := range define {
		name, value, ok := strings.Cut(text, "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" || strings.HasPrefix(value, "=") {
			return nil, usageError(fmt.Sprintf("--define %s: want NAME=EXPR", text))
		}
		for _, d := range all {
			if d.Name == name {
				return nil, usageError(fmt.Sprintf("--define has %q twice", name))
			}
		}
		e, err := expression.Parse(value)
		if err != nil {
			return nil, usageError(fmt.Sprintf("--define %s: %v", name, err))
		}
		all = append(all, expression.Definition{Name: name, Value: e.With(all...)})
	}
	return all, nil
}
