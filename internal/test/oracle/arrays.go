package oracle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/internal/formula"
	"github.com/go-rntuple/go-rntuple/internal/syntax"
	"github.com/go-rntuple/go-rntuple/value"
)

// predicate checks a function with a predicate.
func (c *checker) predicate(n *syntax.Call, p *syntax.Predicate) node {
	v := c.check(n.Args[0])
	if !v.is(Array, Map) {
		fail(n, "%s of %v", n.Name, v.Type)
	}
	elem := v.elem()
	if n.Name == "reduce" {
		return c.reduce(n, v, p)
	}
	c.items = append(c.items, itemTypes{value: elem})
	x := c.check(p.X)
	c.items = c.items[:len(c.items)-1]
	desc := n.Name == "sortBy" && order(n, 2)
	if len(n.Args) > 2 && n.Name != "sortBy" {
		fail(n, "%s takes two arguments", n.Name)
	}
	t, f := ofPredicate(n, v.Type, x.Type, desc)
	return node{t.optional(v.Missing), func(frame *frame) any {
		all := v.eval(frame)
		if all == nil {
			return nil
		}
		var values []any
		for i, one := range all.([]any) {
			values = append(values, x.eval(frame.in(item{value: one, index: int64(i)})))
		}
		return f(all.([]any), values)
	}}
}

// ofPredicate returns the type and the value of a function of an array, from the values that the
// predicate has for its items.
func ofPredicate(n *syntax.Call, array, x Type, desc bool) (Type, func(items, values []any) any) {
	elem := array.elem()
	list := ArrayOf(elem)
	need := func(kinds ...Kind) {
		if !x.is(kinds...) {
			fail(n, "%s with %v", n.Name, x)
		}
	}
	count := func(values []any) (k int64) {
		for _, v := range values {
			if v == true {
				k++
			}
		}
		return k
	}
	switch n.Name {
	case "map":
		return ArrayOf(x), func(_, values []any) any { return append([]any{}, values...) }
	case "sum":
		t, f := reduction(n, "sum", []Type{ArrayOf(x)})
		return t, func(_, values []any) any { return f([]any{append([]any{}, values...)}) }
	case "sortBy", "groupBy":
		if x.Missing {
			fail(n, KeyMissing)
		}
		need(Int, Float, String, Bool)
		if n.Name == "groupBy" {
			return mapOf(x, list), groups
		}
		return list, func(items, values []any) any { return pick(items, argsort(values, desc)) }
	}
	need(Bool, Nil)
	switch n.Name {
	case "any":
		return boolean, func(_, values []any) any { return count(values) > 0 }
	case "all":
		return boolean, func(_, values []any) any { return count(values) == int64(len(values)) }
	case "none":
		return boolean, func(_, values []any) any { return count(values) == 0 }
	case "one":
		return boolean, func(_, values []any) any { return count(values) == 1 }
	case "count":
		return integer, func(_, values []any) any { return count(values) }
	case "filter":
		return list, func(items, values []any) any {
			some := []any{}
			for i, v := range values {
				if v == true {
					some = append(some, items[i])
				}
			}
			return some
		}
	case "find", "findLast", "findIndex", "findLastIndex":
		t := elem
		if strings.HasSuffix(n.Name, "Index") {
			t = integer
		}
		return t.optional(true), func(items, values []any) any {
			i := slices.Index(values, any(true))
			if strings.Contains(n.Name, "Last") {
				for k, v := range values {
					if v == true {
						i = k
					}
				}
			}
			switch {
			case i < 0:
				return nil
			case strings.HasSuffix(n.Name, "Index"):
				return int64(i)
			}
			return items[i]
		}
	}
	fail(n, "%s takes no predicate", n.Name)
	return Type{}, nil
}

// groups returns the map from keys to the items that have them.
func groups(items, keys []any) any {
	all := []any{}
	for i, k := range keys {
		at := slices.IndexFunc(all, func(g any) bool { return equal(g.(value.Record).Values[0], k) })
		if at < 0 {
			at, all = len(all), append(all, record("key", k, "value", []any{}))
		}
		group := all[at].(value.Record)
		group.Values[1] = append(group.Values[1].([]any), items[i])
	}
	return all
}

// argsort returns the order of values, which is stable and has NaN last, by inserting one after the
// other.
func argsort(values []any, desc bool) (order []any) {
	before := func(a, b any) bool {
		switch {
		case !equal(a, a):
			return false
		case !equal(b, b):
			return true
		case desc:
			return less(b, a)
		}
		return less(a, b)
	}
	order = []any{}
	for i, v := range values {
		at := len(order)
		for at > 0 && before(v, values[order[at-1].(int64)]) {
			at--
		}
		order = slices.Insert(order, at, any(int64(i)))
	}
	return order
}

func pick(items, indices []any) []any {
	picked := []any{}
	for _, i := range indices {
		picked = append(picked, items[i.(int64)])
	}
	return picked
}

