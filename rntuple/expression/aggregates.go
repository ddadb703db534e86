package expression

import (
	"math"
	"slices"
	"unicode/utf8"

	"github.com/go-rntuple/go-rntuple/internal/syntax"
)

// A builtin is a function that builds its arguments itself.
type builtin struct {
	build       func(b *builder, n *syntax.Call) (value, error)
	least, most int // arguments
}

var builtins map[string]builtin

// manyArguments is more than a text has.
const manyArguments = 1 << 20

func init() { // functions call others
	first, array, numbers := (*builder).first, (*builder).array, (*builder).numbers
	args, texts := (*builder).args, (*builder).texts
	builtins = map[string]builtin{
		"any": {(*builder).summary, 2, 2}, "all": {(*builder).summary, 2, 2}, "none": {(*builder).summary, 2, 2},
		"one": {(*builder).summary, 2, 2}, "count": {(*builder).summary, 1, 2}, "filter": {(*builder).filter, 2, 2},
		"map": {of(array, (*builder).mapItems), 2, 2}, "sum": {of(array, (*builder).sum), 1, 2},
		"find": {(*builder).findItem, 2, 2}, "findLast": {(*builder).findItem, 2, 2},
		"findIndex": {(*builder).findItem, 2, 2}, "findLastIndex": {(*builder).findItem, 2, 2},
		"first": {ofAll(args, (*builder).pick), 1, 1}, "last": {ofAll(args, (*builder).pick), 1, 1},
		"get": {ofAll(args, (*builder).pick), 2, 2}, "min": {ofAll(args, (*builder).statistic), 1, manyArguments},
		"max":    {ofAll(args, (*builder).statistic), 1, manyArguments},
		"mean":   {ofAll(args, (*builder).statistic), 1, manyArguments},
		"median": {ofAll(args, (*builder).statistic), 1, manyArguments},
		"len":    {of(first, (*builder).length), 1, 1}, "take": {ofAll(args, (*builder).take), 2, 2},
		"concat":  {ofAll(args, (*builder).concat), 1, manyArguments},
		"flatten": {of(array, (*builder).flatten), 1, 1},
		"reverse": {of(array, (*builder).reverse), 1, 1}, "sort": {of(array, (*builder).sort), 1, 2},
		"argsort": {of(numbers, (*builder).argsort), 1, 1}, "argmin": {of(numbers, (*builder).argExtreme), 1, 1},
		"argmax": {of(numbers, (*builder).argExtreme), 1, 1}, "sortBy": {of(array, (*builder).sortBy), 2, 3},
		"uniq": {of(array, (*builder).uniq), 1, 1}, "groupBy": {of(array, (*builder).groupBy), 2, 2},
		"keys": {of(first, (*builder).keysOf), 1, 1}, "values": {of(first, (*builder).keysOf), 1, 1},
		"reduce": {of(array, (*builder).reduce), 2, 3}, "combinations": {ofAll(args, (*builder).combinations), 1, 2},
		"int": {of(first, (*builder).convert), 1, 1}, "float": {of(first, (*builder).convert), 1, 1},
		"string": {of(first, (*builder).text), 1, 1}, "upper": {ofAll(texts, (*builder).changed), 1, 1},
		"lower": {ofAll(texts, (*builder).changed), 1, 1}, "trim": {ofAll(texts, (*builder).changed), 1, 2},
		"trimPrefix": {ofAll(texts, (*builder).changed), 1, 2}, "trimSuffix": {ofAll(texts, (*builder).changed), 1, 2},
		"replace": {(*builder).replace, 3, 4}, "repeat": {(*builder).repeat, 2, 2},
		"split": {(*builder).split, 2, 3}, "splitAfter": {(*builder).split, 2, 3},
		"join": {of(array, (*builder).join), 1, 2}, "indexOf": {ofAll(texts, (*builder).indexOf), 2, 2},
		"lastIndexOf": {ofAll(texts, (*builder).indexOf), 2, 2}, "hasPrefix": {ofAll(texts, (*builder).hasPart), 2, 2},
		"hasSuffix": {ofAll(texts, (*builder).hasPart), 2, 2}, "bitshl": {ofAll(args, (*builder).shift), 2, 2},
		"bitshr": {ofAll(args, (*builder).shift), 2, 2}, "bitushr": {ofAll(args, (*builder).shift), 2, 2},
	}
}

