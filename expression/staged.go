package expression

import (
	"iter"
	"slices"
	"sync"

	"github.com/go-rntuple/go-rntuple/internal/syntax"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// Stages evaluate conditions that are joined by "and" one after the other where that saves reading: the fields of the later ones
// are read only for the entries that are left. Which one comes first is found out as all are evaluated together. One that can
// fail is never the first, unless it is so in the text: the errors are the same in any order.
type stages struct {
	whole    *Program   // all together, and then those that cannot fail
	programs []*Program // each by itself
	total    []int      // the numbers of those that cannot fail and have none before them that can

	mu    sync.Mutex
	known bool // what follows
	best  int  // which one comes first, or -1: all together
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
	for i, one := range all {
		p, err := Compile(s, one)
		if err != nil || p.types[0].Depth > 0 || p.types[0].Kind != Bool {
			return nil
		}
		st.programs = append(st.programs, p)
		if certain = certain && !p.CanFail(); certain {
			st.total = append(st.total, i)
			joined = append(joined, one)
		}
	}
	var err error
	if st.whole, err = Compile(s, joined...); err != nil || len(st.total) == 0 {
		return nil
	}
	return st
}

// plan returns which stage comes first, or -1, and whether that is known.
func (st *stages) plan() (best int, known bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.best, st.known
}

func (st *stages) decide(best int, known bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.best, st.known = best, known
}

// selected yields the entries of s in r for which the conditions are true.
func (st *stages) selected(s rntuple.Source, r rntuple.EntryRange) iter.Seq2[rntuple.EntryRange, error] {
	return func(yield func(rntuple.EntryRange, error) bool) {
		for r.Len() > 0 {
			part := rntuple.EntryRange{First: r.First, End: min(r.End, r.First+perStage)}
			found := st.whole.selected(s, part)
			switch best, known := st.plan(); {
			case !known:
				part.End = min(r.End, r.First+int64(samples*batchSize))
				found = st.sample(s, part)
			case best >= 0:
				found = st.apart(s, part, best)
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

// sample is selected for some entries, and finds out which stage comes first: that which leaves least for what it reads.
func (st *stages) sample(s rntuple.Source, r rntuple.EntryRange) iter.Seq2[rntuple.EntryRange, error] {
	left := make([]int64, len(st.total))
	read := make([]int64, len(st.total))
	return func(yield func(rntuple.EntryRange, error) bool) {
		for found, err := range st.whole.selectedWith(s, r, func(r *run, truths []*node[bool]) {
			for k, i := range st.total {
				all, _ := truths[k+1].rows(r)
				for _, t := range bytesOf(all) {
					left[k] += int64(t)
				}
				for at, path := range st.whole.paths {
					if slices.Contains(st.programs[i].paths, path) {
						read[k] += values(r.batch.Columns[at])
					}
				}
			}
		}) {
			if !yield(found, err) || err != nil {
				return
			}
		}
		best, least := -1, 0.0
		for k, i := range st.total {
			share := float64(left[k]) / float64(r.Len())
			if cost := float64(read[k]) / (1 - share); share <= few && (best < 0 || cost < least) {
				best, least = i, cost
			}
		}
		st.decide(best, r.Len() >= int64(batchSize)) // fewer entries tell too little
	}
}

// values returns how many values there are in an Array.
func values(a *rntuple.Array) int64 {
	n := int64(a.Len)
	for _, c := range a.Children {
		n += values(c)
	}
	return n
}

// apart is selected with one stage first, and the others for the entries that it leaves.
func (st *stages) apart(s rntuple.Source, r rntuple.EntryRange, best int) iter.Seq2[rntuple.EntryRange, error] {
	return func(yield func(rntuple.EntryRange, error) bool) {
		selection, err := st.programs[best].among(s, st.programs[best].selected(s, r))
		if err == nil && float64(selection.NumEntries()) > 2*few*float64(r.Len()) {
			st.decide(-1, false) // it is not as it was
		}
		for i := 0; err == nil && i < len(st.programs); i++ {
			if i != best {
				p := st.programs[i]
				selection, err = p.among(s, original(selection, p.selected(selection, rntuple.EntryRange{End: selection.NumEntries()})))
			}
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
