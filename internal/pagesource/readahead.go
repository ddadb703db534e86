package pagesource

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A ReadAhead fetches and decodes pages of its columns before they are asked for, in the order in
// which the entries need them. It decodes those of the current cluster and the next one; the bytes
// of files that are far away it fetches further ahead. Its goroutines end when there is nothing
// left to do, or when the budget is used up, and are started again as reading goes on.
type ReadAhead struct {
	src     *Source
	columns []aheadColumn
	budget  int64 // limit for pages that are decoded but not yet read, in bytes
	keep    int64 // limit for pages that columns keep after reading them, in bytes

	fetch *fetch // nil if the file is mapped into memory
	plans plans

	chosen   Chosen   // nil: all entries
	at, last *Cluster // the one that the reader is in, and the last one that was queued

	mu      sync.Mutex
	parent  context.Context
	ctx     context.Context // of tasks
	cancel  context.CancelFunc
	tasks   []task // not yet begun
	used    int64  // of the budget, in bytes
	running int
}

// An aheadColumn is a Column of any type.
type aheadColumn interface {
	// pages returns the pages that the column has in a cluster, without those that end before
	// from, a place in it between 0 and 1, or, if w is not nil, those with wanted elements.
	pages(cluster *Cluster, from float64, w *wanted) []aheadPage
	release()
	// skip releases the memory of clusters that have not been entered and that unwanted reports.
	skip(unwanted func(*Cluster) bool)
	choose(some bool)
	// level returns the number of collections that elements of the column are in.
	level() int
}

// An aheadPage is a page that will be needed.
type aheadPage struct {
	storedPage
	planned *atomic.Pointer[blob]
	needed  func() bool // whether it is not decoded yet, nor being decoded
	task
}

// A task is a page to decode.
type task struct {
	at   float64 // where in the cluster its elements begin, from 0 to 1
	cost int64   // size of the decoded page in bytes
	run  func(ctx context.Context) (charged bool)
}

// NewReadAhead returns a read-ahead without columns.
func (s *Source) NewReadAhead() *ReadAhead {
	a := &ReadAhead{src: s, budget: s.Budget, keep: s.Budget}
	if a.fetch = s.newFetch(s.Budget / 2); a.fetch != nil {
		a.budget -= s.Budget / 2
	}
	return a
}

// Fetch announces that the entries from first on, up to end at most, will be read, and that the
// reader is in the given cluster.
func (a *ReadAhead) Fetch(ctx context.Context, cluster *Cluster, first, end int64) {
	if a.fetch != nil && a.src.Far() && len(a.columns) > 0 {
		a.extend(ctx, cluster, first, min(end, a.src.Entries))
	}
}

// Advance announces that the entries from first on, up to end at most, will be read in order, and
// that the reader is in the given cluster.
func (a *ReadAhead) Advance(ctx context.Context, cluster *Cluster, first, end int64) {
	if a.budget == 0 || len(a.columns) == 0 || a.src.Workers < 2 && a.fetch == nil {
		return // there is nothing to wait for, and no other goroutine to decode
	}
	if a.fetch != nil {
		a.extend(ctx, cluster, first, min(end, a.src.Entries))
	}
	a.use(ctx)
	if cluster != a.at {
		if cluster != a.last {
			a.forget()
			a.queue(ctx, cluster, first)
		}
		a.pass(cluster)
		a.at = cluster
	}
	a.mu.Lock()
	idle := len(a.tasks) == 0
	a.mu.Unlock()
	if idle && a.last == cluster {
		if next := a.after(a.last.End); next < min(end, a.src.Entries) {
			if c, err := a.src.Find(ctx, next); err == nil { // if not, the reader meets the error
				a.queue(ctx, c, c.First)
			}
		}
	}
	a.start()
}

// use has tasks run with a context, until they are stopped.
func (a *ReadAhead) use(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.parent != ctx {
		a.parent = ctx
		a.ctx, a.cancel = context.WithCancel(ctx)
	}
}

// Stop ends reading for now: it drops the tasks that have not begun, and releases
// the memory of the columns.
func (a *ReadAhead) Stop() {
	if a.cancel != nil {
		a.cancel() // nobody waits for what tasks wait for
		a.parent, a.cancel = nil, nil
	}
	a.plans = plans{}
	a.forget()
	for _, c := range a.columns {
		c.release()
	}
}

