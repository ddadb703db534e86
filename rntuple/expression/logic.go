package expression

import "github.com/go-rntuple/go-rntuple/internal/syntax"

// logic is "and" or "or". What is on the right is evaluated only where it matters, unless an array
// is on one side.
func (b *builder) logic(n syntax.Node, isAnd bool, l value, right func() (value, error)) (value, error) {
	wrong := func(l, r value) error {
		if bin, ok := n.(*syntax.Binary); ok {
			return b.invalid(bin, l, r)
		}
		return b.errorf(n, "%s, not true or false", is(n, r))
	}
	if l.list == nil && !b.eager[n] {
		if l = l.orFalse(); l.kind != Bool {
			r, err := right()
			if err == nil {
				err = wrong(l, r)
			}
			return value{}, err
		}
		at, err := b.down(l)
		if err != nil {
			return value{}, err
		}
		checks := len(b.checks)
		c := at.condition()
		d := selected(b.here, c, isAnd)
		r, err := b.in(d, right)
		r = r.orFalse()
		switch {
		case err != nil:
			return value{}, err
		case r.list == nil && r.kind != Bool:
			return value{}, wrong(l, r)
		case r.list == nil && r.of == d:
			return scalar(decided(c, r.condition(), d, isAnd), false), nil
		case r.list == nil:
			out, _, err := b.itemwise(n, "", l, r, func(l, r value) (value, bool, error) { return logicOf(isAnd, l, r) })
			return out, err
		}
		b.checks = b.checks[:checks]
		clear(b.names)
		b.eager[n] = true
	}
	r, err := right()
	if err != nil {
		return value{}, err
	}
	name := map[bool]string{true: "and", false: "or"}[isAnd]
	out, ok, err := b.itemwise(n, name, l, r, func(l, r value) (value, bool, error) { return logicOf(isAnd, l, r) })
	if err == nil && !ok {
		err = wrong(l, r)
	}
	return out, err
}

func logicOf(isAnd bool, l, r value) (value, bool, error) {
	l, r = l.orFalse(), r.orFalse()
	if l.kind != Bool || r.kind != Bool {
		return value{}, false, nil
	}
	f := or
	if isAnd {
		f = and
	}
	x, y := l.condition(), r.condition()
	return scalar(combined(x, y, f).known(atCorners(f, x, y)), false), true, nil
}

// decided returns the column of "and" or "or": what is right is of those rows of c that it decides,
// the domain d.
func decided(c, right *node[bool], d *domain, isAnd bool) *node[bool] {
	return newNode(c.of, func(r *run, n *node[bool]) {
		all, _ := c.rows(r)
		what, _ := right.rows(r)
		out := n.out(r, len(all))
		copy(out, all)
		for i, row := range d.rowsAbove(r) {
			out[row] = what[i]
		}
	}).known(func(z *zones) (e extent[bool]) {
		if may(c.extent(z), !isAnd) {
			e = e.with(!isAnd)
		}
		if may(c.extent(z), isAnd) {
			e = e.union(right.extent(z))
		}
		return e
	})
}

// orElse is ??.
func (b *builder) orElse(n *syntax.Binary, l value, right func() (value, error)) (value, error) {
	if l.null {
		return right()
	}
	l, err := b.plain(n.L, l)
	if err != nil {
		return value{}, err
	}
	at, err := b.down(l)
	if err != nil {
		return value{}, err
	}
	valid := at.valid()
	d := selected(b.here, valid, false)
	r, err := b.in(d, right)
	if err != nil {
		return value{}, err
	}
	if r, err = b.plain(n.R, r); err != nil {
		return value{}, err
	}
	at.missing, at.there = false, nil // where it is taken
	out, err := b.chosen(valid, at, r, b.here, d)
	if err == nil && out.of == nil {
		return value{}, b.errorf(n, "%s, but %s", is(n.L, l), is(n.R, r))
	}
	return out, err
}

