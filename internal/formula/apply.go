package formula

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/go-rntuple/go-rntuple/internal/nearest"
)

// A parameter is what an argument of a function is.
type parameter uint8

const (
	ofNumber   parameter = iota // a number, or an array of numbers: item by item
	ofInteger                   // the same of integers
	ofNumbers                   // an array of numbers
	ofIntegers                  // an array of integers
	ofArray                     // any array
)

var parameterNames = [...]string{"a number or an array of numbers", "an integer or an array of integers", "an array of numbers", "an array of integers", "an array"}

// parameters returns what the arguments of a function are.
func (f Function) parameters() []parameter {
	t := reflect.TypeOf(f.F)
	var all []parameter
	for i := range t.NumIn() {
		if t.In(i) == reflect.TypeFor[*Budget]() {
			continue
		}
		all = append(all, 0)
		switch t.In(i) {
		case reflect.TypeFor[float64]():
			all[i] = ofNumber
		case reflect.TypeFor[int64]():
			if all[i] = ofInteger; t.Out(0) == reflect.TypeFor[[][]int64]() {
				all[i] = ofArray // its length
			}
		case reflect.TypeFor[[]float64]():
			all[i] = ofNumbers
		case reflect.TypeFor[[]int64]():
			all[i] = ofIntegers
		default:
			all[i] = ofArray
		}
	}
	return all
}

// accepts reports whether an argument may be of a type.
func (p parameter) accepts(t Type) bool {
	if p == ofNumber || p == ofInteger {
		for t.Kind == Array {
			t = *t.Elem
		}
		return t.Kind == Any || t.Kind == Int || t.Kind == Float && p == ofNumber
	}
	if t.Kind == Any {
		return true
	}
	return t.Kind == Array && (p == ofArray || t.Elem.Kind == Any || t.Elem.Kind == Int || t.Elem.Kind == Float && p == ofNumbers)
}

// Named returns the functions of a name in the order of Table.
func Named(name string) (all []Function) {
	for _, f := range Table {
		if f.Name == name {
			all = append(all, f)
		}
	}
	return all
}

// String returns the function with its arguments: hypot(x, y).
func (f Function) String() string { return f.Name + "(" + f.Args + ")" }

// function checks a call of a function of Table.
func (c *checker) function(p *ast.Node, name string, args []ast.Node) Type {
	var types []Type
	for i := range args {
		types = append(types, c.visit(&args[i]))
	}
	return c.apply(p, name, args, types)
}

func (c *checker) apply(p *ast.Node, name string, args []ast.Node, types []Type) Type {
	all := Named(name)
	if all == nil {
		return c.fail(*p, "unknown function %s%s", name, suggest(name, functionNames()))
	}
	var fits []Function
	for _, f := range all {
		if len(f.parameters()) == len(args) {
			fits = append(fits, f)
		}
	}
	if fits == nil {
		var forms []string
		for _, f := range all {
			forms = append(forms, f.String())
		}
		return c.fail(*p, "%s has other arguments: %s", name, strings.Join(forms, " or "))
	}
	for i, f := range fits {
		wrong := -1
		for k, p := range f.parameters() {
			if !p.accepts(types[k]) || types[k].Kind == Any && i < len(fits)-1 { // the last one takes most
				wrong = k
				break
			}
		}
		switch {
		case wrong >= 0 && i < len(fits)-1:
		case wrong >= 0:
			return c.fail(args[wrong], "%s, but argument %d of %s is %s", c.is(args[wrong], types[wrong]), wrong+1, f, parameterNames[f.parameters()[wrong]])
		default:
			t, g := f.result(types), f.call(c.budget)
			if strict := len(types) == 2 && types[1].Kind == Array && types[1].Elem.index; strict && f.Name == "take" {
				g, name = indexAll, "index all"
				t.Missing = types[0].Missing || types[1].Missing
			}
			c.call(p, fmt.Sprintf("%s/%d/%d", name, len(args), i), g, t, args...)
			for _, a := range types {
				if a.Kind == Any {
					c.convert(p, t)
					break
				}
			}
			return t
		}
	}
	return Type{}
}

func functionNames() map[string]Type {
	names := map[string]Type{}
	for _, f := range Table {
		names[f.Name] = Type{}
	}
	return names
}

// suggest returns what a message about a misspelt name ends with.
func suggest(name string, names map[string]Type) string {
	if like := nearest.Name(name, slices.Sorted(maps.Keys(names))); like != "" {
		return fmt.Sprintf("; did you mean %q?", like)
	}
	return ""
}

// result returns the type of what the function yields.
func (f Function) result(args []Type) Type {
	var t Type
	missing := false
	for _, a := range args {
		missing = missing || a.Missing || a.Kind == Any
	}
	switch f.F.(type) {
	case func([]float64) int64:
		t, missing = Type{Kind: Int}, true
	case func([]float64, *Budget) []int64:
		t = ArrayOf(Type{Kind: Int, index: true})
	case func(a, b, c, d []float64) float64:
		t = Type{Kind: Float}
	case func(int64) [][]int64, func(n, m int64) [][]int64:
		t = ArrayOf(ArrayOf(Type{Kind: Int, index: true}))
		t.Size = 2
	case func(any, []int64) any:
		t, missing = args[0].unnamed(), true
	default:
		t = f.itemResult(args)
	}
	for i, p := range f.parameters() { // missing items make the result of a function of arrays missing
		if a := args[i]; (p == ofNumbers || p == ofIntegers) && a.Kind == Array && (a.Elem.Missing || a.Elem.Kind == Any) {
			missing = true
		}
	}
	t.Missing = missing
	return t
}

