package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// A symbol is an exported constant, variable, function or type, or an exported field or method of a
// type.
type symbol struct {
	text   string   // as in the files api/*.txt of Go
	hidden []string // types in it that are not exported, or are of internal packages
}

// symbolsOf returns the exported symbols of a package.
func symbolsOf(pkg *types.Package) []symbol {
	l := symbolList{pkg: pkg}
	for _, name := range pkg.Scope().Names() {
		o := pkg.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		switch o := o.(type) {
		case *types.Const:
			l.add(fmt.Sprintf("%s = %s", types.ObjectString(o, l.qualifier), o.Val().ExactString()), o.Type())
		case *types.TypeName:
			if alias, ok := o.Type().(*types.Alias); ok {
				head, constraints := l.head(name, alias.TypeParams())
				l.add(head+" = "+l.string(alias.Rhs()), append(constraints, alias.Rhs())...)
			} else {
				l.definition(o.Type().(*types.Named))
			}
		default:
			l.add(types.ObjectString(o, l.qualifier), o.Type())
		}
	}
	return l.all
}

// A symbolList collects the symbols of a package.
type symbolList struct {
	pkg *types.Package
	all []symbol
}

func (l *symbolList) qualifier(p *types.Package) string {
	if p == l.pkg {
		return ""
	}
	return p.Name()
}

func (l *symbolList) string(t types.Type) string { return types.TypeString(t, l.qualifier) }

// head returns the name of a type with its parameters, and their constraints.
func (l *symbolList) head(name string, list *types.TypeParamList) (_ string, constraints []types.Type) {
	for p := range list.TypeParams() {
		separator := ", "
		if constraints == nil {
			separator = "["
		}
		name += separator + p.Obj().Name() + " " + l.string(p.Constraint())
		constraints = append(constraints, p.Constraint())
	}
	if constraints != nil {
		name += "]"
	}
	return "type " + name, constraints
}

// add adds a symbol with the types in it.
func (l *symbolList) add(text string, in ...types.Type) {
	s := symbol{text: "pkg " + strings.TrimPrefix(l.pkg.Path(), module) + ", " + text}
	for _, t := range in {
		hidden(t, func(o *types.TypeName) { s.hidden = append(s.hidden, o.Pkg().Path()+"."+o.Name()) })
	}
	l.all = append(l.all, s)
}

// definition adds a defined type, its fields and its methods.
func (l *symbolList) definition(t *types.Named) {
	head, constraints := l.head(t.Obj().Name(), t.TypeParams())
	switch u := t.Underlying().(type) {
	case *types.Struct:
		l.add(head+" struct", constraints...)
		l.fields(head+" struct, ", t, u, map[*types.Struct]bool{})
	case *types.Interface:
		l.add(head+" interface", constraints...)
		head += " interface, "
		sealed := false
		for m := range u.ExplicitMethods() {
			if m.Exported() {
				l.add(head+m.Name()+l.signature(m), m.Type())
			}
			sealed = sealed || !m.Exported()
		}
		if sealed {
			l.add(head + "unexported methods")
		}
		for e := range u.EmbeddedTypes() {
			l.add(head+"embedded "+l.string(e), e)
		}
	default:
		l.add(head+" "+l.string(u), append(constraints, u)...)
	}
	pointer := types.NewPointer(t)
	values := types.NewMethodSet(t)
	for m := range types.NewMethodSet(pointer).Methods() {
		if !m.Obj().Exported() || throughExported(t, m.Index()) {
			continue
		}
		receiver := m.Obj().(*types.Func).Signature().Recv().Type()
		if promoted := len(m.Index()) > 1; promoted && values.Lookup(l.pkg, m.Obj().Name()) != nil {
			receiver = t
		} else if promoted {
			receiver = pointer
		}
		l.add("method ("+l.string(receiver)+") "+m.Obj().Name()+l.signature(m.Obj()), m.Obj().Type())
	}
}

func (l *symbolList) signature(o types.Object) string {
	return strings.TrimPrefix(l.string(o.Type()), "func")
}

// fields adds the exported fields of t that are in s, which is t or embedded in it.
func (l *symbolList) fields(head string, t *types.Named, s *types.Struct, seen map[*types.Struct]bool) {
	if seen[s] {
		return
	}
	seen[s] = true
	for f := range s.Fields() {
		switch found, _, _ := types.LookupFieldOrMethod(t, true, l.pkg, f.Name()); {
		case found != f: // hidden by another one
		case f.Exported() && f.Embedded():
			l.add(head+"embedded "+l.string(f.Type()), f.Type())
		case f.Exported():
			l.add(head+f.Name()+" "+l.string(f.Type()), f.Type())
		case f.Embedded():
			if inner, ok := structOf(f.Type()); ok {
				l.fields(head, t, inner, seen)
			}
		}
	}
}

