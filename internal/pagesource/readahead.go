package pagesource

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
)

// A ReadAhead fetches and decodes pages of its columns before they are asked for:
// those of the current cluster and the next one, in the order in which the entries
// need them. Its goroutines end when there is nothing left to do, or when the budget
// is used up, and are started again as reading goes on.
type ReadAhead struct {
	src     *Source
	columns []interface {
		queue(cluster *Cluster, from float64, w *wanted) []task
		release()
		choose(some bool)
	}
	budget int64 // limit for pages that are decoded but not yet read, in bytes
	keep   int64 // limit for pages that columns keep after reading them, in bytes

	chosen   Chosen   // nil: all entries
	at, last *Cluster // the one that the reader is in, and the last one that was queued

	mu      sync.Mutex
	ctx     context.Context
	tasks   []task // not yet begun
	used    int64  // of the budget, in bytes
	running int
}

// A task is a page to decode.
type task struct {
	at   float64 // where in the cluster its elements begin, from 0 to 1
	cost int64   // size of the decoded page in bytes

	format column.Format
	page   envelope.Page
	span   *span
	queued *atomic.Pointer[span] // for the reader
	run    func(ctx context.Context, sp *span) (charged bool)
}

// NewReadAhead returns a read-ahead without columns.
func (s *Source) NewReadAhead() *ReadAhead {
	return &ReadAhead{src: s, budget: s.Budget, keep: s.Budget}
}

// Advance announces that the entries from first on, up to end at most, are read in
// order, and that the reader is in the given cluster.
func (a *ReadAhead) Advance(ctx context.Context, cluster *Cluster, first, end int64) {
	if a.budget == 0 || len(a.columns) == 0 || a.src.Workers < 2 && a.src.mapped(0, 0) != nil {
		return // there is nothing to wait for, and no other goroutine to decode
	}
	a.mu.Lock()
	a.ctx = ctx
	a.mu.Unlock()
	if cluster != a.at {
		if cluster != a.last {
			a.forget()
			a.queue(cluster, float64(first-cluster.First)/float64(cluster.End-cluster.First))
		}
		a.at = cluster
	}
	a.mu.Lock()
	idle := len(a.tasks) == 0
	a.mu.Unlock()
	if idle && a.last == cluster {
		if next := a.after(a.last.End); next < min(end, a.src.Entries) {
			if c, err := a.src.Find(ctx, next); err == nil { // if not, the reader meets the error
				a.queue(c, 0)
			}
		}
	}
	a.start()
}

// Stop ends reading for now: it drops the tasks that have not begun, and releases
// the memory of the columns.
func (a *ReadAhead) Stop() {
	a.forget()
	for _, c := range a.columns {
		c.release()
	}
}

// forget drops the tasks that have not begun.
func (a *ReadAhead) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tasks, a.at, a.last = nil, nil, nil
}

// queue adds tasks for the pages of a cluster behind from, a place in it between 0
// and 1.
func (a *ReadAhead) queue(c *Cluster, from float64) {
	var tasks []task
	w := a.wanted(c)
	for _, column := range a.columns {
		tasks = append(tasks, column.queue(c, from, w)...)
	}
	a.src.join(tasks, a.budget/4/int64(len(a.columns)))
	for _, t := range tasks {
		t.queued.Store(t.span)
	}
	slices.SortStableFunc(tasks, func(x, y task) int { return cmp.Compare(x.at, y.at) })
	a.last = c
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tasks = append(a.tasks, tasks...)
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
		if !t.run(ctx, t.span) {
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

// queue returns tasks for the column's pages in a cluster, as ReadAhead.queue adds
// them: if w is not nil, only for those with wanted elements.
func (c *Column[T]) queue(cluster *Cluster, from float64, w *wanted) (tasks []task) {
	if c.bulk {
		return nil
	}
	pages := c.now
	if pages == nil || pages.cluster != cluster {
		var err error
		if pages, err = c.pagesOf(cluster); err != nil {
			return nil // the reader meets the error
		}
		c.leave(c.next)
		c.next = pages
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
		n := int64(pages.Pages[i].NumElements)
		if float64(pages.ends[i])/total <= from || some != nil && !some[i] {
			continue
		}
		cost := n * column.Size[T]()
		tasks = append(tasks, task{
			at: float64(pages.ends[i]-n) / total, cost: cost, format: pages.Column.Format(), page: pages.Pages[i], queued: &pages.slots[i].queued,
			run: func(ctx context.Context, sp *span) bool { return c.prepare(ctx, pages, i, sp, cost) },
		})
	}
	return tasks
}

// prepare decodes a page for the reader, unless the reader is doing so itself, and
// reports whether it did.
func (c *Column[T]) prepare(ctx context.Context, pages *clusterPages[T], p int, sp *span, cost int64) bool {
	defer sp.drop()
	s := &pages.slots[p]
	if !s.mu.TryLock() {
		return false
	}
	defer s.mu.Unlock()
	if s.done || ctx.Err() != nil {
		return false
	}
	s.done = true
	var elements []T
	if elements, s.err = c.room(pages, p); s.err == nil {
		s.err = c.decode(ctx, pages, p, sp, elements)
	}
	if s.err != nil {
		return false
	}
	s.elements, s.charged = elements, cost
	return true
}
