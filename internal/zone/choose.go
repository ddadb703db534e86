package zone

import (
	"fmt"
	"slices"

	"github.com/go-rntuple/go-rntuple/internal/pattern"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Choose returns the fields of a schema that a zone map has bounds of if it has them of the
// fields that match one of the patterns in keep, of all if there are none, and of none that
// matches one in drop. It is an error if a pattern matches no field with bounds.
func Choose(s *schema.Schema, keep, drop []string) ([]*schema.Field, error) {
	var all []*schema.Field // without projected ones
	for _, f := range s.Fields {
		if f.Source == nil {
			all = append(all, Indexed(f)...)
		}
	}
	kept, err := matching(s, keep)
	if err != nil {
		return nil, err
	}
	dropped, err := matching(s, drop)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(f *schema.Field) bool { return len(keep) > 0 && !kept[f] || dropped[f] }), nil
}

// matching returns the fields with bounds that match patterns.
func matching(s *schema.Schema, patterns []string) (map[*schema.Field]bool, error) {
	found := map[*schema.Field]bool{}
	for _, text := range patterns {
		if err := pattern.Check(text); err != nil {
			return nil, fmt.Errorf("pattern %q: %w", text, err)
		}
		some := false
		var without *schema.Field // a match
		var walk func([]*schema.Field)
		walk = func(fields []*schema.Field) {
			for _, f := range fields {
				if pattern.Match(text, f) {
					without = f
					for _, f := range Indexed(f) {
						found[f], some = true, true
					}
				}
				walk(f.Children)
			}
		}
		walk(s.Fields)
		switch {
		case some:
		case without != nil:
			return nil, fmt.Errorf("field %q: zone maps have no bounds of values of the type %s",
				without.Path(), without.CppType())
		case pattern.IsExact(text):
			return nil, schema.NoField(s.Fields, text, fmt.Sprintf("RNTuple %q", s.Name))
		default:
			return nil, fmt.Errorf("%w matches %q", schema.ErrNoField, text)
		}
	}
	return found, nil
}
