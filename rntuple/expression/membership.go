package expression

import (
	"fmt"
	"slices"

	"github.com/go-rntuple/go-rntuple/internal/syntax"
)

// among is "in" for the items of an array, the keys of a map, and the names of a record.
func (b *builder) among(n *syntax.Binary, l, r value) (value, error) {
	name, named := l.literal.(string)
	switch {
	case r.null || l.null && r.list != nil:
		return literalOf(b.entries, false), nil
	case r.record != nil && named:
		has := slices.Contains(r.record.names, name)
		if !r.missing || !has {
			return literalOf(b.entries, has), nil
		}
		return scalar(r.valid(), false), nil
	case r.list == nil || r.list.tuple:
		return value{}, b.invalid(n, l, r)
	case r.list.keyed:
		found, err := b.find(n, r, l)
		if err != nil {
			return value{}, err
		}
		return scalar(presence(found), false), nil
	}
	if l.list != nil && r.list.item.list == nil && !l.list.keyed && !l.list.tuple {
		return b.eachOf(l, func(l value) (value, error) { return b.among(n, l, r) }, r)
	}
	item := r.list.item
	if l.variant != nil {
		var err error
		if l, err = b.alternative(n.L, l, item.kind); err != nil {
			return value{}, err
		}
	}
	if item.null {
		return literalOf(b.entries, false), nil
	}
	if l.kind == 0 || !item.compatible(l) {
		return value{}, b.invalid(n, l, r)
	}
	if all := literals(r); all != nil {
		if v, ok := amongLiterals(l, all); ok {
			return v, nil
		}
	}
	at, err := position(r, item, l)
	if err != nil {
		return value{}, err
	}
	return scalar(presence(at), false), nil
}

// eachOf applies a function to the items of an array, which is missing where one of others is: the
// values that the items are compared with.
func (b *builder) eachOf(l value, f func(item value) (value, error), others ...value) (value, error) {
	all, err := common(append([]value{l}, others...)...)
	if err != nil {
		return value{}, err
	}
	if anyMissing(all) {
		for i := range all {
			if all[i], err = b.down(all[i]); err != nil {
				return value{}, err
			}
		}
		all[0] = all[0].taken(where(b.allThere(all)), true)
	}
	l = all[0]
	item, err := b.in(l.list.items, func() (value, error) { return f(l.list.item) })
	if err != nil {
		return value{}, err
	}
	return l.array(l.list.items, item.down(l.list.items)), nil
}

// literals returns the items of an array of literals, or nil.
func literals(v value) (all []any) {
	for _, p := range v.list.parts {
		if p.literal == nil {
			return nil
		}
		all = append(all, p.literal)
	}
	return all
}

// amongLiterals is "in" for an array of literals of one type.
func amongLiterals(l value, all []any) (value, bool) {
	var n *node[bool]
	switch all[0].(type) {
	case int64:
		if l.kind != Int {
			return value{}, false
		}
		n = listed(l.ints(), typed[int64](all))
	case float64:
		l = l.asFloats()
		n = listed(l.floats(), typed[float64](all))
	case string:
		texts := typed[string](all)
		n = mapped(l.strings(), func(out []bool, a [][]byte) {
			for i, s := range a {
				out[i] = slices.Contains(texts, string(s))
			}
		})
	default:
		return value{}, false
	}
	if n.cost = len(all); l.missing {
		n = truth(n)
	}
	return scalar(n, false), true
}

func typed[T any](all []any) (out []T) {
	for _, v := range all {
		out = append(out, v.(T))
	}
	return out
}

// listed returns where numbers are one of some.
func listed[T number](a *node[T], all []T) *node[bool] {
	return mapped(a, func(out []bool, a []T) {
		for i, v := range a {
			out[i] = slices.Contains(all, v)
		}
	}).known(func(z *zones) extent[bool] {
		e := extent[bool]{}.with(false)
		for _, v := range all {
			e = e.union(comparison("==", a.extent(z), exactly(v)))
		}
		return e
	})
}

// plain returns an error about a variant, which must be converted before it is used as it is.
func (b *builder) plain(n syntax.Node, v value) (value, error) {
	if v.variant == nil {
		return v, nil
	}
	return value{}, b.errorf(n, "%s of different types; convert it with int, float or string", is(n, v))
}

// alternative returns the alternative of a kind, of a number any. It is an error of the entry if
// there is another one.
func (b *builder) alternative(n syntax.Node, v value, kind Kind) (value, error) {
	at, err := b.down(v)
	if err != nil {
		return value{}, err
	}
	sources := slices.Clone(at.variant.alternatives)
	fits, found := make([]bool, len(sources)), false
	for i, s := range sources {
		if fits[i] = s.kind != 0 && (s.kind == kind || s.isNumber() && (kind == Int || kind == Float)); !fits[i] {
			sources[i] = nothing(s.of)
		}
		found = found || fits[i]
	}
	if !found {
		return value{}, b.errorf(n, "%s without such an alternative", is(n, v))
	}
	place, here := b.place(n), b.here
	tag := fallible(b, newNode(here, func(r *run, n *node[int64]) {
		n.all, n.valid = at.variant.tag.rows(r)
		for i, k := range n.all {
			if k >= 0 && !fits[k] && (n.valid == nil || n.valid[i]) {
				r.fail(here, i, place.error(fmt.Sprintf("%s is %s", place.node, at.variant.alternatives[k].noun())))
				return
			}
		}
	}))
	out, _ := mux(tag, at.variant.at, sources, true)
	return b.read(out)
}

