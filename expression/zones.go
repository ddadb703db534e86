package expression

import (
	"math"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/zonemap"
)

// Zone maps rule out clusters by bounds of the very nodes that evaluate a condition. What makes a
// node says how its bounds follow from those of others, or says nothing: then it may have any
// value. So a node that this file does not know of hides no entry.

// zones are what is known of a cluster.
type zones struct {
	serial int // of the cluster, from 1
	of     func(path string) (zonemap.Zone, bool)
}

// extents are those of a node, in clusters.
type extents[T any] struct {
	in     func(z *zones) extent[T] // nil if nothing is known
	serial int
	last   extent[T]
}

// extent bounds the rows of n in a cluster. It is computed once: nodes have several uses.
func (n *node[T]) extent(z *zones) extent[T] {
	e := &n.extents
	if e.in == nil {
		return anything[T]()
	}
	if e.serial != z.serial {
		e.serial, e.last = z.serial, e.in(z)
	}
	return e.last
}

// known returns n, whose rows are bounded by what in returns.
func (n *node[T]) known(in func(z *zones) extent[T]) *node[T] {
	n.extents.in = in
	return n
}

// A span bounds the number of items of arrays.
type span struct{ least, most int64 }

// span bounds the number of items of the arrays that the rows of d are the items of.
func (d *domain) span(z *zones) span {
	if d.sizes == nil {
		return span{0, math.MaxInt64}
	}
	return d.sizes(z)
}

// someOf bounds the number of items that are left of those of d.
func someOf(d *domain) func(z *zones) span {
	return func(z *zones) span { return span{0, d.span(z).most} }
}

// zone returns what zone maps tell of the branch.
func (b branch) zone(z *zones) (zonemap.Zone, bool) {
	if b.joined || b.from != nil {
		return zonemap.Zone{}, false
	}
	return z.of(b.path + strings.Repeat("._0", b.below))
}

// stored bounds the values of a field. The function of returns the bounds of a zone that has them.
func stored[T any](b branch, of func(zonemap.Zone) (low, high T, ok bool)) func(z *zones) extent[T] {
	return func(z *zones) extent[T] {
		if zone, ok := b.zone(z); ok {
			if low, high, ok := of(zone); ok {
				return extent[T]{low, high, !zone.Empty, zone.NaN, b.valid != nil || zone.Missing}
			}
		}
		return anything[T]()
	}
}

func boolsIn(z zonemap.Zone) (low, high bool, ok bool) {
	return z.Least == 1, z.Greatest == 1, z.Kind == zonemap.Bool
}

func intsIn(z zonemap.Zone) (low, high int64, ok bool) {
	low, high = z.IntBounds()
	return low, high, z.Kind == zonemap.Int || z.Kind == zonemap.Uint && z.Greatest <= math.MaxInt64
}

func floatsIn(z zonemap.Zone) (low, high float64, ok bool) {
	low, high = z.FloatBounds()
	return low, high, z.Kind == zonemap.Float
}

// fit reports whether the integers of the branch have a place in 64 bits with a sign.
func (b branch) fit(z *zones) bool {
	zone, ok := b.zone(z)
	if !ok {
		return false
	}
	_, _, ok = intsIn(zone)
	return ok
}

// sizes bounds the number of items of the branch's collections and arrays.
func (b branch) sizes(z *zones) span {
	zone, ok := b.zone(z)
	if !ok || zone.Kind != zonemap.Size || zone.Empty || zone.Greatest > math.MaxInt64 {
		return span{0, math.MaxInt64}
	}
	return span{int64(zone.Least), int64(zone.Greatest)}
}

// monotonic bounds the results of a monotonic function.
func monotonic[A, T any](a *node[A], f func(out []T, a []A)) func(z *zones) extent[T] {
	return func(z *zones) extent[T] {
		return corners(func(out []T, a []A, _ []bool) { f(out, a) }, a.extent(z), exactly(true))
	}
}

// both bounds the results of a function of two nodes.
func both[A, B, T any](f func(a extent[A], b extent[B]) extent[T], a *node[A], b *node[B]) func(z *zones) extent[T] {
	return func(z *zones) extent[T] { return f(a.extent(z), b.extent(z)) }
}

// ofBools bounds the results of a function of bools.
func ofBools(f func(out, a, b []bool), a, b *node[bool]) func(z *zones) extent[bool] {
	return both(func(a, b extent[bool]) extent[bool] { return corners(f, a, b) }, a, b)
}

// compared bounds the results of a comparison of numbers.
func compared[T number](op string, a, b *node[T]) func(z *zones) extent[bool] {
	return both(func(a, b extent[T]) extent[bool] { return comparison(op, a, b) }, a, b)
}

// calculated bounds the results of +, - or *.
func calculated[T number](op string, a, b *node[T]) func(z *zones) extent[T] {
	return both(func(a, b extent[T]) extent[T] { return calculation(op, a, b) }, a, b)
}

// negated bounds the opposites of numbers.
func negated[T number](a *node[T]) func(z *zones) extent[T] {
	return func(z *zones) extent[T] { return calculation("-", exactly(T(0)), a.extent(z)) }
}

// applied bounds the results of a function of the table.
func applied[T number](name string, a *node[T]) func(z *zones) extent[T] {
	if name != "abs" {
		return nil
	}
	return func(z *zones) extent[T] { return magnitude(a.extent(z)) }
}

