package selection

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/internal/pattern"
	"github.com/go-rntuple/go-rntuple/schema"
)

// FieldsFlag adds the flag --fields, whose value must be checked with CheckFields. File is the
// number of the argument that names the file with the fields.
func FieldsFlag(cmd *cobra.Command, fields *[]string, what string, file int) {
	cmd.Flags().StringSliceVarP(fields, "fields", "f", nil,
		what+`, by path, with * ? [a-z]: "run,Muon_*,event.x" (default all)`)
	cli.CompleteFields(cmd, "fields", file)
}

// CheckFields refuses a value of --fields without names.
func CheckFields(cmd *cobra.Command, fields []string) error {
	if cmd.Flags().Changed("fields") && len(fields) == 0 {
		return cli.UsageError("--fields: no fields given")
	}
	for i, p := range fields {
		switch {
		case p == "":
			return cli.UsageError("--fields: empty name")
		case slices.Contains(fields[:i], p):
			return cli.UsageError(fmt.Sprintf("--fields: %q given twice", p))
		case pattern.Check(p) != nil:
			return cli.UsageError(fmt.Sprintf("--fields: invalid pattern %q", p))
		}
	}
	return nil
}

// A Choice is a field that --fields names.
type Choice struct {
	path  string // as it was named, or of the field that matches a pattern
	Field *schema.Field
}

// Choose returns the fields of s that match patterns, each once, in the order of
// the patterns and the schema, without the fields below them. The error names all
// patterns that no field matches, each in a line.
func Choose(s *schema.Schema, patterns []string) ([]Choice, error) {
	var chosen []Choice
	var errs []error
	add := func(path string, f *schema.Field) {
		if !slices.ContainsFunc(chosen, func(c Choice) bool { return c.path == path }) {
			chosen = append(chosen, Choice{path, f})
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
		return nil, fmt.Errorf("%d unknown fields:\n\t%w", len(errs), list(errs))
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

// Paths returns the paths of chosen fields.
func Paths(chosen []Choice) []string {
	var all []string
	for _, c := range chosen {
		all = append(all, c.path)
	}
	return all
}

// Fields returns chosen fields, each once.
func Fields(chosen []Choice) []*schema.Field {
	var all []*schema.Field
	for _, c := range chosen {
		if !slices.Contains(all, c.Field) {
			all = append(all, c.Field)
		}
	}
	return all
}
