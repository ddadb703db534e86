package schema

import (
	"path"
	"strings"

	"github.com/go-rntuple/go-rntuple/envelope"
)

// Match reports whether a pattern matches the path of f. Patterns are those of path.Match with dots
// instead of slashes between names: "Muon_*", "event.*.x". A pattern may omit the name of a
// collection's items, "_0". A malformed pattern is the error path.ErrBadPattern.
func Match(pattern string, f *Field) (bool, error) {
	short := f.Name // without the names of items
	for above := f.Parent; above != nil; above = above.Parent {
		if above.Parent == nil || above.Parent.Role != envelope.RoleCollection {
			short = above.Name + "." + short
		}
	}
	slashes := func(s string) string { return strings.ReplaceAll(s, ".", "/") }
	if yes, err := path.Match(slashes(pattern), slashes(f.Path())); yes || err != nil {
		return yes, err
	}
	return path.Match(slashes(pattern), slashes(short))
}
