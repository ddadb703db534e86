package expression

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/internal/formula"
	"github.com/go-rntuple/go-rntuple/internal/syntax"
)

// is returns what a message says of a node and its value.
func is(n syntax.Node, v value) string { return n.String() + " " + v.is() }

func (b *builder) unary(n *syntax.Unary) (value, error) {
	v, err := b.build(n.X)
	if err != nil {
		return value{}, err
	}
	out, ok, err := b.unaryOf(n, v)
	if err == nil && !ok {
		return value{}, b.errorf(n, "invalid operation: %s (%s)", n.Op, is(n.X, v))
	}
	return out, err
}

// unaryOf applies an operator. It returns false if there is none for the type.
func (b *builder) unaryOf(n *syntax.Unary, v value) (out value, ok bool, err error) {
	switch {
	case v.variant != nil:
		v, err := b.alternative(n.X, v, map[bool]Kind{true: Bool, false: Float}[n.Op == "not"])
		if err != nil {
			return value{}, false, err
		}
		return b.unaryOf(n, v)
	case v.list != nil && !v.list.keyed && !v.list.tuple:
		item, ok, err := b.unaryOf(n, v.list.item)
		return v.array(v.list.items, item), ok, err
	case n.Op == "not" && v.null:
		return literalOf(v.of, true), true, nil
	case n.Op == "not" && v.kind == Bool:
		c := v.condition()
		return scalar(mapped(c, not).known(monotonic(c, not)), false), true, nil
	case n.Op == "not" || !v.isNumber():
		return value{}, false, nil
	case n.Op == "+":
		return v, true, nil
	}
	switch x := v.literal.(type) {
	case int64:
		return literalOf(v.of, -x), true, nil
	case float64:
		return literalOf(v.of, -x), true, nil
	}
	if v.kind == Int {
		return scalar(mapped(v.ints(), negate[int64]).known(calculated("-", constant(v.of, int64(0)), v.ints())), v.missing),
			true, nil
	}
	return scalar(mapped(v.floats(), negate[float64]).known(monotonic(v.floats(), negate[float64])), v.missing), true, nil
}

func (b *builder) binary(n *syntax.Binary) (value, error) {
	l, err := b.build(n.L)
	if err != nil {
		return value{}, err
	}
	right := func() (value, error) { return b.build(n.R) }
	switch n.Op {
	case "and", "or":
		return b.logic(n, n.Op == "and", l, right)
	case "??":
		return b.orElse(n, l, right)
	case "in":
		if among, ok := n.R.(*syntax.Binary); ok && among.Op == ".." {
			return b.inRange(n, among, l)
		}
	}
	r, err := right()
	if err != nil {
		return value{}, err
	}
	return b.operate(n, l, r)
}

// invalid returns the error about an operator that types do not have.
func (b *builder) invalid(n *syntax.Binary, l, r value) error {
	help := ""
	for i, v := range []value{l, r} {
		side, other := []syntax.Node{n.L, n.R}[i], []value{r, l}[i]
		switch {
		case v.kind != Bool || v.literal != nil:
		case other.literal != nil && other.isNumber() && mirrored[n.Op] != "":
			help = fmt.Sprintf("; a bool is a condition by itself: %s, or not %s", side, side)
		case i == 0 && strings.Contains("+-*/%", n.Op):
			help = asNumber(side)
		}
	}
	return b.errorf(n, "invalid operation: %s (%s, %s)%s", n.Op, is(n.L, l), is(n.R, r), help)
}

// operate applies an operator to two values, item by item if they are arrays.
func (b *builder) operate(n *syntax.Binary, l, r value) (value, error) {
	var of func(l, r value) (value, bool, error)
	switch n.Op {
	case "+", "-", "*", "/", "%", "**":
		of = func(l, r value) (value, bool, error) { return arithmeticOf(n.Op, l, r) }
	case "<", "<=", ">", ">=", "==", "!=":
		if (l.null || r.null) && (n.Op == "==" || n.Op == "!=") {
			return equalsNil(n.Op, l, r), nil
		}
		of = func(l, r value) (value, bool, error) { return comparisonOf(n.Op, l, r) }
	case "contains", "startsWith", "endsWith", "matches":
		of = b.search(n)
	case "in":
		return b.among(n, l, r)
	case "..":
		return b.rangeOf(n, l, r)
	}
	out, ok, err := b.itemwise(n, n.Op, l, r, of)
	if err == nil && !ok {
		err = b.invalid(n, l, r)
	}
	return out, err
}

// itemwise applies a function to two values, or to the items of arrays. It is false if the function
// is, for the types.
func (b *builder) itemwise(n syntax.Node, name string, l, r value,
	f func(l, r value) (value, bool, error)) (value, bool, error) {
	var err error
	if l, r, err = b.fitting(n, l, r); err != nil {
		return value{}, false, err
	}
	if l.list == nil && r.list == nil {
		if l, r, err = common2(l, r); err != nil {
			return value{}, false, err
		}
		return f(l, r)
	}
	items, there, ok, err := b.zipped(n, name, l, r)
	if !ok || err != nil {
		return value{}, false, err
	}
	d, ok := innermost(items), false
	item, err := b.in(d, func() (item value, err error) {
		item, ok, err = b.itemwise(n, name, items[0], items[1], f)
		return item, err
	})
	if !ok || err != nil {
		return value{}, false, err
	}
	return listOf(d, item.down(d), there), true, nil
}

