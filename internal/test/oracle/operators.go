package oracle

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/internal/syntax"
	"github.com/go-rntuple/go-rntuple/value"
)

// toFloat returns a number as a float.
func toFloat(v any) float64 {
	if n, ok := v.(int64); ok {
		return float64(n)
	}
	return v.(float64)
}

// equal reports whether two scalars of comparable types are equal: integers exactly, other numbers
// as floats.
func equal(a, b any) bool {
	switch a := a.(type) {
	case bool, string:
		return a == b
	case int64:
		if b, ok := b.(int64); ok {
			return a == b
		}
	}
	return toFloat(a) == toFloat(b)
}

// less does the same for a < b; false is less than true.
func less(a, b any) bool {
	switch a := a.(type) {
	case bool:
		return !a && b.(bool)
	case string:
		return a < b.(string)
	case int64:
		if b, ok := b.(int64); ok {
			return a < b
		}
	}
	return toFloat(a) < toFloat(b)
}

// comparable fails if values of two types cannot be compared.
func comparable(n syntax.Node, op string, a, b Type) {
	number := (a.is(Int, Float, Nil)) && b.is(Int, Float, Nil)
	text := a.is(String, Nil) && b.is(String, Nil)
	flags := a.is(Bool, Nil) && b.is(Bool, Nil) && (op == "==" || op == "!=")
	if !number && !text && !flags {
		fail(n, "%v %s %v", a, op, b)
	}
}

func (c *checker) unary(n *syntax.Unary) node {
	x := c.check(n.X)
	if n.Op == "not" {
		return itemwise(n, []node{x}, func(t []Type) Type {
			if !t[0].is(Bool, Nil) {
				fail(n, "not %v", t[0])
			}
			return boolean
		}, func(_ []Type, v []any) any { return v[0] != true })
	}
	return itemwise(n, []node{x}, func(t []Type) Type {
		if !t[0].is(Int, Float, Nil) {
			fail(n, "%s %v", n.Op, t[0])
		}
		return t[0]
	}, whenAll(nil, func(_ []Type, v []any) any {
		if n.Op == "+" {
			return v[0]
		}
		if i, ok := v[0].(int64); ok {
			return -i
		}
		return -v[0].(float64)
	}))
}

func (c *checker) binary(n *syntax.Binary) node {
	if n.Op == "in" {
		return c.in(n)
	}
	l, r := c.check(n.L), c.check(n.R)
	both := []node{l, r}
	switch n.Op {
	case "or", "and":
		return logic(n, l, r)
	case "??":
		t, err := unify(l.Type, r.Type)
		t = must(n, t, err)
		t.Missing = r.Missing
		return node{t, func(f *frame) any {
			if v := l.eval(f); v != nil {
				return coerce(v, t)
			}
			return coerce(r.eval(f), t)
		}}
	case "..":
		if !l.is(Int, Nil) || !r.is(Int, Nil) {
			fail(n, "%v .. %v", l.Type, r.Type)
		}
		return node{ArrayOf(integer).optional(l.Missing || r.Missing),
			func(f *frame) any { return makeRange(n, l.eval(f), r.eval(f)) }}
	case "==", "!=":
		if l.Kind == Nil || r.Kind == Nil {
			return node{boolean, func(f *frame) any {
				a, b := l.eval(f), r.eval(f)
				return (a == nil && b == nil) == (n.Op == "==")
			}}
		}
		return compared(n, both)
	case "<", "<=", ">", ">=":
		return compared(n, both)
	case "matches", "contains", "startsWith", "endsWith":
		return textual(n, both)
	}
	return arithmetic(n, both)
}

func logic(n *syntax.Binary, l, r node) node {
	check := func(t []Type) Type {
		if !t[0].is(Bool, Nil) || !t[1].is(Bool, Nil) {
			fail(n, "%v %s %v", t[0], n.Op, t[1])
		}
		return boolean
	}
	decided := n.Op == "or" // the value that decides
	if l.Kind == Array || r.Kind == Array {
		return itemwise(n, []node{l, r}, check, func(_ []Type, v []any) any {
			return ((v[0] == true) == decided || (v[1] == true) == decided) == decided
		})
	}
	return node{check([]Type{l.Type, r.Type}), func(f *frame) any {
		if (l.eval(f) == true) == decided {
			return decided
		}
		return r.eval(f) == true
	}}
}

// makeRange returns a..b as an array.
func makeRange(n syntax.Node, a, b any) any {
	if a == nil || b == nil {
		return nil
	}
	items, from, to := []any{}, a.(int64), b.(int64)
	if to < from {
		return items
	}
	if uint64(to-from) >= 1e6 {
		failEntry(n, "the range has more than a million items")
	}
	for i := range to - from + 1 {
		items = append(items, from+i)
	}
	return items
}

func compared(n *syntax.Binary, both []node) node {
	return itemwise(n, both, func(t []Type) Type {
		t = alternatives(n, t)
		comparable(n, n.Op, t[0], t[1])
		return boolean
	}, func(t []Type, v []any) any {
		a, b := alternativeOf(n, t, v)
		if a == nil || b == nil {
			return false
		}
		switch n.Op {
		case "==":
			return equal(a, b)
		case "!=":
			return !equal(a, b)
		case "<":
			return less(a, b)
		case "<=":
			return less(a, b) || equal(a, b)
		case ">":
			return less(b, a)
		}
		return less(b, a) || equal(a, b)
	})
}