// order returns whether argument i of a sort, which must be a literal, asks for descending order.
func order(n *syntax.Call, i int) bool {
	if len(n.Args) <= i {
		return false
	}
	text, ok := n.Args[i].(*syntax.String)
	if !ok || len(n.Args) > i+1 || text.Value != "asc" && text.Value != "desc" {
		fail(n, `the order is "asc" or "desc"`)
	}
	return text.Value == "desc"
}

func (c *checker) reduce(n *syntax.Call, v node, p *syntax.Predicate) node {
	acc := v.elem()
	var first node
	if len(n.Args) == 3 {
		first = c.check(n.Args[2])
		acc = first.Type
	}
	acc.Missing = true
	c.items = append(c.items, itemTypes{v.elem(), &acc})
	x := c.check(p.X)
	c.items = c.items[:len(c.items)-1]
	if t, err := unify(acc, x.Type); err != nil || t.Kind != acc.Kind || !acc.is(Bool, Int, Float, String) {
		fail(n, "reduce begins with %v and goes on with %v", acc, x.Type)
	}
	return node{acc, func(f *frame) any {
		all := v.eval(f)
		var result any
		if first.eval != nil {
			result = first.eval(f)
		}
		if all == nil {
			return nil
		}
		for i, one := range all.([]any) {
			if i == 0 && first.eval == nil {
				result = one
			} else {
				result = coerce(x.eval(f.in(item{one, result, int64(i)})), acc)
			}
		}
		return result
	}}
}

// flat returns the items of arrays of arrays of any depth.
func flat(v any) []any {
	items, ok := v.([]any)
	if !ok {
		return []any{v}
	}
	all := []any{}
	for _, item := range items {
		all = append(all, flat(item)...)
	}
	return all
}

// flatType returns the type of the items of arrays of arrays.
func flatType(t Type) Type {
	if t.Kind != Array {
		return t
	}
	return flatType(t.elem()).optional(t.elem().Missing)
}

// reduction is sum, min, max, mean and median.
func reduction(n syntax.Node, name string, types []Type) (Type, func(v []any) any) {
	var all []Type
	for _, t := range types {
		if name != "min" && name != "max" && (len(types) != 1 || t.Kind != Array || t.elem().Kind == Array) {
			fail(n, "%s takes an array of scalars, not %v", name, types)
		}
		all = append(all, flatType(t))
	}
	item, err := unifyAll(all)
	item = must(n, item, err)
	bools := name == "sum" && item.Kind == Bool
	if len(types) == 0 || !bools && !item.is(Int, Float, Nil) {
		fail(n, "%s of %v", name, types)
	}
	t := item
	if bools || item.Kind == Nil {
		t = integer.optional(item.Missing)
	}
	if name == "mean" || name == "median" {
		t = float
	}
	return t.optional(item.Missing || name != "sum"), func(v []any) any {
		items := flat(v)
		switch {
		case slices.Contains(nils(items), true):
			return nil
		case name == "sum":
			return sum(items, t)
		case len(items) == 0:
			return nil
		case name == "mean":
			return sum(items, float).(float64) / float64(len(items))
		case name == "median":
			sorted := pick(items, argsort(items, false))
			low, high := toFloat(sorted[(len(items)-1)/2]), toFloat(sorted[len(items)/2])
			if len(items)%2 == 1 {
				return low
			}
			return (low + high) / 2
		}
		best := coerce(items[0], t)
		for _, v := range items {
			if v = coerce(v, t); name == "min" && less(v, best) || name == "max" && less(best, v) {
				best = v
			}
		}
		return best
	}
}

// sum adds numbers in order, or counts bools that are true.
func sum(items []any, t Type) any {
	var n int64
	var x float64
	for _, v := range items {
		switch {
		case t.Kind == Float:
			x += toFloat(v)
		case v == true:
			n++
		case v != false:
			n += v.(int64)
		}
	}
	if t.Kind == Float {
		return x
	}
	return n
}

