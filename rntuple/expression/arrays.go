package expression

import (
	"fmt"
	"slices"

	"github.com/go-rntuple/go-rntuple/internal/nearest"
	"github.com/go-rntuple/go-rntuple/internal/syntax"
)

// member returns a member of a record.
func (b *builder) member(n *syntax.Member) (value, error) {
	v, err := b.build(n.X)
	if err != nil {
		return value{}, err
	}
	return b.memberOf(n, n.X, v, n.Name)
}

func (b *builder) memberOf(n, of syntax.Node, v value, name string) (value, error) {
	switch {
	case v.null:
		return v, nil
	case v.list != nil && v.list.keyed:
		return b.valueAt(n, v, literalOf(v.of, name))
	case v.list != nil:
		return value{}, b.errorf(n, "%s; write map(%s, .%s) for the members of its items", is(of, v), of, name)
	case v.record == nil:
		return value{}, b.errorf(n, "%s, and has no members or items", is(of, v))
	case !slices.Contains(v.record.names, name):
		help := ""
		if like := nearest.Name(name, v.record.names); like != "" {
			help = fmt.Sprintf("; did you mean %q?", like)
		}
		return value{}, b.errorf(n, "%s has no member %q%s", of, name, help)
	}
	m, err := v.named(name)
	if err == nil && v.there != nil {
		m = m.taken(where(v.there), true)
	}
	if err != nil {
		return value{}, err
	}
	return b.read(m)
}

// maxMembers is how many members a record of the text may have, with those of its members: records
// that let shares could be compared for ever.
const maxMembers = 10_000

// recordOf returns a record that the text makes.
func (b *builder) recordOf(n *syntax.Record) (value, error) {
	all, err := b.all(n.Values...)
	if err != nil {
		return value{}, err
	}
	d, size := b.entries, 0
	for _, v := range all {
		if size += v.weight(); size > maxMembers {
			return value{}, b.errorf(n, "a record of records with more than %d members", maxMembers)
		}
	}
	if len(all) > 0 {
		if all, err = common(all...); err != nil {
			return value{}, err
		}
		d = all[0].of
	}
	return value{of: d, record: b.record(n.Names, size, func(i int) (value, error) { return all[i], nil })}, nil
}

// arrayOf returns an array that the text makes.
func (b *builder) arrayOf(n *syntax.Array) (value, error) {
	all, err := b.all(n.Items...)
	if err != nil {
		return value{}, err
	}
	if len(all) == 0 {
		items := newItems(b.entries, fixed(0)).sized(always(0))
		return listOf(items, never(items), nil), nil
	}
	for i := range all {
		if all[i].levels() >= maxLevels {
			return value{}, b.errorf(n, "arrays of arrays with more than %d levels", maxLevels)
		}
		if all[i], err = b.plain(n.Items[i], all[i]); err != nil {
			return value{}, err
		}
	}
	if all, err = common(all...); err != nil {
		return value{}, err
	}
	v := arrayOf(all)
	if v.list.tuple {
		for i, item := range all {
			if !all[0].compatible(item) {
				return value{}, b.errorf(n, "an array of values of different types: %s, %s",
					is(n.Items[0], all[0]), is(n.Items[i], item))
			}
		}
	}
	return v, nil
}

// maxLevels is how deep arrays may be nested.
const maxLevels = 50

// levels returns how deep arrays are nested.
func (v value) levels() (n int) {
	for ; v.list != nil; n++ {
		v = v.list.item
	}
	return n
}

// arrayOf returns the array of some values of a domain, or a tuple if they have no type in common.
func arrayOf(parts []value) value {
	items := newItems(parts[0].of, fixed(len(parts))).sized(always(len(parts)))
	number := func(f func(k int64) int64) *node[int64] {
		return newNode(items, func(r *run, n *node[int64]) {
			for k := range n.out(r, items.size(r)) {
				n.all[k] = f(int64(k))
			}
		})
	}
	size := int64(len(parts))
	which := number(func(k int64) int64 { return k % size }).known(func(*zones) extent[int64] {
		return between(0,
			size-1)
	})
	item, ok := mux(which, number(func(k int64) int64 { return k / size }), parts, false)
	v := listOf(items, item, nil)
	v.list.size, v.list.tuple = len(parts), !ok
	if !ok {
		v.list.parts = parts
		return v
	}
	v.list.parts = unified(parts)
	for k, part := range v.list.parts {
		if !part.alike(item) { // [nil, 1][0] is an integer that is missing, not nil
			v.list.parts[k] = item.taken(placeOfIndex(v, int64(k)), false)
		}
	}
	return v
}

