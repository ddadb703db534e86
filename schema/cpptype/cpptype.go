package cpptype

import (
	"strconv"
	"strings"
)

// A Type is a normalized type name. Names mean the same type if their Types have the
// same String. The zero Type is the empty name of an untyped field.
//
// A template argument that is a number is a Type, too, see [Type.Uint].
// A pointer or reference has the Name "*", "&" or "&&" and the type it leads to
// as its only argument.
type Type struct {
	Scope *Type  // Outer<int> in Outer<int>::Inner; nil if no template comes before Name
	Name  string // with namespaces, without template arguments: "std::vector"
	Args  []Type // template arguments; nil if there is no <>, empty for std::tuple<>
	CV    CV     // only in arguments of user templates and behind pointers and references
}

// CV holds the qualifiers of a type.
type CV uint8

// The bits of a CV.
const (
	Const CV = 1 << iota
	Volatile
)

// Normalize returns the canonical spelling of a type name.
func Normalize(name string) (string, error) {
	t, err := Parse(name)
	return t.String(), err
}

// Same reports whether two names as files store them name the same type: whether
// they are equal, or have the same canonical spelling. Files written by ROOT 6.34
// and before have names such as "ElementLink<DataVector<xAOD::Jet_v1> >", which
// later versions write without the space. Names that do not parse are the same
// only if they are equal.
func Same(a, b string) bool {
	if a == b {
		return true
	}
	x, err := Normalize(a)
	if err != nil {
		return false
	}
	y, err := Normalize(b)
	return err == nil && x == y
}

// Uint returns the value of an integer template argument, such as the 3 of
// std::array<float,3>. ok is false for negative numbers and for types.
func (t Type) Uint() (v uint64, ok bool) {
	v, err := strconv.ParseUint(strings.TrimSuffix(t.Name, "u"), 10, 64)
	return v, err == nil
}

// String returns the canonical spelling.
func (t Type) String() string {
	var b strings.Builder
	t.write(&b)
	return b.String()
}

func (t Type) write(b *strings.Builder) {
	qualifiers := [...]string{"", "const ", "volatile ", "const volatile "}[t.CV&(Const|Volatile)]
	if t.Name == "*" || t.Name == "&" || t.Name == "&&" {
		t.Args[0].write(b)
		b.WriteString(t.Name + strings.TrimSuffix(qualifiers, " "))
		return
	}
	b.WriteString(qualifiers)
	if t.Scope != nil {
		t.Scope.write(b)
		b.WriteString("::")
	}
	b.WriteString(t.Name)
	for i, arg := range t.Args {
		b.WriteByte("<,"[min(i, 1)])
		arg.write(b)
	}
	if t.Args != nil {
		b.WriteString("<>"[min(len(t.Args), 1):])
	}
}

// deeperThan reports whether arguments and scopes nest in more than n levels.
func (t *Type) deeperThan(n int) bool {
	if n == 0 || t.Scope != nil && t.Scope.deeperThan(n-1) {
		return true
	}
	for i := range t.Args {
		if t.Args[i].deeperThan(n - 1) {
			return true
		}
	}
	return false
}
