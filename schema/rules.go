package schema

import (
	"math"
	"slices"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
)

// A Violation says which rule of the format a schema violates although it can be
// read.
type Violation struct {
	Field *Field // nil: the RNTuple itself
	Err   error  // wraps frame.ErrCorrupt
}

// Violations returns the rules that the schema's writer violated but readers do not
// depend on. They are about names, fields of the same name, projections, the owners
// of columns and first elements. Of hidden fields only the names are checked.
//
// Specification: "Naming specification", "Field Description", "Column
// Description", "Alias columns".
func (s *Schema) Violations() []Violation {
	var all []Violation
	add := func(f *Field, format string, args ...any) {
		all = append(all, Violation{f, frame.Corrupt(format, args...)})
	}
	if problem := nameProblem(s.Name); problem != "" {
		add(nil, "the name %q %s", s.Name, problem)
	}
	hidden := map[*Field]bool{}
	for _, h := range s.Hidden {
		hidden[h.Field] = true
	}
	type sibling struct {
		parent *Field
		name   string
	}
	seen := map[sibling]bool{}
	for _, f := range s.all {
		if problem := nameProblem(f.Name); problem != "" {
			add(f, "the name %s", problem)
		}
		if seen[sibling{f.Parent, f.Name}] {
			add(f, "there are several fields of this name")
		}
		seen[sibling{f.Parent, f.Name}] = true
		if hidden[f.top()] {
			continue
		}
		if f.Source != nil {
			if problem := f.projectionProblem(); problem != "" {
				add(f, "%s", problem)
			}
		}
		f.checkColumns(add)
	}
	return all
}

// checkColumns adds the violations of the columns of a field that can be read.
func (f *Field) checkColumns(add func(f *Field, format string, args ...any)) {
	for _, c := range slices.Concat(f.Columns...) {
		switch {
		case f.Source == nil && c.Owner != f:
			add(f, "has an alias of column %d, but is not projected", c.ID)
		case f.Source != nil && c.Owner == f:
			add(f, "is projected, but has column %d for its own", c.ID)
		case f.Source != nil && c.Owner != f.Source:
			add(f, "has an alias of column %d, which is not of its source %q", c.ID, f.Source.Path())
		}
		if c.Type == column.Real32Quant && f.kind == cpptype.Float32 &&
			max(math.Abs(c.Min), math.Abs(c.Max)) > math.MaxFloat32 {
			add(f, "has the type float, and column %d the range [%g, %g]", c.ID, c.Min, c.Max)
		}
		if c.Owner != f || c.Flags&envelope.ColumnDeferred == 0 {
			continue
		}
		switch {
		case c.PerEntry > 0 && c.FirstElement%c.PerEntry != 0:
			add(f, "column %d begins with element %d, in the middle of an entry, which has %d", c.ID,
				c.FirstElement, c.PerEntry)
		case c.PerEntry == 0 && c.FirstElement > 0:
			add(f, "column %d begins with element %d, but has no fixed number of elements in an entry", c.ID, c.FirstElement)
		}
	}
}
