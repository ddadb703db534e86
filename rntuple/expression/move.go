package expression

import (
	"errors"
	"slices"
)

// What arrays, records and variants are made of moves between domains as columns do: down, to the
// rows that a domain has for each row above; to rows that a column of numbers chooses; and from
// several values to one.

// errApart says that neither of two domains is within the other: one of them is of a predicate that
// has ended.
var errApart = errors.New("values of different arrays")

// down returns the value that has in the rows of d, which are within its own, what v has in the
// rows above.
func (v value) down(d *domain) value {
	switch {
	case v.of == d:
		return v
	case v.literal != nil:
		return literalOf(d, v.literal)
	}
	v = v.down(d.up)
	v.name = ""
	out := v
	switch {
	case v.null:
		out.of = d
		return out
	case v.column != nil:
		out = scalar(v.column.spread(d), v.missing)
	case v.record != nil && !v.missing:
		out.of, out.record = d, v.record.with(func(m value) value { return m.down(d) })
	default:
		if out, ok := d.spreads[v.part()].(value); ok {
			return out
		}
		out = v.taken(newNode(d, func(r *run, n *node[int64]) {
			n.all = d.rowsAbove(r)
			n.same = d.selection && len(n.all) == d.up.size(r)
		}).known(func(*zones) extent[int64] { return rowNumbers(false) }), false)
		d.keep(v.part(), out)
		return out
	}
	out.index = v.index
	out.unsigned = v.unsigned.moved(func(n *node[int64]) *node[int64] { return spread(n, d) })
	return out
}

// part returns the pointer that an array, a record or a variant is known by.
func (v value) part() any {
	switch {
	case v.list != nil:
		return v.list
	case v.record != nil:
		return v.record
	}
	return v.variant
}

// keep remembers what a column or a value of the rows above is here.
func (d *domain) keep(of, here any) {
	if d.spreads == nil {
		d.spreads = map[any]any{}
	}
	d.spreads[of] = here
}

// taken returns the value that has in each row what v has in the row of that number. Missing says
// that there may be rows without a number, where it is missing.
func (v value) taken(rows *node[int64], missing bool) value {
	d := rows.of
	missing = missing || v.missing
	out := v
	out.name = ""
	switch {
	case v.null:
		out.of, out.missing = d, missing
		return out
	case v.column != nil:
		out = scalar(v.column.picked(rows), missing)
	default:
		out.of, out.missing = d, missing
		if missing {
			out.there = presentRows(v.there, rows)
		}
	}
	out.index, out.literal = v.index, nil
	out.unsigned = v.unsigned.moved(func(n *node[int64]) *node[int64] { return picked(n, rows) })
	switch {
	case v.list != nil:
		out.list = v.list.taken(rows, out.there)
	case v.record != nil:
		out.record = v.record.with(func(m value) value { return m.taken(rows, missing) })
	case v.variant != nil:
		out.variant = &variant{picked(v.variant.tag, rows), picked(v.variant.at, rows), v.variant.alternatives}
	}
	return out
}

// presentRows returns where rows that are chosen are there.
func presentRows(there *node[bool], rows *node[int64]) *node[bool] {
	if there == nil {
		return presence(rows)
	}
	return truth(picked(there, rows))
}

// taken returns the arrays of rows, where they are there.
func (l *list) taken(rows *node[int64], there *node[bool]) *list {
	items := newItems(rows.of, func(r *run, d *domain) {
		o := l.items.bounds(r)
		at, valid := rows.rows(r)
		if there != nil {
			valid, _ = there.rows(r)
		}
		if rows.same && (valid == nil || !slices.Contains(valid, false)) {
			d.offsets, d.from, d.same = o, r.numbers(int(o[len(o)-1])), true
			return
		}
		counts := d.counts(r, len(at))
		for i, k := range at {
			n := int64(0)
			if valid == nil || valid[i] {
				n = o[k+1] - o[k]
			}
			counts[i+1] = counts[i] + n
		}
		from := d.copies(r)
		for i, k := range at {
			for at := range from[counts[i]:counts[i+1]] {
				from[counts[i]+int64(at)] = o[k] + int64(at)
			}
		}
	})
	items.sized(atMost(l.items))
	if there == nil {
		items.sized(l.items.span)
	}
	out := &list{items: items, item: l.item.taken(rowsOf(items), false), size: l.size, keyed: l.keyed, tuple: l.tuple}
	for _, p := range l.parts {
		out.parts = append(out.parts, p.taken(rows, there != nil))
	}
	if there != nil {
		out.size = 0 // where it is not there
	}
	return out
}

