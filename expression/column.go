package expression

import (
	"context"
	"unsafe"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"

	"github.com/go-rntuple/go-rntuple/internal/formula"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A run is the evaluation of a program for a batch. Its first row is 0.
type run struct {
	ctx    context.Context
	serial int // of the batch, from 1
	batch  *rntuple.Batch

	budget formula.Budget
	limit  int64  // of the budget for a batch, in bytes
	at     *place // of the node that is computed

	row int // of the first error
	err error
}

// A place is where in a text a node is.
type place struct {
	node ast.Node
	text file.Source
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
	at      *place

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
		outer := r.at
		if d.at != nil {
			r.at = d.at
		}
		d.offsets = d.items(r, d)
		r.budget.Step(int64(len(d.offsets)))
		r.at = outer
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
	size    int64  // of all: values, and bytes of strings
	at      *place
	cost    int // steps of a value; 0 stands for 1

	buffer []T
	bits   []bool

	extents extents[T]
}

// rows returns the values, and where they are, to a caller that goes through them: that is a step for
// each value and for each byte of strings.
func (n *node[T]) rows(r *run) (all []T, valid []bool) {
	all, valid = n.peek(r)
	r.budget.Step(n.size)
	return all, valid
}

// peek is rows for a caller that looks at some values only.
func (n *node[T]) peek(r *run) (all []T, valid []bool) {
	if n.serial != r.serial {
		n.serial = r.serial
		outer := r.at
		if n.at != nil {
			r.at = n.at
		}
		n.compute(r, n)
		n.size = int64(len(n.all))
		if texts, ok := any(n.all).([][]byte); ok {
			for _, s := range texts {
				n.size += int64(len(s))
			}
		}
		r.budget.Step(n.size)
		r.at = outer
	}
	return n.all, n.valid
}

// out makes room for values of some rows.
func (n *node[T]) out(r *run, size int) []T {
	r.budget.Take(int64(size) * int64(unsafe.Sizeof(*new(T))))
	n.all = resize(&n.buffer, size)
	return n.all
}

// flags makes room for the validity of some rows.
func (n *node[T]) flags(r *run, size int) []bool {
	r.budget.Take(int64(size))
	n.valid = resize(&n.bits, size)
	return n.valid
}

// both makes values valid where those of two columns are.
func (n *node[T]) both(r *run, a, b []bool) {
	switch {
	case a == nil:
		n.valid = b
	case b == nil:
		n.valid = a
	default:
		valid := n.flags(r, len(a))
		for i, v := range a {
			valid[i] = v && b[i]
		}
	}
}

// constant returns the column of one value.
func constant[T any](d *domain, v T) *node[T] {
	return (&node[T]{compute: func(r *run, n *node[T]) {
		for i := range n.out(r, d.size(r)) {
			n.all[i] = v
		}
	}}).known(func(*zones) extent[T] { return exactly(v) })
}

// spread returns the column that has in the rows of d the values of the rows above.
func spread[T any](from *node[T], d *domain) *node[T] {
	return (&node[T]{compute: func(r *run, n *node[T]) {
		above, valid := from.rows(r)
		o := d.bounds(r)
		all := n.out(r, d.size(r))
		for i, v := range above {
			for k := o[i]; k < o[i+1]; k++ {
				all[k] = v
			}
		}
		if n.valid = nil; valid != nil {
			flags := n.flags(r, len(all))
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
		all := n.out(r, len(d.from))
		for i, k := range d.from {
			all[i] = values[k]
		}
		if n.valid = nil; valid != nil {
			flags := n.flags(r, len(all))
			for i, k := range d.from {
				flags[i] = valid[k]
			}
		}
	}}).known(from.extent)
}

// maxBlock is how many rows are computed between two looks at the context, which takes some
// milliseconds for the slowest functions: all rows of a batch as a rule.
const maxBlock = 1 << 15

// blocks calls f for the rows of n, some at a time. They are computed from values of a size.
func (n *node[T]) blocks(r *run, size int64, f func(lo, hi int)) {
	cost := max(1, n.cost) * max(1, int(size)/max(1, len(n.all)))
	step := max(1, maxBlock/cost)
	for lo := 0; lo < len(n.all); lo += step {
		hi := min(lo+step, len(n.all))
		f(lo, hi)
		r.budget.Step(int64((hi - lo) * cost))
	}
}

// mapped returns the column that a function computes from another one. The function fills out.
func mapped[A, T any](from *node[A], f func(out []T, a []A)) *node[T] {
	return &node[T]{compute: func(r *run, n *node[T]) {
		a, valid := from.rows(r)
		out := n.out(r, len(a))
		n.blocks(r, from.size, func(lo, hi int) { f(out[lo:hi], a[lo:hi]) })
		n.valid = valid
	}}
}

// combined is like mapped for two columns.
func combined[A, B, T any](left *node[A], right *node[B], f func(out []T, a []A, b []B)) *node[T] {
	return &node[T]{compute: func(r *run, n *node[T]) {
		a, v := left.rows(r)
		b, w := right.rows(r)
		out := n.out(r, len(a))
		n.blocks(r, 0, func(lo, hi int) { f(out[lo:hi], a[lo:hi], b[lo:hi]) })
		n.both(r, v, w)
	}}
}

// truth returns the column that is true where another one is and has a value.
func truth(from *node[bool]) *node[bool] {
	return (&node[bool]{compute: func(r *run, n *node[bool]) {
		a, valid := from.rows(r)
		if n.all = a; valid != nil {
			out := n.out(r, len(a))
			for i, v := range a {
				out[i] = v && valid[i]
			}
		}
	}}).known(whereTrue(from))
}
