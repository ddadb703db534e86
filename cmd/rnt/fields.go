package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/pattern"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/schema"
)

// fieldsFlag adds the flag --fields, whose value must be checked with
// checkFields.
func fieldsFlag(cmd *cobra.Command, fields *[]string, what string) {
	cmd.Flags().StringSliceVarP(fields, "fields", "f", nil, fieldsUsage(what))
}

func fieldsUsage(what string) string {
	return what + `, by path, with * ? [a-z]: "run,Muon_*,event.x" (default all)`
}

// checkFields refuses a value of --fields without names.
func checkFields(cmd *cobra.Command, fields []string) error {
	if cmd.Flags().Changed("fields") && len(fields) == 0 {
		return usageError("--fields names no field")
	}
	for i, p := range fields {
		switch {
		case p == "":
			return usageError("--fields has an empty name")
		case slices.Contains(fields[:i], p):
			return usageError(fmt.Sprintf("--fields has %q twice", p))
		case pattern.Check(p) != nil:
			return usageError(fmt.Sprintf("--fields: %q is not a valid pattern", p))
		}
	}
	return nil
}

// Advice for lacking.
const (
	adviseUnion  = "--mode union takes the fields of all files, with zeros where a file has none"
	adviseFields = "--fields takes only the fields that it names, which all files must have"
)

// lacking adds advice to an error, if that says that a file lacks a field that another one has, and the field was not
// chosen by --fields.
func lacking(err error, advice string, chosen ...string) error {
	var inputs *surgery.IncompatibleError
	var chain *rntuple.SchemaError
	if len(chosen) > 0 {
		return err
	}
	if errors.As(err, &inputs) && slices.ContainsFunc(inputs.Problems, func(p surgery.Problem) bool { return p.Lacks }) ||
		errors.As(err, &chain) && slices.ContainsFunc(chain.Differences, func(d rntuple.Difference) bool { return d.Have == "" }) {
		return fmt.Errorf("%w\n%s", err, advice)
	}
	return err
}

// A choice is a field that --fields names.
type choice struct {
	path  string // as it was named, or of the field that matches a pattern
	field *schema.Field
}

// choose returns the fields of s that match patterns, each once, in the order of
// the patterns and the schema, without the fields below them. The error names all
// patterns that no field matches, each in a line.
func choose(s *schema.Schema, patterns []string) ([]choice, error) {
	var chosen []choice
	var errs []error
	add := func(path string, f *schema.Field) {
		if !slices.ContainsFunc(chosen, func(c choice) bool { return c.path == path }) {
			chosen = append(chosen, choice{path, f})
		}
	}
	for _, p := range patterns {
		if pattern.IsExact(p) {
			chain, err := s.Lookup(p)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			add(p, chain[len(chain)-1])
			continue
		}
		found := false
		var walk func(fields []*schema.Field)
		walk = func(fields []*schema.Field) {
			for _, f := range fields {
				if pattern.Match(p, f) {
					found = true
					add(f.Path(), f)
				} else {
					walk(f.Children)
				}
			}
		}
		walk(s.Fields)
		if !found {
			errs = append(errs, fmt.Errorf("%w matches %q in RNTuple %q", schema.ErrNoField, p, s.Name))
		}
	}
	if len(errs) > 1 {
		return nil, fmt.Errorf("%d wrong names of fields:\n\t%w", len(errs), list(errs))
	}
	return chosen, errors.Join(errs...)
}

// A list is several errors, each a line in the text of a larger one.
type list []error

func (l list) Error() string {
	var text string
	for i, err := range l {
		if i > 0 {
			text += "\n\t"
		}
		text += err.Error()
	}
	return text
}

func (l list) Unwrap() []error { return l }

// paths returns the paths of chosen fields.
func paths(chosen []choice) []string {
	var all []string
	for _, c := range chosen {
		all = append(all, c.path)
	}
	return all
}

// fieldsOf returns chosen fields, each once.
func fieldsOf(chosen []choice) []*schema.Field {
	var all []*schema.Field
	for _, c := range chosen {
		if !slices.Contains(all, c.field) {
			all = append(all, c.field)
		}
	}
	return all
}

// below reports whether f is one of the given fields or below one of them.
func below(fields []*schema.Field, f *schema.Field) bool {
	for ; f != nil; f = f.Parent {
		if slices.Contains(fields, f) {
			return true
		}
	}
	return false
}

// chooseColumns returns the columns that patterns name.
func chooseColumns(columns, patterns []string) ([]string, error) {
	if len(patterns) == 0 {
		return columns, nil
	}
	var chosen []string
	var errs []error
	seen := map[string]bool{}
	for _, p := range patterns {
		found := false
		for _, name := range columns {
			if matchesColumn(p, name) {
				found = true
				if !seen[name] {
					seen[name], chosen = true, append(chosen, name)
				}
			}
		}
		if !found {
			errs = append(errs, fmt.Errorf("%w %q", schema.ErrNoField, p))
		}
	}
	return chosen, errors.Join(errs...)
}

// matchesColumn reports whether a pattern names a column at the top.
func matchesColumn(p, name string) bool {
	return pattern.Match(p, &schema.Field{Field: envelope.Field{Name: name}})
}
