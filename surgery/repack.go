package surgery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Repack makes a ROOT file at out with the entries of one input, stored in another
// way, as the options say:
//
//   - Compression has pages compressed anew (the level Recompress);
//   - Encode and EncodeAll have them encoded anew (Reseal);
//   - AtLeast(Rewrite) makes new clusters and pages, of the sizes that
//     Write(rntuple.ClusterSize, rntuple.MaxUnzippedPageSize) says.
//
// What needs none of that is copied; without options, all is. Schema and attribute
// sets stay as they are. A file that was at out is replaced when everything has
// gone well; it must not be the input.
func Repack(ctx context.Context, out string, in Input, opts ...Option) (*Report, error) {
	set := newSettings(opts)
	set.keepCompression = set.keepCompression || set.compression == nil
	return transform(ctx, out, in, set, func(_ *source, s *shape) error {
		switch set.encodeAll {
		case "", DefaultEncoding, UnsplitEncoding:
		default:
			return fmt.Errorf("unknown encoding %q; there are %q and %q", set.encodeAll, DefaultEncoding, UnsplitEncoding)
		}
		if set.encodeAll == "" && len(set.encode) == 0 {
			return nil
		}
		return s.encode(set)
	})
}

// An Encoding is one for all columns.
type Encoding string

const (
	// DefaultEncoding is what ROOT takes for compressed pages: bytes are split, and
	// integers and offsets made small before it.
	DefaultEncoding Encoding = "default"
	// UnsplitEncoding is what ROOT takes for pages that are not compressed: elements
	// as they are in memory.
	UnsplitEncoding Encoding = "unsplit"
)

// EncodeAll has Repack encode all columns so, but for those that Encode names,
// and those that would lose something by it or whose encoding is narrower than
// that: Real16, Real32Trunc and Real32Quant stay.
func EncodeAll(e Encoding) Option { return func(s *settings) { s.encodeAll = e } }

// Encode has Repack encode the column of a field in the given way, also if values
// lose bits by that; the path is as for rntuple.ViewOf. For a collection of numbers
// it is these that are meant, unless the column is one of offsets. A value that
// the column cannot hold is an error that wraps rntuple.ErrRange.
func Encode(path string, c schema.ColumnDocument) Option {
	return func(s *settings) { s.encode = append(s.encode, encode{path, c}) }
}

type encode struct {
	path   string
	column schema.ColumnDocument
}

// encode gives columns the encodings that the settings ask for.
func (s *shape) encode(set *settings) error {
	named, err := s.named(set.encode)
	if err != nil {
		return err
	}
	wanted, err := s.encoded(set.encodeAll, named)
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

// named returns the columns that the fields are to have that are named.
func (s *shape) named(all []encode) (map[schema.FieldID]schema.ColumnDocument, error) {
	named := map[schema.FieldID]schema.ColumnDocument{}
	var errs []error
	for _, e := range all {
		chain, err := s.Lookup(e.path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		f := chain[len(chain)-1]
		offsets := strings.Contains(e.column.Type, "Index")
		for !offsets && len(f.Children) == 1 && f.Shape != schema.Record && f.Shape != schema.Variant {
			f = f.Children[0]
		}
		switch {
		case f.Source != nil:
			errs = append(errs, fmt.Errorf("field %q is projected: it has no columns of its own", e.path))
		case len(f.Columns) == 0:
			errs = append(errs, fmt.Errorf("field %q has no columns of its own", e.path))
		default:
			named[f.ID] = e.column
		}
	}
	return named, errors.Join(errs...)
}

// encoded returns the schema with other encodings: those of the fields that are
// named by ID, and those that all others get unless all is empty. Fields and
// columns may have other numbers.
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

// keepsAll reports whether the columns of f, of all its representations, can get
// the formats of others without a loss, and are none that somebody chose to be
// narrow.
func keepsAll(f *schema.Field, others []*schema.Column) bool {
	for _, representation := range f.Columns {
		for i, c := range representation {
			switch c.Type {
			case column.Real16, column.SplitReal16, column.Real32Trunc, column.Real32Quant:
				return false
			}
			if !(&match{}).fits(c.Format(), others[i].Format(), true) {
				return false
			}
		}
	}
	return true
}

// recolumn gives fields the columns of one representation in place of those that
// they have.
func (s *shape) recolumn(columns map[schema.FieldID][]envelope.Column) {
	first := map[schema.FieldID]uint32{} // new ID of the first column
	moved := map[uint32]uint32{}         // new IDs of those that stay, by the old ones
	next, old := uint32(0), uint32(0)
	for _, part := range []*envelope.Schema{&s.header.Schema, s.ext} {
		var all []envelope.Column
		for _, c := range part.Columns {
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
		part.Columns = all
	}
	done := map[uint32]bool{} // projected fields
	for _, part := range []*envelope.Schema{&s.header.Schema, s.ext} {
		var all []envelope.Alias
		for _, a := range part.Aliases {
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
		part.Aliases = all
	}
}
