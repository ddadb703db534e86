package compare

import (
	"fmt"
	"strings"
)

// String returns one line with the number of differing values of the field, and the differences.
func (f Field) String() string {
	if f.Entries == 0 {
		return fmt.Sprintf("%s: within the tolerance; largest differences %g, relative %g", f.Path, f.MaxAbs, f.MaxRel)
	}
	return fmt.Sprintf("%s: %d values differ in %d entries, first %d; largest differences %g, relative %g",
		f.Path, f.Values, f.Entries, f.First, f.MaxAbs, f.MaxRel)
}

// String returns a line for each difference, or "equal".
func (r *Result) String() string {
	var lines []string
	if r.Entries[0] != r.Entries[1] {
		lines = append(lines, fmt.Sprintf("%d entries, %d entries", r.Entries[0], r.Entries[1]))
	}
	for _, d := range r.Schema {
		lines = append(lines, d.String())
	}
	for _, f := range r.Fields {
		lines = append(lines, f.String())
	}
	if lines == nil {
		return "equal"
	}
	return strings.Join(lines, "\n")
}
