package rntuple

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Project adds a projected field: a view, of the given C++ type, on another field
// of the RNTuple, named by its path as ViewOf takes it. A std::vector<float> can
// be a view on the float "jets.pt", where jets is a collection; the size of a
// collection is of the type "ROOT::RNTupleCardinality<std::uint64_t>". A
// projection takes no space.
//
// Specification: "Field Description", on projected fields.
func Project(name, cppType, source string) WriteOption {
	return func(o *ntuple.WriteOptions) error {
		o.Projections = append(o.Projections, ntuple.Projection{Name: name, CppType: cppType, Source: source})
		return nil
	}
}

// project adds projections to a document that has what they are views on.
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
		// A collection of the view is one of the way to the source, in order.
		view := f
		for _, on := range chain[:len(chain)-1] {
			if on.Shape == schema.Collection && len(view.Fields) == 1 {
				view.Source = on.Path()
				view = view.Fields[0]
			}
		}
		if err := look(view, chain[len(chain)-1]); err != nil {
			return fail(err)
		}
		doc.Fields = append(doc.Fields[:len(doc.Fields):len(doc.Fields)], f)
	}
	return nil
}

// look makes view and what is below it a view on a field and what is below that.
func look(view *schema.FieldDocument, on *schema.Field) error {
	view.Source = on.Path()
	if len(view.Fields) == 0 {
		return nil
	}
	if len(view.Fields) != len(on.Children) {
		return fmt.Errorf("a %s is no view on field %q, a %s", view.Type, on.Path(), on.CppType())
	}
	for i, child := range view.Fields {
		if err := look(child, on.Children[i]); err != nil {
			return err
		}
	}
	return nil
}
