package expression

import (
	"context"
	"slices"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/internal/formula"
	"github.com/go-rntuple/go-rntuple/internal/syntax"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A run is the evaluation of a program for a batch of entries.
type run struct {
	ctx   context.Context
	batch *rntuple.Batch
	clock int // counts batches

	budget formula.Budget
	limit  int64  // of the budget for a batch, in bytes
	at     *place // of the node that is computed

	row int // of the first error, an entry of the batch
	err error

	counted []int64 // 0, 1, 2 ...
}

// numbers returns the numbers from 0 to n-1.
func (r *run) numbers(n int) []int64 {
	if n > len(r.counted) {
		r.budget.Take(8 * int64(n))
		for i := len(r.counted); i < n; i++ {
			r.counted = append(r.counted, int64(i))
		}
	}
	return r.counted[:n]
}

// fail notes an error of a row of a domain, unless there is one of an earlier entry.
func (r *run) fail(d *domain, row int, err error) {
	for ; d.up != nil; d = d.up {
		row = int(d.rowsAbove(r)[row])
	}
	if r.err == nil || row < r.row {
		r.row, r.err = row, err
	}
}

// A domain is where there are values: in the entries of a batch; in the items of the arrays that
// the rows of another domain have; or in some of its rows, for what is evaluated only there.
type domain struct {
	up    *domain // nil for entries
	clock *int    // what is computed holds until it changes: for a batch, or for a step of reduce
	load  func(r *run, d *domain)
	at    *place

	seen    int     // the clock of what follows
	n       int     // rows
	offsets []int64 // of domains of items: where the items of each row above begin, and their number
	above   []int64 // the row above of each row: of selections, and of items once they are asked for
	from    []int64 // of domains whose rows are copies of those of another one: their numbers there
	same    bool    // each is the copy of the row of its own number
	seenUp  int
	buffer  []int64
	numbers []int64     // memory of from
	spreads map[any]any // columns and values of rows above, and what they are here

	selection bool
	sizes     extents[int64] // bound the number of items in a row above, in clusters
	chosen    *node[bool]    // of selections: the rows above where it is want
	want      bool
}

// newItems returns a domain of items of rows of up. Load sets the offsets.
func newItems(up *domain, load func(r *run, d *domain)) *domain {
	return &domain{up: up, clock: up.clock, load: load}
}

// selected returns the domain of those rows of up where a node is as wanted.
func selected(up *domain, chosen *node[bool], want bool) *domain {
	return &domain{up: up, clock: up.clock, selection: true, chosen: chosen, want: want, load: func(r *run, d *domain) {
		flags, _ := chosen.rows(r)
		r.budget.Take(8 * int64(len(flags)))
		rows, n := resize(&d.above, len(flags)), 0
		for i, t := range flags {
			rows[n] = int64(i)
			if t == want {
				n++
			}
		}
		d.above = rows[:n]
	}}
}

// update computes the rows of the domain, unless that is done.
func (d *domain) update(r *run) {
	if d.seen == *d.clock {
		return
	}
	d.seen = *d.clock
	if d.up == nil {
		d.n = r.batch.Len
		return
	}
	outer := r.at
	if d.at != nil {
		r.at = d.at
	}
	d.same = false
	d.load(r, d)
	if d.selection {
		d.n = len(d.above)
	} else {
		d.n = int(d.offsets[len(d.offsets)-1])
	}
	r.budget.Step(int64(d.n))
	r.at = outer
}

// size returns the number of rows.
func (d *domain) size(r *run) int {
	d.update(r)
	return d.n
}

// bounds returns the offsets of the arrays that the rows are the items of.
func (d *domain) bounds(r *run) []int64 {
	d.update(r)
	return d.offsets
}

// rowsAbove returns the row above of each row.
func (d *domain) rowsAbove(r *run) []int64 {
	d.update(r)
	if d.selection || d.seenUp == *d.clock {
		return d.above
	}
	d.seenUp = *d.clock
	r.budget.Take(8 * int64(d.n))
	rows := resize(&d.above, d.n)
	for i, begin := range d.offsets[:len(d.offsets)-1] {
		for k := begin; k < d.offsets[i+1]; k++ {
			rows[k] = int64(i)
		}
	}
	return rows
}

// counts makes room for the offsets of the items of rows above.
func (d *domain) counts(r *run, rows int) []int64 {
	r.budget.Take(8 * int64(rows+1))
	d.offsets = resize(&d.buffer, rows+1)
	d.offsets[0] = 0
	return d.offsets
}

// copies makes room for the numbers of the rows that are copied, once the offsets are there.
func (d *domain) copies(r *run) []int64 {
	n := d.offsets[len(d.offsets)-1]
	r.budget.Take(8 * n)
	d.from = resize(&d.numbers, int(n))
	return d.from
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

// A place is where in a text something is computed.
type place struct {
	node   syntax.Node
	source *source
}

// A node computes a column: a value for each row of a domain.
type node[T any] struct {
	of      *domain
	compute func(r *run, n *node[T])
	at      *place
	cost    int                    // steps of a value; 0 stands for 1
	one     *T                     // the value of all rows, where that is known when the node is made
	singles func(r *run) []float32 // the values as float32; nil unless a field has float32 and no row is missing

	seen  int // the clock of what follows
	all   []T
	valid []bool // where there is a value; nil if everywhere. Elsewhere all has any value.
	same  bool   // of nodes of row numbers: each row has its own number

	weight int64 // steps of going through the values

	buffer []T
	bits   []bool

	extents extents[T]
}

// newNode returns a node of rows of d.
func newNode[T any](d *domain, compute func(r *run, n *node[T])) *node[T] {
	n := &node[T]{of: d, compute: compute}
	if observe != nil {
		observe(n)
	}
	return n
}

// observe is called with each node that is made, in a test.
var observe func(node any)

// rows returns the values, and where they are.
func (n *node[T]) rows(r *run) (all []T, valid []bool) {
	if n.seen != *n.of.clock {
		n.seen, n.valid, n.same = *n.of.clock, nil, false
		outer := r.at
		if n.at != nil {
			r.at = n.at
		}
		n.compute(r, n)
		r.at = outer
		n.weight = int64(len(n.all))
		if texts, ok := any(n.all).([][]byte); ok {
			for _, s := range texts {
				n.weight += int64(len(s))
			}
		}
	}
	r.budget.Step(n.weight) // whoever asks goes through them
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

// validWhere makes values valid where those of all columns are whose validity is given, and returns
// where that is.
func (n *node[T]) validWhere(r *run, all ...[]bool) []bool {
	var valid []bool
	for _, v := range all {
		switch {
		case v == nil:
		case valid == nil:
			valid = v
		default:
			and(n.flags(r, len(v)), valid, v)
			valid = n.valid
		}
	}
	n.valid = valid
	return valid
}

// constant returns the column of one value.
func constant[T any](d *domain, v T) *node[T] {
	n := newNode(d, func(r *run, n *node[T]) {
		for i := range n.out(r, d.size(r)) {
			n.all[i] = v
		}
	}).known(func(*zones) extent[T] { return exactly(v) })
	n.one = &v
	return n
}

// nowhere returns the column without any value.
func nowhere[T any](d *domain) *node[T] {
	return newNode(d, func(r *run, n *node[T]) {
		clear(n.out(r, d.size(r)))
		clear(n.flags(r, d.n))
	}).known(func(*zones) extent[T] { return extent[T]{missing: true} })
}

// maxBlock is how many rows are computed between two looks at the context, which takes some
// milliseconds for the slowest functions: all rows of a batch as a rule.
const maxBlock = 1 << 15

// blocks calls f for the rows of n, some at a time.
func (n *node[T]) blocks(r *run, f func(lo, hi int)) {
	cost := max(1, n.cost)
	size := max(1, maxBlock/cost)
	for lo := 0; lo < len(n.all); lo += size {
		hi := min(lo+size, len(n.all))
		f(lo, hi)
		r.budget.Step(int64((hi - lo) * cost))
	}
}

// mapped returns the column that a function computes from another one. The function fills out.
func mapped[A, T any](from *node[A], f func(out []T, a []A)) *node[T] {
	if from.one != nil {
		var out [1]T
		f(out[:], []A{*from.one})
		return constant(from.of, out[0])
	}
	return newNode(from.of, func(r *run, n *node[T]) {
		a, valid := from.rows(r)
		out := n.out(r, len(a))
		n.blocks(r, func(lo, hi int) { f(out[lo:hi], a[lo:hi]) })
		n.valid = valid
	})
}

// combined is like mapped for two columns.
func combined[A, B, T any](left *node[A], right *node[B], f func(out []T, a []A, b []B)) *node[T] {
	if left.one != nil && right.one != nil {
		var out [1]T
		f(out[:], []A{*left.one}, []B{*right.one})
		return constant(left.of, out[0])
	}
	return newNode(left.of, func(r *run, n *node[T]) {
		a, v := left.rows(r)
		b, w := right.rows(r)
		out := n.out(r, len(a))
		n.blocks(r, func(lo, hi int) { f(out[lo:hi], a[lo:hi], b[lo:hi]) })
		n.validWhere(r, v, w)
	})
}

// truth returns the column that is true where another one is and has a value.
func truth(from *node[bool]) *node[bool] {
	return newNode(from.of, func(r *run, n *node[bool]) {
		a, valid := from.rows(r)
		if n.all = a; valid != nil {
			and(n.out(r, len(a)), a, valid)
		}
	}).known(func(z *zones) extent[bool] {
		e := from.extent(z)
		return eitherOf(may(e, true), may(e, false) || e.missing)
	})
}

// presence returns the column that is true where another one has a value.
func presence[T any](from *node[T]) *node[bool] {
	return newNode(from.of, func(r *run, n *node[bool]) {
		all, valid := from.rows(r)
		if n.all = valid; valid == nil {
			for i := range n.out(r, len(all)) {
				n.all[i] = true
			}
		}
	}).known(func(z *zones) extent[bool] {
		e := from.extent(z)
		return eitherOf(e.some || e.nan, e.missing)
	})
}

// rowsOf returns the column of the numbers that rows of d, which are copies, have in the domain
// they are copies of.
func rowsOf(d *domain) *node[int64] {
	return newNode(d, func(r *run, n *node[int64]) {
		d.update(r)
		n.all, n.same = d.from, d.same
	}).known(func(*zones) extent[int64] { return rowNumbers(false) })
}

// spread returns the column that has in the rows of d the values of the rows above.
func spread[T any](from *node[T], d *domain) *node[T] {
	if n, ok := d.spreads[from].(*node[T]); ok {
		return n
	}
	var n *node[T]
	if from.one != nil {
		n = constant(d, *from.one)
	} else {
		n = newSpread(from, d)
	}
	d.keep(from, n)
	return n
}

// shortArray is more than what most arrays have.
const shortArray = 8

func newSpread[T any](from *node[T], d *domain) *node[T] {
	if d.selection {
		return picked(from, newNode(d, func(r *run, n *node[int64]) {
			n.all = d.rowsAbove(r)
			n.same = len(n.all) == d.up.size(r)
		}).known(func(*zones) extent[int64] { return rowNumbers(false) }))
	}
	return newNode(d, func(r *run, n *node[T]) {
		above, valid := from.rows(r)
		o := d.bounds(r)
		all := n.out(r, d.n)
		for i, v := range above {
			begin, end := o[i], o[i+1]
			if end-begin <= shortArray && begin+shortArray <= int64(len(all)) {
				// The next arrays overwrite what is too much: processors guess wrongly where short
				// ones end.
				to := (*[shortArray]T)(all[begin:])
				to[0], to[1], to[2], to[3], to[4], to[5], to[6], to[7] = v, v, v, v, v, v, v, v
				continue
			}
			for k := begin; k < end; k++ {
				all[k] = v
			}
		}
		if valid != nil {
			flags := n.flags(r, d.n)
			for i, v := range valid {
				for k := o[i]; k < o[i+1]; k++ {
					flags[k] = v
				}
			}
		}
	}).known(from.extent)
}

// picked returns the column of the values of rows that a column of their numbers chooses. It has
// none where that has none.
func picked[T any](from *node[T], rows *node[int64]) *node[T] {
	return newNode(rows.of, func(r *run, n *node[T]) {
		values, valid := from.rows(r)
		at, there := rows.rows(r)
		if rows.same && there == nil {
			n.all, n.valid = values, valid
			return
		}
		out := n.out(r, len(at))
		_, texts := any(out).([][]byte)
		switch {
		case there == nil:
			for i, k := range at {
				out[i] = values[k]
			}
		case texts: // those that are missing must not take memory
			clear(out)
			for i, k := range at {
				if there[i] {
					out[i] = values[k]
				}
			}
		default: // numbers of missing rows are copied, too, to avoid a branch; their row numbers may be out of range
			for i, k := range at {
				if uint64(k) < uint64(len(values)) {
					out[i] = values[k]
				}
			}
		}
		if n.valid = there; valid != nil {
			flags := n.flags(r, len(at))
			for i, k := range at {
				flags[i] = (there == nil || there[i]) && valid[k]
			}
		}
	}).known(func(z *zones) extent[T] {
		e := from.extent(z)
		e.missing = e.missing || rows.extent(z).missing
		return e
	})
}

// mixed returns the column whose row i is that of row at[i] of source which[i]. It has no value
// where which is negative.
func mixed[T any](which, at *node[int64], sources []*node[T]) *node[T] {
	return newNode(which.of, func(r *run, n *node[T]) {
		from, there := which.rows(r)
		rows, _ := at.rows(r)
		all, valid := make([][]T, len(sources)), make([][]bool, len(sources))
		partial := there != nil || slices.ContainsFunc(from, func(k int64) bool { return k < 0 })
		for i, s := range sources {
			if s != nil {
				all[i], valid[i] = s.rows(r)
			}
			partial = partial || s == nil || valid[i] != nil
		}
		out := n.out(r, len(from))
		if !partial {
			for i, k := range from {
				out[i] = all[k][rows[i]]
			}
			return
		}
		clear(out)
		flags := n.flags(r, len(from))
		for i, k := range from {
			if flags[i] = k >= 0 && (there == nil || there[i]) && sources[k] != nil &&
				(valid[k] == nil || valid[k][rows[i]]); flags[i] {
				out[i] = all[k][rows[i]]
			}
		}
	}).known(func(z *zones) (e extent[T]) {
		chosen := which.extent(z)
		for i, s := range sources {
			switch {
			case int64(i) < chosen.low || int64(i) > chosen.high:
			case s == nil:
				e.missing = true
			default:
				e = e.union(s.extent(z))
			}
		}
		e.missing = e.missing || chosen.missing || chosen.low < 0
		return e
	})
}