// forget drops the tasks that have not begun, and releases the memory of clusters that are in no
// plan.
func (a *ReadAhead) forget() {
	for _, c := range a.columns {
		c.skip(func(other *Cluster) bool { return a.inPlan(other) == nil })
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tasks, a.at, a.last = nil, nil, nil
}

// queue adds tasks for the pages of a cluster from an entry on.
func (a *ReadAhead) queue(ctx context.Context, c *Cluster, first int64) {
	var tasks []task
	w := a.wanted(ctx, c)
	for _, column := range a.columns {
		for _, p := range column.pages(c, place(c, first), w) {
			if p.run != nil {
				tasks = append(tasks, p.task)
			}
		}
	}
	slices.SortStableFunc(tasks, func(x, y task) int { return cmp.Compare(x.at, y.at) })
	a.last = c
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tasks = append(a.tasks, tasks...)
}

// place returns where in a cluster an entry is, from 0 to 1.
func place(c *Cluster, entry int64) float64 {
	return float64(max(0, entry-c.First)) / float64(max(1, c.End-c.First))
}

// start starts goroutines for the tasks, if they can begin.
func (a *ReadAhead) start() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for n := a.room(); n > 0 && a.running < a.src.Workers; n-- {
		a.running++
		go a.work()
	}
}

// room returns how many tasks may begin: none if the budget does not allow the first.
func (a *ReadAhead) room() int {
	if len(a.tasks) == 0 || a.used > 0 && a.used+a.tasks[0].cost > a.budget {
		return 0
	}
	return len(a.tasks)
}

func (a *ReadAhead) work() {
	for {
		a.mu.Lock()
		if a.room() == 0 {
			a.running--
			a.mu.Unlock()
			return
		}
		t, ctx := a.tasks[0], a.ctx
		a.tasks = a.tasks[1:]
		a.used += t.cost
		a.mu.Unlock()
		if !t.run(ctx) {
			a.release(t.cost)
		}
	}
}

// release returns n bytes to the budget.
func (a *ReadAhead) release(n int64) {
	if n > 0 {
		a.mu.Lock()
		a.used -= n
		a.mu.Unlock()
	}
}

func (c *Column[T]) pages(cluster *Cluster, from float64, w *wanted) (all []aheadPage) {
	pages, err := c.await(cluster)
	if err != nil {
		return nil // the reader meets the error
	}
	var some []bool // of the pages; nil: all
	if w != nil {
		spans, ok := w.elements(c.field, c.index)
		if !ok {
			return nil
		}
		some = pages.pages(spans)
	}
	total := float64(max(1, pages.Elements))
	for i := range pages.Pages {
		if float64(pages.ends[i])/total <= from || some != nil && !some[i] {
			continue
		}
		p, ok := pages.ahead(i)
		if !ok {
			continue
		}
		if n := int64(pages.Pages[i].NumElements); !c.bulk {
			cost := n * column.Size[T]()
			p.task = task{at: float64(pages.ends[i]-n) / total, cost: cost,
				run: func(ctx context.Context) bool { return c.prepare(ctx, pages, i, cost) }}
		}
		all = append(all, p)
	}
	return all
}

// ahead returns a page without a task. It is not ok if the page is not needed.
func (p *clusterPages[T]) ahead(page int) (_ aheadPage, ok bool) {
	s := &p.slots[page]
	stored := storedPage{p.Column.Format(), p.Pages[page]}
	return aheadPage{storedPage: stored, planned: &s.planned, needed: s.needed}, s.needed()
}

// needed reports whether a page is not decoded yet, nor being decoded.
func (s *slot[T]) needed() bool {
	if !s.mu.TryLock() {
		return false
	}
	defer s.mu.Unlock()
	return s.elements == nil && s.err == nil
}

func (c *Column[T]) level() (n int) {
	for f := c.field.Parent; f != nil; f = f.Parent {
		if f.Shape == schema.Collection || f.Shape == schema.Optional {
			n++
		}
	}
	return n + c.index
}

// prepare decodes a page for the reader, unless the reader is doing so itself, and
// reports whether it did.
func (c *Column[T]) prepare(ctx context.Context, pages *clusterPages[T], p int, cost int64) bool {
	s := &pages.slots[p]
	c.ahead.mu.Lock() // the page may be about to be planned
	ok := s.mu.TryLock()
	c.ahead.mu.Unlock()
	if !ok {
		return false
	}
	defer s.mu.Unlock()
	if s.done || ctx.Err() != nil {
		return false
	}
	s.done = true
	if s.elements, s.lease, s.err = c.elements(ctx, pages, p); s.err != nil {
		if isDone(s.err) { // the reader's context need not be
			s.err, s.done = nil, false
		}
		return false
	}
	s.charged = cost
	return true
}
