package expression

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/go-rntuple/go-rntuple/internal/formula"
	"github.com/go-rntuple/go-rntuple/internal/syntax"
)

// rearranged returns arrays of the same items in an order that a function finds: what it returns
// permutes the numbers of a row's items.
func rearranged(v value, order func(r *run) func(numbers []int64)) value {
	items := v.list.items
	out := chosenOf(v, func(r *run, d *domain) {
		o := items.bounds(r)
		copy(d.counts(r, len(o)-1), o)
		from := d.copies(r)
		copy(from, r.numbers(len(from)))
		permute := order(r)
		for i := range len(o) - 1 {
			if o[i+1]-o[i] > 1 {
				permute(from[o[i]:o[i+1]])
			}
		}
	})
	out.list.items.sized(items.span)
	return out
}

// chosenOf returns arrays of items of others, which a function chooses: it sets the offsets and the
// numbers.
func chosenOf(v value, choose func(r *run, d *domain)) value {
	items := v.list.items
	d := newItems(v.of, choose)
	d.sized(atMost(items))
	out := listOf(d, v.list.item.taken(rowsOf(d), false), v.there)
	out.index = v.index
	return out
}

func (b *builder) reverse(n *syntax.Call, v value) (value, error) {
	out := rearranged(v, func(*run) func(numbers []int64) { return slices.Reverse[[]int64] })
	out.list.size = v.list.size
	return out, nil
}

// descending builds the argument that says whether an order is descending.
func (b *builder) descending(n *syntax.Call, i int) (bool, error) {
	if i >= len(n.Args) {
		return false, nil
	}
	v, err := b.build(n.Args[i])
	switch {
	case err != nil:
		return false, err
	case v.literal == "desc":
		return true, nil
	case v.literal == "asc":
		return false, nil
	}
	return false, b.errorf(n.Args[i], `%s takes "asc" or "desc": %s`, n.Name, is(n.Args[i], v))
}

func (b *builder) sort(n *syntax.Call, v value) (value, error) {
	descending, err := b.descending(n, 1)
	if err != nil || v.list.item.null {
		return v, err
	}
	v = b.complete(v)
	if kind := v.list.item.kind; kind == 0 || kind == Bool {
		return value{}, b.errorf(n, "sort takes an array of numbers or strings: %s; use sortBy", is(n.Args[0], v))
	}
	return sortedBy(v, v.list.item, descending), nil
}

// argExtreme returns the index of the first least or greatest item.
func (b *builder) argExtreme(n *syntax.Call, v value) (value, error) {
	d, item := v.list.items, v.list.item
	if item.kind == Int {
		return scalar(firstExtreme(n.Name, d, item.ints()), true).only(v), nil
	}
	return scalar(firstExtreme(n.Name, d, item.floats()), true).only(v), nil
}

func firstExtreme[T number](name string, d *domain, items *node[T]) *node[int64] {
	f := firstLeast[T]
	if name == "argmax" {
		f = firstGreatest[T]
	}
	return overSome(d, items, f)
}

// numbers builds the argument of a function, an array of numbers none of which is missing. It is
// nil if that is.
func (b *builder) numbers(n *syntax.Call) (value, error) {
	v, err := b.array(n)
	if err != nil || v.null {
		return v, err
	}
	if v.list.item.null {
		v = v.array(v.list.items, scalar(constant(v.list.items, int64(0)), false))
	}
	if v = b.complete(v); !v.list.item.isNumber() {
		return value{}, b.errorf(n.Args[0], "%s, but argument 1 of %s(v) is an array of numbers", is(n.Args[0], v), n.Name)
	}
	return v, nil
}

// argsort returns the indices of the items in ascending order.
func (b *builder) argsort(n *syntax.Call, v value) (value, error) {
	out := sortedBy(v.array(v.list.items, numbered(v.list.items)), v.list.item, false)
	out.index = true
	return out, nil
}

func (b *builder) sortBy(n *syntax.Call, v value) (value, error) {
	descending, err := b.descending(n, 2)
	if err != nil {
		return value{}, err
	}
	v, key, err := b.key(n, v)
	if err != nil {
		return value{}, err
	}
	return sortedBy(v, key, descending), nil
}

// key builds what items are sorted or grouped by.
func (b *builder) key(n *syntax.Call, v value) (array, key value, err error) {
	v, key, err = b.predicate(v, body(n))
	if err == nil {
		key, err = b.plain(body(n), key)
	}
	switch {
	case err != nil:
		return value{}, value{}, err
	case key.missing:
		return value{}, value{}, b.errorf(body(n), "%s may be missing, but %s needs a value; give a default with ??", body(n),
			n.Name)
	case key.kind == 0:
		return value{}, value{}, b.errorf(body(n), "%s, but %s needs a number, a string or a bool", is(body(n), key), n.Name)
	}
	return v, key, nil
}

