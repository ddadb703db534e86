package surgery

import (
	"fmt"
	"slices"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/schema"
)

// define adds top-level fields with default encodings to the header, so that they are there
// from the first entry on. The fields and columns of the extension get higher numbers.
func (s *shape) define(fields []*schema.FieldDocument, compressed bool) error {
	added, err := (&schema.Document{Fields: fields}).Extend(s.Schema, 0, compressed)
	if err != nil {
		return err
	}
	moved := func(n *uint32, header, extension, added int) {
		switch at := int(*n); {
		case at >= header+extension:
			*n -= uint32(extension)
		case at >= header:
			*n += uint32(added)
		}
	}
	h, ext := &s.Header.Schema, s.Extension
	aField := func(n *uint32) { moved(n, len(h.Fields), len(ext.Fields), len(added.Fields)) }
	aColumn := func(n *uint32) { moved(n, len(h.Columns), len(ext.Columns), len(added.Columns)) }
	for _, list := range []*envelope.Schema{h, ext, added} {
		for i := range list.Fields {
			f := &list.Fields[i]
			if aField(&f.Parent); f.Flags&envelope.FieldProjected != 0 {
				aField(&f.Source)
			}
		}
		for i := range list.Columns {
			aField(&list.Columns[i].Field)
		}
		for i := range list.Aliases {
			aColumn(&list.Aliases[i].Column)
			aField(&list.Aliases[i].Field)
		}
	}
	h.Fields, h.Columns = slices.Concat(h.Fields, added.Fields), slices.Concat(h.Columns, added.Columns)
	s.defined = map[string]bool{}
	for _, f := range fields {
		s.defined[f.Name] = true
	}
	return s.build()
}

// defines reports whether define has added a field.
func (s *shape) defines(f *schema.Field) bool {
	for f.Parent != nil {
		f = f.Parent
	}
	return s.defined[f.Name]
}

// definedFields returns the top-level fields that define has added, in their order.
func (s *shape) definedFields() []*schema.Field {
	return slices.DeleteFunc(slices.Clone(s.Fields), func(f *schema.Field) bool { return !s.defined[f.Name] })
}

// inherited returns the top-level fields that the inputs have, too.
func (s *shape) inherited() []*schema.Field {
	return slices.DeleteFunc(slices.Clone(s.Fields), func(f *schema.Field) bool { return s.defined[f.Name] })
}

// checkDefined makes sure that a source has no field of the name of one that is defined.
func (r *run) checkDefined(src *source) error {
	for _, d := range r.fields {
		if slices.ContainsFunc(src.schema().Fields, func(f *schema.Field) bool { return f.Name == d.Name }) {
			return src.fail(fmt.Errorf("there is a field %q already; to replace it, drop it", d.Name))
		}
	}
	return nil
}

// differs returns in which of the fields that are defined a source differs from the first
// input.
func (r *run) differs(src *source, fields []*schema.FieldDocument) (problems []Problem) {
	for i, f := range fields {
		if first := r.fields[i]; !alike(f, first) {
			problems = append(problems, Problem{Input: src.name, Field: f.Name,
				What: fmt.Sprintf("is computed as %s, from the first input as %s", f.Type, first.Type)})
		}
	}
	return problems
}

// alike reports whether two fields have the same type.
func alike(a, b *schema.FieldDocument) bool {
	return a.Name == b.Name && a.Type == b.Type && slices.EqualFunc(a.Fields, b.Fields, alike)
}

// define appends the values of fields that are defined for the next n entries.
func (m *mapping) define(n int64) error {
	if m.values == nil {
		return nil
	}
	return m.sources[0].fail(m.values.append(n))
}

// defineCluster is define for all entries of a cluster, which begins now.
func (m *mapping) defineCluster(n int64) error {
	if m.values == nil {
		return nil
	}
	if err := m.out.Sink.EndCluster(); err != nil {
		return err
	}
	return m.define(n)
}
