package expression

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/internal/formula"
	"github.com/go-rntuple/go-rntuple/internal/nearest"
	"github.com/go-rntuple/go-rntuple/internal/syntax"
)

// call returns the value of a function.
func (b *builder) call(n *syntax.Call) (value, error) {
	if f := builtins[n.Name]; f.build != nil {
		if len(n.Args) < f.least || len(n.Args) > f.most {
			return value{}, b.errorf(n, "%s does not take %d arguments", n.Name, len(n.Args))
		}
		return f.build(b, n)
	}
	all := formula.Named(n.Name)
	if all == nil {
		return value{}, b.unknown(n)
	}
	args, err := b.all(n.Args...)
	if err != nil {
		return value{}, err
	}
	return b.function(n, args)
}

// unknown returns the error about a function that does not exist.
func (b *builder) unknown(n *syntax.Call) error {
	if slices.Contains(formula.Dropped, n.Name) {
		return b.errorf(n, "%s is no function of conditions on data", n.Name)
	}
	var names []string
	for _, f := range formula.Table {
		names = append(names, f.Name)
	}
	help := ""
	if like := nearest.Name(n.Name, names); like != "" {
		help = fmt.Sprintf("; did you mean %q?", like)
	}
	if h := hint(calls, n.Name); h != "" {
		help = h
	}
	return b.errorf(n, "unknown function %s%s", n.Name, help)
}

// function applies a function of numbers or of arrays of numbers.
func (b *builder) function(n *syntax.Call, args []value) (value, error) {
	all := formula.Named(n.Name)
	var forms []string
	var fits []formula.Function
	for _, f := range all {
		if forms = append(forms, f.String()); len(f.Parameters()) == len(args) {
			fits = append(fits, f)
		}
	}
	if fits == nil {
		return value{}, b.errorf(n, "%s has other arguments: %s", n.Name, strings.Join(forms, " or "))
	}
	for i, v := range args {
		if v.null {
			return nothing(b.entries), nil
		}
		if v.variant != nil {
			var err error
			if args[i], err = b.alternative(n.Args[i], v, Float); err != nil {
				return value{}, err
			}
		}
	}
	for i, f := range fits {
		wrong := -1
		for k, p := range f.Parameters() {
			if !accepts(p, args[k]) {
				wrong = k
				break
			}
		}
		switch {
		case wrong < 0:
			return b.apply(n, f, args)
		case i == len(fits)-1: // it takes most
			help := ""
			if args[wrong].kind == Bool && len(args) == 1 {
				help = asNumber(n.Args[wrong])
			}
			return value{}, b.errorf(n.Args[wrong], "%s, but argument %d of %s is %s%s", is(n.Args[wrong], args[wrong]), wrong+1,
				f, f.Parameters()[wrong], help)
		}
	}
	return value{}, nil
}

// accepts reports whether an argument may be a value.
func accepts(p formula.Parameter, v value) bool {
	if v.list != nil && (v.list.keyed || v.list.tuple) {
		return false
	}
	switch p {
	case formula.OfNumber, formula.OfInteger:
		kind := v.innermost()
		return kind == Int || kind == Float && p == formula.OfNumber || v.list != nil && !v.settled()
	}
	return v.list != nil && (v.list.item.null || v.list.item.kind == Int || v.list.item.kind == Float &&
		p == formula.OfNumbers)
}