// of returns a function whose first argument another one builds. It is nil if that is.
func of(first func(*builder, *syntax.Call) (value, error),
	f func(*builder, *syntax.Call, value) (value, error)) func(*builder, *syntax.Call) (value, error) {
	return func(b *builder, n *syntax.Call) (value, error) {
		v, err := first(b, n)
		if err != nil || v.null {
			return v, err
		}
		return f(b, n, v)
	}
}

// ofAll returns a function whose arguments another one builds. It is nil if there are none.
func ofAll(args func(*builder, *syntax.Call) ([]value, error),
	f func(*builder, *syntax.Call, []value) (value, error)) func(*builder, *syntax.Call) (value, error) {
	return func(b *builder, n *syntax.Call) (value, error) {
		all, err := args(b, n)
		if err != nil || all == nil {
			return nothing(b.entries), err
		}
		return f(b, n, all)
	}
}

// args builds the arguments of a function.
func (b *builder) args(n *syntax.Call) ([]value, error) { return b.all(n.Args...) }

// texts builds the arguments of a function of strings. They are nil if one is.
func (b *builder) texts(n *syntax.Call) ([]value, error) { return b.stringsIn(n, n.Args...) }

// first builds the first argument of a function.
func (b *builder) first(n *syntax.Call) (value, error) { return b.build(n.Args[0]) }

// array builds the first argument of a function, an array. It is nil if that is.
func (b *builder) array(n *syntax.Call) (value, error) {
	v, err := b.build(n.Args[0])
	if err != nil {
		return value{}, err
	}
	return v, b.mustBeArray(n, n.Args[0], v)
}

func (b *builder) mustBeArray(n *syntax.Call, arg syntax.Node, v value) error {
	if v.null || v.list != nil && !v.list.tuple {
		return nil
	}
	return b.errorf(arg, "%s takes an array: %s", n.Name, is(arg, v))
}

// tested builds an array, and a condition for its items.
func (b *builder) tested(n *syntax.Call) (array value, test *node[bool], err error) {
	array, err = b.array(n)
	if err != nil || array.null {
		return array, nil, err
	}
	item, arg := array.list.item, n.Args[0]
	if len(n.Args) > 1 {
		arg = n.Args[1]
		if p, ok := arg.(*syntax.Predicate); ok {
			arg = p.X
		}
		if array, item, err = b.predicate(array, arg); err != nil {
			return value{}, nil, err
		}
	} else if item.kind != Bool && !item.null {
		return value{}, nil, b.errorf(n, "count takes an array of bools, or what to count: %s", is(arg, array))
	}
	switch item = item.orFalse(); {
	case item.list != nil:
		return value{}, nil, b.errorf(arg, "%s, not true or false; use any(..., #), all(..., #) or count(...)", is(arg, item))
	case item.kind != Bool:
		return value{}, nil, b.errorf(arg, "%s, not true or false", is(arg, item))
	}
	return array, item.condition(), nil
}

// summary tells whether any, all, none or one of the items are true, or how many.
func (b *builder) summary(n *syntax.Call) (value, error) {
	v, test, err := b.tested(n)
	if err != nil || v.null {
		return v, err
	}
	if n.Name != "count" {
		return scalar(summary(n.Name, v.list.items, test), false).only(v), nil
	}
	return scalar(overItems(v.list.items, test, countOf).known(counted(v.list.items, test)), false).only(v), nil
}

func summary(name string, d *domain, test *node[bool]) *node[bool] {
	f := map[string]func(out []bool, o []int64, a []bool){"any": anyOf, "all": allOf, "none": noneOf, "one": oneOf}[name]
	return overItems(d, test, f).known(func(z *zones) extent[bool] {
		s, e := d.span(z), test.extent(z)
		empty, hits, misses := s.low == 0, s.high > 0 && may(e, true), s.high > 0 && may(e, false)
		switch name {
		case "any":
			return eitherOf(hits, empty || misses)
		case "all":
			return eitherOf(empty || hits, misses)
		case "none":
			return eitherOf(empty || misses, hits)
		}
		return eitherOf(hits, s.low != 1 || s.high != 1 || misses) // one
	})
}

