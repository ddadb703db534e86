package formula

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/checker/nature"
)

// A Kind is what a value is.
type Kind uint8

// The kinds of values, each with the Go types that its values have in the virtual
// machine.
const (
	Any    Kind = iota // one of the others, which one is known only when it is there
	Nil                // nil
	Bool               // bool
	Int                // int64, int
	Float              // float64
	String             // string
	Array              // []bool, []int64, []int, []float64, []string, or []any
	Record             // map[string]any, with known members
	Map                // map[string]any, all of whose elements have the same type
)

// A Type is the static type of a value. A value that may be missing is nil then.
type Type struct {
	Kind    Kind
	Missing bool
	Elem    *Type           // the type of the items of an Array or a Map
	Members map[string]Type // of a Record
	Size    int             // the number of items of an Array, if it is always the same; otherwise 0
	Name    string          // what messages call the type; "" for words like "array of floats"

	index bool // an integer that argsort or combinations yield
}

// ArrayOf returns the type of arrays.
func ArrayOf(item Type) Type { return Type{Kind: Array, Elem: &item} }

// Optional returns the type of values that may be missing.
func (t Type) Optional() Type {
	t.Missing = t.Kind != Nil
	return t
}

// present returns the type of values that are not missing.
func (t Type) present() Type {
	t.Missing = false
	return t
}

// unnamed returns the type without what only the field that has it is known to have.
func (t Type) unnamed() Type {
	t.Name, t.Size = "", 0
	return t
}

var kindNames = [...]string{"value", "nil", "bool", "integer", "float", "string", "array", "record", "map"}

// String returns a noun, such as "array of floats".
func (t Type) String() string {
	s := kindNames[t.Kind]
	if t.Kind == Array && t.Elem.Kind != Any {
		s += " of " + strings.Replace(t.Elem.String(), kindNames[t.Elem.Kind], kindNames[t.Elem.Kind]+"s", 1)
	}
	if t.Missing {
		s += " that may be missing"
	}
	return s
}

// described returns the type as a message has it after "is".
func (t Type) described() string {
	switch {
	case t.Name != "":
		return t.Name
	case t.Kind == Nil:
		return "nil"
	case t.Kind == Any:
		return "of unknown type"
	case t.Kind == Int || t.Kind == Array:
		return "an " + t.String()
	}
	return "a " + t.String()
}

func (t Type) isNumber() bool { return t.Kind == Int || t.Kind == Float }

// isScalar reports whether items of the type have a slice type of their own.
func (t Type) isScalar() bool {
	return !t.Missing && (t.Kind == Bool || t.Kind == Int || t.Kind == Float || t.Kind == String)
}

// unify returns the type of a value that has one of two types.
func unify(a, b Type) Type {
	t, missing := a.unnamed(), a.Missing || b.Missing || a.Kind == Nil || b.Kind == Nil
	t.index = a.index && b.index
	switch {
	case a.Kind == Nil:
		t = b.unnamed()
	case b.Kind == Nil:
	case a.isNumber() && b.isNumber() && a.Kind != b.Kind:
		t = Type{Kind: Float}
	case a.Kind != b.Kind || a.Kind == Record && !slices.Equal(slices.Sorted(maps.Keys(a.Members)), slices.Sorted(maps.Keys(b.Members))):
		t = Type{}
	case a.Kind == Array || a.Kind == Map:
		item := unify(*a.Elem, *b.Elem)
		t = Type{Kind: a.Kind, Elem: &item}
	case a.Kind == Record:
		members := map[string]Type{}
		for name, m := range a.Members {
			members[name] = unify(m, b.Members[name])
		}
		t = Type{Kind: Record, Members: members}
	}
	if missing {
		return t.Optional()
	}
	return t
}

// count takes the types that a type consists of from those that are left. It returns false if there
// are not enough.
func (t Type) count(left *int) bool {
	if *left--; *left < 0 {
		return false
	}
	for _, m := range t.Members {
		if !m.count(left) {
			return false
		}
	}
	return t.Elem == nil || t.Elem.count(left)
}

// equal reports whether values of two types are stored in the same way.
func equal(a, b Type) bool {
	return a.Kind == b.Kind && (a.Kind != Array || equal(*a.Elem, *b.Elem) && a.Elem.isScalar() == b.Elem.isScalar())
}

// goType returns the Go type of values in the virtual machine, or nil if there are
// several.
func (t Type) goType() reflect.Type {
	if t.Missing {
		return nil
	}
	switch t.Kind {
	case Bool:
		return reflect.TypeFor[bool]()
	case Int:
		return reflect.TypeFor[int64]()
	case Float:
		return reflect.TypeFor[float64]()
	case String:
		return reflect.TypeFor[string]()
	case Array:
		if t.Elem.isScalar() {
			return reflect.SliceOf(t.Elem.goType())
		}
		return reflect.TypeFor[[]any]()
	case Record, Map:
		return reflect.TypeFor[map[string]any]()
	}
	return nil
}

// fromGo returns the type of values of a Go type, which a function of the language
// yields.
func fromGo(t reflect.Type) Type {
	switch t.Kind() {
	case reflect.Bool:
		return Type{Kind: Bool}
	case reflect.Int:
		return Type{Kind: Int}
	case reflect.Float64:
		return Type{Kind: Float}
	case reflect.String:
		return Type{Kind: String}
	case reflect.Slice:
		return ArrayOf(fromGo(t.Elem()))
	}
	return Type{}
}

// nature returns the type as the compiler of the language has it.
func (t Type) nature() nature.Nature {
	if t.Kind == Nil {
		return nature.NatureOf(nil)
	}
	return nature.FromType(t.goType())
}
