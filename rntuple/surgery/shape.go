package surgery

import (
	"fmt"
	"slices"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A shape is the schema of an output with its descriptors.
type shape struct {
	Header    *envelope.Header
	Extension *envelope.Schema
	*schema.Schema

	defined map[string]bool // names of the top-level fields that define has added
}

// newShape returns the schema of an RNTuple with the given descriptors. Columns of
// the extension are not deferred: that follows from what comes into them.
func newShape(h envelope.Header, ext envelope.Schema) (*shape, error) {
	s := &shape{Header: &h, Extension: &ext}
	*s.Extension, s.Header.Schema = upToDate(ext), upToDate(h.Schema)
	for i := range s.Extension.Columns {
		c := &s.Extension.Columns[i]
		c.Flags, c.FirstElement = c.Flags&^envelope.ColumnDeferred, 0
	}
	return s, s.build()
}

// upToDate returns a copy whose columns have formats that replace those from before
// format 1.0.0.0.
func upToDate(s envelope.Schema) envelope.Schema {
	s.Fields, s.Columns = slices.Clone(s.Fields), slices.Clone(s.Columns)
	s.Aliases, s.ExtraTypes = slices.Clone(s.Aliases), slices.Clone(s.ExtraTypes)
	for i := range s.Columns {
		c := &s.Columns[i]
		old := (&schema.Column{Column: *c}).Format()
		c.Bits, c.PreRelease = current(old).Bits, false
	}
	return s
}

func (s *shape) build() (err error) {
	if s.Schema, err = schema.Build(s.Header, s.Extension); err != nil {
		return err
	}
	if len(s.Hidden) > 0 {
		return fmt.Errorf("field %q cannot be read: %w", s.Hidden[0].Field.Name, s.Hidden[0].Err)
	}
	return nil
}

// renumber leaves only the fields for which left returns true, and of their columns
// what column returns, unless that is nil. It numbers what remains anew, and returns
// the new numbers of fields. The schema must be built anew after it.
func (s *shape) renumber(left func(schema.FieldID) bool,
	column func(*schema.Column) *envelope.Column) map[schema.FieldID]schema.FieldID {
	lists := []*envelope.Schema{&s.Header.Schema, s.Extension}
	fields, columns := map[schema.FieldID]schema.FieldID{}, map[uint32]uint32{}
	for id := range schema.FieldID(len(lists[0].Fields) + len(lists[1].Fields)) {
		if left(id) {
			fields[id] = schema.FieldID(len(fields))
		}
	}
	for _, c := range s.Columns {
		if column(c) != nil {
			columns[uint32(c.ID)] = uint32(len(columns))
		}
	}
	field := func(id uint32) uint32 { return uint32(fields[schema.FieldID(id)]) }
	id, rest := schema.FieldID(0), s.Columns
	for _, list := range lists {
		old := *list
		list.Fields, list.Columns, list.Aliases = nil, nil, nil
		for _, f := range old.Fields {
			if _, ok := fields[id]; ok {
				f.Parent = field(f.Parent)
				if f.Flags&envelope.FieldProjected != 0 {
					f.Source = field(f.Source)
				}
				list.Fields = append(list.Fields, f)
			}
			id++
		}
		for _, c := range rest[:len(old.Columns)] {
			if to := column(c); to != nil {
				out := *to
				out.Field = field(c.Field)
				list.Columns = append(list.Columns, out)
			}
		}
		rest = rest[len(old.Columns):]
		for _, a := range old.Aliases {
			_, projected := fields[schema.FieldID(a.Field)]
			if to, ok := columns[a.Column]; ok && projected {
				a.Column, a.Field = to, field(a.Field)
				list.Aliases = append(list.Aliases, a)
			}
		}
	}
	return fields
}

// extend adds top-level fields of another RNTuple to the extension, with a prefix to
// their names: those with columns of their own first, then projected ones.
func (s *shape) extend(fields []*schema.Field, prefix string) error {
	for _, projected := range []bool{false, true} {
		for _, f := range fields {
			if (f.Source != nil) == projected {
				if err := s.graft(f, -1, prefix); err != nil {
					return err
				}
			}
		}
		if err := s.build(); err != nil { // projected fields need their sources
			return err
		}
	}
	return nil
}

// graft adds a field and those below it; parent is -1 for a top-level field.
func (s *shape) graft(f *schema.Field, parent int, prefix string) error {
	id := uint32(len(s.Header.Fields) + len(s.Extension.Fields))
	out := f.Field
	out.Parent = uint32(parent)
	if parent < 0 {
		out.Parent, out.Name = id, prefix+f.Name
	}
	if f.Source != nil {
		chain, err := s.Lookup(prefix + f.Source.Path())
		if err != nil {
			return fmt.Errorf("projected field %q: %w", f.Path(), err)
		}
		source := chain[len(chain)-1]
		out.Source = uint32(source.ID)
		for _, c := range slices.Concat(source.Columns...) {
			s.Extension.Aliases = append(s.Extension.Aliases, envelope.Alias{Column: uint32(c.ID), Field: id})
		}
	}
	s.Extension.Fields = append(s.Extension.Fields, out)
	if f.Source == nil {
		for _, c := range slices.Concat(f.Columns...) {
			column := c.Column
			column.Field, column.FirstElement = id, 0
			column.Flags &^= envelope.ColumnDeferred
			column.Bits, column.PreRelease = current(c.Format()).Bits, false
			s.Extension.Columns = append(s.Extension.Columns, column)
		}
	}
	for _, child := range f.Children {
		if err := s.graft(child, int(id), prefix); err != nil {
			return err
		}
	}
	return nil
}

// addTypes adds extra type information that the output does not have. There is one
// list of streamer infos; those of another list are added to it.
func (s *shape) addTypes(types []envelope.ExtraTypeInfo) error {
	for _, t := range types {
		if i := slices.IndexFunc(s.Header.ExtraTypes, same(t)); i >= 0 {
			continue
		}
		i := slices.IndexFunc(s.Extension.ExtraTypes, same(t))
		switch {
		case i < 0:
			s.Extension.ExtraTypes = append(s.Extension.ExtraTypes, t)
		case t.ContentID == envelope.StreamerInfo && t.Content != s.Extension.ExtraTypes[i].Content:
			merged, err := rootfile.MergeInfos([]byte(s.Extension.ExtraTypes[i].Content), []byte(t.Content))
			if err != nil {
				return fmt.Errorf("extra type information: %w", err)
			}
			s.Extension.ExtraTypes[i].Content = string(merged)
		}
	}
	return nil
}

// same returns a function that reports whether ROOT takes its argument and t for
// information about the same type.
func same(t envelope.ExtraTypeInfo) func(envelope.ExtraTypeInfo) bool {
	return func(u envelope.ExtraTypeInfo) bool {
		return t.ContentID == u.ContentID && t.TypeName == u.TypeName && t.TypeVersion == u.TypeVersion
	}
}