// itemResult returns the type of what a function of numbers yields, of which arrays are
// arrays of arguments.
func (f Function) itemResult(args []Type) Type {
	array, missing := false, false
	for _, a := range args {
		array = array || a.Kind == Array
		missing = missing || a.Missing || a.Kind == Any
	}
	if !array {
		t := fromGo(reflect.TypeOf(f.F).Out(0))
		if reflect.TypeOf(f.F).Out(0) == reflect.TypeFor[int64]() {
			t = Type{Kind: Int}
		}
		t.Missing = missing
		return t
	}
	items := make([]Type, len(args))
	for i, a := range args {
		if items[i] = a.present(); a.Kind == Array {
			items[i] = *a.Elem
		}
	}
	t := ArrayOf(f.itemResult(items))
	t.Missing = missing
	return t
}

// call returns the function as the virtual machine calls it.
func (f Function) call(b *Budget) call {
	switch g := f.F.(type) {
	case func([]float64) int64:
		return f.ofArrays(func(v [][]float64) any {
			if i := g(v[0]); i >= 0 {
				return i
			}
			return nil
		})
	case func([]float64, *Budget) []int64:
		return f.ofArrays(func(v [][]float64) any { return g(v[0], b) })
	case func(a, b, c, d []float64) float64:
		return f.ofArrays(func(v [][]float64) any { return g(v[0], v[1], v[2], v[3]) })
	case func(int64) [][]int64:
		return f.ofLengths(b, func(n []int64) [][]int64 { return g(n[0]) })
	case func(n, m int64) [][]int64:
		return f.ofLengths(b, func(n []int64) [][]int64 { return g(n[0], n[1]) })
	case func(any, []int64) any:
		return func(args ...any) (any, error) {
			if args[0] == nil || incomplete(args[1]) {
				return nil, nil
			}
			indices, ok := integers(args[1])
			if !ok || !isArray(args[0]) {
				return nil, fmt.Errorf("%s takes no %s and %s", f, noun(args[0]), noun(args[1]))
			}
			return g(args[0], indices), nil
		}
	}
	return f.ofNumbers()
}

// ofArrays returns a function of arrays of numbers.
func (f Function) ofArrays(g func(v [][]float64) any) call {
	return func(args ...any) (any, error) {
		all := make([][]float64, len(args))
		for i, a := range args {
			if incomplete(a) {
				return nil, nil
			}
			var ok bool
			if all[i], ok = numbers(a); !ok {
				return nil, fmt.Errorf("argument %d of %s is %s, not an array of numbers", i+1, f, noun(a))
			}
		}
		if _, err := common(f.Name, args); err != nil {
			return nil, err
		}
		return g(all), nil
	}
}

// ofLengths returns a function of the lengths of arrays.
func (f Function) ofLengths(b *Budget, g func(n []int64) [][]int64) call {
	return func(args ...any) (any, error) {
		var lengths []int64
		for i, a := range args {
			if a == nil {
				return nil, nil
			}
			n, ok := length(a)
			if !ok {
				return nil, fmt.Errorf("argument %d of %s is %s, not an array", i+1, f, noun(a))
			}
			lengths = append(lengths, int64(n))
		}
		indices := g(lengths)
		if indices == nil {
			return nil, fmt.Errorf("%s: too many combinations of %v items", f.Name, lengths)
		}
		all := make([]any, len(indices))
		for i, v := range indices {
			b.Take(8 * int64(len(v)))
			all[i] = v
		}
		return all, nil
	}
}

// ofNumbers returns a function of numbers, which is applied item by item to arrays.
func (f Function) ofNumbers() call {
	one := f.scalar()
	var apply call
	apply = func(args ...any) (any, error) {
		array := false
		for _, a := range args {
			if a == nil {
				return nil, nil
			}
			array = array || isArray(a)
		}
		if array {
			return itemByItem(f.Name, apply, args)
		}
		result := one(args)
		if result == nil {
			return nil, fmt.Errorf("%s does not take %s", f, noun(args[0]))
		}
		return result, nil
	}
	return apply
}

// scalar returns a function that yields nil if an argument is not what it should be.
func (f Function) scalar() func(args []any) any {
	ofIntegers := func(g func(n [2]int64) int64) func(args []any) any {
		return func(args []any) any {
			var n [2]int64
			for i, a := range args {
				var ok bool
				if n[i], ok = integer(a); !ok {
					return nil
				}
			}
			return g(n)
		}
	}
	ofFloats := func(g func(x *[8]float64) any) func(args []any) any {
		return func(args []any) any {
			var x [8]float64
			for i, a := range args {
				var ok bool
				if x[i], ok = number(a); !ok {
					return nil
				}
			}
			return g(&x)
		}
	}
	switch g := f.F.(type) {
	case func(int64) int64:
		return ofIntegers(func(n [2]int64) int64 { return g(n[0]) })
	case func(m, n int64) int64:
		return ofIntegers(func(n [2]int64) int64 { return g(n[0], n[1]) })
	case func(float64) bool:
		return ofFloats(func(x *[8]float64) any { return g(x[0]) })
	case func(float64) int64:
		return ofFloats(func(x *[8]float64) any { return g(x[0]) })
	case func(float64) float64:
		return ofFloats(func(x *[8]float64) any { return g(x[0]) })
	case func(a, b float64) float64:
		return ofFloats(func(x *[8]float64) any { return g(x[0], x[1]) })
	case func(a, b, c float64) float64:
		return ofFloats(func(x *[8]float64) any { return g(x[0], x[1], x[2]) })
	case func(a, b, c, d float64) float64:
		return ofFloats(func(x *[8]float64) any { return g(x[0], x[1], x[2], x[3]) })
	case func(a, b, c, d, e, f, g, h float64) float64:
		return ofFloats(func(x *[8]float64) any { return g(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]) })
	}
	panic(fmt.Sprintf("%s is a %T", f, f.F))
}
