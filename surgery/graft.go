package surgery

import (
	"fmt"
	"slices"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A shape is the schema of an output, with its descriptors.
type shape struct {
	header *envelope.Header
	ext    *envelope.Schema
	*schema.Schema
}

// newShape returns the schema of an RNTuple with the given descriptors. Columns of
// the extension are not deferred: that follows from what comes into them.
func newShape(h *envelope.Header, ext *envelope.Schema) (*shape, error) {
	s := &shape{header: h, ext: &envelope.Schema{}}
	s.header.Schema = upToDate(h.Schema)
	if ext != nil {
		*s.ext = upToDate(*ext)
	}
	for i := range s.ext.Columns {
		c := &s.ext.Columns[i]
		c.Flags, c.FirstElement = c.Flags&^envelope.ColumnDeferred, 0
	}
	return s, s.build()
}

// upToDate returns a copy without columns of pre-release formats.
func upToDate(s envelope.Schema) envelope.Schema {
	s.Fields = append([]envelope.Field(nil), s.Fields...)
	s.Aliases = append([]envelope.Alias(nil), s.Aliases...)
	s.ExtraTypes = append([]envelope.ExtraTypeInfo(nil), s.ExtraTypes...)
	s.Columns = append([]envelope.Column(nil), s.Columns...)
	for i := range s.Columns {
		c := &s.Columns[i]
		old := (&schema.Column{Column: *c}).Format()
		c.Bits, c.PreRelease = current(old).Bits, false
	}
	return s
}

func (s *shape) build() (err error) {
	if s.Schema, err = schema.Build(s.header, s.ext); err != nil {
		return err
	}
	if len(s.Hidden) > 0 {
		return fmt.Errorf("field %q cannot be read: %w", s.Hidden[0].Field.Name, s.Hidden[0].Err)
	}
	return nil
}

// extend adds top-level fields of another RNTuple to the extension: those with
// columns of their own first, then projected ones.
func (s *shape) extend(fields []*schema.Field) error {
	for _, projected := range []bool{false, true} {
		for _, f := range fields {
			if (f.Source != nil) == projected {
				if err := s.graft(f, -1); err != nil {
					return err
				}
			}
		}
		if err := s.build(); err != nil { // projections need what they are views on
			return err
		}
	}
	return nil
}

// graft adds a field and those below it; parent is -1 for a top-level field.
func (s *shape) graft(f *schema.Field, parent int) error {
	id := uint32(len(s.header.Fields) + len(s.ext.Fields))
	out := f.Field
	out.Parent = uint32(parent)
	if parent < 0 {
		out.Parent = id
	}
	if f.Source != nil {
		chain, err := s.Lookup(f.Source.Path())
		if err != nil {
			return fmt.Errorf("projected field %q: %w", f.Path(), err)
		}
		source := chain[len(chain)-1]
		out.Source = uint32(source.ID)
		for _, representation := range source.Columns {
			for _, c := range representation {
				s.ext.Aliases = append(s.ext.Aliases, envelope.Alias{Column: uint32(c.ID), Field: id})
			}
		}
	}
	s.ext.Fields = append(s.ext.Fields, out)
	if f.Source == nil {
		for _, representation := range f.Columns {
			for _, c := range representation {
				column := c.Column
				column.Field, column.FirstElement = id, 0
				column.Flags &^= envelope.ColumnDeferred
				column.Bits, column.PreRelease = current(c.Format()).Bits, false
				s.ext.Columns = append(s.ext.Columns, column)
			}
		}
	}
	for _, child := range f.Children {
		if err := s.graft(child, int(id)); err != nil {
			return err
		}
	}
	return nil
}

// addTypes adds extra type information that the output does not have. There is
// one list of streamer infos, which gets what others have.
func (s *shape) addTypes(types []envelope.ExtraTypeInfo) error {
	for _, t := range types {
		if i := slices.IndexFunc(s.header.ExtraTypes, same(t)); i >= 0 {
			continue
		}
		i := slices.IndexFunc(s.ext.ExtraTypes, same(t))
		switch {
		case i < 0:
			s.ext.ExtraTypes = append(s.ext.ExtraTypes, t)
		case t.ContentID == envelope.StreamerInfo && t.Content != s.ext.ExtraTypes[i].Content:
			merged, err := rootfile.MergeInfos([]byte(s.ext.ExtraTypes[i].Content), []byte(t.Content))
			if err != nil {
				return fmt.Errorf("extra type information: %w", err)
			}
			s.ext.ExtraTypes[i].Content = string(merged)
		}
	}
	return nil
}

// same returns what finds the information that ROOT takes for the same as t.
func same(t envelope.ExtraTypeInfo) func(envelope.ExtraTypeInfo) bool {
	return func(u envelope.ExtraTypeInfo) bool {
		return t.ContentID == u.ContentID && t.TypeName == u.TypeName && t.TypeVersion == u.TypeVersion
	}
}