// sortedBy sorts the items of arrays by keys. Equal ones stay in order, and NaN come last.
func sortedBy(v, key value, descending bool) value {
	return rearranged(v, func(r *run) func(numbers []int64) {
		var order func(i, j int64) int
		var ints []int64
		var floats []float64
		switch key.kind {
		case Bool:
			all, _ := key.bools().rows(r)
			order = func(i, j int64) int { return int(bytesOf(all[i : i+1])[0]) - int(bytesOf(all[j : j+1])[0]) }
		case Int:
			ints, _ = key.ints().rows(r)
			order = func(i, j int64) int { return cmp.Compare(ints[i], ints[j]) }
		case String:
			all, _ := key.strings().rows(r)
			order = func(i, j int64) int { return bytes.Compare(all[i], all[j]) }
		default:
			floats, _ = key.floats().rows(r)
			order = func(i, j int64) int { return compareFloats(floats[i], floats[j], descending) }
		}
		if descending && key.kind != Float {
			ascending := order
			order = func(i, j int64) int { return ascending(j, i) }
		}
		order = formula.Compared(&r.budget, order)
		return func(numbers []int64) {
			r.budget.Step(int64(len(numbers)))
			short := len(numbers) <= fewItems
			switch {
			case short && key.kind == Float:
				insertBy(numbers, floats, descending)
			case short && key.kind == Int:
				insertBy(numbers, ints, descending)
			default:
				slices.SortStableFunc(numbers, order)
			}
		}
	})
}

// insertBy sorts the numbers of a few items by their keys. NaN come last.
func insertBy[T number](numbers []int64, keys []T, descending bool) {
	for i := 1; i < len(numbers); i++ {
		at := numbers[i]
		x, k := keys[at], i
		for ; k > 0; k-- {
			y := keys[numbers[k-1]]
			before := x < y
			if descending {
				before = x > y
			}
			if !before && (x != x || y == y) {
				break
			}
			numbers[k] = numbers[k-1]
		}
		numbers[k] = at
	}
}

// compareFloats orders floats, of which NaN come last.
func compareFloats(x, y float64, descending bool) int {
	if x != x || y != y || descending {
		return cmp.Compare(y, x) // which has NaN first
	}
	return cmp.Compare(x, y)
}

// medians returns the column of the medians of arrays, which empty ones do not have.
func medians(d *domain, items *node[float64]) *node[float64] {
	var sorted []float64
	return newNode(d.up, func(r *run, n *node[float64]) {
		o := d.bounds(r)
		all, _ := items.rows(r)
		order := formula.Compared(&r.budget, func(x, y float64) int { return compareFloats(x, y, false) })
		out, valid := n.out(r, len(o)-1), n.flags(r, len(o)-1)
		for i := range out {
			if valid[i] = o[i] < o[i+1]; !valid[i] {
				continue
			}
			sorted = append(sorted[:0], all[o[i]:o[i+1]]...)
			if len(sorted) > fewItems {
				slices.SortFunc(sorted, order)
			} else {
				insert(sorted)
			}
			k := len(sorted) / 2
			if out[i] = sorted[k]; len(sorted)%2 == 0 {
				out[i] = (sorted[k-1] + sorted[k]) / 2
			}
		}
	}).known(func(z *zones) extent[float64] {
		e := extremes(d, items)(z)
		if beyond(e, math.MaxFloat64/2) { // sums may be infinite
			return anything[float64]().orMissing(e.missing)
		}
		return e
	})
}

// insert sorts a few floats. NaN come last.
func insert(v []float64) {
	for i := 1; i < len(v); i++ {
		x, k := v[i], i
		for ; k > 0 && (x < v[k-1] || x == x && v[k-1] != v[k-1]); k-- {
			v[k] = v[k-1]
		}
		v[k] = x
	}
}

// groupsOf returns the function that tells equal values of a column: it sets the numbers of the
// groups that rows from lo up to hi are in, in the order in which they come, and returns how many
// there are. NaN are equal to nothing; what is missing is a group.
func groupsOf(v value) func(r *run) func(lo, hi int64, numbers []int64) int64 {
	switch v.kind {
	case Bool:
		return groupsIn(v.bools(), func(a, b bool) bool { return a == b }, func(v bool) bool { return v })
	case Int:
		return groupsIn(v.ints(), func(a, b int64) bool { return a == b }, func(v int64) int64 { return v })
	case Float:
		return groupsIn(v.floats(), func(a, b float64) bool { return a == b }, func(v float64) float64 { return v })
	}
	return groupsIn(v.strings(), bytes.Equal, func(s []byte) string { return string(s) })
}

// fewItems is the length up to which arrays are sorted by insertion, and equal items are found by
// comparing all pairs.
const fewItems = 16

