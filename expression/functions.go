package expression

import (
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"

	"github.com/go-rntuple/go-rntuple/internal/formula"
)

// builtin returns the value of a function of the language.
func (b *builder) builtin(n *ast.BuiltinNode) (value, error) {
	switch n.Name {
	case "any", "all", "none", "one", "count", "sum", "filter", "map":
		v, err := b.build(n.Arguments[0])
		if err != nil {
			return value{}, err
		}
		if v.list == nil {
			return value{}, notColumns("%s of something that is no array", n.Name)
		}
		item := v.list.item
		if len(n.Arguments) > 1 {
			if item, err = b.predicate(v, n.Arguments[1]); err != nil {
				return value{}, err
			}
		}
		return b.aggregate(n.Name, v, item)
	case "find", "findLast":
		v, err := b.build(n.Arguments[0])
		if err != nil {
			return value{}, err
		}
		if v.list == nil {
			return value{}, notColumns("%s of something that is no array", n.Name)
		}
		test, err := b.predicate(v, n.Arguments[1])
		if err == nil {
			v, err = b.aggregate("filter", v, test)
		}
		if err != nil {
			return value{}, err
		}
		return b.index(v, literalOf(v.of, map[string]int64{"find": 0, "findLast": -1}[n.Name]))
	case "first", "last", "get":
		v, err := b.build(n.Arguments[0])
		if err != nil {
			return value{}, err
		}
		if v.list == nil {
			return value{}, notColumns("%s of something that is no array", n.Name)
		}
		at := literalOf(v.of, map[string]int64{"first": 0, "last": -1}[n.Name])
		if n.Name == "get" {
			if at, err = b.build(n.Arguments[1]); err != nil {
				return value{}, err
			}
		}
		return b.index(v, at)
	case "min", "max", "mean":
		return b.statistic(n)
	case "len":
		v, err := b.build(n.Arguments[0])
		switch {
		case err != nil:
			return value{}, err
		case v.list != nil:
			d := v.list.items
			n := &node[int64]{compute: func(r *run, n *node[int64]) {
				o := d.bounds(r)
				out := n.out(r, len(o)-1)
				for i := range out {
					out[i] = o[i+1] - o[i]
				}
			}}
			return intsOf(v.of, n.known(lengths(d)), false), nil
		case v.kind == String:
			return intsOf(v.of, mapped(v.strings, func(out []int64, a [][]byte) {
				for i, s := range a {
					out[i] = int64(utf8.RuneCount(s))
				}
			}), v.missing), nil
		}
		return value{}, notColumns("the length of something that is no array and no string")
	}
	if formula.Named(n.Name) != nil {
		return b.function(n, n.Name, n.Arguments)
	}
	return value{}, notColumns("the function %s", n.Name)
}

// overItems returns the column that a function computes from the items of arrays.
func overItems[A, T any](d *domain, items *node[A], f func(out []T, o []int64, a []A)) *node[T] {
	return &node[T]{compute: func(r *run, n *node[T]) {
		o := d.bounds(r)
		a, _ := items.rows(r)
		f(n.out(r, len(o)-1), o, a)
	}}
}

// overPresent is like overItems. The value is missing where an item is, and of empty arrays if
// they have none.
func overPresent[A, T any](d *domain, items *node[A], missing, empty bool, f func(out []T, o []int64, a []A)) *node[T] {
	n := overItems(d, items, f)
	if !missing && !empty {
		return n
	}
	compute := n.compute
	n.compute = func(r *run, n *node[T]) {
		compute(r, n)
		o := d.bounds(r)
		_, valid := items.rows(r)
		flags := n.flags(r, len(o)-1)
		for i := range flags {
			flags[i] = !empty || o[i] < o[i+1]
			if valid == nil {
				continue
			}
			for _, v := range valid[o[i]:o[i+1]] {
				flags[i] = flags[i] && v
			}
		}
	}
	return n
}

// aggregate applies a function to the items of an array, or to what is said about them.
func (b *builder) aggregate(name string, v, item value) (value, error) {
	d := v.list.items
	switch name {
	case "map":
		return listOfItems(v.of, d, item), nil
	case "sum":
		switch item.kind {
		case Bool:
			bits := item
			item = intsOf(d, mapped(bits.bools, func(out []int64, a []bool) {
				for i, v := range a {
					out[i] = 0
					if v {
						out[i] = 1
					}
				}
			}), bits.missing)
			fallthrough
		case Int:
			return intsOf(v.of, overPresent(d, item.ints, item.missing, false, sumOf[int64]), item.missing), nil
		case Float:
			return floatsOf(v.of, overPresent(d, item.floats, item.missing, false, sumOf[float64]), item.missing), nil
		}
		return value{}, notColumns("the sum of something else than numbers")
	}
	if item.kind != Bool {
		return value{}, notColumns("what %s tests is not known to be true or false", name)
	}
	t := item.condition()
	switch name {
	case "filter":
		return filtered(v, t)
	case "count":
		return intsOf(v.of, overItems(d, t, countOf).known(counted(d, t)), false), nil
	}
	f := map[string]func(out []bool, o []int64, a []bool){"any": anyOf, "all": allOf, "none": noneOf, "one": oneOf}[name]
	return boolsOf(v.of, overItems(d, t, f).known(summarized(name, d, t)), false), nil
}