// mux returns the value whose row i is that of row at[i] of source which[i], or missing where which
// is negative. It returns false if the sources have no type in common.
func mux(which, at *node[int64], sources []value, missing bool) (value, bool) {
	sources = unified(sources)
	if sources == nil {
		return value{}, false
	}
	var like value
	index := true
	for _, s := range sources {
		missing = missing || s.missing
		if !s.null {
			index = index && s.index
			if like.of == nil || !like.settled() {
				like = s
			}
		}
	}
	index = index && like.of != nil
	out := value{of: which.of, kind: like.kind, missing: missing, index: index, unsigned: muxUnsigned(which, at, sources)}
	switch {
	case like.of == nil:
		out.null = true
		return out, true
	case like.column != nil:
		out.column = like.column.mixed(which, at, sources)
		return out, true
	}
	if missing {
		out.there = truth(mixed(which, at, columnsOfAll(sources, func(v value) *node[bool] {
			if v.there == nil {
				return constant(v.of, true)
			}
			return v.there
		})))
	}
	if like.record != nil {
		out.record = muxRecords(which, at, sources, like.record, missing)
		return out, true
	}
	items, which, at := muxItems(which, at, sources)
	var all []value
	for _, s := range sources {
		item := never(items)
		if !s.null {
			item = s.list.item
		}
		all = append(all, item)
	}
	item, ok := mux(which, at, all, false)
	out.list = &list{items: items, item: item, keyed: like.list.keyed}
	return out, ok
}

// columnsOfAll returns the columns of values, nil for nil.
func columnsOfAll[T any](sources []value, of func(v value) *node[T]) []*node[T] {
	all := make([]*node[T], len(sources))
	for i, s := range sources {
		if !s.null {
			all[i] = of(s)
		}
	}
	return all
}

func muxRecords(which, at *node[int64], sources []value, like *record, missing bool) *record {
	return like.record(like.names, like.size, func(i int) (value, error) {
		all := make([]value, len(sources))
		for k, s := range sources {
			if all[k] = s; !s.null {
				var err error
				if all[k], err = s.named(like.names[i]); err != nil {
					return value{}, err
				}
			}
		}
		m, _ := mux(which, at, all, missing)
		return m, nil
	})
}

// muxItems returns the domain of the items of arrays that are those of several sources, and of
// which source each is, and in which row there.
func muxItems(which, at *node[int64], sources []value) (items *domain, whichItem, atItem *node[int64]) {
	offsets := make([][]int64, len(sources))
	items = newItems(which.of, func(r *run, d *domain) {
		from, valid := which.rows(r)
		rows, _ := at.rows(r)
		for i, s := range sources {
			if s.list != nil {
				offsets[i] = s.list.items.bounds(r)
			}
		}
		counts := d.counts(r, len(from))
		for i, k := range from {
			counts[i+1] = counts[i]
			if k >= 0 && offsets[k] != nil && (valid == nil || valid[i]) {
				counts[i+1] += offsets[k][rows[i]+1] - offsets[k][rows[i]]
			}
		}
		all := d.copies(r)
		for i, k := range from {
			for at := range all[counts[i]:counts[i+1]] {
				all[counts[i]+int64(at)] = offsets[k][rows[i]] + int64(at)
			}
		}
	})
	items.sized(func(z *zones) (e extent[int64]) {
		chosen := which.extent(z)
		for i, s := range sources {
			switch {
			case int64(i) < chosen.low || int64(i) > chosen.high:
			case s.list == nil:
				e = e.with(0)
			default:
				e = e.union(s.list.items.span(z))
			}
		}
		if chosen.missing || chosen.low < 0 {
			e = e.with(0)
		}
		return e
	})
	return items, spread(which, items), rowsOf(items)
}
