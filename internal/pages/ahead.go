package pages

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
)

// A ReadAhead fetches and decodes pages of some columns before they are asked
// for, in the order in which entries need them, in the current cluster and the
// next one. Its goroutines end when there is nothing to do, or no memory to do it
// in, and are started again as reading goes on.
type ReadAhead struct {
	src     *Source
	columns []interface {
		queue(cluster *Cluster, from float64) []task
		release()
	}
	budget int64 // bytes of pages that are decoded and not read yet
	keep   int64 // bytes of pages that columns keep after they were read

	at, last *Cluster // where the reader is, and the last one that was queued

	mu      sync.Mutex
	ctx     context.Context
	tasks   []task // that nobody has begun
	used    int64  // of the budget
	running int
}

// A task is a page to decode.
type task struct {
	at   float64 // where in the cluster its elements begin, from 0 to 1
	cost int64   // bytes that it needs, decoded

	format column.Format
	page   envelope.Page
	span   *span
	run    func(ctx context.Context, sp *span) (charged bool)
}

// NewReadAhead returns a read-ahead without columns.
func (s *Source) NewReadAhead() *ReadAhead {
	return &ReadAhead{src: s, budget: s.Budget, keep: s.Budget}
}

// Advance tells that entries from first on, up to end at most, are read in
// order, and that the reader is in the given cluster.
func (a *ReadAhead) Advance(ctx context.Context, cluster *Cluster, first, end int64) {
	if a.budget == 0 || len(a.columns) == 0 || a.src.Workers < 2 && a.src.mapped() {
		return // nobody could do anything meanwhile
	}
	if cluster != a.at {
		if cluster != a.last {
			a.forget()
			a.queue(cluster, float64(first-cluster.First)/float64(cluster.End-cluster.First))
		}
		a.at = cluster
	}
	a.mu.Lock()
	a.ctx = ctx
	idle := len(a.tasks) == 0
	a.mu.Unlock()
	if next := a.last.End; idle && a.last == cluster && next < min(end, a.src.Entries) {
		if c, err := a.src.Find(ctx, next); err == nil { // else the reader will meet the error
			a.queue(c, 0)
		}
	}
	a.start()
}

// Stop ends reading for now: it forgets what nobody has begun, and gives memory
// back.
func (a *ReadAhead) Stop() {
	a.forget()
	for _, c := range a.columns {
		c.release()
	}
}

// forget forgets what nobody has begun.
func (a *ReadAhead) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tasks, a.at, a.last = nil, nil, nil
}

// queue adds the pages of a cluster from a place on.
func (a *ReadAhead) queue(c *Cluster, from float64) {
	var tasks []task
	for _, column := range a.columns {
		tasks = append(tasks, column.queue(c, from)...)
	}
	a.src.join(tasks, a.budget/4/int64(len(a.columns)))
	slices.SortStableFunc(tasks, func(x, y task) int { return cmp.Compare(x.at, y.at) })
	a.last = c
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tasks = append(a.tasks, tasks...)
}

// start makes goroutines for the tasks.
func (a *ReadAhead) start() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for n := a.room(); n > 0 && a.running < a.src.Workers; n-- {
		a.running++
		go a.work()
	}
}

// room returns how many tasks can begin.
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

// release gives bytes of the budget back.
func (a *ReadAhead) release(n int64) {
	if n > 0 {
		a.mu.Lock()
		a.used -= n
		a.mu.Unlock()
	}
}

// queue returns tasks for the column's pages in a cluster.
func (c *Column[T]) queue(cluster *Cluster, from float64) (tasks []task) {
	if c.bulk {
		return nil
	}
	pages := c.now
	if pages == nil || pages.cluster != cluster {
		var err error
		if pages, err = c.pagesOf(cluster); err != nil {
			return nil // the reader will meet the error
		}
		c.leave(c.next)
		c.next = pages
	}
	total := float64(max(1, pages.Elements))
	for i := range pages.Pages {
		n := int64(pages.Pages[i].NumElements)
		if float64(pages.ends[i])/total <= from {
			continue
		}
		cost := n * column.Size[T]()
		tasks = append(tasks, task{
			at: float64(pages.ends[i]-n) / total, cost: cost, format: pages.Column.Format(), page: pages.Pages[i],
			run: func(ctx context.Context, sp *span) bool { return c.prepare(ctx, pages, i, sp, cost) },
		})
	}
	return tasks
}

// prepare decodes a page for the reader, unless that is at it already, and
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

// A span is a range of the file that several pages lie in and that is fetched
// with one read.
type span struct {
	offset, end int64

	mu    sync.Mutex
	data  *[]byte
	err   error
	pages atomic.Int64 // that have not used it yet
}

const (
	maxGap  = 32 << 10 // bytes that are rather read in vain than have another read
	minSpan = 64 << 10
	maxSpan = 8 << 20
)

// join gives tasks whose pages lie near each other common spans of about limit
// bytes. A file in memory needs none.
func (s *Source) join(tasks []task, limit int64) {
	if s.mapped() {
		return
	}
	limit = max(minSpan, min(maxSpan, limit))
	order := make([]*task, 0, len(tasks))
	for i := range tasks {
		if n, err := s.extent(tasks[i].format, tasks[i].page); err == nil && !s.chunked(n) { // else the page alone is to blame
			order = append(order, &tasks[i])
		}
	}
	slices.SortStableFunc(order, func(x, y *task) int { return cmp.Compare(x.page.Locator.Offset, y.page.Locator.Offset) })
	var current *span
	for _, t := range order {
		n, _ := s.extent(t.format, t.page)
		begin := int64(t.page.Locator.Offset)
		if current == nil || begin > current.end+maxGap || begin+n > current.offset+limit && begin+n > current.end {
			current = &span{offset: begin, end: begin}
		}
		current.end = max(current.end, begin+n)
		current.pages.Add(1)
		t.span = current
	}
}

func (s *Source) mapped() bool {
	_, ok := s.R.(Mapped)
	return ok
}

// bytes returns n bytes of the file, from offset on. They are valid until all
// pages have dropped the span.
func (sp *span) bytes(s *Source, offset, n int64) ([]byte, error) {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	if sp.data == nil && sp.err == nil {
		sp.data = lend(sp.end - sp.offset)
		sp.err = anchor.ReadBlob(s.R, *sp.data, sp.offset, 0)
	}
	if sp.err != nil {
		return nil, sp.err
	}
	return (*sp.data)[offset-sp.offset:][:n], nil
}

// drop tells that a page does not need the span any more.
func (sp *span) drop() {
	if sp != nil && sp.pages.Add(-1) == 0 && sp.data != nil {
		buffers.Put(sp.data)
		sp.data = nil
	}
}

// parallel calls f for 0 to n-1, by several goroutines if the source has
// workers. It returns the error of the lowest number that has one.
func (s *Source) parallel(n int, f func(i int) error) error {
	workers := min(n, s.Workers)
	if workers < 2 {
		for i := range n {
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	}
	errs := make([]error, n)
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			errs[i] = f(i)
		}
	}
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