// counted bounds the number of items that are true in each array.
func counted(d *domain, items *node[bool]) func(z *zones) extent[int64] {
	return func(z *zones) extent[int64] {
		s, e := d.span(z), items.extent(z)
		if may(e, false) {
			s.low = 0
		}
		if !may(e, true) {
			s.high = 0
		}
		return between(min(s.low, s.high), s.high)
	}
}

// extremes bounds the least or greatest items of arrays, which empty ones do not have. No item is
// missing.
func extremes[T any](d *domain, items *node[T]) func(z *zones) extent[T] {
	return func(z *zones) extent[T] { return items.extent(z).orMissing(d.span(z).low == 0) }
}

// sumsOfInts bounds the sums of the items of arrays.
func sumsOfInts(d *domain, items *node[int64]) func(z *zones) extent[int64] {
	return func(z *zones) extent[int64] {
		n, e := d.span(z), items.extent(z).orMissing(false)
		switch {
		case !e.some:
			return exactly(int64(0))
		case wrapsAround("*", n, e):
			return anything[int64]().orMissing(false)
		}
		return corners(arithmetic[int64]("*"), n, e)
	}
}

// sumsOfFloats is sumsOfInts for floats, whose sums are rounded.
func sumsOfFloats(d *domain, items *node[float64]) func(z *zones) extent[float64] {
	return func(z *zones) extent[float64] {
		n, e := d.span(z), items.extent(z)
		sum := extent[float64]{nan: e.nan || e.low < 0 && e.high > 0 && beyond(e, math.MaxFloat64)}
		if n.low == 0 || !e.some {
			sum = sum.with(0)
		}
		if e.some && n.high > 0 {
			for _, count := range []int64{max(n.low, 1), n.high} {
				sum = sum.with(float64(count) * e.low).with(float64(count) * e.high)
			}
		}
		return widened(sum, errorOfSums(n.high), 0)
	}
}

// means bounds the means of the items of arrays.
func means(d *domain, items *node[float64]) func(z *zones) extent[float64] {
	return func(z *zones) extent[float64] {
		e := extremes(d, items)(z)
		if beyond(e, math.MaxFloat64/maxSummands) { // sums may be infinite
			return anything[float64]().orMissing(e.missing)
		}
		return widened(e, errorOfSums(d.span(z).high), 0)
	}
}

// maxSummands is more than memory has room for.
const maxSummands = 1 << 40

// errorOfSums returns a bound, several times too high, of the relative error of sums of up to n
// floats of one sign: each addition adds 2^-53.
func errorOfSums(n int64) float64 { return float64(min(n, maxSummands)+2) * 0x1p-51 }

// overItems returns the column that a function computes from the items of arrays.
func overItems[A, T any](d *domain, items *node[A], f func(out []T, o []int64, a []A)) *node[T] {
	return newNode(d.up, func(r *run, n *node[T]) {
		o := d.bounds(r)
		a, _ := items.rows(r)
		f(n.out(r, len(o)-1), o, a)
	})
}

// overSome is overItems without a value for empty arrays.
func overSome[A, T any](d *domain, items *node[A], f func(out []T, o []int64, a []A)) *node[T] {
	return newNode(d.up, func(r *run, n *node[T]) {
		o := d.bounds(r)
		a, _ := items.rows(r)
		f(n.out(r, len(o)-1), o, a)
		for i := range n.flags(r, len(o)-1) {
			n.valid[i] = o[i] < o[i+1]
		}
	})
}

func (b *builder) filter(n *syntax.Call) (value, error) {
	v, test, err := b.tested(n)
	if err != nil || v.null {
		return v, err
	}
	return filtered(v, test), nil
}

func (b *builder) mapItems(n *syntax.Call, v value) (value, error) {
	v, item, err := b.predicate(v, body(n))
	return v.mapped(item), err
}

// mapped returns an array of other items.
func (v value) mapped(item value) value {
	if v.list == nil {
		return v
	}
	out := v.array(v.list.items, item)
	out.list.size, out.index = v.list.size, item.index
	return out
}

