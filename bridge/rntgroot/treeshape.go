package rntgroot

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A shape is what the values of a branch become: a field, and Arrays for it.
type shape struct {
	shape schema.Shape
	// typeName is the type in C++; "" for what RNTuples store as untyped records and collections
	// only.
	typeName string
	columns  [][]schema.ColumnDocument // nil: the default ones
	size     int                       // of an array or bitset
	names    []string                  // of the items of a record
	about    []string                  // their descriptions, or nil
	items    []*shape
	enum     bool   // the values are those of an int
	loose    bool   // the type in the program that wrote them is another one
	version  uint32 // of a class
	checksum *uint32

	values func(a *columnar.Array) // makes the values of a Scalar or Bitset
}

func scalarOf[T columnar.Element](cppType string) *shape {
	return &shape{shape: schema.Scalar, typeName: cppType,
		values: func(a *columnar.Array) { columnar.SetValues(a, []T(nil)) }}
}

func arrayShape(item *shape, n int) *shape {
	return &shape{shape: schema.Array, typeName: fmt.Sprintf("std::array<%s,%d>", item.typeName, n), size: n,
		items: []*shape{item}, loose: item.loose}
}

// listShape returns the shape of collections. The template is "std::vector" or the like.
func listShape(template string, item *shape) *shape {
	s := &shape{shape: schema.Collection, items: []*shape{item}, loose: item.loose}
	if item.typeName != "" {
		s.typeName = template + "<" + item.typeName + ">"
	}
	return s
}

// array returns an empty Array.
func (s *shape) array(name string) *columnar.Array {
	a := &columnar.Array{Name: name, Shape: s.shape}
	switch s.shape {
	case schema.Array, schema.Bitset:
		a.Size = s.size
	case schema.Collection, schema.String:
		a.Offsets = []int64{0}
	}
	if s.values != nil {
		s.values(a)
	}
	for i, item := range s.items {
		a.Children = append(a.Children, item.array(s.name(i)))
	}
	return a
}

// name returns the name of an item.
func (s *shape) name(i int) string {
	if s.names != nil {
		return s.names[i]
	}
	return fmt.Sprintf("_%d", i)
}

// document returns the field.
func (s *shape) document(name string) *schema.FieldDocument {
	d := &schema.FieldDocument{Name: name, Type: s.typeName, TypeVersion: s.version,
		TypeChecksum: s.checksum, Columns: s.columns}
	if s.typeName == "" {
		d.TypeVersion, d.TypeChecksum = 0, nil
	}
	switch s.shape {
	case schema.Record:
		d.Role = "record"
	case schema.Collection:
		d.Role = "collection"
	default:
		d.Role = "plain"
	}
	if s.shape == schema.Array || s.shape == schema.Bitset {
		n := uint64(s.size)
		d.ArraySize = &n
	}
	if s.enum {
		d.Fields = []*schema.FieldDocument{{Name: "_0", Type: "std::int32_t", Role: "plain"}}
	}
	for i, item := range s.items {
		sub := item.document(s.name(i))
		if s.about != nil {
			sub.Description = s.about[i]
		}
		d.Fields = append(d.Fields, sub)
	}
	return d
}
