package pattern

import (
	"path"
	"strings"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Match reports whether a pattern matches the path of f. The pattern may omit the name of a
// collection's items, "_0". A malformed pattern matches nothing; see Check.
func Match(pattern string, f *schema.Field) bool {
	short := f.Name // without the names of items
	for above := f.Parent; above != nil; above = above.Parent {
		if above.Parent == nil || above.Parent.Role != envelope.RoleCollection {
			short = above.Name + "." + short
		}
	}
	for _, name := range []string{f.Path(), short} {
		if yes, _ := path.Match(slashes(pattern), slashes(name)); yes {
			return true
		}
	}
	return false
}

// slashes replaces the dots of a path by the separator of path.Match.
func slashes(s string) string { return strings.ReplaceAll(s, ".", "/") }

// Check returns path.ErrBadPattern if a pattern is malformed.
func Check(pattern string) error {
	_, err := path.Match(slashes(pattern), "")
	return err
}

// IsExact reports whether a pattern has no wildcards, and so is a path.
func IsExact(pattern string) bool { return !strings.ContainsAny(pattern, `*?[\`) }
