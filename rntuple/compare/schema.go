package compare

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
)

// A Difference is a property that differs between two RNTuples.
type Difference struct {
	Path string // of the field; empty for the RNTuple itself
	What string // "type", "array size", ...; "field" if only one of the two has it
	A, B string // the values in a and b; empty if there is none
}

// String returns the difference as one line.
func (d Difference) String() string {
	return fmt.Sprintf("%s: %s: %q, %q", d.Path, d.What, d.A, d.B)
}

// Schemas returns the differences between two schemas: fields that only one of them has, and the
// descriptions, types and structure of the others. The names of the RNTuples, the order of fields,
// whether they were added later, and their encodings are not compared.
func Schemas(a, b *schema.Schema) []Difference {
	d := &differences{}
	d.add("", "description", a.Description, b.Description)
	for i, s := range []*schema.Schema{a, b} {
		for _, h := range s.Hidden {
			said := [2]string{}
			said[i] = h.Err.Error()
			d.add(h.Field.Name, "cannot be read", said[0], said[1])
		}
	}
	d.fields(a.Fields, b.Fields)
	return d.all
}

type differences struct{ all []Difference }

// add adds a Difference if a and b are not equal.
func (d *differences) add(path, what string, a, b any) {
	if a != b {
		d.all = append(d.all, Difference{path, what, fmt.Sprint(a), fmt.Sprint(b)})
	}
}

// fields compares the fields of one level by name.
func (d *differences) fields(a, b []*schema.Field) {
	left := byName(b)
	for _, f := range a {
		g := left[f.Name]
		delete(left, f.Name)
		if g == nil {
			d.add(f.Path(), "field", f.CppType(), "")
			continue
		}
		d.field(f, g)
	}
	for _, g := range b {
		if left[g.Name] != nil {
			d.add(g.Path(), "field", "", g.CppType())
		}
	}
}

func byName(fields []*schema.Field) map[string]*schema.Field {
	m := map[string]*schema.Field{}
	for _, f := range fields {
		m[f.Name] = f
	}
	return m
}

// field compares a field and the fields below it.
func (d *differences) field(f, g *schema.Field) {
	n, path := len(d.all), f.Path()
	if !cpptype.Same(f.TypeName, g.TypeName) {
		d.add(path, "type", f.TypeName, g.TypeName)
	}
	d.add(path, "alias", f.TypeAlias, g.TypeAlias)
	d.add(path, "description", f.Description, g.Description)
	d.add(path, "structure", f.Shape.String(), g.Shape.String())
	d.add(path, "type version", f.TypeVersion, g.TypeVersion)
	d.add(path, "field version", f.Version, g.Version)
	d.add(path, "array size", f.ArraySize, g.ArraySize)
	d.add(path, "struct of arrays", f.Flags&envelope.FieldSoA != 0, g.Flags&envelope.FieldSoA != 0)
	if f.Flags&g.Flags&envelope.FieldChecksum != 0 {
		d.add(path, "type checksum", f.TypeChecksum, g.TypeChecksum)
	}
	d.add(path, "projection of", sourceOf(f), sourceOf(g))
	if len(d.all) > n && f.Shape != g.Shape {
		return // the fields below cannot correspond
	}
	d.fields(f.Children, g.Children)
}

func sourceOf(f *schema.Field) string {
	if f.Source == nil {
		return ""
	}
	return f.Source.Path()
}
