package field

import (
	"reflect"
	"slices"

	"github.com/go-rntuple/go-rntuple/internal/pagesource"
)

// A Member is a part of a Go value that a field is read into.
type Member struct {
	Name   string // the path of the field
	Type   reflect.Type
	Offset uintptr // in the value

	Optional bool // its zero value will do if there is no such field
}

// Members returns the members of the struct t, those of structs embedded without
// a tag among them.
func Members(t reflect.Type) (all []Member) {
	for i := range t.NumField() {
		f := t.Field(i)
		text, tagged := f.Tag.Lookup("rntuple")
		options := splitTag(text)
		name, options := options[0], options[1:]
		switch {
		case name == "-":
		case f.Anonymous && !tagged && f.Type.Kind() == reflect.Struct:
			for _, m := range Members(f.Type) {
				m.Offset += f.Offset
				all = append(all, m)
			}
		case f.IsExported():
			if name == "" {
				name = f.Name
			}
			all = append(all, Member{name, f.Type, f.Offset, slices.Contains(options, "optional")})
		}
	}
	return all
}

// CompileMembers makes the plan that reads entries into the given members of
// values of type t, and leaves alone what else the values have.
func CompileMembers(src *pagesource.Source, t reflect.Type, members []Member, opts Options) (*Plan, error) {
	c := newCompiler(src, opts)
	var r record
	c.fields(&r, entry(src.Schema), members)
	for _, m := range members {
		c.varying = c.varying || m.Type == anyType
	}
	return c.plan(r, t)
}