// body returns the predicate of a call.
func body(n *syntax.Call) syntax.Node {
	if p, ok := n.Args[1].(*syntax.Predicate); ok {
		return p.X
	}
	return n.Args[1]
}

// sum adds numbers, or counts bools that are true.
func (b *builder) sum(n *syntax.Call, v value) (value, error) {
	item, arg := v.list.item, n.Args[0]
	var err error
	if len(n.Args) > 1 {
		arg = body(n)
		if v, item, err = b.predicate(v, arg); err != nil {
			return value{}, err
		}
		v = v.mapped(item)
	}
	if v.list.item, err = b.plain(arg, item); err != nil {
		return value{}, err
	}
	v = b.complete(v)
	d := v.list.items
	switch item := v.list.item; {
	case item.null:
		return scalar(overItems(d, constant(d, int64(0)), sumOf[int64]), false).only(v), nil
	case item.kind == Bool:
		return scalar(overItems(d, item.bools(), countOf).known(counted(d, item.bools())), false).only(v), nil
	case item.kind == Int:
		return scalar(overItems(d, item.ints(), sumOf[int64]).known(sumsOfInts(d, item.ints())), false).only(v), nil
	case item.kind == Float:
		return scalar(overItems(d, item.floats(), sumOf[float64]).known(sumsOfFloats(d, item.floats())), false).only(v), nil
	}
	if len(n.Args) == 1 {
		item = v
	}
	return value{}, b.errorf(n, "sum takes numbers or bools: %s", is(arg, item))
}

// findItem returns the first or the last item for which a condition is true, or its index.
func (b *builder) findItem(n *syntax.Call) (value, error) {
	v, test, err := b.tested(n)
	if err != nil || v.null {
		return v, err
	}
	at := int64(0)
	if n.Name == "findLast" || n.Name == "findLastIndex" {
		at = -1
	}
	if n.Name == "findIndex" || n.Name == "findLastIndex" {
		v.list = &list{items: v.list.items, item: numbered(v.list.items)}
	}
	return b.index(n, filtered(v, test), literalOf(v.of, at))
}

// pick returns an item at an index.
func (b *builder) pick(n *syntax.Call, all []value) (value, error) {
	v := all[0]
	if v.record != nil && n.Name == "get" {
		name, ok := all[1].literal.(string)
		if !ok {
			return value{}, b.errorf(n.Args[1], "%s, and its members are taken by literals", is(n.Args[0], v))
		}
		return b.memberOf(n, n.Args[0], v, name)
	}
	switch {
	case v.null:
		return v, nil
	case v.list == nil:
		return value{}, b.errorf(n, "%s, and has no items", is(n.Args[0], v))
	case n.Name == "first":
		return b.index(n, v, literalOf(v.of, int64(0)))
	case n.Name == "last":
		return b.index(n, v, literalOf(v.of, int64(-1)))
	case v.list.keyed:
		return b.valueAt(n, v, all[1])
	case all[1].null:
		return nothing(v.of), nil
	case all[1].kind != Int:
		return value{}, b.errorf(n.Args[1], "%s, but an index is an integer", is(n.Args[1], all[1]))
	}
	return b.index(n, v, all[1])
}

// length returns the number of items of an array, of members of a record, or of characters of a
// string.
func (b *builder) length(n *syntax.Call, v value) (value, error) {
	switch {
	case v.list != nil:
		return scalar(lengths(v.list.items), false).only(v), nil
	case v.record != nil:
		return literalOf(v.of, int64(len(v.record.names))).only(v), nil
	case v.kind == String:
		return scalar(mapped(v.strings(), func(out []int64, a [][]byte) {
			for i, s := range a {
				out[i] = int64(utf8.RuneCount(s))
			}
		}).known(func(*zones) extent[int64] { return rowNumbers(v.missing) }), v.missing), nil
	}
	return value{}, b.errorf(n, "%s, and has no length", is(n.Args[0], v))
}