func groupsIn[T any, K comparable](n *node[T], equal func(a, b T) bool,
	key func(T) K) func(r *run) func(lo, hi int64, numbers []int64) int64 {
	var firsts []int64 // the first row of each group
	return func(r *run) func(lo, hi int64, numbers []int64) int64 {
		all, valid := n.rows(r)
		return func(lo, hi int64, numbers []int64) int64 {
			var found map[K]int64
			if hi-lo > fewItems {
				found = map[K]int64{}
				r.budget.Take(groupBytes * (hi - lo))
			}
			firsts = firsts[:0]
			absent := int64(-1)
			for k := lo; k < hi; k++ {
				at, next := int64(-1), int64(len(firsts))
				switch {
				case valid != nil && !valid[k]:
					if at = absent; at < 0 {
						absent = next
					}
				case found != nil:
					var ok bool
					if at, ok = found[key(all[k])]; !ok {
						at, found[key(all[k])] = -1, next
					}
				default:
					for g, first := range firsts {
						if (valid == nil || valid[first]) && equal(all[first], all[k]) {
							at = int64(g)
							break
						}
					}
				}
				if at < 0 {
					at, firsts = next, append(firsts, k)
				}
				numbers[k-lo] = at
			}
			r.budget.Step(groupSteps * (hi - lo))
			return int64(len(firsts))
		}
	}
}

// What finding a group takes, about.
const groupSteps, groupBytes = 32, 64

// uniq returns the items that are not equal to one before.
func (b *builder) uniq(n *syntax.Call, v value) (value, error) {
	if v.list.item.null {
		return v, nil
	}
	if v.list.item.kind == 0 {
		return value{}, b.errorf(n, "uniq takes an array of numbers, strings or bools: %s", is(n.Args[0], v))
	}
	items, groups := v.list.items, groupsOf(v.list.item)
	out := chosenOf(v, func(r *run, d *domain) { firstOfGroups(r, d, items, groups, &d.above) })
	out.list.items.sized(someGroups(items))
	return out, nil
}

// firstOfGroups makes the rows of d copies of those items that are the first ones of their groups,
// and sets the number of the group of each item, counted in its array.
func firstOfGroups(r *run, d, items *domain, groups func(r *run) func(lo, hi int64, numbers []int64) int64,
	numbers *[]int64) {
	o, group := items.bounds(r), groups(r)
	counts := d.counts(r, len(o)-1)
	r.budget.Take(16 * int64(items.n))
	from := d.from[:0]
	resize(numbers, items.n)
	for i := range len(o) - 1 {
		row := (*numbers)[o[i]:o[i+1]]
		group(o[i], o[i+1], row)
		next := int64(0)
		for k, number := range row {
			if number == next {
				from, next = append(from, o[i]+int64(k)), next+1
			}
		}
		counts[i+1] = int64(len(from))
	}
	d.from = from
}

// someGroups bounds the number of groups that the items of d are in: there is one if there is an
// item.
func someGroups(d *domain) func(z *zones) extent[int64] {
	return func(z *zones) extent[int64] {
		s := d.span(z)
		return between(min(s.low, 1), s.high)
	}
}

// groupBy returns a map from keys to the arrays of the items that have them.
func (b *builder) groupBy(n *syntax.Call, v value) (value, error) {
	v, key, err := b.key(n, v)
	if err != nil {
		return value{}, err
	}
	items, groups := v.list.items, groupsOf(key)
	// the group of each item; the items of all groups, group by group; the offsets of groups in them
	var numbers, order, counts []int64
	first := newItems(v.of, func(r *run, d *domain) {
		firstOfGroups(r, d, items, groups, &numbers)
		r.budget.Take(16 * int64(items.n))
		clear(resize(&counts, len(d.from)+1))
		o := items.bounds(r)
		for i, first := range d.offsets[:len(o)-1] {
			for k := o[i]; k < o[i+1]; k++ {
				numbers[k] += first
				counts[numbers[k]+1]++
			}
		}
		for i := range d.from {
			counts[i+1] += counts[i]
		}
		next := slices.Clone(counts)
		resize(&order, items.n)
		for k, number := range numbers {
			order[next[number]] = int64(k)
			next[number]++
		}
	})
	first.sized(someGroups(items))
	inner := newItems(first, func(r *run, d *domain) {
		first.update(r)
		copy(d.counts(r, first.n), counts)
		copy(d.copies(r), order)
	}).sized(func(z *zones) extent[int64] { return between(1, items.span(z).high) })
	members := [2]value{key.taken(rowsOf(first), false), listOf(inner, v.list.item.taken(rowsOf(inner), false), nil)}
	out := listOf(first, value{of: first, record: b.record([]string{"key", "value"}, 2,
		func(i int) (value, error) { return members[i], nil })}, v.there)
	out.list.keyed = true
	return out, nil
}

// keysOf returns the keys or the values of a map.
func (b *builder) keysOf(n *syntax.Call, v value) (value, error) {
	if v.list == nil || !v.list.keyed {
		return value{}, b.errorf(n.Args[0], "%s takes a map: %s", n.Name, is(n.Args[0], v))
	}
	m, err := v.list.item.named(n.Name[:len(n.Name)-1])
	if err != nil {
		return value{}, err
	}
	return b.read(v.array(v.list.items, m))
}
