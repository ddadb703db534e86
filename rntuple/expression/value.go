package expression

import (
	"fmt"
	"slices"
	"strings"
)

// A value is what a part of an expression is computed by: a column, or columns that are the parts
// of an array, a record or a variant.
type value struct {
	of      *domain
	kind    Kind   // of a column; 0 for the others
	missing bool   // there may be rows without a value
	name    string // the type of a field, for messages

	column   column
	literal  any       // bool, int64, float64 or string, if it is one
	null     bool      // it is nil
	unsigned *unsigned // integers that may be too large, until they are read; see builder.read
	index    bool      // integers are indices that argsort or combinations yield, as are the innermost items of arrays

	there   *node[bool] // where an array, a record or a variant is; nil: everywhere
	list    *list
	record  *record
	variant *variant
}

// A list is an array for each row of a domain: its items have a domain of their own. Rows that have
// no array have no items.
type list struct {
	items *domain
	item  value // of the domain items
	size  int   // of all arrays, or 0 if it varies
	// of arrays of a fixed size, the items with each number, in the domain of the arrays; nil if they
	// are not known
	parts []value
	keyed bool // items are records of a key and a value, and are found by their keys
	tuple bool // its parts have different types, and item is none
}

// A record has members, whose values are made when they are needed.
type record struct {
	names []string
	make  func(i int) (value, error)
	size  int // members, and theirs
	*builder
	made []*value
}

// record returns a record of some members. Size is their number, with that of their members.
func (b *builder) record(names []string, size int, make func(i int) (value, error)) *record {
	return &record{names: names, make: make, size: size, builder: b}
}

// with returns a record whose members are made of those of another one.
func (r *record) with(f func(m value) value) *record {
	return r.record(r.names, r.size, func(i int) (value, error) {
		m, err := r.member(i)
		if err != nil {
			return value{}, err
		}
		return f(m), nil
	})
}

// member returns the value of a member.
func (r *record) member(i int) (value, error) {
	if r.made == nil {
		r.made = make([]*value, len(r.names))
	}
	if r.made[i] == nil {
		if r.nodes++; r.nodes > maxNodes {
			return value{}, errTooMany
		}
		m, err := r.make(i)
		if err != nil {
			return value{}, err
		}
		r.made[i] = &m
	}
	return *r.made[i], nil
}

// A variant has one of several values in each row.
type variant struct {
	tag, at      *node[int64] // which one, or -1, and in which row of it
	alternatives []value      // each in a domain of its own
}

// listOf returns arrays, which are there where a node is true, or everywhere if it is nil.
func listOf(items *domain, item value, there *node[bool]) value {
	return value{of: items.up, list: &list{items: items, item: item}, there: there, missing: there != nil}
}

// nothing returns nil.
func nothing(d *domain) value { return value{of: d, null: true, missing: true} }

// never returns the item of an array that never has any.
func never(d *domain) value { return value{of: d, null: true} }

// orFalse returns v, or false if v is nil.
func (v value) orFalse() value {
	if v.null {
		return literalOf(v.of, false)
	}
	return v
}

// literalOf returns the value of a literal.
func literalOf(d *domain, v any) value {
	var out value
	switch v := v.(type) {
	case bool:
		out = scalar(constant(d, v), false)
	case int64:
		out = scalar(constant(d, v), false)
	case float64:
		out = scalar(constant(d, v), false)
	case string:
		out = scalar(constant(d, []byte(v)), false)
	}
	out.literal = v
	return out
}

// isNumber reports whether v is a number in each row.
func (v value) isNumber() bool { return v.kind == Int || v.kind == Float }

// isArray reports whether v is an array.
func (v value) isArray() bool { return v.list != nil }

// array returns v with other items in the place of its own.
func (v value) array(items *domain, item value) value {
	return listOf(items, item, v.there)
}

// asFloats returns a number, or numbers in arrays, as floats.
func (v value) asFloats() value {
	switch {
	case v.list != nil:
		l := *v.list
		l.item, l.parts = l.item.asFloats(), nil
		v.list = &l
		return v
	case v.kind != Int:
		return v
	}
	if n, ok := v.literal.(int64); ok {
		return literalOf(v.of, float64(n))
	}
	out := scalar(mapped(v.ints(), toFloat).known(monotonic(v.ints(), toFloat)), v.missing)
	out.unsigned = v.unsigned
	return out
}

// condition returns where v, which is a bool, is true: not where it is missing.
func (v value) condition() *node[bool] {
	if !v.missing {
		return v.bools()
	}
	return truth(v.bools())
}

// valid returns where v has a value.
func (v value) valid() *node[bool] {
	switch {
	case v.null:
		return constant(v.of, false)
	case !v.missing:
		return constant(v.of, true)
	case v.there != nil:
		return v.there
	}
	return v.column.presence()
}

