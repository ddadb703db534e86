package expression

import (
	"slices"

	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
)

// Zone maps decide conditions by the bounds of the very nodes that evaluate them. What makes a node
// says how its bounds follow from those of others. A node without bounds may have any value, so it
// decides nothing.

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

// of returns the extent in a cluster. It is computed once: nodes have several uses.
func (e *extents[T]) of(z *zones) extent[T] {
	if e.serial != z.serial {
		e.serial, e.last = z.serial, e.in(z)
	}
	return e.last
}

// extent bounds the rows of n in a cluster.
func (n *node[T]) extent(z *zones) extent[T] {
	if n.extents.in == nil {
		return anything[T]()
	}
	return n.extents.of(z)
}

// known returns n, whose rows are bounded by what in returns. A constant has exact bounds already.
func (n *node[T]) known(in func(z *zones) extent[T]) *node[T] {
	if n.one == nil {
		n.extents.in = in
	}
	return n
}

// span bounds the number of items of the arrays that the rows of d are the items of.
func (d *domain) span(z *zones) extent[int64] {
	if d.sizes.in == nil {
		return rowNumbers(false)
	}
	return d.sizes.of(z)
}

// sized returns d, the numbers of whose items are bounded by what in returns.
func (d *domain) sized(in func(z *zones) extent[int64]) *domain {
	d.sizes.in = in
	return d
}

// atMost bounds the number of items that are left of those of d.
func atMost(d *domain) func(z *zones) extent[int64] {
	return func(z *zones) extent[int64] { return between(0, d.span(z).high) }
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

// atCorners bounds the results of a function of two nodes that is as function corners needs it.
func atCorners[A, B, T any](f func(out []T, a []A, b []B), a *node[A], b *node[B]) func(z *zones) extent[T] {
	return both(func(a extent[A], b extent[B]) extent[T] { return corners(f, a, b) }, a, b)
}

// fails reports whether the check may find an error in a cluster.
func (c check) fails(z *zones) bool {
	for d := c.here; d != nil; d = d.up {
		switch {
		case d.chosen != nil && !may(d.chosen.extent(z), d.want), d.chosen == nil && d.up != nil && d.span(z).high == 0:
			return false
		}
	}
	return c.never == nil || !c.never(z)
}

// possible reports whether the first expression can be true in a cluster, or true of an item, or
// fail, as an entry that makes it fail must not be passed over.
func (in *instance) possible(of func(path string) (zonemap.Zone, bool)) bool {
	return in.mayFail(of) || in.mayHold == nil || may(in.mayHold.extent(&in.zones), true)
}

// open reports whether the first expression, a condition, can be false in a cluster, or fail.
func (in *instance) open(of func(path string) (zonemap.Zone, bool)) bool {
	return in.mayFail(of) || may(in.truths[0].extent(&in.zones), false)
}

// mayFail reports whether the expressions can fail in a cluster, which the extents are then about.
func (in *instance) mayFail(of func(path string) (zonemap.Zone, bool)) bool {
	in.zones.serial, in.zones.of = in.zones.serial+1, of
	return slices.ContainsFunc(in.leaves.checks, func(c check) bool { return c.fails(&in.zones) })
}

// someTrue returns where bools are true, or the items of arrays, or theirs.
func (v value) someTrue() *node[bool] {
	if v = v.bottom().orFalse(); v.kind != Bool {
		return nil
	}
	return v.condition()
}