// present bounds where v has a value.
func (v value) present() func(z *zones) extent[bool] {
	switch v.kind {
	case Bool:
		return presence(v.bools)
	case Int:
		return presence(v.ints)
	case Float:
		return presence(v.floats)
	}
	return presence(v.strings)
}

func presence[T any](a *node[T]) func(z *zones) extent[bool] {
	return func(z *zones) extent[bool] {
		e := a.extent(z)
		return eitherOf(e.some || e.nan, e.missing)
	}
}

// whereTrue bounds where a node is true.
func whereTrue(a *node[bool]) func(z *zones) extent[bool] {
	return func(z *zones) extent[bool] {
		e := a.extent(z)
		return eitherOf(may(e, true), may(e, false) || e.missing)
	}
}

// alternative bounds rows of yes where c is true, and of no elsewhere.
func alternative[T any](c *node[bool], yes, no *node[T]) func(z *zones) extent[T] {
	return func(z *zones) (e extent[T]) {
		if may(c.extent(z), true) {
			e = e.union(yes.extent(z))
		}
		if may(c.extent(z), false) {
			e = e.union(no.extent(z))
		}
		return e
	}
}

// listed bounds where numbers are one of some.
func listed[T number](a *node[T], all []T) func(z *zones) extent[bool] {
	return func(z *zones) extent[bool] {
		e := extent[bool]{}.with(false)
		for _, v := range all {
			e = e.union(comparison("==", a.extent(z), exactly(v)))
		}
		return e
	}
}

// counted bounds the number of items that are true in each array.
func counted(d *domain, items *node[bool]) func(z *zones) extent[int64] {
	return func(z *zones) extent[int64] {
		s, e := d.span(z), items.extent(z)
		if may(e, false) {
			s.least = 0
		}
		if !may(e, true) {
			s.most = 0
		}
		return extent[int64]{low: min(s.least, s.most), high: s.most, some: true}
	}
}

// spanOf returns the bounds of sizes that are the values of a node.
func spanOf(sizes func(z *zones) extent[int64]) func(z *zones) span {
	return func(z *zones) span {
		e := sizes(z)
		return span{e.low, e.high}
	}
}

// lengths bounds the number of items of arrays.
func lengths(d *domain) func(z *zones) extent[int64] {
	return func(z *zones) extent[int64] {
		s := d.span(z)
		return extent[int64]{low: s.least, high: s.most, some: true}
	}
}

// summarized bounds what a function tells of the items that are true: that any, all, none or one
// of them is.
func summarized(name string, d *domain, items *node[bool]) func(z *zones) extent[bool] {
	return func(z *zones) extent[bool] {
		s, e := d.span(z), items.extent(z)
		empty, hits, misses := s.least == 0, s.most > 0 && may(e, true), s.most > 0 && may(e, false)
		switch name {
		case "any":
			return eitherOf(hits, empty || misses)
		case "all":
			return eitherOf(empty || hits, misses)
		case "none":
			return eitherOf(empty || misses, hits)
		}
		return eitherOf(hits, true) // one
	}
}

// extremes bounds the least or greatest items of arrays, which empty ones do not have.
func extremes[T any](d *domain, items *node[T]) func(z *zones) extent[T] {
	return func(z *zones) extent[T] {
		e := items.extent(z)
		e.missing = e.missing || d.span(z).least == 0
		return e
	}
}

// places bounds where the items with a given index are in arrays. It tells only whether there are
// such items.
func places(d *domain, index int64) func(z *zones) extent[int64] {
	return func(z *zones) extent[int64] {
		e, least := anything[int64](), d.span(z).least
		e.missing = index >= least || index < -least
		return e
	}
}

// placed bounds rows that are those of a node at some places.
func placed[T any](from *node[T], place *node[int64]) func(z *zones) extent[T] {
	return func(z *zones) extent[T] {
		e := from.extent(z)
		e.missing = e.missing || place.extent(z).missing
		return e
	}
}

// sure returns the guard of the machine, without which it finds errors of integers that have no
// place in 64 bits with a sign.
func (m *machine) sure() *node[bool] {
	for _, f := range m.inputs {
		if hasUnsigned(f.array) {
			return nil
		}
	}
	return m.guard
}

// hasUnsigned reports whether an Array has integers that need not fit 64 bits with a sign.
func hasUnsigned(a *rntuple.Array) bool {
	_, ok := a.Values().([]uint64)
	return ok || slices.ContainsFunc(a.Children, hasUnsigned)
}

// fails reports whether the check may find an error in a cluster.
func (c check) fails(z *zones) bool {
	if c.guard != nil && !may(c.guard.extent(z), true) {
		return false
	}
	return c.never == nil || !c.never(z)
}

// possible reports whether the first expression can be true in a cluster, or true of an item, or
// fail, as an entry that makes it fail must not be passed over.
func (in *instance) possible(of func(path string) (zonemap.Zone, bool)) bool {
	in.zones.serial, in.zones.of = in.zones.serial+1, of
	for _, c := range in.leaves.checks {
		if c.fails(&in.zones) {
			return true
		}
	}
	return in.mayHold == nil || may(in.mayHold.extent(&in.zones), true)
}

// innermost returns where bools are true, or the items of arrays, or theirs.
func (v value) innermost() *node[bool] {
	for v.list != nil {
		v = v.list.item
	}
	if v.kind != Bool {
		return nil
	}
	return v.condition()
}
