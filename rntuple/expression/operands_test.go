package expression

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/formula"
	"github.com/go-rntuple/go-rntuple/internal/syntax"
	"github.com/go-rntuple/go-rntuple/internal/test/oracle"
	"github.com/go-rntuple/go-rntuple/internal/test/sampletest"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// operands are columns of random values within random bounds, which stand for fields of the zoo.
type operands struct {
	*rand.Rand
	vars   []variable
	change []func() // what draws other bounds and values for a column
}

const operandRows = 6

var (
	someBools = []bool{false, true}
	someInts  = []int64{math.MinInt64, math.MinInt64 + 1, -1 << 53, -1 << 31, -3, -2, -1, 0, 1, 2, 3, 7, 63, 1 << 31,
		1<<53 - 1, 1 << 53, 1<<53 + 1, 1 << 62, math.MaxInt64}
	someFloats = []float64{math.Inf(-1), -math.MaxFloat64, -1e300, -1 << 53, -2.5, -1, -0.1, -5e-324, math.Copysign(0, -1),
		0, 5e-324, 1e-300, 0.1, 1, 1.5, 2, 700, 1 << 53, 1 << 63, 1e300, math.MaxFloat64, math.Inf(1)}
)

// operand returns a node of d whose values are some of ascending ones, NaN, or missing.
func operand[T any](o *operands, d *domain, rows func() int, ascending []T, missing bool) *node[T] {
	var e extent[T]
	var all []T
	var valid []bool
	o.change = append(o.change, func() {
		low := o.IntN(len(ascending))
		high := min(len(ascending)-1, low+o.IntN(5))
		e = extent[T]{low: ascending[low], high: ascending[high], some: o.IntN(12) > 0, missing: missing && o.IntN(4) > 0}
		nan, isFloat := any(math.NaN()).(T)
		e.nan = isFloat && (o.IntN(4) == 0 || !e.some && !e.missing)
		e.some = e.some || !e.nan && !e.missing
		all, valid = nil, nil
		for range rows() {
			v, there := ascending[low+o.IntN(high-low+1)], true
			switch {
			case e.missing && (o.IntN(3) == 0 || !e.some && !e.nan):
				there = false
			case e.nan && (o.IntN(3) == 0 || !e.some):
				v = nan
			}
			all, valid = append(all, v), append(valid, there)
		}
		if !missing {
			valid = nil
		}
	})
	return newNode(d, func(_ *run, n *node[T]) { n.all, n.valid = all, valid }).known(func(*zones) extent[T] { return e })
}

func (o *operands) ints(d *domain, rows func() int, missing bool) value {
	return scalar(operand(o, d, rows, someInts, missing), missing)
}

func (o *operands) floats(d *domain, rows func() int, missing bool) value {
	return scalar(operand(o, d, rows, someFloats, missing), missing)
}

func (o *operands) bools(d *domain, rows func() int, missing bool) value {
	return scalar(operand(o, d, rows, someBools, missing), missing)
}

// array returns arrays of some sizes.
func (o *operands) array(d *domain, items func(d *domain, rows func() int, missing bool) value, missing bool) value {
	var offsets []int64
	var sizes extent[int64]
	o.change = append(o.change, func() {
		least := o.Int64N(3) + 7*o.Int64N(2)
		offsets, sizes = []int64{0}, between(least, least+o.Int64N(3))
		for range operandRows {
			offsets = append(offsets, offsets[len(offsets)-1]+sizes.low+o.Int64N(sizes.high-sizes.low+1))
		}
	})
	inner := newItems(d, func(_ *run,
		d *domain) {
		d.offsets = offsets
	}).sized(func(*zones) extent[int64] { return sizes })
	return listOf(inner, items(inner, func() int { return int(offsets[operandRows]) }, missing), nil)
}

