package pagesource

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-rntuple/go-rntuple/anchor"
)

// A span is a range of the file that holds several pages and is fetched with one
// read.
type span struct {
	offset, end int64

	mu    sync.Mutex
	data  *[]byte
	err   error
	pages atomic.Int64 // that still need it
}

const (
	maxGap  = 32 << 10 // bytes read for nothing cost less than another read
	minSpan = 64 << 10
	maxSpan = 8 << 20
)

// join gives tasks whose pages lie near each other a common span of about limit
// bytes. Pages that are mapped need none.
func (s *Source) join(tasks []task, limit int64) {
	limit = max(minSpan, min(maxSpan, limit))
	order := make([]*task, 0, len(tasks))
	for i := range tasks {
		n, err := s.StoredSize(tasks[i].format, tasks[i].page)
		if err == nil && !s.Chunked(n) && s.mapped(int64(tasks[i].page.Locator.Offset), n) == nil { // if not, the page fails alone
			order = append(order, &tasks[i])
		}
	}
	slices.SortStableFunc(order, func(x, y *task) int { return cmp.Compare(x.page.Locator.Offset, y.page.Locator.Offset) })
	var current *span
	for _, t := range order {
		n, _ := s.StoredSize(t.format, t.page)
		begin := int64(t.page.Locator.Offset)
		if current == nil || begin > current.end+maxGap || begin+n > current.offset+limit && begin+n > current.end {
			current = &span{offset: begin, end: begin}
		}
		current.end = max(current.end, begin+n)
		current.pages.Add(1)
		t.span = current
	}
}

// bytes returns n bytes of the file from offset on. They are valid until all pages
// have dropped the span.
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

// use has the span stay valid for another user, who must drop it, unless all pages have dropped
// it, or it is nil. It reports whether it does.
func (sp *span) use() bool {
	if sp == nil {
		return false
	}
	for {
		n := sp.pages.Load()
		if n == 0 || sp.pages.CompareAndSwap(n, n+1) {
			return n > 0
		}
	}
}

// drop releases the span for one of its pages. The span may be nil.
func (sp *span) drop() {
	if sp != nil && sp.pages.Add(-1) == 0 && sp.data != nil {
		buffers.Put(sp.data)
		sp.data = nil
	}
}