// apply applies a function to arguments that it accepts.
func (b *builder) apply(n *syntax.Call, f formula.Function, args []value) (value, error) {
	switch g := f.F.(type) {
	case func(float64) float64:
		return b.ofNumbers(n, args, func(v []value, missing bool) value {
			return scalar(costly(mapped(v[0].floats(), each1(g)), f).known(ofFunction(n.Name, v[0].floats(), g)), missing)
		})
	case func(float64) bool:
		return b.ofNumbers(n, args, func(v []value, missing bool) value {
			return scalar(mapped(v[0].floats(), each1(g)).known(classified(n.Name, v[0].floats())), missing)
		})
	case func(float64) int64:
		return b.ofNumbers(n, args, func(v []value, missing bool) value {
			// int, which makes 0 of NaN
			return scalar(mapped(v[0].floats(), each1(g)).known(monotonic(v[0].floats(), each1(g))), missing)
		})
	case func(int64) int64:
		return b.ofIntegers(n, args, func(v []value, missing bool) value {
			out := mapped(v[0].ints(), each1(g))
			if n.Name == "abs" {
				out.known(func(z *zones) extent[int64] { return magnitude(v[0].ints().extent(z)) })
			}
			return scalar(out, missing)
		})
	case func(a, b int64) int64:
		return b.ofIntegers(n, args, func(v []value, missing bool) value {
			return scalar(combined(v[0].ints(), v[1].ints(), each2(g)), missing)
		})
	case func(a, b float64) float64:
		return b.ofNumbers(n, args, func(v []value, missing bool) value {
			return scalar(costly(combined(v[0].floats(), v[1].floats(), each2(g)),
				f).known(ofFunction2(n.Name, v[0].floats(), v[1].floats(), g)), missing)
		})
	case func(a, b, c float64) float64:
		return b.ofNumbers(n, args, several(f, func(x [][]float64, i int) float64 { return g(x[0][i], x[1][i], x[2][i]) }))
	case func(a, b, c, d float64) float64:
		return b.ofNumbers(n, args, several(f,
			func(x [][]float64, i int) float64 { return g(x[0][i], x[1][i], x[2][i], x[3][i]) }))
	case func(a, b, c, d, e, f, g, h float64) float64:
		return b.ofNumbers(n, args, several(f, func(x [][]float64, i int) float64 {
			return g(x[0][i], x[1][i], x[2][i], x[3][i], x[4][i], x[5][i], x[6][i], x[7][i])
		}))
	case func(a, b, c, d []float64) float64:
		return b.ofArrays(n, args, func(v value, items []*node[float64]) value {
			d := v.list.items
			return scalar(newNode(v.of, func(r *run, n *node[float64]) {
				o := d.bounds(r)
				var x [4][]float64
				for i, item := range items {
					x[i], _ = item.rows(r)
				}
				out := n.out(r, len(o)-1)
				for i := range out {
					lo, hi := o[i], o[i+1]
					out[i] = g(x[0][lo:hi], x[1][lo:hi], x[2][lo:hi], x[3][lo:hi])
				}
			}), false).only(v)
		})
	}
	panic(fmt.Sprintf("%s is a %T", f, f.F))
}

// costly notes what a function costs.
func costly[T any](n *node[T], f formula.Function) *node[T] {
	n.cost = f.Cost()
	return n
}

// only returns a value that is missing where v is.
func (v value) only(of value) value {
	if of.there == nil {
		return v
	}
	return v.taken(where(of.there), true)
}

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
func several(f formula.Function, g func(x [][]float64, i int) float64) func(v []value, missing bool) value {
	return func(v []value, missing bool) value {
		x, flags := make([][]float64, len(v)), make([][]bool, len(v))
		return scalar(costly(newNode(v[0].of, func(r *run, n *node[float64]) {
			for i, arg := range v {
				x[i], flags[i] = arg.floats().rows(r)
			}
			n.validWhere(r, flags...)
			out := n.out(r, len(x[0]))
			n.blocks(r, func(lo, hi int) {
				x, out := x, out // not captured, for the loop
				for i := lo; i < hi; i++ {
					out[i] = g(x, i)
				}
			})
		}), f), missing)
	}
}

// ofIntegers applies a function of integers, item by item where arguments are arrays.
func (b *builder) ofIntegers(n *syntax.Call, args []value, f func(v []value, missing bool) value) (value, error) {
	array := slices.ContainsFunc(args, value.isArray)
	for _, v := range args {
		if v.null && !array {
			return nothing(v.of), nil
		}
	}
	if !array {
		all, err := common(args...)
		if err != nil {
			return value{}, err
		}
		return f(all, anyMissing(all)), nil
	}
	items, there, _, err := b.zipped(n, n.Name, slices.Clone(args)...)
	if err != nil {
		return value{}, err
	}
	d := innermost(items)
	item, err := b.in(d, func() (value, error) { return b.ofIntegers(n, items, f) })
	if err != nil {
		return value{}, err
	}
	return listOf(d, item.down(d), there), nil
}

// ofNumbers is ofIntegers for floats.
func (b *builder) ofNumbers(n *syntax.Call, args []value, f func(v []value, missing bool) value) (value, error) {
	floats := make([]value, len(args))
	for i, v := range args {
		floats[i] = v.asFloats()
	}
	return b.ofIntegers(n, floats, f)
}

// ofArrays applies a function to arrays of numbers. It is missing where an item is.
func (b *builder) ofArrays(n *syntax.Call, args []value, f func(v value, items []*node[float64]) value) (value, error) {
	whole := make([]value, len(args))
	for i, v := range args {
		if v.list.item.null {
			v = v.array(v.list.items, scalar(constant(v.list.items, 0.0), false))
		}
		whole[i] = b.complete(v).asFloats()
	}
	items, there, _, err := b.zipped(n, n.Name, whole...)
	if err != nil {
		return value{}, err
	}
	columns := make([]*node[float64], len(items))
	for i, item := range items {
		columns[i] = item.floats()
	}
	return f(listOf(items[0].of, items[0], there), columns), nil
}
