package expression

import "github.com/go-rntuple/go-rntuple/internal/syntax"

// concat returns the items of several arrays as one.
func (b *builder) concat(n *syntax.Call, all []value) (value, error) {
	for i, v := range all {
		if v.null {
			return nothing(b.entries), nil
		}
		if v.list == nil || v.list.tuple || v.list.keyed {
			return value{}, b.errorf(n, "concat takes arrays: %s", is(n.Args[i], v))
		}
		if !all[0].compatible(v) {
			return value{}, b.errorf(n, "concat takes arrays of one type: %s, %s", is(n.Args[0], all[0]), is(n.Args[i], v))
		}
	}
	return b.joined(all)
}

// joined returns the items of several arrays as one.
func (b *builder) joined(all []value) (value, error) {
	all, err := common(all...)
	if err != nil {
		return value{}, err
	}
	there := b.allThere(all)
	if there != nil {
		rows := where(there)
		for i, v := range all {
			all[i] = v.taken(rows, true)
		}
	}
	var which []int64
	items := newItems(all[0].of, func(r *run, d *domain) {
		counts := d.counts(r, d.up.size(r))
		total := int64(0)
		for row := range len(counts) - 1 {
			for _, v := range all {
				o := v.list.items.bounds(r)
				total += o[row+1] - o[row]
			}
			counts[row+1] = total
		}
		from := d.copies(r)
		r.budget.Take(8 * total)
		to, k := resize(&which, int(total)), 0
		for row := range len(counts) - 1 {
			for source, v := range all {
				o := v.list.items.bounds(r)
				for at := o[row]; at < o[row+1]; at++ {
					from[k], to[k] = at, int64(source)
					k++
				}
			}
		}
	})
	items.sized(func(z *zones) extent[int64] {
		sum := exactly(int64(0))
		for _, v := range all {
			s := v.list.items.span(z)
			if wrapsAround("+", sum, s) {
				return rowNumbers(false)
			}
			sum.low, sum.high = sum.low+s.low, sum.high+s.high
		}
		return sum
	})
	source := newNode(items, func(r *run, n *node[int64]) {
		items.update(r)
		n.all = which
	}).known(func(*zones) extent[int64] { return between(0, int64(len(all))-1) })
	sources := make([]value, len(all))
	for i, v := range all {
		sources[i] = v.list.item
	}
	item, _ := mux(source, rowsOf(items), sources, false)
	return listOf(items, item, there), nil
}

// flatten returns the items of arrays of arrays, of all of them.
func (b *builder) flatten(n *syntax.Call, v value) (value, error) {
	return b.flat(v), nil
}

// flat returns the items of all arrays in arrays, of which one that is missing is an item.
func (b *builder) flat(v value) value {
	for v.list.item.list != nil {
		outer, inner := v.list.items, v.list.item
		gaps := make([]bool, 0)
		items := newItems(v.of, func(r *run, d *domain) {
			o, p := outer.bounds(r), inner.list.items.bounds(r)
			counts := d.counts(r, len(o)-1)
			if inner.there == nil {
				for i := range counts {
					counts[i] = p[o[i]]
				}
				return
			}
			there, _ := inner.there.rows(r)
			r.budget.Take(9 * int64(inner.list.items.n+len(there)))
			from := d.from[:0]
			gaps = gaps[:0]
			for i := range len(o) - 1 {
				for k := o[i]; k < o[i+1]; k++ {
					if !there[k] {
						from, gaps = append(from, 0), append(gaps, false)
					}
					for at := p[k]; at < p[k+1]; at++ {
						from, gaps = append(from, at), append(gaps, true)
					}
				}
				counts[i+1] = int64(len(from))
			}
			d.from = from
		})
		v = v.array(items, inner.list.item.taken(newNode(items, func(r *run, n *node[int64]) {
			if items.update(r); inner.there != nil {
				n.all, n.valid = items.from, gaps
				return
			}
			n.all, n.same = r.numbers(items.n), true
		}).known(func(*zones) extent[int64] {
			return rowNumbers(inner.there != nil)
		}), inner.missing))
	}
	return v
}
