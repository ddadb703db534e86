package splice

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/schema"
)

// An Encoding is one for all columns; see surgery.Encoding.
type Encoding string

const (
	DefaultEncoding Encoding = "default"
	UnsplitEncoding Encoding = "unsplit"
)

// A FieldEncoding is the encoding of the column of one field.
type FieldEncoding struct {
	Path   string
	Column schema.ColumnDocument
}

// Encode gives the columns of some fields other encodings, and all others one unless
// that is empty.
func (s *Shape) Encode(all Encoding, some []FieldEncoding) error {
	switch all {
	case "", DefaultEncoding, UnsplitEncoding:
	default:
		return fmt.Errorf("unknown encoding %q; there are %q and %q", all, DefaultEncoding, UnsplitEncoding)
	}
	if all == "" && len(some) == 0 {
		return nil
	}
	named, err := s.named(some)
	if err != nil {
		return err
	}
	wanted, err := s.encoded(all, named)
	if err != nil {
		return err
	}
	columns := map[schema.FieldID][]envelope.Column{} // where they change
	var walk func(fields, like []*schema.Field)
	walk = func(fields, like []*schema.Field) {
		for _, f := range fields {
			g := like[slices.IndexFunc(like, func(g *schema.Field) bool { return g.Name == f.Name })]
			_, asked := named[f.ID]
			if f.Source == nil && len(f.Columns) > 0 && (asked || keepsAll(f, g.Columns[0])) {
				for _, c := range g.Columns[0] {
					c.Field = uint32(f.ID)
					columns[f.ID] = append(columns[f.ID], c.Column)
				}
			}
			walk(f.Children, g.Children)
		}
	}
	walk(s.Fields, wanted.Fields)
	s.recolumn(columns)
	return s.build()
}

// named returns the columns that named fields are to have, by field.
func (s *Shape) named(all []FieldEncoding) (map[schema.FieldID]schema.ColumnDocument, error) {
	named := map[schema.FieldID]schema.ColumnDocument{}
	var errs []error
	for _, e := range all {
		chain, err := s.Lookup(e.Path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		f := chain[len(chain)-1]
		offsets := strings.Contains(e.Column.Type, "Index")
		for !offsets && len(f.Children) == 1 && f.Shape != schema.Record && f.Shape != schema.Variant {
			f = f.Children[0]
		}
		switch {
		case f.Source != nil:
			errs = append(errs, fmt.Errorf("field %q is projected: it has no columns of its own", e.Path))
		case len(f.Columns) == 0:
			errs = append(errs, fmt.Errorf("field %q has no columns of its own", e.Path))
		default:
			named[f.ID] = e.Column
		}
	}
	return named, errors.Join(errs...)
}

// encoded returns the schema with the encodings of named fields, and another one of
// all others unless that is empty. Fields and columns may have other numbers.
func (s *Shape) encoded(all Encoding, named map[schema.FieldID]schema.ColumnDocument) (*schema.Schema, error) {
	doc := s.Document()
	var walk func([]*schema.Field, []*schema.FieldDocument)
	walk = func(fields []*schema.Field, docs []*schema.FieldDocument) {
		for i, f := range fields {
			if c, ok := named[f.ID]; ok {
				docs[i].Columns = docs[i].Columns[:1]
				docs[i].Columns[0][0] = c
			} else if all != "" {
				docs[i].Columns = nil
			}
			walk(f.Children, docs[i].Fields)
		}
	}
	walk(s.Fields, doc.Fields)
	described, err := doc.Describe(all != UnsplitEncoding)
	if err != nil {
		return nil, err
	}
	return schema.Build(&envelope.Header{Name: doc.Name, Schema: *described}, nil)
}

// keepsAll reports whether the columns of f, in all its representations, can get the
// formats of others without a loss, and none of them was chosen to be narrow.
func keepsAll(f *schema.Field, others []*schema.Column) bool {
	for _, representation := range f.Columns {
		for i, c := range representation {
			switch c.Type {
			case column.Real16, column.SplitReal16, column.Real32Trunc, column.Real32Quant:
				return false
			}
			if !fits(c.Format(), others[i].Format(), true, false) {
				return false
			}
		}
	}
	return true
}

// recolumn gives fields the columns of one representation instead of those that they
// have.
func (s *Shape) recolumn(columns map[schema.FieldID][]envelope.Column) {
	first := map[schema.FieldID]uint32{} // new ID of the first column
	moved := map[uint32]uint32{}         // new IDs of those that stay, by the old ones
	next, old := uint32(0), uint32(0)
	for _, list := range []*envelope.Schema{&s.Header.Schema, s.Extension} {
		var all []envelope.Column
		for _, c := range list.Columns {
			id := schema.FieldID(c.Field)
			_, done := first[id]
			switch to := columns[id]; {
			case to == nil:
				moved[old] = next
				all, next = append(all, c), next+1
			case !done:
				first[id] = next
				all, next = append(all, to...), next+uint32(len(to))
			}
			old++
		}
		list.Columns = all
	}
	done := map[uint32]bool{} // projected fields
	for _, list := range []*envelope.Schema{&s.Header.Schema, s.Extension} {
		var all []envelope.Alias
		for _, a := range list.Aliases {
			source := s.Columns[a.Column].Owner.ID
			switch to := columns[source]; {
			case to == nil:
				a.Column = moved[a.Column]
				all = append(all, a)
			case !done[a.Field]:
				done[a.Field] = true
				for i := range to {
					all = append(all, envelope.Alias{Column: first[source] + uint32(i), Field: a.Field})
				}
			}
		}
		list.Aliases = all
	}
}
