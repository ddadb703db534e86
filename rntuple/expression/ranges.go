package expression

import (
	"fmt"
	"math"

	"github.com/go-rntuple/go-rntuple/internal/syntax"
)

// rangeOf returns an array of integers.
func (b *builder) rangeOf(n *syntax.Binary, l, r value) (value, error) {
	for _, v := range []value{l, r} {
		if v.kind != Int && !v.null {
			return value{}, b.invalid(n, l, r)
		}
	}
	if l.null || r.null {
		return nothing(b.entries), nil
	}
	if err := b.downAll(&l, &r); err != nil {
		return value{}, err
	}
	there := b.allThere([]value{l, r})
	at, here := b.place(n), b.here
	items := newItems(here, func(run *run, d *domain) {
		from, v := l.ints().rows(run)
		to, w := r.ints().rows(run)
		counts := d.counts(run, len(from))
		for i, lo := range from {
			counts[i+1] = counts[i]
			switch hi := to[i]; {
			case v != nil && !v[i] || w != nil && !w[i] || hi < lo:
			case uint64(hi-lo) >= maxItems:
				run.fail(here, i, at.error(fmt.Sprintf("%d..%d has more than a million items", lo, hi)))
			default:
				counts[i+1] += hi - lo + 1
			}
		}
		all := d.copies(run)
		for i, lo := range from {
			for k := range all[counts[i]:counts[i+1]] {
				all[counts[i]+int64(k)] = lo + int64(k)
			}
		}
	})
	items.sized(func(z *zones) extent[int64] { return sizeOfRange(l.ints().extent(z), r.ints().extent(z)) })
	item := rowsOf(items).known(func(z *zones) extent[int64] {
		return between(l.ints().extent(z).low, r.ints().extent(z).high)
	})
	b.checks = append(b.checks, check{
		find: func(r *run) { items.update(r) }, here: here,
		never: func(z *zones) bool { return items.span(z).high <= maxItems },
	})
	return listOf(items, scalar(item, false), there), nil
}

// sizeOfRange bounds the numbers of integers from one to another.
func sizeOfRange(from, to extent[int64]) extent[int64] {
	if beyond(from, 1<<60) || beyond(to, 1<<60) {
		return rowNumbers(false)
	}
	e := between(max(0, to.low-from.high+1), max(0, to.high-from.low+1))
	if from.missing || to.missing {
		e = e.with(0)
	}
	return e
}

// maxItems is how many items an array that an expression makes of numbers may have.
const maxItems = 1e6

// inRange is "in" for from..to: two comparisons. A float is in it if it is whole.
func (b *builder) inRange(n, among *syntax.Binary, l value) (value, error) {
	all, err := b.all(among.L, among.R)
	if err != nil {
		return value{}, err
	}
	from, to := all[0], all[1]
	if from.kind != Int && !from.null || to.kind != Int && !to.null {
		return value{}, b.invalid(among, from, to)
	}
	if l.variant != nil {
		if l, err = b.alternative(n.L, l, Float); err != nil {
			return value{}, err
		}
	}
	return b.between(n, among, l, from, to)
}

// between is inRange for values.
func (b *builder) between(n, among *syntax.Binary, l, from, to value) (value, error) {
	switch {
	case l.list != nil && !l.list.keyed && !l.list.tuple && !from.null && !to.null:
		return b.eachOf(l, func(item value) (value, error) { return b.between(n, among, item, from, to) }, from, to)
	case !l.isNumber() && !l.null:
		return value{}, b.errorf(n, "invalid operation: in (%s, %s is an array of integers)", is(n.L, l), among)
	case l.null || from.null || to.null:
		return literalOf(b.entries, false), nil
	}
	all, err := common(l, from, to)
	if err != nil {
		return value{}, err
	}
	l, from, to = all[0], all[1], all[2]
	out, _, _ := comparisonOf("<=", from, l)
	and := func(op string, l, r value) {
		v, _, _ := comparisonOf(op, l, r)
		out, _, _ = logicOf(true, out, v)
	}
	and("<=", l, to)
	lo, ok1 := from.literal.(int64)
	hi, ok2 := to.literal.(int64)
	if !ok1 || !ok2 || lo > hi { // floats are compared after both have been rounded
		and("<=", from, to)
	}
	if l.kind == Float {
		and("==", l, scalar(mapped(l.floats(), each1(math.Trunc)), l.missing))
	}
	return out, nil
}