// statistic returns the least, greatest or mean value of an array, or of several numbers.
func (b *builder) statistic(n *ast.BuiltinNode) (value, error) {
	var args []value
	float := false
	for _, arg := range n.Arguments {
		v, err := b.build(arg)
		if err != nil {
			return value{}, err
		}
		if v.list != nil && len(n.Arguments) > 1 || v.list == nil && n.Name == "mean" {
			return value{}, notColumns("%s of several arrays", n.Name)
		}
		float = float || v.kind == Float
		args = append(args, v)
	}
	if len(args) == 0 {
		return value{}, notColumns("%s of nothing", n.Name)
	}
	v := args[0]
	if v.list == nil {
		return extreme(n.Name, args, float)
	}
	item, d := v.list.item, v.list.items
	switch {
	case !item.isNumber():
		return value{}, notColumns("%s of something else than numbers", n.Name)
	case n.Name == "mean":
		return floatsOf(v.of, overPresent(d, item.asFloats().floats, item.missing, true, meanOf), true), nil
	case item.kind == Int && n.Name == "min":
		return intsOf(v.of, overPresent(d, item.ints, item.missing, true, leastOf[int64]).known(extremes(d, item.ints)), true), nil
	case item.kind == Int:
		return intsOf(v.of, overPresent(d, item.ints, item.missing, true, greatestOf[int64]).known(extremes(d, item.ints)), true), nil
	case n.Name == "min":
		return floatsOf(v.of, overPresent(d, item.floats, item.missing, true, leastOf[float64]).known(extremes(d, item.floats)), true), nil
	}
	return floatsOf(v.of, overPresent(d, item.floats, item.missing, true, greatestOf[float64]).known(extremes(d, item.floats)), true), nil
}

// extreme returns the least or greatest of some numbers.
func extreme(name string, args []value, float bool) (value, error) {
	op := "<"
	if name == "max" {
		op = ">"
	}
	best := args[0]
	for i, v := range args {
		if !v.isNumber() {
			return value{}, notColumns("%s of something else than numbers", name)
		}
		if float {
			v = v.asFloats()
		}
		if i == 0 {
			best = v
			continue
		}
		d, l, r, err := common(best, v)
		if err != nil {
			return value{}, err
		}
		missing := l.missing || r.missing
		if float {
			best = floatsOf(d, better(r.floats, l.floats, order[float64](op)), missing)
		} else {
			best = intsOf(d, better(r.ints, l.ints, order[int64](op)), missing)
		}
	}
	return best, nil
}

// better returns a's values where they compare to b's as wanted, and b's elsewhere.
func better[T number](a, b *node[T], compare func(out []bool, a, b []T)) *node[T] {
	var is []bool
	return combined(a, b, func(out, a, b []T) {
		compare(resize(&is, len(a)), a, b)
		for i, t := range is {
			if out[i] = b[i]; t {
				out[i] = a[i]
			}
		}
	})
}

// function returns the value of a function of the table.
func (b *builder) function(n ast.Node, name string, arguments []ast.Node) (value, error) {
	var args []value
	for _, n := range arguments {
		v, err := b.build(n)
		if err != nil {
			return value{}, err
		}
		args = append(args, v)
	}
	b.node, b.name = n, name
	for _, f := range formula.Named(name) {
		if out, err, ok := b.call(f.F, args); ok {
			return out, err
		}
	}
	return value{}, notColumns("the function %s", name)
}