// innermost returns the domain of values that is within those of all others.
func innermost(all []value) *domain {
	d := all[0].of
	for _, v := range all {
		if v.of.within(d) {
			d = v.of
		}
	}
	return d
}

// zipped returns the items of those values that are arrays, which must have the same lengths, in
// one domain, and other values as they are; and where all are there, or nil. It is false for maps
// and tuples.
func (b *builder) zipped(n syntax.Node, name string,
	all ...value) (items []value, there *node[bool], ok bool, err error) {
	missing, shared := false, true
	var first *value
	for i, v := range all {
		if v.list != nil && (v.list.keyed || v.list.tuple) {
			return nil, nil, false, nil
		}
		missing = missing || v.missing
		if v.list != nil && first == nil {
			first = &all[i]
		}
	}
	for _, v := range all {
		shared = shared && (v.list == nil && first.of.within(v.of) || v.list != nil && v.list.items == first.list.items &&
			v.list.item.list == nil)
	}
	if missing || !shared {
		// Arrays meet in the rows for which they are needed, as they can have other lengths
		// elsewhere.
		for i := range all {
			if all[i], err = b.down(all[i]); err != nil {
				return nil, nil, false, err
			}
		}
	}
	if missing {
		there = b.allThere(all)
		rows := where(there)
		for i, v := range all {
			if v.list != nil {
				all[i] = v.taken(rows, true)
			}
		}
	}
	to := *first
	for _, v := range all {
		if v.list == nil {
			if v.missing { // it is there where the arrays are
				v.missing = false
			}
			items = append(items, v)
			continue
		}
		items = append(items, b.aligned(v, to, func(n, m int64) string { return sprintLengths(name, n, m) }, n).list.item)
	}
	return items, there, true, nil
}

// allThere returns where all of some values are, of the same domain.
func (b *builder) allThere(all []value) *node[bool] {
	var there *node[bool]
	for _, v := range all {
		switch {
		case !v.missing:
		case there == nil:
			there = v.valid()
		default:
			w := v.valid()
			there = combined(there, w, and).known(atCorners(and, there, w))
		}
	}
	return there
}

// where returns the numbers of the rows, without those where a node is false.
func where(there *node[bool]) *node[int64] {
	return newNode(there.of, func(r *run, n *node[int64]) {
		valid, _ := there.rows(r)
		n.all = r.numbers(len(valid))
		if n.same = !slices.Contains(valid, false); !n.same {
			n.valid = valid
		}
	}).known(func(z *zones) extent[int64] { return rowNumbers(may(there.extent(z), false)) })
}

// search returns the function of an operator that looks for a string in another one.
func (b *builder) search(n *syntax.Binary) func(l, r value) (value, bool, error) {
	f := map[string]func(s, part []byte) bool{"contains": bytes.Contains, "startsWith": bytes.HasPrefix,
		"endsWith": bytes.HasSuffix}[n.Op]
	return func(l, r value) (value, bool, error) {
		switch {
		case (l.null || l.kind == String) && (r.null || r.kind == String) && (l.null || r.null):
			return literalOf(l.of, false), true, nil
		case l.kind != String || r.kind != String:
			return value{}, false, nil
		case n.Op == "matches":
			out, err := b.matches(n, l, r)
			return out, true, err
		}
		found := onStrings(l.strings(), r.strings(), f)
		if l.missing || r.missing {
			found = truth(found)
		}
		return scalar(found, false), true, nil
	}
}

// matches looks for a regular expression. One that is a literal is compiled once.
func (b *builder) matches(n *syntax.Binary, l, r value) (value, error) {
	pattern, fixed := r.literal.(string)
	if fixed {
		re, err := new(formula.Budget).ParsePattern(pattern)
		if err != nil {
			return value{}, b.errorf(n.R, "%v", err)
		}
		if b.patterns += re.Size(); b.patterns > formula.MaxPattern {
			return value{}, b.errorf(n.R, "patterns of more than some %d instructions together", formula.MaxPattern)
		}
		return scalar(newNode(l.of, func(r *run, n *node[bool]) {
			a, valid := l.strings().rows(r)
			for i := range n.out(r, len(a)) {
				n.all[i] = (valid == nil || valid[i]) && r.budget.Match(re, a[i])
			}
		}), false), nil
	}
	if err := b.downAll(&l, &r); err != nil {
		return value{}, err
	}
	at, here := b.place(n.R), b.here
	return scalar(fallible(b, newNode(here, func(run *run, n *node[bool]) {
		a, v := l.strings().rows(run)
		patterns, w := r.strings().rows(run)
		var last string
		var re *formula.Pattern
		for i := range n.out(run, len(a)) {
			if n.all[i] = false; v != nil && !v[i] || w != nil && !w[i] {
				continue
			}
			if re == nil || last != string(patterns[i]) {
				var err error
				last = string(patterns[i])
				if re, err = run.budget.ParsePattern(last); err != nil {
					run.fail(here, i, at.error(err.Error()))
					return
				}
			}
			n.all[i] = run.budget.Match(re, a[i])
		}
	})), false), nil
}
