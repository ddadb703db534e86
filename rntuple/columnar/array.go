package columnar

import (
	"reflect"
	"slices"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/schema"
)

// An Array contains the values of a field in a range of entries, or those of a subfield in the
// values of its parent, as slices. Name is the path of a requested field, or the name of a
// subfield; Field is the field in the source that the values were read from, or nil; Shape is the
// shape of the values; Len is their number. The shape determines which slices are set:
//
//	Scalar, Cardinality   Values(), an element per value; of a Cardinality as []uint64
//	Bitset                Values(), Size bools per value, lowest bit first
//	String, Streamer      Bytes; value i is Bytes[Offsets[i]:Offsets[i+1]]
//	Collection            Children[0]; value i has the items from Offsets[i] to Offsets[i+1]
//	Array                 Children[0]; value i has Size items from i*Size on
//	Record                Children, the members, with Len values each
//	Optional              Children[0], with Len values; there is a value i if Valid[i] is set
//	Variant               Children, the alternatives; value i is value Index[i] of Children[Tags[i]]
//
// Offsets has Len+1 elements, and the first is 0. If Valid[i] is false, value i of Children[0] is
// unspecified. Tags are indexes of alternatives from 0, as for std::variant::index, and -1 for
// variants without a value.
//
// Maps are collections of records of key and value. Enums and atomics have the shape of their
// underlying value, and a matched field of a rntuple.Join is an Optional. Fields that are stored in
// the same columns, such as projected fields and their sources, share memory unless they are part
// of optionals or variants. Arrays that were read must not be modified.
type Array struct {
	Name  string
	Field *schema.Field
	Shape schema.Shape
	Len   int
	Size  int // of an Array or a Bitset: elements per value

	Offsets []int64
	Bytes   []byte
	Valid   []bool
	Tags    []int32
	Index   []int64

	Children []*Array

	values values
}

// An Element is an element of the column of a Scalar, a Cardinality or a Bitset.
type Element = column.Element

// New returns an Array of the shape Scalar that holds the given slice of bools, numbers, characters
// (int8) or bytes (uint8). Create other shapes as composite literals, with Arrays from New as
// leaves.
func New[T Element](values []T) *Array {
	a := &Array{Shape: schema.Scalar}
	SetValues(a, values)
	return a
}

// Values returns the values of a Scalar as a slice of the Go type documented in package rntuple,
// those of a Cardinality as []uint64, and those of a Bitset as []bool. It returns nil for other
// shapes.
func (a *Array) Values() any {
	if a.values == nil {
		return nil
	}
	return a.values.slice()
}

// Values returns a.Values() if it is a []T, else a *schema.MismatchError.
func Values[T any](a *Array) ([]T, error) {
	v, ok := a.Values().([]T)
	if ok {
		return v, nil
	}
	m := schema.Mismatch{Path: a.Name, Have: "an array of " + a.Shape.String(), Go: reflect.TypeFor[[]T]()}
	if a.Field != nil {
		m.Path, m.Have = a.Field.Path(), a.Field.CppType()
	}
	if v := a.Values(); v != nil {
		m.Fits = reflect.TypeOf(v).String()
	}
	return nil, &schema.MismatchError{Mismatches: []schema.Mismatch{m}}
}

// Elements returns a.Values() if it is a []T, else nil.
func Elements[T Element](a *Array) []T {
	v, _ := a.values.(numbers[T])
	return v
}

// SetValues sets the values of a Scalar, a Cardinality or a Bitset to v, without copying it, and
// updates Len.
func SetValues[T Element](a *Array, v []T) {
	a.values = numbers[T](v)
	switch {
	case a.Shape != schema.Bitset:
		a.Len = len(v)
	case a.Size > 0:
		a.Len = len(v) / a.Size
	}
}

// hasOffsets reports whether the array has Offsets.
func (a *Array) hasOffsets() bool {
	return a.Shape == schema.Collection || a.Shape == schema.String || a.Shape == schema.Streamer
}

// Like returns an empty Array of the same shape as a, with memory of its own.
func Like(a *Array) *Array {
	c := &Array{Name: a.Name, Field: a.Field, Shape: a.Shape, Size: a.Size}
	for _, child := range a.Children {
		c.Children = append(c.Children, Like(child))
	}
	if a.values != nil {
		c.values = a.values.empty(true)
	}
	c.clear(true)
	return c
}

// Alike reports whether a and b have the same shape and value types.
func Alike(a, b *Array) bool {
	return a.Shape == b.Shape && a.Size == b.Size && reflect.TypeOf(a.values) == reflect.TypeOf(b.values) &&
		slices.EqualFunc(a.Children, b.Children, Alike)
}

// OptionalOf returns an empty Array of optionals of values with the shape of a.
func OptionalOf(a *Array) *Array {
	return &Array{Name: a.Name, Field: a.Field, Shape: schema.Optional, Children: []*Array{Like(a)}}
}

// Clear empties a and its children. They reuse their memory unless fresh is set.
func (a *Array) Clear(fresh bool) {
	a.clear(fresh)
	for _, child := range a.Children {
		child.Clear(fresh)
	}
}

func (a *Array) clear(fresh bool) {
	if fresh {
		a.Offsets, a.Bytes, a.Valid, a.Tags, a.Index = nil, nil, nil, nil, nil
	}
	a.Len, a.Offsets, a.Bytes, a.Valid, a.Tags, a.Index = 0, a.Offsets[:0], a.Bytes[:0], a.Valid[:0],
		a.Tags[:0], a.Index[:0]
	if a.hasOffsets() {
		a.Offsets = append(a.Offsets, 0)
	}
	if a.values != nil {
		a.values = a.values.empty(fresh)
	}
}

// Snapshot returns a copy of the tree that shares the memory of its values. It stays valid if a
// continues with fresh memory, see Clear.
func (a *Array) Snapshot() *Array {
	c := *a
	c.Children = slices.Clone(a.Children)
	for i, child := range c.Children {
		c.Children[i] = child.Snapshot()
	}
	return &c
}
