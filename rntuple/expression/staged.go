package expression

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sync/atomic"

	"github.com/go-rntuple/go-rntuple/internal/syntax"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
)

// Stages evaluate conditions that are joined by "and" one after the other where that saves reading:
// the fields of the later ones are read only for the entries that are left. The best order is found
// while all are evaluated together for some entries. Only conditions that cannot fail, and that
// stand before any that can, are reordered: so the errors are the same.
type stages struct {
	whole    *Program   // all together, and then those that cannot fail
	programs []*Program // each by itself
	total    int        // how many of the first ones cannot fail

	order atomic.Pointer[[]int] // the numbers of all, or none: all together; nil: not known
}

// maxStages is how many conditions are evaluated apart. More of them read many fields anyway.
const maxStages = 16

const (
	samples  = 2       // batches that tell how many entries are left
	perStage = 1 << 20 // entries that are evaluated before it is looked at what is left
	few      = 0.25    // of the entries: where no more are left, the other conditions are evaluated for these alone
)

// conjuncts returns the conditions that an expression joins.
func (e *Expression) conjuncts() (all []*Expression) {
	if e.operands != nil {
		for _, one := range e.conditions() {
			all = append(all, one.conjuncts()...)
		}
		return all
	}
	var split func(n syntax.Node)
	split = func(n syntax.Node) {
		if and, ok := n.(*syntax.Binary); ok && and.Op == "and" {
			split(and.L)
			split(and.R)
			return
		}
		all = append(all, &Expression{text: e.text, tree: n, definitions: e.definitions})
	}
	split(e.tree)
	return all
}

// newStages returns the stages of a condition, or nil if there are none.
func newStages(s rntuple.Source, e *Expression) *stages {
	all := e.conjuncts()
	if len(all) < 2 || len(all) > maxStages {
		return nil
	}
	st := new(stages)
	joined := []*Expression{e}
	certain := true
	for _, one := range all {
		p, err := Compile(s, one)
		if err != nil || p.types[0].Depth > 0 || p.types[0].Kind != Bool {
			return nil
		}
		st.programs = append(st.programs, p)
		if certain = certain && !p.CanFail(); certain {
			st.total++
			joined = append(joined, one)
		}
	}
	var err error
	if st.whole, err = Compile(s, joined...); err != nil || st.total == 0 {
		return nil
	}
	return st
}

// selected yields the entries of s in r for which the conditions are true.
func (st *stages) selected(s rntuple.Source, r rntuple.EntryRange) iter.Seq2[rntuple.EntryRange, error] {
	return func(yield func(rntuple.EntryRange, error) bool) {
		for r.Len() > 0 {
			part := rntuple.EntryRange{First: r.First, End: min(r.End, r.First+perStage)}
			found := st.whole.selected(s, part)
			switch order := st.order.Load(); {
			case order == nil:
				part.End = min(r.End, r.First+int64(samples*batchSize))
				found = st.sample(s, part)
			case *order != nil:
				found = st.apart(s, part, *order)
			}
			for one, err := range found {
				if !yield(one, err) || err != nil {
					return
				}
			}
			r.First = part.End
		}
	}
}

// sample is selected for some entries, and finds out the order of the stages: those first that
// leave least for what they read.
func (st *stages) sample(s rntuple.Source, r rntuple.EntryRange) iter.Seq2[rntuple.EntryRange, error] {
	left := make([]int64, st.total)
	read := make([]int64, st.total)
	return func(yield func(rntuple.EntryRange, error) bool) {
		for found, err := range st.whole.selectedWith(s, r, func(r *run, truths []*node[bool]) {
			for k := range st.total {
				all, _ := truths[k+1].rows(r)
				for _, t := range bytesOf(all) {
					left[k] += int64(t)
				}
				for at, path := range st.whole.paths {
					if slices.Contains(st.programs[k].paths, path) {
						read[k] += values(r.batch.Columns[at])
					}
				}
			}
		}) {
			if !yield(found, err) || err != nil {
				return
			}
		}
		var order []int
		cost := func(k int) float64 {
			share := float64(left[k]) / float64(r.Len())
			if share > few {
				return math.Inf(1)
			}
			return float64(read[k]) / (1 - share)
		}
		for k := range st.programs {
			order = append(order, k)
		}
		slices.SortStableFunc(order[:st.total], func(i, j int) int { return cmp.Compare(cost(i), cost(j)) })
		if math.IsInf(cost(order[0]), 1) {
			order = nil
		}
		if r.Len() >= int64(batchSize) { // fewer entries tell too little
			st.order.Store(&order)
		}
	}
}

// values returns how many values there are in an Array.
func values(a *columnar.Array) int64 {
	n := int64(a.Len)
	for _, c := range a.Children {
		n += values(c)
	}
	return n
}

// apart is selected with one stage after the other, each for the entries that are left.
func (st *stages) apart(s rntuple.Source, r rntuple.EntryRange, order []int) iter.Seq2[rntuple.EntryRange, error] {
	return func(yield func(rntuple.EntryRange, error) bool) {
		first := st.programs[order[0]]
		selection, err := first.among(s, first.selected(s, r))
		if err == nil && float64(selection.NumEntries()) > 2*few*float64(r.Len()) {
			st.order.Store(nil) // it is not as it was
		}
		for _, i := range order[1:] {
			if err != nil {
				break
			}
			p := st.programs[i]
			selection, err = p.among(s, original(selection,
				p.selected(selection, rntuple.EntryRange{End: selection.NumEntries()})))
		}
		if err != nil {
			yield(rntuple.EntryRange{}, err)
			return
		}
		for found := range selection.Ranges() {
			if !yield(found, nil) {
				return
			}
		}
	}
}

// among returns the Selection of entries of s.
func (p *Program) among(s rntuple.Source, found iter.Seq2[rntuple.EntryRange, error]) (*rntuple.Selection, error) {
	var all []rntuple.EntryRange
	for r, err := range found {
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return rntuple.Select(s, all...)
}

// original yields the ranges that entries of a Selection are in its source.
func original(s *rntuple.Selection, found iter.Seq2[rntuple.EntryRange, error]) iter.Seq2[rntuple.EntryRange, error] {
	return func(yield func(rntuple.EntryRange, error) bool) {
		for r, err := range found {
			if err != nil {
				yield(r, err)
				return
			}
			for i := r.First; i < r.End; i++ {
				e := s.Entry(i)
				if !yield(rntuple.EntryRange{First: e, End: e + 1}, nil) {
					return
				}
			}
		}
	}
}