func (b *builder) conditional(n *syntax.Cond) (value, error) {
	c, err := b.truth(n.If)
	if err != nil {
		return value{}, err
	}
	sides, d := [2]value{}, [2]*domain{selected(b.here, c, true), selected(b.here, c, false)}
	for i, side := range []syntax.Node{n.Then, n.Else} {
		if sides[i], err = b.in(d[i], func() (value, error) { return b.build(side) }); err == nil {
			sides[i], err = b.plain(side, sides[i])
		}
		if err != nil {
			return value{}, err
		}
	}
	out, err := b.chosen(c, sides[0], sides[1], d[0], d[1])
	if err == nil && out.of == nil {
		return value{}, b.errorf(n, "%s, but %s", is(n.Then, sides[0]), is(n.Else, sides[1]))
	}
	return out, err
}

// truth builds a condition, in the domain here.
func (b *builder) truth(n syntax.Node) (*node[bool], error) {
	c, err := b.build(n)
	if err != nil {
		return nil, err
	}
	switch c = c.orFalse(); {
	case c.list != nil:
		return nil, b.errorf(n, "%s, not true or false; use any(..., #), all(..., #) or count(...)", is(n, c))
	case c.kind != Bool:
		return nil, b.errorf(n, "%s, not true or false", is(n, c))
	}
	if c, err = b.down(c); err != nil {
		return nil, err
	}
	return c.condition(), nil
}

// chosen returns the value of yes where c is true, and that of no elsewhere. They are in domains of
// the rows where they are needed, or above. The result is none if they have no type in common.
func (b *builder) chosen(c *node[bool], yes, no value, ofYes, ofNo *domain) (value, error) {
	both := unified([]value{yes, no})
	if both == nil {
		return value{}, nil
	}
	own := [2]bool{both[0].of == ofYes && ofYes != b.here, both[1].of == ofNo && ofNo != b.here}
	for i := range both {
		var err error
		if !own[i] {
			if both[i], err = b.down(both[i]); err != nil {
				return value{}, err
			}
		}
	}
	yes, no = both[0], both[1]
	if !own[0] && !own[1] && yes.kind != 0 && no.kind != 0 {
		v := scalar(yes.column.either(c, no.column), yes.missing || no.missing)
		v.column.narrow(c, yes, no)
		return v, nil
	}
	which := newNode(b.here, func(r *run, n *node[int64]) {
		all, _ := c.rows(r)
		out := n.out(r, len(all))
		for i, t := range all {
			if out[i] = 1; t {
				out[i] = 0
			}
		}
	}).known(func(z *zones) (e extent[int64]) {
		if may(c.extent(z), true) {
			e = e.with(0)
		}
		if may(c.extent(z), false) {
			e = e.with(1)
		}
		return e
	})
	at := newNode(b.here, func(r *run, n *node[int64]) {
		all, _ := c.rows(r)
		out := n.out(r, len(all))
		var next [2]int64
		for i, t := range all {
			side := 1
			if t {
				side = 0
			}
			if out[i] = int64(i); own[side] {
				out[i] = next[side]
			}
			next[side]++
		}
	})
	v, _ := mux(which, at, both, false)
	if yes.kind != 0 && no.kind != 0 {
		v.column.narrow(c, yes, no)
	}
	return v, nil
}

// either returns the column of the values of yes where c is true, and of no elsewhere.
func either[T any](c *node[bool], yes, no *node[T]) *node[T] {
	return newNode(c.of, func(r *run, n *node[T]) {
		which, _ := c.rows(r)
		a, v := yes.rows(r)
		b, w := no.rows(r)
		out := n.out(r, len(which))
		for i, t := range which {
			if t {
				out[i] = a[i]
			} else {
				out[i] = b[i]
			}
		}
		if v != nil || w != nil {
			flags := n.flags(r, len(which))
			for i, t := range which {
				flags[i] = t && (v == nil || v[i]) || !t && (w == nil || w[i])
			}
		}
	})
}

// alternative bounds rows of yes where c is true, and of no elsewhere. There, yes and no may be
// known not to be missing.
func alternative[T any](c *node[bool], yes, no *node[T], yesMissing, noMissing bool) func(z *zones) extent[T] {
	return func(z *zones) (e extent[T]) {
		if may(c.extent(z), true) {
			e = yes.extent(z)
			e.missing = e.missing && yesMissing
		}
		if may(c.extent(z), false) {
			missing := e.missing || noMissing && no.extent(z).missing
			e = e.union(no.extent(z)).orMissing(missing)
		}
		return e
	}
}