// structOf returns the struct that t is, or points to.
func structOf(t types.Type) (*types.Struct, bool) {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	return s, ok
}

// throughExported reports whether a method of t, whose types.Selection has the index, is promoted
// through an exported field, which implies that there is the method.
func throughExported(t types.Type, index []int) bool {
	for _, i := range index[:len(index)-1] {
		s, ok := structOf(t)
		if !ok {
			return false
		}
		if s.Field(i).Exported() {
			return true
		}
		t = s.Field(i).Type()
	}
	return false
}

// hidden reports the types in t that are not exported, or are of internal packages. What a defined
// type or an alias stands for is checked where it is declared.
func hidden(t types.Type, report func(*types.TypeName)) {
	named := func(o *types.TypeName, arguments *types.TypeList) {
		if p := o.Pkg(); p != nil && (!o.Exported() || slices.Contains(strings.Split(p.Path(), "/"), "internal")) {
			report(o)
		}
		for a := range arguments.Types() {
			hidden(a, report)
		}
	}
	switch t := t.(type) {
	case *types.Alias:
		named(t.Obj(), t.TypeArgs())
	case *types.Named:
		named(t.Obj(), t.TypeArgs())
	case *types.Signature:
		for p := range t.TypeParams().TypeParams() {
			hidden(p.Constraint(), report)
		}
		hidden(t.Params(), report)
		hidden(t.Results(), report)
	case *types.Tuple:
		for v := range t.Variables() {
			hidden(v.Type(), report)
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				hidden(f.Type(), report)
			}
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			if m.Exported() {
				hidden(m.Type(), report)
			}
		}
		for e := range t.EmbeddedTypes() {
			hidden(e, report)
		}
	case *types.Union:
		for term := range t.Terms() {
			hidden(term.Type(), report)
		}
	case *types.Map:
		hidden(t.Key(), report)
		hidden(t.Elem(), report)
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		hidden(t.Elem(), report)
	}
}

