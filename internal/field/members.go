package field

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Member is a part of a Go value that goes with a field of an RNTuple.
type Member struct {
	Name   string // the path of the field
	Type   reflect.Type
	Offset uintptr // in the value
	Tag
}

// Members returns the members of the struct t, in order, those of structs that are
// embedded without a tag in their places. Fields that are not exported or have the
// tag "-" are none.
//
// The error is a *schema.MismatchError that lists everything that is wrong with t and its
// tags. It names the Go fields.
func Members(t reflect.Type) ([]Member, error) {
	all, wrong := membersOf(t)
	if len(wrong) > 0 {
		return nil, &schema.MismatchError{Mismatches: wrong}
	}
	return all, nil
}

// membersOf returns the members of the struct t that nothing is wrong with, and what
// is wrong with the others.
func membersOf(t reflect.Type) (all []Member, wrong []schema.Mismatch) {
	if t == timeType || opaque(t) {
		return nil, []schema.Mismatch{{Path: goName(t), Go: t, Err: hidden(t)}}
	}
	for sf := range t.Fields() {
		text, tagged := sf.Tag.Lookup("rntuple")
		switch {
		case text == "-", !tagged && private(sf):
		case !tagged && embeds(sf) && !opaque(sf.Type):
			inner, more := membersOf(sf.Type)
			for _, m := range inner {
				m.Offset += sf.Offset
				all = append(all, m)
			}
			wrong = append(wrong, more...)
		default:
			m, err := member(sf, text)
			if err != nil {
				path := goName(t) + "." + sf.Name
				wrong = append(wrong, schema.Mismatch{Path: path, Go: sf.Type, Err: fmt.Errorf("%s: %w", path, err)})
				continue
			}
			all = append(all, m)
		}
	}
	return all, wrong
}

// member returns the member that a struct field with the given tag is.
func member(sf reflect.StructField, text string) (Member, error) {
	name, tag, err := parseTag(text)
	if err != nil {
		err = fmt.Errorf("tag: %w", err)
	} else {
		err = tag.fits(sf.Type)
	}
	inner := within(sf.Type, opaque)
	switch {
	case !sf.IsExported() && sf.Type.Kind() == reflect.Pointer && sf.Anonymous:
		err = errors.New("the embedded pointer is not exported; embed the struct itself, or leave it out with the tag \"-\"")
	case !sf.IsExported():
		err = errors.New("the field has a tag but is not exported")
	case err == nil && inner != nil:
		err = hidden(inner)
	}
	return Member{cmp.Or(name, sf.Name), sf.Type, sf.Offset, tag}, err
}

// private reports whether a field without a tag is of no concern to others than the
// struct's own package: it is not exported, and embeds nothing that is.
func private(sf reflect.StructField) bool {
	t := sf.Type
	switch {
	case sf.IsExported():
		return false
	case sf.Anonymous && t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct:
		return !slices.ContainsFunc(reflect.VisibleFields(t.Elem()), reflect.StructField.IsExported)
	}
	return !embeds(sf) || opaque(t)
}

// embeds reports whether the fields of sf count as those of the struct around it.
func embeds(sf reflect.StructField) bool {
	return sf.Anonymous && sf.Type.Kind() == reflect.Struct && sf.Type != timeType
}

// opaque reports whether t is a struct that has fields but shows none of them, such
// as sync.Mutex. time.Time is not: it has a form of its own.
func opaque(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || t == timeType || t.NumField() == 0 {
		return false
	}
	for sf := range t.Fields() {
		if _, tagged := sf.Tag.Lookup("rntuple"); tagged || !private(sf) {
			return false
		}
	}
	return true
}

// hidden returns the error about a type that is opaque.
func hidden(t reflect.Type) error {
	return fmt.Errorf("%v has no exported fields, so that nothing of it can be read or written; leave it out with the tag \"-\"", t)
}

// goName returns the name of a struct type.
func goName(t reflect.Type) string {
	if t.Name() == "" {
		return "struct"
	}
	return t.String()
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