// fixed sets the offsets of arrays of a size.
func fixed(size int) func(r *run, d *domain) {
	return func(r *run, d *domain) {
		for i := range d.counts(r, d.up.size(r)) {
			d.offsets[i] = int64(i * size)
		}
	}
}

// always bounds the numbers of items of arrays of a size.
func always(size int) func(*zones) extent[int64] {
	return func(*zones) extent[int64] { return exactly(int64(size)) }
}

// indexed returns an item of an array, some of them, or a member.
func (b *builder) indexed(n *syntax.Index) (value, error) {
	all, err := b.all(n.X, n.At)
	if err != nil {
		return value{}, err
	}
	v, at := all[0], all[1]
	if at, err = b.plain(n.At, at); err != nil {
		return value{}, err
	}
	name, named := at.literal.(string)
	switch {
	case v.null:
		return v, nil
	case v.record != nil && named:
		return b.memberOf(n, n.X, v, name)
	case v.record != nil:
		return value{}, b.errorf(n, "%s, and its members are taken by literals", is(n.X, v))
	case v.list == nil:
		return value{}, b.errorf(n, "%s, and has no members or items", is(n.X, v))
	case v.list.keyed:
		return b.valueAt(n, v, at)
	case at.list != nil && at.list.item.kind == Bool && !v.list.tuple:
		return b.masked(n, v, at)
	case at.list != nil && (at.list.item.kind == Int || at.list.item.null) && !v.list.tuple:
		return b.some(n, v, at)
	case at.kind == Int:
		return b.index(n, v, at)
	case at.null:
		return nothing(v.of), nil
	case named:
		return b.memberOf(n, n.X, v, name)
	}
	return value{}, b.errorf(n, "%s, but an index is an integer, an array of integers or an array of bools", is(n.At, at))
}

// index returns the item of an array at an index, which is missing out of range.
func (b *builder) index(n syntax.Node, v, at value) (value, error) {
	i, fixed := at.literal.(int64)
	// those of a tuple are missing where it is
	if size := int64(len(v.list.parts)); fixed && (!v.missing || v.list.tuple) {
		if -size <= i && i < size {
			return b.read(v.list.parts[(i+size)%size])
		}
	}
	if v.list.tuple {
		return value{}, b.errorf(n, "a tuple of values of different types, whose items are taken by literals within its size")
	}
	if size := int64(v.list.size); fixed {
		return v.list.item.taken(placeOfIndex(v, i), v.missing || i >= size || i < -size), nil
	}
	items := v.list.items
	begin := scalar(newNode(v.of, func(r *run, n *node[int64]) {
		o := items.bounds(r)
		n.all = o[:len(o)-1]
	}), false)
	count := scalar(lengths(items), false)
	all, err := common(begin, count, at)
	if err != nil {
		return value{}, err
	}
	place := newNode(all[0].of, func(r *run, n *node[int64]) {
		first, _ := all[0].ints().rows(r)
		counts, _ := all[1].ints().rows(r)
		indices, valid := all[2].ints().rows(r)
		out, flags, missing := n.out(r, len(first)), n.flags(r, len(first)), false
		for i, k := range indices {
			if k < 0 {
				k += counts[i]
			}
			out[i] = first[i] + k
			flags[i] = uint64(k) < uint64(counts[i]) && (valid == nil || valid[i])
			missing = missing || !flags[i]
		}
		if !missing {
			n.valid = nil
		}
	})
	place.known(func(z *zones) extent[int64] {
		at, least := all[2].ints().extent(z), items.span(z).low
		return rowNumbers(v.missing || at.missing || at.high >= least || at.low < -least)
	})
	return v.list.item.taken(place, true), nil
}

// placeOfIndex returns the column of the places of the items with a number, which is missing where
// there is none.
func placeOfIndex(array value, index int64) *node[int64] {
	items := array.list.items
	return newNode(array.of, func(r *run, n *node[int64]) {
		o := items.bounds(r)
		out, flags, all := n.out(r, len(o)-1), n.flags(r, len(o)-1), true
		ends := o[1:][:len(out)]
		for i, begin := range o[:len(out)] {
			k := begin + index
			if index < 0 {
				k = ends[i] + index
			}
			there := k >= begin && k < ends[i]
			out[i], flags[i], all = k, there, all && there
		}
		if all {
			n.valid = nil
		}
	}).known(func(z *zones) extent[int64] {
		least := items.span(z).low
		return rowNumbers(array.missing || index >= least || index < -least)
	})
}

