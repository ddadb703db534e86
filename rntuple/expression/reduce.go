package expression

import (
	"slices"

	"github.com/go-rntuple/go-rntuple/internal/syntax"
)

// reduce computes a value item by item, from what there is so far.
func (b *builder) reduce(n *syntax.Call, v value) (value, error) {
	v, err := b.down(v)
	if err != nil {
		return value{}, err
	}
	var begin value
	if len(n.Args) == 3 {
		if begin, err = b.build(n.Args[2]); err == nil {
			begin, err = b.down(begin)
		}
		if err != nil {
			return value{}, err
		}
	} else if begin, err = b.index(n, v, literalOf(v.of, int64(0))); err != nil {
		return value{}, err
	}
	like := begin
	if len(n.Args) < 3 {
		like.missing = v.list.item.missing
	}
	if begin, err = b.plain(n, begin); err != nil {
		return value{}, err
	}
	if like.kind == 0 {
		return value{}, b.errorf(n, "reduce begins with what %s, but makes a number, a string or a bool", begin.is())
	}

	checks := len(b.checks)
	out, ok, err := b.loop(n, v, begin, like)
	if err == nil && !ok { // it becomes missing on the way
		b.checks, like.missing = b.checks[:checks], true
		out, _, err = b.loop(n, v, begin, like)
	}
	if err != nil {
		return value{}, err
	}
	return out.only(v), nil
}

// loop is reduce, which begins with a value, and goes on with those of a type. It returns false if
// they may be missing, but those of the type are not.
func (b *builder) loop(n *syntax.Call, v, begin, like value) (value, bool, error) {
	// In each step, the rows are those of arrays that have another item.
	l := &loop{items: v.list.items, clock: 1, first: 3 - len(n.Args)}
	step := &domain{up: b.here, selection: true, clock: &l.clock, load: func(r *run, d *domain) { d.above = l.rows }}
	at := newNode(step, func(r *run, n *node[int64]) { n.all = l.at })
	so, reduced := begin.column.accumulated(step, l)
	acc := scalar(so, like.missing)
	index := scalar(newNode(step, func(r *run, n *node[int64]) {
		for i := range n.out(r, len(l.rows)) {
			n.all[i] = int64(l.step)
		}
	}), false)
	checks := len(b.checks)
	b.items = append(b.items, predicate{item: v.list.item.taken(at, false),
		index: func() value { return index }, acc: &acc})
	next, err := b.in(step, func() (value, error) {
		v, err := b.build(body(n))
		if err == nil {
			v, err = b.plain(body(n), v)
		}
		if err != nil {
			return value{}, err
		}
		return b.down(v)
	})
	b.items = b.items[:len(b.items)-1]
	switch {
	case err != nil:
		return value{}, false, err
	case next.null:
		next = scalar(like.column.nowhere(step), true)
	case next.kind != like.kind:
		return value{}, false, b.errorf(n, "reduce begins with what %s, but goes on with what %s", like.is(), next.is())
	}
	if next.missing && !like.missing {
		return value{}, false, nil
	}
	l.checks = slices.Clone(b.checks[checks:])
	b.checks = b.checks[:checks]
	clear(b.names) // some have checks of steps
	out := scalar(reduced(next.column), like.missing || begin.missing)
	if len(l.checks) > 0 {
		b.checks = append(b.checks, check{find: out.column.evaluate, here: b.here})
	}
	return out, true, nil
}

// A loop goes through the items of arrays, with all arrays of a batch at once.
type loop struct {
	items  *domain
	first  int // the number of the first item
	checks []check

	clock    int // counts steps
	step     int
	rows, at []int64 // the rows of arrays that have an item in this step, and which one
}

// run calls do for each step.
func (l *loop) run(r *run, do func()) {
	o := l.items.bounds(r)
	r.budget.Take(16 * int64(len(o)))
	for l.step = l.first; ; l.step++ {
		l.rows, l.at = l.rows[:0], l.at[:0]
		for i, begin := range o[:len(o)-1] {
			if at := begin + int64(l.step); at < o[i+1] {
				l.rows, l.at = append(l.rows, int64(i)), append(l.at, at)
			}
		}
		r.budget.Step(int64(len(o)))
		if len(l.rows) == 0 {
			return
		}
		l.clock++
		for _, c := range l.checks {
			c.find(r)
		}
		do()
	}
}

// accumulated returns the column of #acc in the steps of a loop, which begins with n, and what
// makes the result of the column that #acc becomes in each step.
func (n *node[T]) accumulated(step *domain, l *loop) (acc column, reduced func(next column) column) {
	var all []T
	var valid []bool
	return newNode(step, func(r *run, n *node[T]) {
			out, flags := n.out(r, len(l.rows)), n.flags(r, len(l.rows))
			for i, row := range l.rows {
				out[i], flags[i] = all[row], valid[row]
			}
		}), func(next column) column {
			return newNode(n.of, func(r *run, out *node[T]) {
				first, there := n.rows(r)
				all, valid = out.out(r, len(first)), out.flags(r, len(first))
				copy(all, first)
				for i := range valid {
					valid[i] = there == nil || there[i]
				}
				l.run(r, func() {
					values, flags := next.(*node[T]).rows(r)
					texts, _ := any(values).([][]byte)
					for i, s := range texts {
						r.budget.Take(int64(len(s)))
						texts[i] = slices.Clone(s) // it is in memory of the step
					}
					for i, row := range l.rows {
						all[row], valid[row] = values[i], flags == nil || flags[i]
					}
				})
			})
		}
}
