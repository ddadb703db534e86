package expression

import (
	"math"
	"slices"

	"github.com/expr-lang/expr/ast"
)

// boundsOf returns where the items of arrays begin and end, as columns of the rows that the
// arrays are in.
func boundsOf(v value) (begin, end value) {
	d := v.list.items
	begin = intsOf(v.of, &node[int64]{compute: func(r *run, n *node[int64]) {
		o := d.bounds(r)
		n.all = o[:len(o)-1]
	}}, false)
	end = intsOf(v.of, &node[int64]{compute: func(r *run, n *node[int64]) { n.all = d.bounds(r)[1:] }}, false)
	return begin, end
}

// index returns the item of an array at an index, which is missing out of range.
func (b *builder) index(array, at value) (value, error) {
	if at.kind != Int {
		return value{}, notColumns("its index is not known to be an integer")
	}
	i, fixed := at.literal.(int64)
	if size := int64(array.list.size); fixed && -size <= i && i < size {
		if array.list.parts != nil {
			return array.list.parts[(i+size)%size], nil
		}
		o := array.list.items
		place := &node[int64]{compute: func(r *run, n *node[int64]) {
			begins := o.bounds(r)
			for row := range n.out(r, len(begins)-1) {
				n.all[row] = begins[row] + (i+size)%size
			}
		}}
		return pick(array.list.item, array.of, place.known(places(o, i)), false)
	}
	begin, end := boundsOf(array)
	d, begin, at, err := common(begin, at)
	if err != nil {
		return value{}, err
	}
	if end, err = end.down(d); err != nil {
		return value{}, err
	}
	place := &node[int64]{compute: func(r *run, n *node[int64]) {
		first, _ := begin.ints.rows(r)
		last, _ := end.ints.rows(r)
		indices, valid := at.ints.rows(r)
		out, flags := n.out(r, len(first)), n.flags(r, len(first))
		for i, lo := range first {
			k := indices[i]
			if hi := last[i]; k >= 0 {
				out[i], flags[i] = lo+k, k < hi-lo
			} else {
				out[i], flags[i] = hi+k, k >= lo-hi
			}
		}
		for i, v := range valid {
			flags[i] = flags[i] && v
		}
	}}
	if fixed {
		place.known(places(array.list.items, i))
	}
	return pick(array.list.item, d, place, true)
}

// taken returns the items of arrays at several indices, which must be there.
func (b *builder) taken(where ast.Node, array, indices value) (value, error) {
	if err := b.checked(); err != nil {
		return value{}, err
	}
	d, index := indices.list.items, indices.list.item
	if array.of != b.entries || indices.of != b.entries || index.kind != Int || !index.index || index.missing {
		return value{}, notColumns("it takes items at several indices, which may be missing")
	}
	items, guard := array.list.items, b.guard
	place := &node[int64]{at: &place{where, b.text}, compute: func(r *run, out *node[int64]) {
		o, p := items.bounds(r), d.bounds(r)
		at, _ := index.ints.rows(r)
		all := out.out(r, len(at))
		for row := range len(o) - 1 {
			lo, n := o[row], o[row+1]-o[row]
			for k := p[row]; k < p[row+1]; k++ {
				i := at[k]
				if i < 0 {
					i += n
				}
				if i < 0 || i >= n {
					if passed(r, guard, row) {
						r.fail(row, errorAt(b.text, where, "%v are indices of a longer array than one of %d items", at[p[row]:p[row+1]], n))
					}
					i = 0
				}
				if all[k] = lo + i; n == 0 {
					all[k] = 0
				}
			}
		}
	}}
	b.checks = append(b.checks, check{find: func(r *run) { place.rows(r) }, guard: guard})
	item, err := pick(array.list.item, d, place, false)
	return listOfItems(array.of, d, item), err
}

// pick returns the items at some places. They may be missing if that is set.
func pick(item value, d *domain, place *node[int64], missing bool) (value, error) {
	switch {
	case item.record != nil:
		return value{of: d, record: &record{item.record.names, func(i int) (value, error) {
			m, err := item.record.member(i)
			if err != nil {
				return value{}, err
			}
			return pick(m, d, place, missing)
		}}}, nil
	case !item.isNode():
		return value{}, notColumns("it takes an array of an array of arrays")
	}
	return item.each(d, missing || item.missing, nodeFunc{
		func(n *node[bool]) *node[bool] { return picked(n, place) },
		func(n *node[int64]) *node[int64] { return picked(n, place) },
		func(n *node[float64]) *node[float64] { return picked(n, place) },
		func(n *node[[]byte]) *node[[]byte] { return picked(n, place) },
	}), nil
}