// TestSymbols lists declarations that users can use, and finds what they cannot name in others.
func TestSymbols(t *testing.T) {
	const inner = `package inner
		type T struct{ F int }
		type I int
		const C I = 1
		type G[E any] struct{ F E }
		func (G[E]) M(E) {}
		type N interface { N() }
		type A = int`
	outside := check(t, nil, "p/internal/inner", inner)
	for _, test := range []struct {
		source string
		want   []string // hidden types are behind an exclamation mark
	}{
		{"const C = 1 << 10", []string{"const C untyped int = 1024"}},
		{`type K string; const ( C K = "a"; c K = "b" )`, []string{"type K string", `const C K = "a"`}},
		{"var V, v error", []string{"var V error"}},
		{"func F[E comparable](e E, more ...any) (n int, err error) {}; func f()",
			[]string{"func F[E comparable](e E, more ...any) (n int, err error)"}},
		{"type T struct{ A, b int; *S }; type S struct{}",
			[]string{"type T struct", "type T struct, A int", "type T struct, embedded *S", "type S struct"}},
		{"type T[E any] struct { A E; B map[string]T[E] }",
			[]string{"type T[E any] struct", "type T[E any] struct, A E", "type T[E any] struct, B map[string]T[E]"}},
		{"type T[E any, F ~int] []E; func (T[E, F]) M(f F)",
			[]string{"type T[E any, F ~int] []E", "method (T[E, F]) M(f F)"}},
		{"type T int; func (T) A(); func (*T) B() T; func (T) c()",
			[]string{"type T int", "method (T) A()", "method (*T) B() T"}},
		{"type T interface { A(n int) error; error; ~int | ~string; b() }",
			[]string{"type T interface", "type T interface, A(n int) error", "type T interface, embedded error",
				"type T interface, embedded ~int | ~string", "type T interface, unexported methods"}},
		{"type A = T; type B = []T; type T int; type C[E any] = map[string]E",
			[]string{"type A = T", "type B = []T", "type T int", "type C[E any] = map[string]E"}},
		// What is embedded, and not exported, has members that are.
		{"type T struct{ *t }; type t struct{ A, b int; *t }; func (t) M(); func (*t) n()",
			[]string{"type T struct", "type T struct, A int", "method (T) M()"}},
		{"type T struct{ t }; type t struct { A int; u }; type u struct { A, B int }; func (t) B(); func (*t) C()",
			[]string{"type T struct", "type T struct, A int", "method (T) B()", "method (*T) C()"}},
		{"type T struct{ S }; type S struct { A int }; func (S) M()",
			[]string{"type T struct", "type T struct, embedded S", "type S struct", "type S struct, A int",
				"method (S) M()"}},
		{"type T struct{ t }; type t struct{ error; i }; type i interface { M() }",
			[]string{"type T struct", "method (T) Error() string", "method (T) M()"}},
		{"type T struct{ t inner.T }; func (T) m(inner.T); var v inner.T; type i interface{ M(inner.T) }",
			[]string{"type T struct"}},
		{"type T inner.T; type U inner.I", []string{"type T struct", "type T struct, F int", "type U int"}},

		{"type A = inner.T", []string{"type A = inner.T !inner.T"}},
		{"type A = t; type t int", []string{"type A = t !t"}},
		{"type A = map[string]inner.T", []string{"type A = map[string]inner.T !inner.T"}},
		{"type A[E inner.T] = []E", []string{"type A[E inner.T] = []E !inner.T"}},
		{"type A[E any] = inner.G[E]", []string{"type A[E any] = inner.G[E] !inner.G"}},
		{"const C = inner.C", []string{"const C inner.I = 1 !inner.I"}},
		{"type k int; const C k = 1", []string{"const C k = 1 !k"}},
		{"var V = inner.T{}", []string{"var V inner.T !inner.T"}},
		{"var V inner.A; type a = int; var W a", []string{"var V inner.A !inner.A", "var W a !a"}},
		{"var V map[inner.I][]chan *inner.T", []string{"var V map[inner.I][]chan *inner.T !inner.I !inner.T"}},
		{"var V func(struct{ A [2]inner.T; b inner.I })",
			[]string{"var V func(struct{A [2]inner.T; b inner.I}) !inner.T"}},
		{"var V G[inner.T]; type G[E any] int", []string{"var V G[inner.T] !inner.T", "type G[E any] int"}},
		{"func F(inner.T)", []string{"func F(inner.T) !inner.T"}},
		{"func F() (t, error); type t struct { F int }", []string{"func F() (t, error) !t"}},
		{"func F(...interface{ M(inner.T); inner.N })",
			[]string{"func F(...interface{M(inner.T); inner.N}) !inner.T !inner.N"}},
		{"func F[E inner.G[int]](E) {}", []string{"func F[E inner.G[int]](E) !inner.G"}},
		{"func F[E n](E) {}; type n interface { int }", []string{"func F[E n](E) !n"}},
		{"func F[E int | ~[]inner.T](E) {}", []string{"func F[E int | ~[]inner.T](E) !inner.T"}},
		{"type T[E inner.T] struct { A E }",
			[]string{"type T[E inner.T] struct !inner.T", "type T[E inner.T] struct, A E"}},
		{"type T[E inner.T] interface {}", []string{"type T[E inner.T] interface !inner.T"}},
		{"type T struct { A inner.T; *inner.G[int] }",
			[]string{"type T struct", "type T struct, A inner.T !inner.T",
				"type T struct, embedded *inner.G[int] !inner.G"}},
		{"type T struct { t }; type t struct { A inner.T }; func (t) M(inner.I)",
			[]string{"type T struct", "type T struct, A inner.T !inner.T", "method (T) M(inner.I) !inner.I"}},
		{"type T struct{}; func (*T) M() func(t); type t int", []string{"type T struct", "method (*T) M() func(t) !t"}},
		{"type T func(inner.T)", []string{"type T func(inner.T) !inner.T"}},
		{"type T []inner.T", []string{"type T []inner.T !inner.T"}},
		{"type T interface { M(inner.T); i }; type i interface { N() }",
			[]string{"type T interface", "type T interface, M(inner.T) !inner.T", "type T interface, embedded i !i"}},
	} {
		source := "package p\n" + test.source
		if strings.Contains(source, "inner.") {
			source = "package p\nimport \"p/internal/inner\"\n" + test.source
		}
		var got []string
		for _, s := range symbolsOf(check(t, outside, "p", source)) {
			line := strings.TrimPrefix(s.text, "pkg p, ")
			for _, name := range s.hidden {
				line += " !" + strings.TrimPrefix(strings.TrimPrefix(name, "p/internal/"), "p.")
			}
			got = append(got, line)
		}
		slices.Sort(got)
		slices.Sort(test.want)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", test.source, got, test.want)
		}
	}
}

// An importOf imports one package only.
type importOf struct{ pkg *types.Package }

func (i importOf) Import(string) (*types.Package, error) { return i.pkg, nil }

// check checks the types of a package that imports at most one other.
func check(t *testing.T, imports *types.Package, path, source string) *types.Package {
	t.Helper()
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(source, err)
	}
	config := types.Config{Importer: importOf{imports}, IgnoreFuncBodies: true}
	pkg, err := config.Check(path, files, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(source, err)
	}
	return pkg
}