// ofArrays returns a function of arrays, or one without a value.
func ofArrays(n *syntax.Call, types []Type) function {
	switch n.Name {
	case "sum", "min", "max", "mean", "median":
		t, f := reduction(n, n.Name, types)
		return function{t, func(_ syntax.Node, v []any) any { return f(v) }}
	case "concat":
		t, err := unifyAll(types)
		if t = must(n, t, err); t.Kind != Array {
			fail(n, "concat of %v", t)
		}
		return function{t, func(_ syntax.Node, v []any) any {
			all := []any{}
			for _, one := range v {
				all = append(all, coerce(one, t).([]any)...)
			}
			return all
		}}
	}
	if len(types) == 0 || !types[0].is(Array, Map) {
		return function{}
	}
	first := types[0]
	elem := first.elem()
	list := ArrayOf(elem)
	items := func(t Type, f func(items []any) any) function {
		return function{t, func(_ syntax.Node, v []any) any { return f(v[0].([]any)) }}
	}
	switch call := fmt.Sprintf("%s/%d", n.Name, len(types)); {
	case call == "len/1":
		return items(integer, func(v []any) any { return int64(len(v)) })
	case call == "count/1" && elem.is(Bool, Nil):
		_, f := ofPredicate(n, first, elem, false)
		return items(integer, func(v []any) any { return f(v, v) })
	case call == "first/1":
		return items(elem.optional(true), func(v []any) any { return itemAt(v, 0) })
	case call == "last/1":
		return items(elem.optional(true), func(v []any) any { return itemAt(v, -1) })
	case call == "take/2" && types[1].is(Int, Nil):
		return function{list, func(_ syntax.Node, v []any) any { return cut(v[0], 0, max(v[1].(int64), 0)) }}
	case call == "reverse/1":
		return items(list, func(v []any) any {
			v = slices.Clone(v)
			slices.Reverse(v)
			return v
		})
	case call == "flatten/1":
		return items(ArrayOf(flatType(first)), func(v []any) any { return flat(v) })
	case call == "keys/1" && first.Kind == Map:
		return items(ArrayOf(elem.Members[0]), func(v []any) any { return column(n, v, 0) })
	case call == "values/1" && first.Kind == Map:
		return items(ArrayOf(elem.Members[1]), func(v []any) any { return column(n, v, 1) })
	case call == "uniq/1" && elem.scalar():
		return items(list, uniq)
	}
	return ordered(n, types)
}

func uniq(v []any) any {
	some := []any{}
	for _, x := range v {
		if !slices.ContainsFunc(some, func(y any) bool {
			return x == nil && y == nil || x != nil &&
				y != nil && equal(x, y)
		}) {
			some = append(some, x)
		}
	}
	return some
}

// ordered returns sort, mass or a function whose result is indices, or one without a value.
func ordered(n *syntax.Call, types []Type) function {
	elem := types[0].elem()
	numbers := elem.is(Int, Float, Nil)
	whole := func(t Type, f func(items []any) any) function { // missing if an item is
		return function{t.optional(elem.Missing), func(_ syntax.Node, v []any) any {
			items := v[0].([]any)
			if slices.Contains(nils(items), true) {
				return nil
			}
			return f(items)
		}}
	}
	indices := Type{Kind: Array, Elem: &integer, Strict: true}
	switch call := fmt.Sprintf("%s/%d", n.Name, len(types)); {
	case (call == "sort/1" || call == "sort/2") && (numbers || elem.Kind == String):
		desc := order(n, 1)
		present := elem
		present.Missing = false
		return whole(ArrayOf(present), func(v []any) any { return pick(v, argsort(v, desc)) })
	case call == "argsort/1" && numbers:
		return whole(indices, func(v []any) any { return argsort(v, false) })
	case (call == "argmin/1" || call == "argmax/1") && numbers:
		return whole(integer.optional(true), func(v []any) any {
			var best any
			for i, x := range v {
				if best == nil || call == "argmin/1" && less(x, v[best.(int64)]) || call == "argmax/1" && less(v[best.(int64)], x) {
					best = int64(i)
				}
			}
			return best
		})
	case call == "combinations/1":
		return function{ArrayOf(indices), func(_ syntax.Node, v []any) any { return pairs(n, len(v[0].([]any)), -1) }}
	case call == "combinations/2" && types[1].is(Array, Map):
		return function{ArrayOf(indices), func(_ syntax.Node, v []any) any {
			return pairs(n,
				len(v[0].([]any)), len(v[1].([]any)))
		}}
	case call == "mass/4" && !slices.ContainsFunc(types,
		func(t Type) bool { return t.Kind != Array || !t.elem().is(Int, Float, Nil) }):
		missing := slices.ContainsFunc(types, func(t Type) bool { return t.elem().Missing })
		return function{float.optional(missing), mass}
	}
	return function{}
}

// column returns a member of all records.
func column(n syntax.Node, records []any, member int) any {
	all := []any{}
	for _, r := range records {
		all = append(all, read(n, r.(value.Record).Values[member]))
	}
	return all
}

// pairs returns the indices of all pairs of an item of k and one of m, or, if m is -1, of two
// different ones of k.
func pairs(n syntax.Node, k, m int) any {
	count := k * m
	if m < 0 {
		count = k * (k - 1) / 2
	}
	if count > 1e6 {
		failEntry(n, "%d pairs are more than a million", count)
	}
	first, second := []any{}, []any{}
	for i := range k {
		from, to := 0, m
		if m < 0 {
			from, to = i+1, k
		}
		for j := from; j < to; j++ {
			first, second = append(first, int64(i)), append(second, int64(j))
		}
	}
	return []any{first, second}
}

func mass(n syntax.Node, v []any) any {
	if slices.Contains(nils(flat(v)), true) {
		return nil
	}
	var columns [4][]float64
	for i, array := range v {
		for _, x := range array.([]any) {
			columns[i] = append(columns[i], toFloat(x))
		}
		if len(columns[i]) != len(columns[0]) {
			failEntry(n, "arrays of %d and %d items", len(columns[0]), len(columns[i]))
		}
	}
	return formula.Mass(columns[0], columns[1], columns[2], columns[3])
}