func picked[T any](from *node[T], place *node[int64]) *node[T] {
	return (&node[T]{compute: func(r *run, n *node[T]) {
		values, valid := from.peek(r)
		places, flags := place.rows(r)
		out := n.out(r, len(places))
		all := int64(len(values)) // less than a place after an error
		for i, k := range places {
			if (flags == nil || flags[i]) && k < all {
				out[i] = values[k]
			}
		}
		if n.valid = flags; valid != nil {
			n.valid = n.flags(r, len(places))
			for i, k := range places {
				n.valid[i] = (flags == nil || flags[i]) && k < all && valid[k]
			}
		}
	}}).known(placed(from, place))
}

// slice returns a part of arrays.
func (b *builder) slice(n *ast.SliceNode) (value, error) {
	v, err := b.build(n.Node)
	if err != nil {
		return value{}, err
	}
	if v.list == nil {
		return value{}, notColumns("it is a part of something that is no array")
	}
	bound := func(n ast.Node, otherwise int64) (*node[int64], error) {
		if n == nil {
			return constant(v.of, otherwise), nil
		}
		at, err := b.build(n)
		if err == nil && (at.kind != Int || at.missing) {
			err = notColumns("its bounds are not known to be integers")
		}
		if err == nil {
			at, err = at.down(v.of)
		}
		return at.ints, err
	}
	from, err := bound(n.From, 0)
	if err != nil {
		return value{}, err
	}
	to, err := bound(n.To, 1<<62)
	if err != nil {
		return value{}, err
	}
	items := v.list.items
	d := &domain{up: v.of, sizes: someOf(items)}
	d.items = func(r *run, d *domain) []int64 {
		o := items.bounds(r)
		first, _ := from.rows(r)
		last, _ := to.rows(r)
		r.budget.Take(8 * (int64(len(o)) + o[len(o)-1]))
		out := append(d.buffer[:0], 0)
		d.from = d.from[:0]
		for i, lo := range o[:len(o)-1] {
			n := o[i+1] - lo
			end := within(last[i], n)
			for k := within(first[i], n); k < end; k++ {
				d.from = append(d.from, lo+k)
			}
			out = append(out, int64(len(d.from)))
		}
		d.buffer = out
		return out
	}
	item, err := v.list.item.chosen(d)
	return listOfItems(v.of, d, item), err
}

// within returns the place of a bound of a slice in an array of n items.
func within(bound, n int64) int64 {
	if bound < 0 {
		bound += n
	}
	return min(max(bound, 0), n)
}

// filtered returns the items where a condition about them is true.
func filtered(v value, keep *node[bool]) (value, error) {
	items := v.list.items
	d := &domain{up: v.of, sizes: spanOf(counted(items, keep))}
	d.items = func(r *run, d *domain) []int64 {
		o := items.bounds(r)
		flags, _ := keep.rows(r)
		r.budget.Take(8 * int64(len(o)+len(flags)))
		out := resize(&d.buffer, len(o))
		from := resize(&d.from, len(flags))
		n := 0
		for i := range o[1:] {
			out[i] = int64(n)
			for k := o[i]; k < o[i+1]; k++ {
				if flags[k] {
					from[n] = k
					n++
				}
			}
		}
		out[len(o)-1] = int64(n)
		d.from = from[:n]
		return out
	}
	item, err := v.list.item.chosen(d)
	return listOfItems(v.of, d, item), err
}

// masked returns the items where an array of bools, of the same length, is true.
func (b *builder) masked(at ast.Node, v, mask value) (value, error) {
	mask, err := b.alignedOr(mask, v, func(n, m int64) error {
		return errorAt(b.text, at, "an array of %d items has an index of %d bools", n, m)
	})
	if err != nil {
		return value{}, err
	}
	if mask.list.item.kind != Bool {
		return value{}, notColumns("it takes items at several indices")
	}
	return filtered(v, mask.list.item.condition())
}

