package oracle

import (
	"fmt"
	"slices"
	"strings"
)

// A Kind is the kind of a Type.
type Kind int

const (
	Nil Kind = iota // the type of the literal nil, and of the items of []
	Bool
	Int
	Float
	String
	Array
	Record
	Map     // its Elem is a Record {key, value}
	Tuple   // of members whose types do not unify
	Variant // of alternatives whose types do not unify
	Opaque  // what no expression can use
)

// A Type is the static type of a node or field.
type Type struct {
	Kind    Kind
	Missing bool     // values may be missing
	Elem    *Type    // of an Array and a Map; nil for the literal []
	Names   []string // of the members of a Record
	Members []Type   // of a Record and a Tuple; the alternatives of a Variant
	Strict  bool     // an Array of ints from argsort or combinations: must not be out of range as an index
}

// Types of scalars.
var (
	boolean = Type{Kind: Bool}
	integer = Type{Kind: Int}
	float   = Type{Kind: Float}
	str     = Type{Kind: String}
)

// ArrayOf returns the type of arrays.
func ArrayOf(elem Type) Type { return Type{Kind: Array, Elem: &elem} }

// mapOf returns the type of maps.
func mapOf(key, value Type) Type {
	return Type{Kind: Map, Elem: &Type{Kind: Record, Names: []string{"key", "value"}, Members: []Type{key, value}}}
}

// String returns the type without what may be missing in it, as a Generator has it: [{x: float, n:
// int}].
func (t Type) String() string {
	switch t.Kind {
	case Array, Map:
		elem := "nil"
		if t.Elem != nil {
			elem = t.Elem.String()
		}
		if t.Kind == Map {
			return "map" + elem
		}
		return "[" + elem + "]"
	case Record, Tuple, Variant:
		var all []string
		for i, m := range t.Members {
			text := m.String()
			if t.Names != nil {
				text = t.Names[i] + ": " + text
			}
			all = append(all, text)
		}
		if t.Kind == Record {
			return "{" + strings.Join(all, ", ") + "}"
		}
		return map[Kind]string{Tuple: "tuple", Variant: "variant"}[t.Kind] + "(" + strings.Join(all, ", ") + ")"
	}
	return []string{Nil: "nil", Bool: "bool", Int: "int", Float: "float", String: "string", Opaque: "opaque"}[t.Kind]
}

func (t Type) optional(missing bool) Type {
	t.Missing = t.Missing || missing
	return t
}

func (t Type) is(kinds ...Kind) bool { return slices.Contains(kinds, t.Kind) }

func (t Type) scalar() bool { return t.is(Nil, Bool, Int, Float, String) }

// elem returns the type of the items of an array or map.
func (t Type) elem() Type {
	if t.Elem == nil {
		return Type{Missing: true}
	}
	return *t.Elem
}

// member returns the type of a member of a record.
func (t Type) member(name string) (Type, bool) {
	i := slices.Index(t.Names, name)
	if t.Kind != Record || i < 0 {
		return Type{}, false
	}
	return t.Members[i].optional(t.Missing), true
}

// unify returns the type of what may be of either type.
func unify(a, b Type) (Type, error) {
	missing := a.Missing || b.Missing
	switch {
	case a.Kind == Nil:
		return b.optional(true), nil
	case b.Kind == Nil:
		return a.optional(true), nil
	case a.is(Int, Float) && b.is(Int, Float) && a.Kind != b.Kind:
		return float.optional(missing), nil
	case a.Kind != b.Kind:
	case a.scalar():
		return a.optional(missing), nil
	case a.Kind == Array && (a.Elem == nil || b.Elem == nil):
		if a.Elem == nil {
			a = b
		}
		return a.optional(missing), nil
	case a.is(Array, Map):
		elem, err := unify(*a.Elem, *b.Elem)
		return Type{Kind: a.Kind, Missing: missing, Elem: &elem, Strict: a.Strict && b.Strict}, err
	case a.Kind == Record && len(a.Names) == len(b.Names):
		t := Type{Kind: Record, Missing: missing, Names: a.Names}
		for i, name := range a.Names {
			k := slices.Index(b.Names, name)
			if k < 0 {
				return t, fmt.Errorf("%v and %v have no common type", a, b)
			}
			m, err := unify(a.Members[i], b.Members[k])
			if err != nil {
				return t, err
			}
			t.Members = append(t.Members, m)
		}
		return t, nil
	}
	return Type{}, fmt.Errorf("%v and %v have no common type", a, b)
}

// unifyAll unifies any number of types; those of no values are Nil.
func unifyAll(types []Type) (t Type, err error) {
	for i, other := range types {
		if i == 0 {
			t = other
		} else if t, err = unify(t, other); err != nil {
			return t, err
		}
	}
	return t, nil
}
