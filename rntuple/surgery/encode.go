package surgery

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/schema"
)

// encode gives the columns of some fields other encodings, and all others one unless
// that is empty.
func (s *shape) encode(all Encoding, some []FieldEncoding) error {
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
	columns := map[schema.FieldID][]*schema.Column{} // where they change
	var walk func(fields, like []*schema.Field)
	walk = func(fields, like []*schema.Field) {
		for _, f := range fields {
			g := like[slices.IndexFunc(like, func(g *schema.Field) bool { return g.Name == f.Name })]
			_, asked := named[f.ID]
			if f.Source == nil && len(f.Columns) > 0 && (asked || keepsAll(f, g.Columns[0])) {
				columns[f.ID] = g.Columns[0]
			}
			walk(f.Children, g.Children)
		}
	}
	walk(s.Fields, wanted.Fields)
	s.renumber(func(schema.FieldID) bool { return true }, func(c *schema.Column) *envelope.Column {
		to := columns[c.Owner.ID]
		switch {
		case to == nil:
			return &c.Column
		case c.Representation > 0:
			return nil
		}
		return &to[c.Index].Column
	})
	return s.build()
}

// named returns the columns that named fields are to have, by field.
func (s *shape) named(all []FieldEncoding) (map[schema.FieldID]schema.ColumnDocument, error) {
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
func (s *shape) encoded(all Encoding, named map[schema.FieldID]schema.ColumnDocument) (*schema.Schema, error) {
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
