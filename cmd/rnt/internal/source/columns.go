package source

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/pattern"
	"github.com/go-rntuple/go-rntuple/schema"
)

// mayHold returns the columns that hold fields that patterns name, or all if there is a doubt.
func mayHold(columns, patterns []string) []string {
	var some []string
	for _, p := range patterns {
		found := false
		for _, name := range columns {
			if matchesColumn(p, name) || strings.HasPrefix(p, name+".") {
				found = true
				if !slices.Contains(some, name) {
					some = append(some, name)
				}
			}
		}
		if !found {
			return columns
		}
	}
	if len(patterns) == 0 {
		return columns
	}
	return some
}

// ChooseColumns returns the columns that patterns name.
func ChooseColumns(columns, patterns []string) ([]string, error) {
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