// statistic returns the least, greatest, mean or median of all numbers in all arguments.
func (b *builder) statistic(n *syntax.Call, args []value) (value, error) {
	float, numbers := false, true
	var err error
	for i, v := range args {
		if args[i], err = b.plain(n.Args[i], v); err != nil {
			return value{}, err
		}
		kind := args[i].innermost()
		if kind != Int && kind != Float && args[i].settled() {
			return value{}, b.errorf(n, "%s takes numbers and arrays of numbers: %s", n.Name, is(n.Args[i], args[i]))
		}
		float = float || kind == Float
		numbers = numbers && args[i].isNumber()
	}
	if slices.ContainsFunc(args, func(v value) bool { return v.null }) {
		return nothing(b.entries), nil
	}
	if numbers && (n.Name == "min" || n.Name == "max") {
		return extreme(n.Name, args, float)
	}
	v, err := b.numbersOf(args)
	if err != nil {
		return value{}, err
	}
	v = b.complete(v)
	item, d := v.list.item, v.list.items
	switch {
	case item.null:
		return b.index(n, v.array(d, scalar(nowhere[int64](d), true)), literalOf(v.of, int64(0)))
	case n.Name == "mean":
		floats := item.asFloats().floats()
		return scalar(overSome(d, floats, meanOf).known(means(d, floats)), true).only(v), nil
	case n.Name == "median":
		return scalar(medians(d, item.asFloats().floats()), true).only(v), nil
	case item.kind == Int:
		return scalar(extremeOf(n.Name, d, item.ints()), true).only(v), nil
	}
	return scalar(extremeOf(n.Name, d, item.floats()), true).only(v), nil
}

func extremeOf[T number](name string, d *domain, items *node[T]) *node[T] {
	f := leastOf[T]
	if name == "max" {
		f = greatestOf[T]
	}
	return overSome(d, items, f).known(extremes(d, items))
}

// numbersOf returns one array of all numbers in arguments.
func (b *builder) numbersOf(args []value) (value, error) {
	all := make([]value, len(args))
	for i, v := range args {
		if v.list == nil {
			v = arrayOf([]value{v})
		}
		all[i] = b.flat(v)
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return b.joined(all)
}

// extreme returns the least or greatest of some numbers.
func extreme(name string, args []value, float bool) (value, error) {
	op := "<"
	if name == "max" {
		op = ">"
	}
	best := args[0]
	for i, v := range args {
		if float {
			v = v.asFloats()
		}
		if i == 0 {
			best = v
			continue
		}
		l, r, err := common2(best, v)
		if err != nil {
			return value{}, err
		}
		missing := l.missing || r.missing
		if float {
			best = scalar(better(r.floats(), l.floats(), order[float64](op)), missing)
		} else {
			best = scalar(better(r.ints(), l.ints(), order[int64](op)), missing)
		}
	}
	best.literal = nil
	return best, nil
}

// better returns a's values where they compare to b's as wanted, and b's elsewhere.
func better[T number](a, b *node[T], compare func(out []bool, a, b []T)) *node[T] {
	var is []bool
	f := func(out, a, b []T) {
		compare(resize(&is, len(a)), a, b)
		for i, t := range is {
			if out[i] = b[i]; t {
				out[i] = a[i]
			}
		}
	}
	return combined(a, b, f).known(atCorners(f, a, b))
}

// take returns the first items of an array, or those at some indices.
func (b *builder) take(n *syntax.Call, all []value) (value, error) {
	v, count := all[0], all[1]
	if err := b.mustBeArray(n, n.Args[0], v); err != nil {
		return value{}, err
	}
	switch {
	case v.null || count.null:
		return nothing(b.entries), nil
	case count.kind == Int:
		v, count, err := common2(v, count)
		if err != nil {
			return value{}, err
		}
		count = scalar(mapped(count.ints(), func(out, a []int64) {
			for i, n := range a {
				out[i] = max(n, 0)
			}
		}), count.missing)
		return b.part(v, literalOf(v.of, int64(0)), count), nil
	case count.list != nil && (count.list.item.kind == Int || count.list.item.null):
		return b.some(n, v, count)
	}
	return value{}, b.errorf(n.Args[1], "%s, but argument 2 of take(v, indices) is an array of integers",
		is(n.Args[1], count))
}