// call calls a function of the table. It returns false if the function has other arguments.
func (b *builder) call(f any, args []value) (out value, err error, ok bool) {
	switch f := f.(type) {
	case func(float64) float64:
		out, err = b.ofNumbers(args, 1, false, func(d *domain, v []value, missing bool) value {
			return floatsOf(d, mapped(v[0].floats, each1(f)).known(applied(b.name, v[0].floats)), missing)
		})
	case func(float64) bool:
		out, err = b.ofNumbers(args, 1, false, func(d *domain, v []value, missing bool) value {
			return boolsOf(d, mapped(v[0].floats, each1(f)), missing)
		})
	case func(float64) int64:
		out, err = b.ofNumbers(args, 1, false, func(d *domain, v []value, missing bool) value {
			return intsOf(d, mapped(v[0].floats, each1(f)), missing)
		})
	case func(int64) int64:
		out, err = b.ofNumbers(args, 1, true, func(d *domain, v []value, missing bool) value {
			return intsOf(d, mapped(v[0].ints, each1(f)).known(applied(b.name, v[0].ints)), missing)
		})
	case func(a, b int64) int64:
		out, err = b.ofNumbers(args, 2, true, func(d *domain, v []value, missing bool) value {
			return intsOf(d, combined(v[0].ints, v[1].ints, each2(f)), missing)
		})
	case func(a, b float64) float64:
		out, err = b.ofNumbers(args, 2, false, func(d *domain, v []value, missing bool) value {
			return floatsOf(d, combined(v[0].floats, v[1].floats, each2(f)), missing)
		})
	case func(a, b, c float64) float64:
		out, err = b.ofNumbers(args, 3, false, several(func(x [][]float64, i int) float64 { return f(x[0][i], x[1][i], x[2][i]) }))
	case func(a, b, c, d float64) float64:
		out, err = b.ofNumbers(args, 4, false, several(func(x [][]float64, i int) float64 { return f(x[0][i], x[1][i], x[2][i], x[3][i]) }))
	case func(a, b, c, d, e, f, g, h float64) float64:
		out, err = b.ofNumbers(args, 8, false, several(func(x [][]float64, i int) float64 {
			return f(x[0][i], x[1][i], x[2][i], x[3][i], x[4][i], x[5][i], x[6][i], x[7][i])
		}))
	case func([]float64) int64:
		out, err = b.ofArrays(args, 1, func(v value, items []*node[float64]) value {
			n := overItems(v.list.items, items[0], func(out []int64, o []int64, a []float64) {
				for i := range out {
					out[i] = f(a[o[i]:o[i+1]])
				}
			})
			return intsOf(v.of, unlessNegative(n), true)
		})
	case func([]float64, *formula.Budget) []int64:
		out, err = b.ofArrays(args, 1, func(v value, items []*node[float64]) value {
			d := v.list.items
			item := intsOf(d, &node[int64]{compute: func(r *run, n *node[int64]) {
				o := d.bounds(r)
				a, _ := items[0].rows(r)
				out := n.out(r, len(a))
				for i := range len(o) - 1 {
					copy(out[o[i]:o[i+1]], f(a[o[i]:o[i+1]], &r.budget))
				}
			}}, false)
			item.index = true
			return listOfItems(v.of, d, item)
		})
	case func(a, b, c, d []float64) float64:
		out, err = b.ofArrays(args, 4, func(v value, items []*node[float64]) value {
			d := v.list.items
			return floatsOf(v.of, &node[float64]{compute: func(r *run, n *node[float64]) {
				o := d.bounds(r)
				var x [4][]float64
				for i, item := range items {
					x[i], _ = item.rows(r)
				}
				out := n.out(r, len(o)-1)
				for i := range out {
					lo, hi := o[i], o[i+1]
					out[i] = f(x[0][lo:hi], x[1][lo:hi], x[2][lo:hi], x[3][lo:hi])
				}
			}}, false)
		})
	case func(n int64) [][]int64:
		out, err = b.ofLengths(args, 1, func(n []int64) [][]int64 { return f(n[0]) })
	case func(n, m int64) [][]int64:
		out, err = b.ofLengths(args, 2, func(n []int64) [][]int64 { return f(n[0], n[1]) })
	case func(array any, indices []int64) any:
		if err = errArguments; len(args) == 2 && args[0].list != nil && args[1].list != nil && args[1].list.item.kind == Int {
			out, err = b.taken(b.node, args[0], args[1])
		}
	default:
		return value{}, nil, false
	}
	if err == errArguments {
		return value{}, nil, false
	}
	return out, err, true
}

// errArguments says that a function has other arguments.
var errArguments = notColumns("it has other arguments")

func each1[A, T any](f func(A) T) func(out []T, a []A) {
	return func(out []T, a []A) {
		for i, v := range a {
			out[i] = f(v)
		}
	}
}

func each2[T any](f func(a, b T) T) func(out, a, b []T) {
	return func(out, a, b []T) {
		for i, v := range a {
			out[i] = f(v, b[i])
		}
	}
}

// several returns the column of a function of the i-th values of several columns.
func several(f func(x [][]float64, i int) float64) func(d *domain, v []value, missing bool) value {
	return func(d *domain, v []value, missing bool) value {
		x := make([][]float64, len(v))
		return floatsOf(d, &node[float64]{compute: func(r *run, n *node[float64]) {
			var valid []bool
			for i, arg := range v {
				var flags []bool
				x[i], flags = arg.floats.rows(r)
				if valid == nil {
					valid = flags
				} else if flags != nil {
					n.both(r, valid, flags)
					valid = n.valid
				}
			}
			n.valid = valid
			out := n.out(r, len(x[0]))
			n.blocks(r, 0, func(lo, hi int) {
				x, out := x, out // not captured, for the loop
				for i := lo; i < hi; i++ {
					out[i] = f(x, i)
				}
			})
		}}, missing)
	}
}