// aligned returns an array with the items in the domain of those of another one, which must have
// as many.
func (b *builder) aligned(v, with value) (value, error) {
	at, name := b.node, b.name
	return b.alignedOr(v, with, func(n, m int64) error {
		return errorAt(b.text, at, "%s: arrays of %d and %d items", name, n, m)
	})
}

// alignedOr is aligned with an error of its own.
func (b *builder) alignedOr(v, with value, failure func(n, m int64) error) (value, error) {
	d, other := with.list.items, v.list.items
	if d == other {
		return v, nil
	}
	if err := b.checked(); err != nil {
		return value{}, err
	}
	if v.of != with.of || v.of != b.entries || v.list.item.kind == 0 {
		return value{}, notColumns("it combines arrays of arrays")
	}
	a := &alignment{to: d, from: other, guard: b.guard, err: failure}
	b.checks = append(b.checks, check{find: func(r *run) { a.check(r) }, guard: a.guard})
	item := v.list.item.each(d, v.list.item.missing, nodeFunc{
		func(n *node[bool]) *node[bool] { return alignedRows(n, a) },
		func(n *node[int64]) *node[int64] { return alignedRows(n, a) },
		func(n *node[float64]) *node[float64] { return alignedRows(n, a) },
		func(n *node[[]byte]) *node[[]byte] { return alignedRows(n, a) },
	})
	return listOfItems(v.of, d, item), nil
}

// An alignment compares the lengths of arrays.
type alignment struct {
	to, from *domain
	guard    *node[bool]
	err      func(n, m int64) error
	serial   int
	same     bool
}

// check reports whether all arrays of the batch have the same lengths.
func (a *alignment) check(r *run) bool {
	if a.serial == r.serial {
		return a.same
	}
	a.serial = r.serial
	to, from := a.to.bounds(r), a.from.bounds(r)
	if a.same = &to[0] == &from[0] || slices.Equal(to, from); a.same {
		return true
	}
	for i := range len(to) - 1 {
		if n, m := to[i+1]-to[i], from[i+1]-from[i]; n != m && passed(r, a.guard, i) {
			r.fail(i, a.err(n, m))
			break
		}
	}
	return false
}

// alignedRows returns a column of the rows of other arrays. Where lengths differ, it has any
// values.
func alignedRows[T any](from *node[T], a *alignment) *node[T] {
	return &node[T]{compute: func(r *run, n *node[T]) {
		values, valid := from.rows(r)
		if n.all, n.valid = values, valid; a.check(r) {
			return
		}
		o, p := a.to.bounds(r), a.from.bounds(r)
		out := n.out(r, a.to.size(r))
		clear(out)
		for i := range len(o) - 1 {
			copy(out[o[i]:o[i+1]], values[p[i]:p[i+1]])
		}
		if valid != nil {
			flags := n.flags(r, len(out))
			clear(flags)
			for i := range len(o) - 1 {
				copy(flags[o[i]:o[i+1]], valid[p[i]:p[i+1]])
			}
		}
	}}
}

// in is the operator of the same name.
func (b *builder) in(l value, right ast.Node) (value, error) {
	if l.kind == 0 {
		return value{}, notColumns("it looks for an array or a record")
	}
	switch right := right.(type) {
	case *ast.ArrayNode:
		n, err := amongLiterals(l, right)
		if err == nil && l.missing {
			n = truth(n)
		}
		return boolsOf(l.of, n, false), err
	case *ast.BinaryNode:
		if right.Operator == ".." {
			return b.amongNumbers(l, right)
		}
	}
	return b.among(l, right)
}

// amongLiterals is "in" for an array of literals.
func amongLiterals(l value, array *ast.ArrayNode) (among *node[bool], err error) {
	var ints []int64
	var floats []float64
	var strings []string
	for _, n := range array.Nodes {
		sign := int64(1)
		if u, ok := n.(*ast.UnaryNode); ok && u.Operator == "-" {
			sign, n = -1, u.Node
		}
		switch n := n.(type) {
		case *ast.IntegerNode:
			ints = append(ints, sign*int64(n.Value))
			floats = append(floats, float64(sign*int64(n.Value)))
		case *ast.FloatNode:
			floats = append(floats, float64(sign)*n.Value)
		case *ast.StringNode:
			strings = append(strings, n.Value)
		}
	}
	n := len(array.Nodes)
	switch {
	case l.kind == Int && len(ints) == n:
		among = mapped(l.ints, oneOfThem(ints)).known(listed(l.ints, ints))
	case l.isNumber() && len(floats) == n:
		x := l.asFloats().floats
		among = mapped(x, oneOfThem(floats)).known(listed(x, floats))
	case l.kind == String && len(strings) == n:
		among = mapped(l.strings, func(out []bool, a [][]byte) {
			for i, s := range a {
				out[i] = slices.Contains(strings, string(s))
			}
		})
	default:
		return nil, notColumns("the array is not one of literals of the same type")
	}
	among.cost = n
	return among, nil
}