// fitting returns two operands, of which a variant has the kind of the other one.
func (b *builder) fitting(n syntax.Node, l, r value) (value, value, error) {
	var err error
	nodes := syntax.Children(n)
	if len(nodes) != 2 {
		return l, r, nil
	}
	if l.variant != nil {
		if r.variant != nil || r.innermost() == 0 {
			if r.null {
				return l, r, nil
			}
			if r, err = b.plain(nodes[1], r); err != nil {
				return value{}, value{}, err
			}
		}
		l, err = b.alternative(nodes[0], l, r.innermost())
	} else if r.variant != nil {
		r, err = b.alternative(nodes[1], r, l.innermost())
	}
	return l, r, err
}

// valueAt returns the value of a key of a map, which is missing if the map does not have it.
func (b *builder) valueAt(n syntax.Node, v, key value) (value, error) {
	found, err := b.find(n, v, key)
	if err != nil {
		return value{}, err
	}
	m, err := v.list.item.named("value")
	if err != nil {
		return value{}, err
	}
	return b.read(m.taken(found, true))
}

// find returns the column of the numbers of the items of a map that have a key, in the domain of
// both.
func (b *builder) find(n syntax.Node, v, key value) (*node[int64], error) {
	keys, err := v.list.item.named("key")
	if err != nil {
		return nil, err
	}
	if key.null {
		return nowhere[int64](v.of), nil
	}
	if !keys.compatible(key) {
		return nil, b.errorf(n, "a map with %ss as keys has no key that %s", keys.noun(), key.is())
	}
	return position(v, keys, key)
}

// position returns the column of the numbers of the first of the items of arrays that are equal to
// a value, which has no value where there is none. Keys are the items, or what they are compared
// by.
func position(v, keys, what value) (*node[int64], error) {
	d := innermost([]value{v, what})
	if !d.within(v.of) || !d.within(what.of) {
		return nil, errApart
	}
	what = what.down(d)
	if keys.isNumber() && keys.kind != what.kind {
		keys, what = keys.asFloats(), what.asFloats()
	}
	items := v.list.items
	switch keys.kind {
	case Bool:
		return placeOf(items, keys.bools(), what.bools(), func(a, b bool) bool { return a == b }), nil
	case Int:
		return placeOf(items, keys.ints(), what.ints(),
			func(a, b int64) bool { return a == b }).known(places(items, keys.ints(), what.ints())), nil
	case Float:
		return placeOf(items, keys.floats(), what.floats(),
			func(a, b float64) bool { return a == b }).known(places(items, keys.floats(), what.floats())), nil
	}
	return placeOf(items, keys.strings(), what.strings(), func(a, b []byte) bool { return string(a) == string(b) }), nil
}

// placeOf is position for columns. The rows of what may be within those that have the arrays, as
// there is no need for a copy of an array for each.
func placeOf[T any](items *domain, all, what *node[T], equal func(a, b T) bool) *node[int64] {
	d := what.of
	return newNode(d, func(r *run, n *node[int64]) {
		o := items.bounds(r)
		each, present := all.rows(r)
		values, valid := what.rows(r)
		out, flags := n.out(r, len(values)), n.flags(r, len(values))
		array := r.numbers(len(values))
		for at := d; at != items.up; at = at.up {
			array = rowsIn(r, array, at, d)
		}
		steps := int64(0)
		for i, v := range values {
			if flags[i] = false; valid != nil && !valid[i] {
				continue
			}
			lo, hi := o[array[i]], o[array[i]+1]
			if steps += hi - lo; steps > maxBlock {
				r.budget.Step(steps)
				steps = 0
			}
			for k := lo; k < hi; k++ {
				if equal(each[k], v) && (present == nil || present[k]) {
					out[i], flags[i] = k, true
					break
				}
			}
		}
	})
}

// places bounds the results of placeOf for numbers: there are some only if a value may be equal to
// an item.
func places[T number](items *domain, all, what *node[T]) func(z *zones) extent[int64] {
	return func(z *zones) extent[int64] {
		if items.span(z).high == 0 || !may(comparison("==", all.extent(z), what.extent(z)), true) {
			return extent[int64]{missing: true}
		}
		return rowNumbers(true)
	}
}

// rowsIn returns the rows above of rows of d, of which rows of one within it have these.
func rowsIn(r *run, rows []int64, d, of *domain) []int64 {
	up := d.rowsAbove(r)
	if d == of {
		return up
	}
	r.budget.Take(8 * int64(len(rows)))
	out := make([]int64, len(rows))
	for i, k := range rows {
		out[i] = up[k]
	}
	return out
}