// lengths returns the column of the number of items of arrays.
func lengths(d *domain) *node[int64] {
	return newNode(d.up, func(r *run, n *node[int64]) {
		o := d.bounds(r)
		out := n.out(r, len(o)-1)
		for i := range out {
			out[i] = o[i+1] - o[i]
		}
	}).known(d.span)
}

// some returns the items of arrays at several indices: all of them, or none if one is not there.
// That is an error for the indices that argsort and combinations yield.
func (b *builder) some(n syntax.Node, v, at value) (value, error) {
	strict := at.index
	if at.list.item.null {
		at = at.array(at.list.items, literalOf(at.list.items, int64(0)))
	}
	v, at, err := common2(v, at)
	if err == nil && strict {
		err = b.downAll(&v, &at)
	}
	if err != nil {
		return value{}, err
	}
	at = b.complete(at)
	if there := b.allThere([]value{v, at}); there != nil { // no items elsewhere
		v, at = v.taken(where(there), true), at.taken(where(there), true)
	}
	var from *node[int64]
	if strict {
		from = fallible(b, itemsAt(v, at, b.place(n)))
	} else {
		at = at.taken(where(within(v, at)), true)
		from = itemsAt(v, at, nil)
	}
	out := listOf(at.list.items, v.list.item.taken(from, false), at.there)
	out.index = v.index
	return out, nil
}

// within returns where all indices are those of items of v, or count from its end.
func within(v, at value) *node[bool] {
	items, indices := v.list.items, at.list.items
	return newNode(v.of, func(r *run, ok *node[bool]) {
		o, p := items.bounds(r), indices.bounds(r)
		all, _ := at.list.item.ints().rows(r)
		out := ok.out(r, len(o)-1)
		for i := range out {
			n := o[i+1] - o[i]
			// from -n to n-1
			out[i] = !slices.ContainsFunc(all[p[i]:p[i+1]], func(k int64) bool { return uint64(k+n) >= uint64(2*n) })
		}
	})
}

// itemsAt returns the rows of the items of v at indices. If strict is not nil, an index outside of
// the array is an error at that place. Otherwise all indices must be within, and negative ones
// count from the end.
func itemsAt(v, at value, strict *place) *node[int64] {
	items, indices := v.list.items, at.list.items
	return newNode(indices, func(r *run, n *node[int64]) {
		o, above := items.bounds(r), indices.rowsAbove(r)
		all, _ := at.list.item.ints().rows(r)
		out := n.out(r, len(all))
		outside := int64(0) // negative if an index is, or if it is not less than the size
		for j, k := range all {
			begin, size := o[above[j]], o[above[j]+1]-o[above[j]]
			out[j] = begin + k
			outside |= k | (size - 1 - k)
		}
		if outside >= 0 {
			return
		}
		valid, failed := n.flags(r, len(all)), false // the rest of the batch is evaluated all the same
		for j, k := range all {
			size := o[above[j]+1] - o[above[j]]
			switch valid[j] = strict == nil || uint64(k) < uint64(size); {
			case !valid[j] && !failed: // the first one
				failed = true
				r.fail(v.of, int(above[j]), strict.error(fmt.Sprintf("index %d of an array of %d items", k, size)))
			case k < 0:
				out[j] += size
			}
		}
	}).known(func(*zones) extent[int64] { return rowNumbers(false) })
}

// complete returns arrays that are missing where an item is.
func (b *builder) complete(v value) value {
	if !v.list.item.missing {
		return v
	}
	items := v.list.items
	valid := v.list.item.valid()
	all := summary("all", items, valid)
	if v.there != nil {
		all = combined(v.there, all, and).known(atCorners(and, v.there, all))
	}
	out := v.taken(where(all), true)
	out.list.item = out.list.item.sure()
	return out
}

// sure returns a value whose rows are known to be there.
func (v value) sure() value {
	v.missing, v.there = false, nil
	return v
}

// slice returns a part of arrays, or of strings.
func (b *builder) slice(n *syntax.Slice) (value, error) {
	v, err := b.build(n.X)
	if err != nil {
		return value{}, err
	}
	if v.null {
		return v, nil
	}
	if v.kind != String && (v.list == nil || v.list.tuple || v.list.keyed) {
		return value{}, b.errorf(n, "cannot slice %s", is(n.X, v))
	}
	all := []value{v, literalOf(v.of, int64(0)), literalOf(v.of, int64(1<<62))}
	for i, bound := range []syntax.Node{n.From, n.To} {
		if bound == nil {
			continue
		}
		if all[i+1], err = b.build(bound); err == nil && all[i+1].null {
			all[i+1] = scalar(nowhere[int64](b.entries), true)
		}
		if err == nil && all[i+1].kind != Int {
			err = b.errorf(bound, "%s, but the bounds of a slice are integers", is(bound, all[i+1]))
		}
		if err != nil {
			return value{}, err
		}
	}
	if all, err = common(all...); err != nil {
		return value{}, err
	}
	if v, all[0].literal = all[0], nil; v.kind == String {
		return b.substring(v, all[1], all[2]), nil
	}
	return b.part(v, all[1], all[2]), nil
}

