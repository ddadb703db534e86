package rntuple

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
)

// A SchemaError lists the fields of a view that are missing from an input of a Chain, or differ in
// type from the first input. It wraps the error of a view of this input alone, if there is one.
type SchemaError struct {
	Differences []Difference
	Err         error
}

// A Difference is a field that differs between two schemas. Types are C++ types.
type Difference struct {
	Path  string
	First string // the type in the first input
	Have  string // the type in this input; empty if the field is missing
}

// Error returns all differences in one line, and Err.
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

// compare returns a *SchemaError if members differ in s from the first input, otherwise err:
// the error, if any, of binding them to s.
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

// differ returns the first field, at or below a, whose values are not of the same type as
// those of its counterpart at or below b, and the counterpart; or nil if there is none.
func differ(a, b *schema.Field) (*schema.Field, *schema.Field) {
	sameName := func(x, y *schema.Field) bool { return x.Name == y.Name }
	if a.Shape != b.Shape || !cpptype.Same(a.TypeName, b.TypeName) || a.ArraySize != b.ArraySize ||
		!slices.EqualFunc(a.Children, b.Children, sameName) {
		return a, b
	}
	for i := range a.Children {
		if x, y := differ(a.Children[i], b.Children[i]); x != nil {
			return x, y
		}
	}
	return nil, nil
}

// dynamic reports whether values of type t contain dynamic values. It does not visit the
// types in within again.
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
