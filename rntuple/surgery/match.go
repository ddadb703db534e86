package surgery

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/convert"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
)

// A match says how the fields of an input go with those of an output.
type match struct {
	from     map[schema.FieldID]*schema.Field // of the input, by field of the output
	missing  []*schema.Field                  // top-level fields of the output that the input lacks
	extra    []*schema.Field                  // top-level fields that only the input has
	problems []Problem                        // without the input

	prefix  string
	convert bool
}

// compare compares the schema of an input with the top-level fields of the output, where
// those of the input have a prefix to their names. It finds the problems that are such
// in all modes.
//
// Specification: "RNTuple merging process", "Descriptor compatibility and
// validation". Several column representations and, on request, types that can be
// converted are allowed here.
func compare(out []*schema.Field, in *schema.Schema, prefix string, convert bool) *match {
	m := &match{from: map[schema.FieldID]*schema.Field{}, prefix: prefix, convert: convert}
	for _, h := range in.Hidden {
		m.problem(h.Field, "cannot be read: %v", h.Err)
	}
	byName := map[string]*schema.Field{}
	for _, g := range in.Fields {
		byName[prefix+g.Name] = g
	}
	for _, f := range out {
		if g := byName[f.Name]; g != nil {
			m.compare(f, g)
			delete(byName, f.Name)
		} else {
			m.missing = append(m.missing, f)
		}
	}
	for _, g := range in.Fields {
		if byName[prefix+g.Name] != nil {
			m.extra = append(m.extra, g)
		}
	}
	return m
}

// apply adds the problems that a mode has with the match.
func (m *match) apply(mode Mode) {
	if mode != Union {
		m.lacking(m.missing, "is missing, but the first input has it")
	}
	if mode == Strict {
		m.lacking(m.extra, "is not in the first input")
	}
}

func (m *match) lacking(fields []*schema.Field, what string) {
	for _, f := range fields {
		m.problems = append(m.problems, Problem{Field: f.Path(), What: what, Lacks: true})
	}
}

func (m *match) problem(f *schema.Field, format string, args ...any) {
	m.problems = append(m.problems, Problem{Field: f.Path(), What: fmt.Sprintf(format, args...)})
}

// compare compares the field f of the output with g of the input.
func (m *match) compare(f, g *schema.Field) {
	differ := func(what string, first, this any) {
		m.problem(g, "%s is %v, in the first input %v", what, this, first)
	}
	m.from[f.ID] = g
	switch {
	case (f.Source == nil) != (g.Source == nil):
		differ("projected field", f.Source != nil, g.Source != nil)
		return
	case f.Source != nil && f.Source.Path() != m.prefix+g.Source.Path():
		differ("the source of the projection", fmt.Sprintf("%q", f.Source.Path()), fmt.Sprintf("%q", g.Source.Path()))
	}
	if !cpptype.Same(f.TypeName, g.TypeName) && !(m.convert && f.Shape == g.Shape) {
		differ("the type", f.CppType(), g.CppType())
	}
	if f.Flags&g.Flags&envelope.FieldChecksum != 0 && f.TypeChecksum != g.TypeChecksum {
		differ("the type checksum", fmt.Sprintf("%#x", f.TypeChecksum), fmt.Sprintf("%#x", g.TypeChecksum))
	}
	if f.TypeVersion != g.TypeVersion {
		differ("the type version", int32(f.TypeVersion), int32(g.TypeVersion))
	}
	if f.Role != g.Role || f.Shape != g.Shape {
		differ("the structure", f.Shape, g.Shape)
		return
	}
	if f.ArraySize != g.ArraySize {
		differ("the array size", f.ArraySize, g.ArraySize)
	}
	if f.Source == nil {
		m.compareColumns(f, g)
	}
	if len(f.Children) != len(g.Children) {
		differ("the number of subfields", len(f.Children), len(g.Children))
		return
	}
	for _, sub := range f.Children {
		i := slices.IndexFunc(g.Children, func(c *schema.Field) bool { return c.Name == sub.Name })
		if i < 0 {
			m.problem(g, "has no subfield %q, but the first input does", sub.Name)
			continue
		}
		m.compare(sub, g.Children[i])
	}
}

// compareColumns compares the column representations.
func (m *match) compareColumns(f, g *schema.Field) {
	if len(f.Columns) == 0 || len(g.Columns) == 0 {
		if len(f.Columns) != len(g.Columns) {
			m.problem(g, "has %d column representations, in the first input %d", len(g.Columns), len(f.Columns))
		}
		return
	}
	for r, columns := range g.Columns {
		if len(columns) != len(f.Columns[0]) {
			m.problem(g, "has %d columns, in the first input %d", len(columns), len(f.Columns[0]))
			return
		}
		if representation(f, columns) > 0 {
			continue // it is kept
		}
		for i, c := range columns {
			from, to := current(c.Format()), f.Columns[0][i].Format()
			if !fits(from, to, r > 0, m.convert) {
				m.problem(g, "column %d is of type %v, in the first input %v", i, from, to)
			}
		}
	}
}

// representation returns which representation of f has the formats of columns, or 0
// if none has.
func representation(f *schema.Field, columns []*schema.Column) int {
	r := slices.IndexFunc(f.Columns, func(rep []*schema.Column) bool {
		return slices.EqualFunc(rep, columns, func(a, b *schema.Column) bool { return a.Format() == current(b.Format()) })
	})
	return max(0, r)
}

// fits reports whether pages of one format can become pages of the other one: if
// values may be converted, whenever that is possible; those of a further
// representation, if nothing is lost.
func fits(from, to column.Format, further, convert bool) bool {
	switch {
	case from == to, splitOf(from.Type, to.Type) && from.Bits == to.Bits:
		return true
	case convert:
		return convertible(from.Kind(), to.Kind()) && (from.Type == column.Byte) == (to.Type == column.Byte)
	case !further:
		return false
	case from.Type.IsIndex():
		return to.Type.IsIndex() && to.Bits >= from.Bits
	}
	full := to.Type == column.Real32 || to.Type == column.SplitReal32 || to.Type == column.Real64 ||
		to.Type == column.SplitReal64
	return full && convertible(from.Kind(), to.Kind()) && to.Bits >= from.Bits
}

// current returns the format that replaces one from before format 1.0.0.0.
func current(f column.Format) column.Format {
	if f.PreRelease {
		f.PreRelease = false
		if f.Type == column.Switch {
			_, f.Bits = column.Switch.BitRange()
		}
	}
	return f
}

// splitOf reports whether one type is the split version of the other, as their names
// say: "Int32" and "SplitInt32".
func splitOf(a, b column.Type) bool {
	return "Split"+a.String() == b.String() || "Split"+b.String() == a.String()
}

// convertible reports whether elements of one kind can be written as another.
func convertible(from, to reflect.Kind) bool { return from == to || convert.Between(from, to) != nil }