// mark says where in a text the nodes of v are that are at no place yet.
func (v value) mark(at *place) {
	switch {
	case v.column != nil:
		v.column.mark(at)
	case v.list != nil:
		if v.list.items.at == nil {
			v.list.items.at = at
		}
		v.list.item.mark(at)
	}
}

// typ returns the type of v.
func (v value) typ() (t Type) {
	switch {
	case v.list == nil:
		if t.Kind, t.Missing = v.kind, v.missing; v.kind == 0 {
			t.Kind = Other
		}
		return t
	case v.list.tuple || v.list.keyed || v.list.item.null:
		return Type{Kind: Other, Missing: v.missing}
	}
	t = v.list.item.typ()
	if t.Depth > 0 && t.Missing || t.Kind == Other { // an array that may be missing in another one
		return Type{Kind: Other, Missing: v.missing}
	}
	if t.Depth == 0 {
		t.Items = t.Missing
	}
	t.Depth, t.Missing = t.Depth+1, v.missing
	return t
}

// noun returns what v is, such as "array of floats".
func (v value) noun() string {
	var s string
	switch {
	case v.null:
		return "nil"
	case v.list != nil && v.list.keyed:
		s = "map"
	case v.list != nil && v.list.tuple:
		s = "tuple"
	case v.list != nil && v.list.item.null:
		s = "array"
	case v.list != nil:
		first, rest, _ := strings.Cut(v.list.item.noun(), " ")
		s = strings.TrimSuffix("array of "+first+"s "+rest, " ")
	case v.record != nil:
		s = "record"
	case v.variant != nil:
		s = "variant"
	default:
		s = [...]string{Bool: "bool", Int: "integer", Float: "float", String: "string"}[v.kind]
	}
	if v.missing {
		s += " that may be missing"
	}
	return s
}

// is returns what a message has after the text of v.
func (v value) is() string {
	s := v.noun()
	switch {
	case v.name != "":
		return "is " + v.name
	case v.null:
		return "is nil"
	case strings.HasPrefix(s, "array"), strings.HasPrefix(s, "integer"):
		return "is an " + s
	}
	return "is a " + s
}

// unified returns values as values of one type, and nil if they have none: integers become floats
// beside floats.
func unified(all []value) []value {
	out := make([]value, len(all))
	copy(out, all)
	var like *value
	for i := range out {
		v := &out[i]
		switch {
		case v.null:
		case like == nil || !like.settled() && v.compatible(*like):
			like = v
		case !v.compatible(*like):
			return nil
		}
	}
	if like == nil {
		return out
	}
	floats := false
	for _, v := range out {
		floats = floats || v.innermost() == Float
	}
	for i := range out {
		if floats && out[i].innermost() == Int {
			out[i] = out[i].asFloats()
		}
	}
	return out
}

// bottom returns the items of arrays of arrays, or v if it is no array.
func (v value) bottom() value {
	for v.list != nil {
		v = v.list.item
	}
	return v
}

// settled reports whether the type of v is known: it is not the array of nothing.
func (v value) settled() bool { return !v.bottom().null }

// innermost returns the kind of the items of arrays of arrays, or of a value that is no array.
func (v value) innermost() Kind { return v.bottom().kind }

// compatible reports whether two values may be values of one type.
func (v value) compatible(w value) bool {
	switch {
	case v.null || w.null:
		return true
	case v.list != nil && w.list != nil:
		return !v.list.tuple && !w.list.tuple && v.list.keyed == w.list.keyed && v.list.item.compatible(w.list.item)
	case v.record != nil && w.record != nil:
		if len(v.record.names) != len(w.record.names) {
			return false
		}
		for _, name := range v.record.names {
			a, err1 := v.named(name)
			b, err2 := w.named(name)
			if err1 != nil || err2 != nil || !a.compatible(b) {
				return false
			}
		}
		return true
	}
	return v.kind != 0 && (v.kind == w.kind || v.isNumber() && w.isNumber())
}

// alike reports whether two values, which are compatible, are of one type: no integer beside a
// float, and no nil beside another value.
func (v value) alike(w value) bool {
	switch {
	case v.list != nil && w.list != nil:
		return v.list.item.alike(w.list.item)
	case v.record != nil && w.record != nil:
		for _, name := range v.record.names {
			a, err1 := v.named(name)
			b, err2 := w.named(name)
			if err1 != nil || err2 != nil || !a.alike(b) {
				return false
			}
		}
		return true
	}
	return v.null == w.null && v.kind == w.kind
}

// weight returns how many members the records in v have.
func (v value) weight() int {
	if r := v.bottom().record; r != nil {
		return r.size
	}
	return 1
}

// named returns a member of a record.
func (v value) named(name string) (value, error) {
	if i := slices.Index(v.record.names, name); i >= 0 {
		return v.record.member(i)
	}
	return value{}, fmt.Errorf("no member %q", name)
}
