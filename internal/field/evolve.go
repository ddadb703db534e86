package field

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/schema"
)

// fields compiles reading fields below f into the members of a value.
func (c *compiler) fields(r *record, f *schema.Field, members []Member) {
	c.assign(r, []*schema.Field{f}, members, map[*schema.Field]bool{})
}

// assign compiles reading fields below the records in, nearest first, into the members
// of a struct. All the records have the same items. moved holds the fields that a
// member is read from already, and whether that member was found in another record
// than its own.
func (c *compiler) assign(r *record, in []*schema.Field, members []Member, moved map[*schema.Field]bool) {
	for _, m := range members {
		chain, here, err := c.find(in, m.Name)
		if !isEntry(in[0]) && isBase(m.Name) && m.Type.Kind() == reflect.Struct && m.Type != recordType &&
			(err != nil || chain[0].Shape == schema.Record) {
			// Members may have moved to the base class or from it; all of it may be
			// new.
			inner, wrong := membersOf(m.Type)
			c.mismatches = append(c.mismatches, wrong...)
			for i := range inner {
				inner[i].Offset += m.Offset
				inner[i].Optional = inner[i].Optional || m.Optional
			}
			c.assign(r, slices.Concat(chain, in), inner, moved)
			continue
		}
		if err == nil {
			last := chain[len(chain)-1]
			other, taken := moved[last]
			if taken && (other || !here) {
				err = fmt.Errorf("field %q is the only one for several members %q of the struct", last.Path(), last.Name)
			}
			moved[last] = other || !here
		}
		switch {
		case err == nil:
			outer := c.unit
			c.unit = m.Unit
			*r = append(*r, recordMember{c.path(chain, m.Type), m.Offset})
			c.unit = outer
		case errors.Is(err, schema.ErrNoField) && (m.Optional || c.missing):
			*r = append(*r, recordMember{absent{m.Type}, m.Offset})
		default:
			c.mismatches = append(c.mismatches, schema.Mismatch{Path: m.Name, Go: m.Type, Err: err})
		}
	}
}

// find returns the way to the member of the given name of the first record that
// has it, itself or in a base class, and whether that is the member's own place.
func (c *compiler) find(in []*schema.Field, name string) (chain []*schema.Field, here bool, err error) {
	if isEntry(in[0]) {
		chain, err = c.src.Schema.Lookup(name)
		return chain, true, err
	}
	if isBase(name) {
		in = in[:1]
	}
	for i, f := range in {
		if chain := f.Lookup(name); chain != nil {
			return chain, i == 0, nil
		}
		if chain, err := inherited(f, name); chain != nil || err != nil {
			return chain, false, err
		}
	}
	return nil, false, schema.NoField(in[0].Children, name, fmt.Sprintf("field %q", in[0].Path()))
}

// inherited looks for a member in the base classes of f by the rules of C++: a
// class hides what its own bases have, and bases side by side must not both have
// it.
func inherited(f *schema.Field, name string) (chain []*schema.Field, err error) {
	if head, _, _ := strings.Cut(name, "."); isBase(head) {
		return nil, nil
	}
	for _, base := range f.Children {
		if !isBase(base.Name) || base.Shape != schema.Record {
			continue
		}
		below := base.Lookup(name)
		if below == nil {
			if below, err = inherited(base, name); err != nil {
				return nil, err
			}
		}
		switch {
		case below != nil && chain != nil:
			return nil, fmt.Errorf("field %q has several base classes with a member %q", f.Path(), name)
		case below != nil:
			chain = append([]*schema.Field{base}, below...)
		}
	}
	return chain, nil
}

// isEntry reports whether f is what entry returns.
func isEntry(f *schema.Field) bool { return f.Name == "" && f.Parent == nil }

// isBase reports whether name is that of a base class within a class.
func isBase(name string) bool {
	return strings.HasPrefix(name, ":_") && !strings.Contains(name, ".")
}

// absent sets members that have no field to zero.
type absent struct{ typ reflect.Type }

func (a absent) read(_ *run, _, n int64, dst unsafe.Pointer, stride uintptr) error {
	for i := range n {
		reflect.NewAt(a.typ, unsafe.Add(dst, uintptr(i)*stride)).Elem().SetZero()
	}
	return nil
}

// engaged reads values that are always there into pointers.
type engaged struct {
	elem  node
	typ   reflect.Type // of an element
	plain bool         // elements have no pointers
}

func (e *engaged) read(r *run, first, n int64, dst unsafe.Pointer, stride uintptr) error {
	items, err := r.make(e.typ, e.plain, n)
	if err != nil {
		return err
	}
	size := e.typ.Size()
	if err := e.elem.read(r, first, n, items, size); err != nil {
		return err
	}
	for i := range n {
		*(*unsafe.Pointer)(unsafe.Add(dst, uintptr(i)*stride)) = unsafe.Add(items, uintptr(i)*size)
	}
	return nil
}
