package field

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// A Gather copies values that were read from other entries into members of Go
// values. A join uses it for the entries that it found, if there are any.
type Gather struct {
	item    reflect.Type // a struct with what one entry gives
	members []gathered
}

// gathered is a member that a field of the item goes to.
type gathered struct {
	from, to uintptr // offsets in the item and in the value
	typ      reflect.Type
	plain    bool // no pointers in it
	how      uint8
}

const (
	copied     = iota // the value
	pointed           // a pointer to it, nil if there is none
	asOptional        // an any, nil if there is none, as those of optionals
)

// NewGather returns a Gather into the given members. The item has a member for each,
// of the type that the member points to; or of the member's own type if that is any or
// if zeros is set, which makes members zero where there is no entry.
func NewGather(members []Member, zeros bool) (*Gather, error) {
	fields := make([]reflect.StructField, len(members))
	g := &Gather{members: make([]gathered, len(members))}
	var mismatches []schema.Mismatch
	for i, m := range members {
		typ, how := m.Type, uint8(copied)
		switch {
		case zeros:
		case m.Type == anyType:
			how = asOptional
		case m.Type.Kind() == reflect.Pointer:
			typ, how = m.Type.Elem(), pointed
		default:
			mismatches = append(mismatches, schema.Mismatch{Path: m.Name, Go: m.Type,
				Have: "a field without a value in some entries", Fits: "*" + m.Type.String()})
		}
		fields[i] = reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: typ}
		g.members[i] = gathered{to: m.Offset, typ: typ, plain: !hasPointers(typ), how: how}
	}
	if len(mismatches) > 0 {
		return nil, &schema.MismatchError{Mismatches: mismatches}
	}
	g.item = reflect.StructOf(fields)
	for i := range g.members {
		g.members[i].from = g.item.Field(i).Offset
	}
	return g, nil
}

// Item returns the type of items, a struct.
func (g *Gather) Item() reflect.Type { return g.item }

// Member returns the type and the offset that the i-th member has in an item.
func (g *Gather) Member(i int) (reflect.Type, uintptr) { return g.members[i].typ, g.members[i].from }

// Copy sets the members of the values at dst, which are stride bytes apart: those of
// value i from item at[i], or to zero or nil if that is negative. Pointers point into
// items.
func (g *Gather) Copy(dst unsafe.Pointer, stride uintptr, at []int32, items unsafe.Pointer) {
	size := g.item.Size()
	for i := range g.members {
		m := &g.members[i]
		to, from := unsafe.Add(dst, m.to), unsafe.Add(items, m.from)
		switch {
		case m.how == pointed:
			for j, k := range at {
				p := unsafe.Pointer(nil)
				if k >= 0 {
					p = unsafe.Add(from, uintptr(k)*size)
				}
				*(*unsafe.Pointer)(unsafe.Add(to, uintptr(j)*stride)) = p
			}
		case m.how == asOptional:
			for j, k := range at {
				var v any
				if k >= 0 {
					v = some(*(*any)(unsafe.Add(from, uintptr(k)*size)))
				}
				*(*any)(unsafe.Add(to, uintptr(j)*stride)) = v
			}
		case m.plain:
			n := m.typ.Size()
			for j, k := range at {
				value := unsafe.Slice((*byte)(unsafe.Add(to, uintptr(j)*stride)), n)
				if k >= 0 {
					copy(value, unsafe.Slice((*byte)(unsafe.Add(from, uintptr(k)*size)), n))
				} else {
					clear(value)
				}
			}
		default:
			for j, k := range at {
				value := reflect.NewAt(m.typ, unsafe.Add(to, uintptr(j)*stride)).Elem()
				if k >= 0 {
					value.Set(reflect.NewAt(m.typ, unsafe.Add(from, uintptr(k)*size)).Elem())
				} else {
					value.SetZero()
				}
			}
		}
	}
}

// some returns the dynamic value of an optional that holds v.
func some(v any) any {
	switch v.(type) {
	case nil, value.Some:
		return value.Some{Value: v}
	}
	return v
}