func unlessNegative(from *node[int64]) *node[int64] {
	return &node[int64]{compute: func(r *run, n *node[int64]) {
		all, _ := from.rows(r)
		n.all = all
		valid := n.flags(r, len(all))
		for i, v := range all {
			valid[i] = v >= 0
		}
	}}
}

// ofNumbers applies a function of numbers to numbers, or to the items of arrays.
func (b *builder) ofNumbers(args []value, count int, integers bool, f func(d *domain, v []value, missing bool) value) (value, error) {
	if len(args) != count {
		return value{}, errArguments
	}
	var array *value
	for _, v := range args {
		for v.list != nil {
			v = v.list.item
		}
		if v.kind != Int && (integers || v.kind != Float) {
			return value{}, errArguments
		}
	}
	for i, v := range args {
		if v.list != nil {
			array = &args[i]
			break
		}
	}
	if array != nil {
		items := make([]value, len(args))
		for i, v := range args {
			switch {
			case v.list != nil:
				v, err := b.aligned(v, *array)
				if err != nil {
					return value{}, err
				}
				items[i] = v.list.item
			case v.missing:
				return value{}, notColumns("an argument beside an array may be missing")
			case !array.list.items.within(v.of):
				return value{}, notColumns("it makes an array for each item of another one")
			default:
				items[i] = v
			}
		}
		item, err := b.ofNumbers(items, count, integers, f)
		return listOfItems(array.of, array.list.items, item), err
	}
	d := args[0].of
	for _, v := range args {
		if v.of.within(d) {
			d = v.of
		}
	}
	all := make([]value, len(args))
	missing := false
	for i, v := range args {
		v, err := v.down(d)
		if err != nil {
			return value{}, err
		}
		if !integers {
			v = v.asFloats()
		}
		missing = missing || v.missing
		all[i] = v
	}
	return f(d, all, missing), nil
}

// ofArrays applies a function to arrays of numbers.
func (b *builder) ofArrays(args []value, count int, f func(v value, items []*node[float64]) value) (value, error) {
	if len(args) != count {
		return value{}, errArguments
	}
	var items []*node[float64]
	for _, v := range args {
		if v.list == nil || !v.list.item.isNumber() {
			return value{}, errArguments
		}
		if v.list.item.missing {
			return value{}, notColumns("items of its arguments may be missing")
		}
		v, err := b.aligned(v, args[0])
		if err != nil {
			return value{}, err
		}
		items = append(items, v.list.item.asFloats().floats)
	}
	return f(args[0], items), nil
}

// ofLengths applies a function of the lengths of arrays, which yields two arrays of indices.
func (b *builder) ofLengths(args []value, count int, f func(n []int64) [][]int64) (value, error) {
	if len(args) != count {
		return value{}, errArguments
	}
	for _, v := range args {
		if v.list == nil {
			return value{}, errArguments
		}
		if v.of != b.entries {
			return value{}, notColumns("it makes arrays for each item of another one")
		}
	}
	if err := b.checked(); err != nil {
		return value{}, err
	}
	where, name, guard := b.node, b.name, b.guard
	var indices [2][]int64
	lengths := make([]int64, count)
	d := &domain{up: b.entries}
	d.items = func(r *run, d *domain) []int64 {
		out := append(d.buffer[:0], 0)
		indices[0], indices[1] = indices[0][:0], indices[1][:0]
		for row := range r.batch.Len {
			for i, v := range args {
				o := v.list.items.bounds(r)
				lengths[i] = o[row+1] - o[row]
			}
			if passed(r, guard, row) {
				all := f(lengths)
				if all == nil {
					r.fail(row, errorAt(b.text, where, "%s: too many combinations of %v items", name, lengths))
					all = make([][]int64, 2)
				}
				r.budget.Take(16 * int64(len(all[0])))
				r.budget.Step(2 * int64(len(all[0])))
				indices[0], indices[1] = append(indices[0], all[0]...), append(indices[1], all[1]...)
			}
			out = append(out, int64(len(indices[0])))
		}
		d.buffer = out
		return out
	}
	b.checks = append(b.checks, check{find: func(r *run) { d.bounds(r) }, guard: guard})
	pair := &domain{up: b.entries, items: fixed(2)}
	out := listOfItems(b.entries, pair, value{of: pair})
	out.list.size = 2
	for i := range indices {
		item := intsOf(d, &node[int64]{compute: func(r *run, n *node[int64]) {
			d.bounds(r)
			n.all = indices[i]
		}}, false)
		item.index = true
		out.list.parts = append(out.list.parts, listOfItems(b.entries, d, item))
	}
	return out, nil
}
