package expression

import (
	"context"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A run is the evaluation of a program for a batch. Its first row is 0.
type run struct {
	ctx    context.Context
	serial int // of the batch, from 1
	batch  *rntuple.Batch

	row int // of the first error
	err error
}

// fail notes an error of a row, unless there is one of an earlier row.
func (r *run) fail(row int, err error) {
	if r.err == nil || row < r.row {
		r.row, r.err = row, err
	}
}

// A domain is where there are values: in entries, or in the items of arrays. It has a number of
// rows in each batch.
type domain struct {
	up      *domain // of the arrays; nil for entries
	items   func(r *run, d *domain) []int64
	serial  int
	offsets []int64 // of the arrays, one more than the rows above; the first is 0
	buffer  []int64
	from    []int64 // of domains that choose rows of another one: their numbers there

	copies map[*domain]*domain // of domains of items, for items in rows of this one
	sizes  func(z *zones) span // bounds the sizes of the arrays in a cluster; nil if nothing is known
}

// copyFor returns a domain with the rows of another one, as items of rows of up.
func (d *domain) copyFor(up *domain) *domain {
	c := up.copies[d]
	if c == nil {
		c = &domain{up: up, items: func(r *run, _ *domain) []int64 { return d.bounds(r) }, sizes: d.span}
		if up.copies == nil {
			up.copies = map[*domain]*domain{}
		}
		up.copies[d] = c
	}
	return c
}

// bounds returns the offsets of the arrays that the rows are the items of.
func (d *domain) bounds(r *run) []int64 {
	if d.serial != r.serial {
		d.serial = r.serial
		d.offsets = d.items(r, d)
	}
	return d.offsets
}

// size returns the number of rows.
func (d *domain) size(r *run) int {
	if d.up == nil {
		return r.batch.Len
	}
	o := d.bounds(r)
	return int(o[len(o)-1])
}

// within reports whether rows of d belong to rows of other: it is d, or above it.
func (d *domain) within(other *domain) bool {
	for ; d != nil; d = d.up {
		if d == other {
			return true
		}
	}
	return false
}

// A node computes a column: a value for each row of a domain. It does so once for a batch.
type node[T any] struct {
	compute func(r *run, n *node[T])
	serial  int
	all     []T
	valid   []bool // where there is a value; nil if everywhere. Elsewhere all has any value.

	buffer []T
	bits   []bool

	extents extents[T]
}

// rows returns the values, and where they are.
func (n *node[T]) rows(r *run) (all []T, valid []bool) {
	if n.serial != r.serial {
		n.serial = r.serial
		n.compute(r, n)
	}
	return n.all, n.valid
}

// out makes room for values of n rows.
func (n *node[T]) out(size int) []T {
	n.all = resize(&n.buffer, size)
	return n.all
}

// flags makes room for the validity of n rows.
func (n *node[T]) flags(size int) []bool {
	n.valid = resize(&n.bits, size)
	return n.valid
}

// both makes values valid where those of two columns are.
func (n *node[T]) both(a, b []bool) {
	switch {
	case a == nil:
		n.valid = b
	case b == nil:
		n.valid = a
	default:
		valid := n.flags(len(a))
		for i, v := range a {
			valid[i] = v && b[i]
		}
	}
}

// constant returns the column of one value.
func constant[T any](d *domain, v T) *node[T] {
	return (&node[T]{compute: func(r *run, n *node[T]) {
		for i := range n.out(d.size(r)) {
			n.all[i] = v
		}
	}}).known(func(*zones) extent[T] { return exactly(v) })
}

// spread returns the column that has in the rows of d the values of the rows above.
func spread[T any](from *node[T], d *domain) *node[T] {
	return (&node[T]{compute: func(r *run, n *node[T]) {
		above, valid := from.rows(r)
		o := d.bounds(r)
		all := n.out(d.size(r))
		for i, v := range above {
			for k := o[i]; k < o[i+1]; k++ {
				all[k] = v
			}
		}
		if n.valid = nil; valid != nil {
			flags := n.flags(len(all))
			for i, v := range valid {
				for k := o[i]; k < o[i+1]; k++ {
					flags[k] = v
				}
			}
		}
	}}).known(from.extent)
}

// gather returns the column that has in the rows of d the values of those rows that d was
// chosen from.
func gather[T any](from *node[T], d *domain) *node[T] {
	return (&node[T]{compute: func(r *run, n *node[T]) {
		values, valid := from.rows(r)
		d.bounds(r)
		all := n.out(len(d.from))
		for i, k := range d.from {
			all[i] = values[k]
		}
		if n.valid = nil; valid != nil {
			flags := n.flags(len(all))
			for i, k := range d.from {
				flags[i] = valid[k]
			}
		}
	}}).known(from.extent)
}

// mapped returns the column that a function computes from another one. The function fills out.
func mapped[A, T any](from *node[A], f func(out []T, a []A)) *node[T] {
	return &node[T]{compute: func(r *run, n *node[T]) {
		a, valid := from.rows(r)
		f(n.out(len(a)), a)
		n.valid = valid
	}}
}

// combined is like mapped for two columns.
func combined[A, B, T any](left *node[A], right *node[B], f func(out []T, a []A, b []B)) *node[T] {
	return &node[T]{compute: func(r *run, n *node[T]) {
		a, v := left.rows(r)
		b, w := right.rows(r)
		f(n.out(len(a)), a, b[:len(a)])
		n.both(v, w)
	}}
}

// truth returns the column that is true where another one is and has a value.
func truth(from *node[bool]) *node[bool] {
	return (&node[bool]{compute: func(r *run, n *node[bool]) {
		a, valid := from.rows(r)
		if n.all = a; valid != nil {
			out := n.out(len(a))
			for i, v := range a {
				out[i] = v && valid[i]
			}
		}
	}}).known(whereTrue(from))
}
