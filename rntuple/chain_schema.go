package rntuple

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/internal/cpptype"
	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A SchemaError lists what an input of a Chain has otherwise than the first one,
// of the fields that a view asks for. It wraps the error that the view would have
// for this input alone, if there is one.
type SchemaError struct {
	Differences []Difference
	Err         error
}

// A Difference is a field that two schemas do not have alike. The types are C++
// types.
type Difference struct {
	Path  string
	First string // what the first input has
	Have  string // what the input has, empty if it has no such field
}

func (e *SchemaError) Error() string {
	all := make([]string, len(e.Differences))
	for i, d := range e.Differences {
		all[i] = fmt.Sprintf("field %q is %s, not %s", d.Path, d.Have, d.First)
		if d.Have == "" {
			all[i] = fmt.Sprintf("there is no field %q of type %s", d.Path, d.First)
		}
	}
	text := "not the schema of the first input: " + strings.Join(all, ", ")
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns Err.
func (e *SchemaError) Unwrap() error { return e.Err }

// compare says what differs from the model in an input that gave err, nil maybe,
// when asked for members.
func (c *chain) compare(s Source, members []field.Member, err error) error {
	var all []Difference
	for _, m := range members {
		first, modelErr := c.model.field(m.Name)
		have, haveErr := s.field(m.Name)
		switch {
		case modelErr != nil:
		case haveErr != nil && err != nil:
			all = append(all, Difference{m.Name, first.CppType(), ""})
		case haveErr == nil && (err != nil || dynamic(m.Type, nil)):
			if first, have := differ(first, have); first != nil {
				all = append(all, Difference{first.Path(), first.CppType(), have.CppType()})
			}
		}
	}
	if len(all) == 0 {
		return err
	}
	return &SchemaError{all, err}
}

// differ returns a field at or below a and one at or below b in its place whose
// values are of different types, nil if there are none.
func differ(a, b *schema.Field) (*schema.Field, *schema.Field) {
	sameName := func(x, y *schema.Field) bool { return x.Name == y.Name }
	if a.Shape != b.Shape || !cpptype.Same(a.TypeName, b.TypeName) || a.ArraySize != b.ArraySize || !slices.EqualFunc(a.Children, b.Children, sameName) {
		return a, b
	}
	for i := range a.Children {
		if x, y := differ(a.Children[i], b.Children[i]); x != nil {
			return x, y
		}
	}
	return nil, nil
}

// dynamic reports whether values of type t hold dynamic values. Types in within
// have been looked at.
func dynamic(t reflect.Type, within []reflect.Type) bool {
	if slices.Contains(within, t) {
		return false
	}
	within = append(within, t)
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Slice, reflect.Array, reflect.Pointer:
		return dynamic(t.Elem(), within)
	case reflect.Map:
		return dynamic(t.Key(), within) || dynamic(t.Elem(), within)
	case reflect.Struct:
		for i := range t.NumField() {
			if dynamic(t.Field(i).Type, within) {
				return true
			}
		}
	}
	return false
}