func oneOfThem[T number](all []T) func(out []bool, a []T) {
	return func(out []bool, a []T) {
		for i, v := range a {
			out[i] = slices.Contains(all, v)
		}
	}
}

// amongNumbers is "in" for from..to: two comparisons. A float is in it if it is whole.
func (b *builder) amongNumbers(l value, n *ast.BinaryNode) (value, error) {
	from, err := b.build(n.Left)
	if err != nil {
		return value{}, err
	}
	to, err := b.build(n.Right)
	if err != nil {
		return value{}, err
	}
	if !l.isNumber() || from.kind != Int || to.kind != Int {
		return value{}, notColumns("the range is not known to be one of numbers")
	}
	both := func(l, r value) (value, error) { return logicOf(true, l, r) }
	all, err := b.operate("<=", from, l)
	add := func(op string, l, r value) {
		if err != nil {
			return
		}
		var v value
		if v, err = b.operate(op, l, r); err == nil {
			all, err = b.itemwise(all, v, both)
		}
	}
	add("<=", l, to)
	if from.literal == nil || to.literal == nil || from.literal.(int64) > to.literal.(int64) {
		add("<=", from, to) // floats are compared after both have been rounded
	}
	if l.kind == Float {
		add("==", l, floatsOf(l.of, mapped(l.floats, each1(math.Trunc)), l.missing))
	}
	return all, err
}

// among is "in" for the items of an array.
func (b *builder) among(l value, right ast.Node) (value, error) {
	array, err := b.build(right)
	if err != nil {
		return value{}, err
	}
	if array.list == nil || array.list.item.kind == 0 || array.list.item.missing {
		return value{}, notColumns("it looks in something that is no array of numbers, bools or strings")
	}
	item := array.list.item
	begin, end := boundsOf(array)
	d, begin, l, err := common(begin, l)
	if err == nil {
		end, err = end.down(d)
	}
	if err != nil {
		return value{}, err
	}
	if item.isNumber() && l.isNumber() && item.kind != l.kind {
		item, l = item.asFloats(), l.asFloats()
	}
	if item.kind != l.kind {
		return value{}, notColumns("it looks for a value of another type")
	}
	var n *node[bool]
	switch l.kind {
	case Bool:
		n = occurs(l.bools, begin.ints, end.ints, item.bools, func(a, b bool) bool { return a == b })
	case Int:
		n = occurs(l.ints, begin.ints, end.ints, item.ints, func(a, b int64) bool { return a == b })
	case Float:
		n = occurs(l.floats, begin.ints, end.ints, item.floats, func(a, b float64) bool { return a == b })
	default:
		n = occurs(l.strings, begin.ints, end.ints, item.strings, func(a, b []byte) bool { return string(a) == string(b) })
	}
	return boolsOf(d, n, false), nil
}

// occurs returns where a value is equal to one of the items from begin to end.
func occurs[T any](what *node[T], begin, end *node[int64], items *node[T], equal func(a, b T) bool) *node[bool] {
	return &node[bool]{compute: func(r *run, n *node[bool]) {
		values, valid := what.rows(r)
		lo, _ := begin.rows(r)
		hi, _ := end.rows(r)
		all, _ := items.rows(r)
		out := n.out(r, len(values))
		steps := int64(0)
		for i, v := range values {
			cost := int64(1)
			if texts, ok := any(values).([][]byte); ok { // which are compared if they are as long
				cost += int64(len(texts[i])) / 32
			}
			if steps += cost * (hi[i] - lo[i]); steps > maxBlock {
				r.budget.Step(steps)
				steps = 0
			}
			out[i] = (valid == nil || valid[i]) && slices.ContainsFunc(all[lo[i]:hi[i]], func(item T) bool { return equal(item, v) })
		}
	}}
}
