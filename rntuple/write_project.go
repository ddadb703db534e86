package rntuple

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// project adds projected fields to a document that has their source fields.
func project(doc *schema.Document, projections []ntuple.Projection, compressed bool) error {
	if len(projections) == 0 {
		return nil
	}
	described, err := doc.Describe(compressed)
	if err != nil {
		return err
	}
	s, err := schema.Build(&envelope.Header{Name: doc.Name, Schema: *described}, nil)
	if err != nil {
		return err
	}
	for _, p := range projections {
		fail := func(err error) error { return fmt.Errorf("projected field %q: %w", p.Name, err) }
		chain, err := s.Lookup(p.Source)
		if err != nil {
			return fail(err)
		}
		f, err := schema.FieldOf(p.Name, p.CppType)
		if err != nil {
			return fail(err)
		}
		// The collections of the view are those on the path to the source, in order.
		view := f
		for _, on := range chain[:len(chain)-1] {
			if on.Shape == schema.Collection && len(view.Fields) == 1 {
				view.Source = on.Path()
				view = view.Fields[0]
			}
		}
		if err := viewOf(view, chain[len(chain)-1]); err != nil {
			return fail(err)
		}
		doc.Fields = append(doc.Fields[:len(doc.Fields):len(doc.Fields)], f)
	}
	return nil
}

// viewOf makes view a view of the field on, and the fields below it views of those below on.
func viewOf(view *schema.FieldDocument, on *schema.Field) error {
	view.Source = on.Path()
	if len(view.Fields) == 0 {
		return nil
	}
	if len(view.Fields) != len(on.Children) {
		return fmt.Errorf("a field of type %s cannot be a view of field %q of type %s", view.Type, on.Path(), on.CppType())
	}
	for i, child := range view.Fields {
		if err := viewOf(child, on.Children[i]); err != nil {
			return err
		}
	}
	return nil
}
