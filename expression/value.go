package expression

import "fmt"

// A value is what an expression is computed by, column by column: one of the nodes, an array, or
// a record.
type value struct {
	of   *domain
	kind Kind // of a node

	bools   *node[bool]
	ints    *node[int64]
	floats  *node[float64]
	strings *node[[]byte]
	missing bool // a node has rows without a value
	index   bool // a node of integers is of indices into an array

	literal any // bool, int64, float64 or string, if it is one
	null    bool

	list   *list
	record *record
}

// A list is an array for each row of a domain: its items have a domain of their own.
type list struct {
	items *domain
	item  value   // of the domain items
	size  int     // of all arrays, or 0 if it varies
	parts []value // the items of arrays of arrays of which only these are there
}

// A record has members, whose values are made when they are needed.
type record struct {
	names  []string
	member func(i int) (value, error)
}

// unsupported says what is not computed column by column, and why.
type unsupported struct{ reason string }

func (u *unsupported) Error() string { return u.reason }

func notColumns(format string, args ...any) error { return &unsupported{fmt.Sprintf(format, args...)} }

func boolsOf(d *domain, n *node[bool], missing bool) value {
	return value{of: d, kind: Bool, bools: n, missing: missing}
}

func intsOf(d *domain, n *node[int64], missing bool) value {
	return value{of: d, kind: Int, ints: n, missing: missing}
}

func floatsOf(d *domain, n *node[float64], missing bool) value {
	return value{of: d, kind: Float, floats: n, missing: missing}
}

func stringsOf(d *domain, n *node[[]byte], missing bool) value {
	return value{of: d, kind: String, strings: n, missing: missing}
}

func listOfItems(d *domain, items *domain, item value) value {
	return value{of: d, list: &list{items: items, item: item}}
}

// sized returns an array whose size is known.
func (v value) sized(n int) value {
	v.list.size = n
	return v
}

// isNode reports whether v is computed by a node.
func (v value) isNode() bool { return v.kind != 0 }

// isNumber reports whether v is a number in each row.
func (v value) isNumber() bool { return v.kind == Int || v.kind == Float }

// mark says where in a text the nodes of v are that are at no place yet.
func (v value) mark(at *place) {
	switch {
	case v.bools != nil && v.bools.at == nil:
		v.bools.at = at
	case v.ints != nil && v.ints.at == nil:
		v.ints.at = at
	case v.floats != nil && v.floats.at == nil:
		v.floats.at = at
	case v.strings != nil && v.strings.at == nil:
		v.strings.at = at
	case v.list != nil:
		if v.list.items.at == nil {
			v.list.items.at = at
		}
		v.list.item.mark(at)
		for _, p := range v.list.parts {
			p.mark(at)
		}
	}
}

// each applies a function of nodes to the node of v.
func (v value) each(d *domain, missing bool, f nodeFunc) value {
	switch v.kind {
	case Bool:
		return boolsOf(d, f.bools(v.bools), missing)
	case Int:
		return intsOf(d, f.ints(v.ints), missing)
	case Float:
		return floatsOf(d, f.floats(v.floats), missing)
	}
	return stringsOf(d, f.strings(v.strings), missing)
}

// A nodeFunc makes a node of another one, of any type.
type nodeFunc struct {
	bools   func(*node[bool]) *node[bool]
	ints    func(*node[int64]) *node[int64]
	floats  func(*node[float64]) *node[float64]
	strings func(*node[[]byte]) *node[[]byte]
}

// down returns the value that has in the rows of d what v has in the rows above.
func (v value) down(d *domain) (value, error) {
	switch {
	case v.of == d:
		return v, nil
	case !d.within(v.of):
		return value{}, notColumns("it combines items of different arrays")
	case !v.isNode():
		return value{}, notColumns("it needs an array or a record for each item of another array")
	}
	above, err := v.down(d.up)
	if err != nil {
		return value{}, err
	}
	out := above.each(d, v.missing, nodeFunc{
		func(n *node[bool]) *node[bool] { return spread(n, d) },
		func(n *node[int64]) *node[int64] { return spread(n, d) },
		func(n *node[float64]) *node[float64] { return spread(n, d) },
		func(n *node[[]byte]) *node[[]byte] { return spread(n, d) },
	})
	out.literal, out.index = v.literal, v.index
	return out, nil
}

// moved returns the value in another domain, which has the same rows.
func (v value) moved(to *domain) value {
	switch {
	case v.list != nil:
		l := *v.list
		l.items = v.list.items.copyFor(to)
		l.item = v.list.item.moved(l.items)
		v.list = &l
	case v.record != nil:
		r := v.record
		v.record = &record{r.names, func(i int) (value, error) {
			m, err := r.member(i)
			return m.moved(to), err
		}}
	}
	v.of = to
	return v
}

// chosen returns the value that has in the rows of d, which were chosen from those of v, what
// v has there.
func (v value) chosen(d *domain) (value, error) {
	switch {
	case v.record != nil:
		return value{of: d, record: &record{v.record.names, func(i int) (value, error) {
			m, err := v.record.member(i)
			if err != nil {
				return value{}, err
			}
			return m.chosen(d)
		}}}, nil
	case !v.isNode():
		return value{}, notColumns("it chooses arrays of an array")
	}
	out := v.each(d, v.missing, nodeFunc{
		func(n *node[bool]) *node[bool] { return gather(n, d) },
		func(n *node[int64]) *node[int64] { return gather(n, d) },
		func(n *node[float64]) *node[float64] { return gather(n, d) },
		func(n *node[[]byte]) *node[[]byte] { return gather(n, d) },
	})
	out.index = v.index
	return out, nil
}

// literalOf returns the value of a literal.
func literalOf(d *domain, v any) value {
	var out value
	switch v := v.(type) {
	case bool:
		out = boolsOf(d, constant(d, v), false)
	case int64:
		out = intsOf(d, constant(d, v), false)
	case float64:
		out = floatsOf(d, constant(d, v), false)
	case string:
		out = stringsOf(d, constant(d, []byte(v)), false)
	}
	out.literal = v
	return out
}

// asFloats returns a number as a float.
func (v value) asFloats() value {
	if v.kind != Int {
		return v
	}
	if n, ok := v.literal.(int64); ok {
		return literalOf(v.of, float64(n))
	}
	return floatsOf(v.of, mapped(v.ints, toFloat).known(monotonic(v.ints, toFloat)), v.missing)
}

// condition returns where v is true: not where it is missing.
func (v value) condition() *node[bool] {
	if !v.missing {
		return v.bools
	}
	return truth(v.bools)
}

// valid returns where v has a value.
func (v value) valid() *node[bool] {
	if !v.missing {
		return constant(v.of, true)
	}
	present := func(r *run, size int, flags []bool, n *node[bool]) {
		if n.all = flags; flags == nil {
			for i := range n.out(r, size) {
				n.all[i] = true
			}
		}
	}
	return (&node[bool]{compute: func(r *run, n *node[bool]) {
		switch v.kind {
		case Bool:
			all, flags := v.bools.rows(r)
			present(r, len(all), flags, n)
		case Int:
			all, flags := v.ints.rows(r)
			present(r, len(all), flags, n)
		case Float:
			all, flags := v.floats.rows(r)
			present(r, len(all), flags, n)
		default:
			all, flags := v.strings.rows(r)
			present(r, len(all), flags, n)
		}
	}}).known(v.present())
}
