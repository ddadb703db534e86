package pattern

import (
	"path"
	"strings"

	"github.com/go-rntuple/go-rntuple/schema"
)

// Match reports whether a pattern matches the path of f, see schema.Match. A malformed pattern
// matches nothing; see Check.
func Match(pattern string, f *schema.Field) bool {
	yes, _ := schema.Match(pattern, f)
	return yes
}

// Check returns path.ErrBadPattern if a pattern is malformed.
func Check(pattern string) error {
	_, err := path.Match(pattern, "")
	return err
}

// IsExact reports whether a pattern has no wildcards, and so is a path.
func IsExact(pattern string) bool { return !strings.ContainsAny(pattern, `*?[\`) }