// alternatives replaces a variant beside a scalar by the type of its alternative of that kind.
func alternatives(n syntax.Node, types []Type) []Type {
	types = slices.Clone(types)
	for i, t := range types {
		other := types[1-i]
		if t.Kind != Variant || !other.is(Bool, Int, Float, String) {
			continue
		}
		types[i] = Type{Missing: true}
		for _, m := range t.Members {
			switch {
			case !other.is(Int, Float) && m.Kind == other.Kind, other.is(Int, Float) && m.Kind == Float:
				types[i].Kind = m.Kind
			case other.is(Int, Float) && m.Kind == Int && types[i].Kind != Float:
				types[i].Kind = Int
			}
		}
		if types[i].Kind == Nil {
			fail(n, "%v has no value like %v", t, other)
		}
	}
	return types
}

// alternativeOf returns the two values for the types that alternatives returns.
func alternativeOf(n syntax.Node, types []Type, v []any) (a, b any) {
	v = slices.Clone(v)
	for i, t := range alternatives(n, types) {
		if types[i].Kind == Variant && v[i] != nil {
			v[i] = coerce(v[i], t)
			ok := false
			switch read(n, v[i]).(type) {
			case bool:
				ok = t.Kind == Bool
			case int64:
				ok = t.Kind == Int
			case float64:
				ok = t.Kind == Float
			case string:
				ok = t.Kind == String
			}
			if !ok {
				failEntry(n, "the variant holds %v, which is no %v", v[i], t)
			}
		}
	}
	return v[0], v[1]
}

func textual(n *syntax.Binary, both []node) node {
	if pattern, ok := n.R.(*syntax.String); ok && n.Op == "matches" {
		if _, err := regexp.Compile(pattern.Value); err != nil {
			fail(n, "%v", err)
		}
	}
	return itemwise(n, both, func(t []Type) Type {
		if !t[0].is(String, Nil) || !t[1].is(String, Nil) {
			fail(n, "%v %s %v", t[0], n.Op, t[1])
		}
		return boolean
	}, whenAll(false, func(_ []Type, v []any) any {
		a, b := v[0].(string), v[1].(string)
		switch n.Op {
		case "contains":
			return strings.Contains(a, b)
		case "startsWith":
			return strings.HasPrefix(a, b)
		case "endsWith":
			return strings.HasSuffix(a, b)
		}
		pattern, err := regexp.Compile(b)
		if err != nil {
			failEntry(n, "%v", err)
		}
		return pattern.MatchString(a)
	}))
}

func arithmetic(n *syntax.Binary, both []node) node {
	result := func(types []Type) Type {
		t := alternatives(n, types)
		integers := t[0].is(Int, Nil) && t[1].is(Int, Nil)
		missing := anyMissing(t) || n.Op == "%"
		switch {
		case n.Op == "+" && t[0].is(String, Nil) && t[1].is(String, Nil):
			return str.optional(missing)
		case !t[0].is(Int, Float, Nil), !t[1].is(Int, Float, Nil), n.Op == "%" && !integers:
			fail(n, "%v %s %v", t[0], n.Op, t[1])
		case n.Op == "/", n.Op == "**", !integers:
			return float.optional(missing)
		}
		return integer.optional(missing)
	}
	return itemwise(n, both, result, func(t []Type, v []any) any {
		a, b := alternativeOf(n, t, v)
		if a == nil || b == nil {
			return nil
		}
		switch result(t).Kind {
		case String:
			return a.(string) + b.(string)
		case Float:
			x, y := toFloat(a), toFloat(b)
			switch n.Op {
			case "+":
				return x + y
			case "-":
				return x - y
			case "*":
				return x * y
			case "/":
				return x / y
			}
			return math.Pow(x, y)
		}
		x, y := a.(int64), b.(int64)
		switch n.Op {
		case "+":
			return x + y
		case "-":
			return x - y
		case "*":
			return x * y
		}
		if y == 0 {
			return nil
		}
		return x % y
	})
}

func (c *checker) in(n *syntax.Binary) node {
	l := c.check(n.L)
	if span, ok := n.R.(*syntax.Binary); ok && span.Op == ".." {
		from, to := c.check(span.L), c.check(span.R)
		if !from.is(Int, Nil) || !to.is(Int, Nil) {
			fail(span, "%v .. %v", from.Type, to.Type)
		}
		return itemwise(n, []node{l, from, to}, func(t []Type) Type {
			if !t[0].is(Int, Float, Nil) {
				fail(n, "%v in a range", t[0])
			}
			return boolean
		}, whenAll(false, func(_ []Type, v []any) any {
			x, from, to := v[0], v[1], v[2]
			if f, ok := x.(float64); ok && f != math.Trunc(f) {
				return false
			}
			return !less(x, from) && !less(to, x) && !less(to, from) && equal(x, x)
		}))
	}
	r := c.check(n.R)
	if name, ok := n.L.(*syntax.String); ok && r.Kind == Record {
		return node{boolean, func(f *frame) any {
			r, ok := r.eval(f).(value.Record)
			return ok && slices.Contains(r.Names, name.Value)
		}}
	}
	if !r.is(Array, Map, Nil) {
		fail(n, "%v in %v", l.Type, r.Type)
	}
	holds := func(x any, all any) bool {
		items, _ := all.([]any)
		return slices.ContainsFunc(items, func(item any) bool {
			if r.Kind == Map {
				item = read(n, item.(value.Record).Get("key"))
			}
			return item != nil && equal(x, item)
		})
	}
	element := r.elem()
	if r.Kind == Map {
		element = element.Members[0]
	}
	scalar := liftType([]Type{l.Type}, func(t []Type) Type {
		comparable(n, "==", t[0], element)
		return boolean
	})
	return node{scalar.optional(l.Kind == Array && r.Missing), func(f *frame) any {
		x, all := l.eval(f), r.eval(f)
		if l.Kind == Array && all == nil {
			return nil
		}
		return lift(n, []Type{l.Type}, []any{x}, whenAll(false, func(_ []Type, v []any) any { return holds(v[0], all) }))
	}}
}