// simple returns an operation or a function of operands alone.
func (o *operands) simple() string {
	one := func(of ...string) string { return of[o.IntN(len(of))] }
	number := func() string { return one("i1", "i2", "i3", "x1", "x2", "x3", "2", "3.0") }
	array := func() string { return one("v1", "v2", "w1", "w2") }
	switch o.IntN(4) {
	case 0:
		return number() + one("+", "-", "*", "/", "%", "**", "==", "!=", "<", "<=", "??") + number()
	case 1:
		return one("sum", "min", "max", "mean", "median", "sort", "uniq", "len") + "(" + array() + ")"
	case 2:
		return fmt.Sprintf("%s(%s, %s)", one("min", "max", "any", "all", "one", "count"), one(array(), "m1"),
			one("b1", "true", "i1"))
	}
	f := formula.Table[o.IntN(len(formula.Table))]
	var args []string
	for _, p := range f.Parameters() {
		switch p {
		case formula.OfNumber:
			args = append(args, number())
		case formula.OfInteger:
			args = append(args, one("i1", "i2", "i3"))
		default:
			args = append(args, array())
		}
	}
	return f.Name + "(" + strings.Join(args, ", ") + ")"
}

// TestBoundsOfOperands is TestBounds for expressions of a few operands with extreme bounds.
func TestBoundsOfOperands(t *testing.T) {
	random := sampletest.Rand(t)
	r := zooFile(t, 1, 1, nil)
	o := &operands{Rand: random}
	rows := func() int { return operandRows }
	in := &instance{leaves: &leaves{domains: map[string]*domain{}, columns: map[string]any{}}}
	in.begin(r, 0)
	entries := &domain{clock: &in.clock}
	types := map[string]oracle.Type{}
	fields, err := oracle.FieldsOf(r)
	if err != nil {
		t.Fatal(err)
	}
	for name, like := range map[string]struct {
		field string
		value
	}{
		"i1": {"N", o.ints(entries, rows, false)}, "i2": {"N", o.ints(entries, rows, false)},
		"i3": {"O", o.ints(entries, rows, true)},
		"x1": {"D", o.floats(entries, rows, false)}, "x2": {"D", o.floats(entries, rows, false)},
		"x3": {"OF", o.floats(entries, rows, true)},
		"b1": {"B", o.bools(entries, rows, false)}, "b2": {"B", o.bools(entries, rows, false)},
		"v1": {"X", o.array(entries, o.floats, false)}, "v2": {"X", o.array(entries, o.floats, false)},
		"w1": {"I", o.array(entries, o.ints, false)}, "w2": {"I", o.array(entries, o.ints, false)},
		"m1": {"M", o.array(entries, o.bools, false)},
	} {
		o.vars, types[name] = append(o.vars, variable{name, like.value}), fields.Types[like.field]
	}
	g := oracle.NewGenerator(random, types)
	g.Risk = 0
	count, each := 0, 3000
	if sampletest.Whole() {
		each = 300_000
	}
	for i := range each {
		text := g.Expression(1 + i%2)
		if i%2 == 0 {
			text = o.simple()
		}
		tree, err := syntax.Parse(text)
		if err != nil {
			continue
		}
		var nodes []bounded
		observe = func(n any) { nodes = append(nodes, n.(bounded)) }
		in.leaves.checks = nil
		b := &builder{
			scope: newScope(r), leaves: in.leaves, entries: entries, here: entries, source: &source{text: text}, vars: o.vars,
			names: map[definition]value{}, failing: map[syntax.Node]bool{}, eager: map[syntax.Node]bool{},
		}
		v, err := b.build(tree)
		if err == nil {
			v, err = b.down(v)
		}
		observe = nil
		if err != nil || len(in.leaves.paths) > 0 || v.typ().Kind == Other {
			continue
		}
		in.whole = b.place(tree)
		in.mayHold = nil
		count++
		out := (&target{builder: b}).output(v, nil)
		for range 4 {
			for _, change := range o.change {
				change()
			}
			for _, n := range nodes {
				n.forget()
			}
			in.zones.serial++
			fails := slices.ContainsFunc(in.leaves.checks, func(c check) bool { return c.fails(&in.zones) })
			if _, err := in.evaluate(r, &rntuple.Batch{Len: operandRows}, func(r *run) { out(r) }); err != nil {
				// Bounds tell of checks; memory runs out as well, as of a text that reduce doubles for each item.
				if !fails && !errors.As(err, new(*frame.LimitError)) {
					t.Errorf("%s: no check may fail, but %v", text, err)
				}
				continue
			}
			for _, n := range nodes {
				if what, _ := n.outside(&in.zones); what != "" {
					t.Fatalf("%s: %s", text, what)
				}
			}
		}
	}
	t.Logf("%d expressions", count)
	if count < each/2 {
		t.Error("these are too few")
	}
}