// part returns a part of arrays, from one index to another.
func (b *builder) part(v, from, to value) value {
	there := b.allThere([]value{v, from, to})
	items := v.list.items
	out := chosenOf(v, func(r *run, d *domain) {
		o := items.bounds(r)
		first, _ := from.ints().rows(r)
		last, _ := to.ints().rows(r)
		valid := []bool(nil)
		if there != nil {
			valid, _ = there.rows(r)
		}
		counts := d.counts(r, len(o)-1)
		r.budget.Take(8 * int64(items.n))
		from := d.from[:0]
		for i, lo := range o[:len(o)-1] {
			n := o[i+1] - lo
			if valid == nil || valid[i] {
				for k := lo + clamped(first[i], n); k < lo+clamped(last[i], n); k++ {
					from = append(from, k)
				}
			}
			counts[i+1] = int64(len(from))
		}
		d.from = from
	})
	out.there, out.missing = there, there != nil
	return out
}

// clamped returns the place of a bound of a slice in an array of n items.
func clamped(bound, n int64) int64 {
	if bound < 0 {
		bound += n
	}
	return min(max(bound, 0), n)
}

// filtered returns the items where a condition about them is true.
func filtered(v value, keep *node[bool]) value {
	items := v.list.items
	out := chosenOf(v, func(r *run, d *domain) {
		o := items.bounds(r)
		flags, _ := keep.rows(r)
		counts := d.counts(r, len(o)-1)
		r.budget.Take(8 * int64(len(flags)))
		from := resize(&d.from, len(flags)+1)
		n := 0
		for i := range counts[1:] {
			for k := o[i]; k < o[i+1]; k++ {
				from[n] = k
				if flags[k] {
					n++
				}
			}
			counts[i+1] = int64(n)
		}
		d.from = from[:n]
	})
	out.list.items.sized(counted(items, keep))
	return out
}

// masked returns the items where an array of bools, of the same length, is true.
func (b *builder) masked(n *syntax.Index, v, mask value) (value, error) {
	v, mask, err := common2(v, mask)
	if err != nil {
		return value{}, err
	}
	missing := v.missing || mask.missing
	if missing || v.list.items != mask.list.items {
		if err := b.downAll(&v, &mask); err != nil {
			return value{}, err
		}
	}
	if missing {
		rows := where(b.allThere([]value{v, mask}))
		v, mask = v.taken(rows, true), mask.taken(rows, true)
	}
	mask = b.aligned(mask, v, func(n, m int64) string {
		return fmt.Sprintf("an array of %d items has an index of %d bools", n, m)
	}, n)
	return filtered(v, mask.list.item.condition()), nil
}

// sprintLengths says that arrays are not of the same length.
func sprintLengths(name string, n, m int64) string {
	return fmt.Sprintf("%s: arrays of %d and %d items", name, n, m)
}

// aligned returns an array with the items in the domain of those of another one of the same domain,
// which must have as many.
func (b *builder) aligned(v, with value, message func(n, m int64) string, n syntax.Node) value {
	to, from, at := with.list.items, v.list.items, b.place(n)
	if to == from {
		return v
	}
	rows := newNode(to, func(r *run, n *node[int64]) {
		o, p := to.bounds(r), from.bounds(r)
		n.all = r.numbers(to.n)
		if n.same = &o[0] == &p[0] || slices.Equal(o, p); n.same {
			return
		}
		out, valid := n.out(r, to.n), n.flags(r, to.n)
		for i := range len(o) - 1 {
			have, want := p[i+1]-p[i], o[i+1]-o[i]
			if have != want {
				r.fail(with.of, i, at.error(message(want, have)))
			}
			for k := o[i]; k < o[i+1]; k++ {
				out[k], valid[k] = p[i]+k-o[i], have == want
			}
		}
	})
	b.checks = append(b.checks, check{find: func(r *run) { rows.rows(r) }, here: with.of})
	return v.array(to, v.list.item.taken(rows, false))
}
