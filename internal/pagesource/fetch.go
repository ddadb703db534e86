package pagesource

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/remote"
)

// A fetch reads the bytes of pages before they are needed: it is told which ones will be, makes few
// requests of them, and has several under way. Each page has memory of its own, so none is held
// longer than the page is needed. A fetch is safe for concurrent use. Nil fetches nothing.
type fetch struct {
	src    *Blobs
	budget int64 // limit for the bytes of pages that are under way or here

	mu      sync.Mutex
	ctx     context.Context
	blobs   map[int64]*blob // by offset
	queue   []*request      // that have not begun, in the order in which their pages will be needed
	running int
	held    int64 // of the budget
	planned int64 // bytes of all blobs

	expected map[int64]*blob // by offset; see Expect
}

// A blob is a page as it is stored, with its checksum.
type blob struct {
	offset, n int64
	users     int // plans and readers
	data      *[]byte
	request   *request
}

func (b *blob) bounds() (begin, end int64) { return b.offset, b.offset + b.n }

// A request reads blobs.
type request struct {
	blobs []*blob
	begun bool
	ended bool
	done  chan struct{} // closed once it has ended
	err   error

	cancel context.CancelFunc
}

// newFetch returns a fetch within a budget of bytes, or nil if the file is mapped into memory or
// there is no budget.
func (b *Blobs) newFetch(budget int64) *fetch {
	if budget == 0 || b.mapped(0, 0) != nil {
		return nil
	}
	return &fetch{src: b, budget: budget, blobs: map[int64]*blob{}, expected: map[int64]*blob{}}
}

// A storedPage is a page of a column with a format.
type storedPage struct {
	format column.Format
	page   envelope.Page
}

// plan announces that pages will be needed soon, those of earlier calls before those of later ones.
// It returns what each becomes, for which drop must be called once, or nil: such a page is read
// when it is needed.
func (f *fetch) plan(ctx context.Context, pages []storedPage) []*blob {
	planned := make([]*blob, len(pages))
	if f == nil || len(pages) == 0 {
		return planned
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ctx = ctx
	var added []*blob
	for i, p := range pages {
		n, err := f.src.StoredSize(p.format, p.page)
		if err != nil || n == 0 || f.src.Chunked(n) {
			continue // it fails alone, or takes several reads
		}
		offset := int64(p.page.Locator.Offset)
		b := f.blobs[offset]
		switch {
		case b == nil:
			b = &blob{offset: offset, n: n}
			f.blobs[offset], f.planned = b, f.planned+n
			added = append(added, b)
		case b.n != n:
			continue
		}
		b.users++
		planned[i] = b
	}
	costs := f.src.costs()
	costs.Bytes = max(64<<10, min(costs.Bytes, f.budget/2))
	for _, blobs := range remote.Plan(costs, added, (*blob).bounds) {
		r, end := &request{done: make(chan struct{})}, int64(0)
		f.queue = append(f.queue, r)
		for _, b := range blobs {
			if b.request = r; b.offset < end { // as no writer has it
				b.request = &request{blobs: []*blob{b}, done: make(chan struct{})}
				f.queue = append(f.queue, b.request)
				continue
			}
			r.blobs, end = append(r.blobs, b), b.offset+b.n
		}
	}
	f.start()
	return planned
}

// start begins as many requests as may be under way. f.mu must be held.
func (f *fetch) start() {
	most := max(1, f.src.costs().Requests)
	for len(f.queue) > 0 && f.running < most && (f.held == 0 || f.held+f.queue[0].bytes() <= f.budget) {
		f.begin(f.queue[0])
	}
}

func (r *request) bytes() (n int64) {
	for _, b := range r.blobs {
		n += b.n
	}
	return n
}

// begin begins a request. f.mu must be held.
func (f *fetch) begin(r *request) {
	f.queue = slices.DeleteFunc(f.queue, func(other *request) bool { return other == r })
	r.begun = true
	f.running++
	f.held += r.bytes()
	ranges := make([]remote.Range, len(r.blobs))
	for i, b := range r.blobs {
		b.data = lend(b.n)
		ranges[i] = remote.Range{Offset: b.offset, Data: *b.data}
	}
	var ctx context.Context
	ctx, r.cancel = context.WithCancel(f.ctx)
	go func() {
		defer r.cancel()
		err := f.src.readRanges(ctx, ranges)
		f.mu.Lock()
		defer f.mu.Unlock()
		r.err, r.ended = err, true
		f.running--
		for _, b := range r.blobs {
			f.free(b)
		}
		close(r.done)
		f.start()
	}()
}

// free gives back the memory of a blob that nobody uses. f.mu must be held.
func (f *fetch) free(b *blob) {
	r := b.request
	if b.users > 0 {
		return
	}
	if r.begun && !r.ended {
		if !slices.ContainsFunc(r.blobs, func(other *blob) bool { return other.users > 0 }) {
			r.cancel()
		}
		return
	}
	if r.begun {
		f.forget(b)
		if b.data != nil {
			buffers.Put(b.data)
			b.data = nil
			f.held -= b.n
		}
		return
	}
	// Blobs between others stay: without them, the request might have more ranges than costs allow
	// for.
	for len(r.blobs) > 0 && r.blobs[0].users == 0 {
		f.forget(r.blobs[0])
		r.blobs = r.blobs[1:]
	}
	for n := len(r.blobs); n > 0 && r.blobs[n-1].users == 0; n-- {
		f.forget(r.blobs[n-1])
		r.blobs = r.blobs[:n-1]
	}
	if len(r.blobs) == 0 {
		f.queue = slices.DeleteFunc(f.queue, func(other *request) bool { return other == r })
	}
}

// forget takes a blob out of what is planned. f.mu must be held.
func (f *fetch) forget(b *blob) {
	if f.blobs[b.offset] == b {
		delete(f.blobs, b.offset)
		f.planned -= b.n
	}
}

// drop says that one user of a blob, which may be nil, does not need it any more.
func (f *fetch) drop(b *blob) {
	if b == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	b.users--
	f.free(b)
	f.start()
}

// ahead returns the bytes of all pages that are planned.
func (f *fetch) ahead() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.planned
}

// arrived reports whether all of the pages that are planned have been read, or could not be.
func (f *fetch) arrived(pages []storedPage) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range pages {
		if b := f.blobs[int64(p.page.Locator.Offset)]; b != nil && !b.request.ended {
			return false
		}
	}
	return true
}

// use calls use with the n bytes of a page, its checksum among them, if it is planned, for which it
// waits if need be; use must not keep them. It is not ok if the page must be read alone.
func (f *fetch) use(ctx context.Context, p envelope.Page, n int64, use func(stored []byte) error) (ok bool, err error) {
	if f == nil {
		return false, nil
	}
	f.mu.Lock()
	b := f.blobs[int64(p.Locator.Offset)]
	if b == nil || b.n != n {
		f.mu.Unlock()
		return false, nil
	}
	b.users++
	r := b.request
	if !r.begun {
		f.begin(r)
	}
	f.mu.Unlock()
	defer f.drop(b)
	select {
	case <-r.done:
	case <-ctx.Done():
		return true, ctx.Err()
	}
	if r.err != nil && f.src.Far() && !isDone(r.err) {
		return true, r.err
	} else if r.err != nil {
		return false, nil // of a file on disk, this page can perhaps be read; and another context was done
	}
	return true, use(*b.data)
}

// take fills the first part of b with the page that is planned at an offset, if there is one which
// fits. It returns the number of bytes.
func (f *fetch) take(ctx context.Context, b []byte, offset int64) (n int, err error) {
	if f == nil {
		return 0, nil
	}
	f.mu.Lock()
	planned, expected := f.blobs[offset], f.expected[offset]
	delete(f.expected, offset)
	f.mu.Unlock()
	defer f.drop(expected)
	if planned == nil || planned.n > int64(len(b)) {
		return 0, nil
	}
	_, err = f.use(ctx, envelope.Page{Locator: locator.At(uint64(offset), 0)}, planned.n,
		func(stored []byte) error { n = copy(b, stored); return nil })
	return n, err
}

// until returns how many of the n bytes from an offset on are in front of a page that is planned
// behind it.
func (f *fetch) until(offset, n int64) int64 {
	if f == nil {
		return n
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for at := range f.blobs {
		if at > offset {
			n = min(n, at-offset)
		}
	}
	return n
}

// ExpectWith has Page, StoredPage and Exactly use what a read-ahead of the source fetches, if the
// file is far away. It must be called before they are.
func (s *Source) ExpectWith(a *ReadAhead) {
	if s.Far() {
		s.ahead = a.fetch
	}
}

// ExpectWithin has Page, StoredPage and Exactly use what Expect has fetched, within a budget of
// bytes, if the file is far away. It must be called before they are.
func (b *Blobs) ExpectWithin(budget int64) {
	if b.Far() {
		b.ahead = b.newFetch(budget)
	}
}

// Expect has pages of columns fetched, by format, which Page, StoredPage or Exactly will read soon:
// those that several columns share once. It does nothing without ExpectWith or ExpectWithin.
func (b *Blobs) Expect(ctx context.Context, pages iter.Seq2[column.Format, envelope.Page]) {
	if b.ahead == nil {
		return
	}
	var all []storedPage
	for f, p := range pages {
		all = append(all, storedPage{f, p})
	}
	for _, planned := range b.ahead.plan(ctx, all) {
		b.ahead.expect(planned)
	}
}

// expect keeps a blob, which may be nil, until take asks for it.
func (f *fetch) expect(b *blob) {
	if b == nil {
		return
	}
	f.mu.Lock()
	before := f.expected[b.offset]
	f.expected[b.offset] = b
	f.mu.Unlock()
	f.drop(before)
}

// isDone reports whether an error is that of a context.
func isDone(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// costs returns what requests cost.
func (b *Blobs) costs() remote.Costs {
	if r, ok := b.R.(remote.RangeReader); ok {
		return r.Costs()
	}
	return remote.Local
}

// readRanges fills ranges, which a request of costs may have.
func (b *Blobs) readRanges(ctx context.Context, ranges []remote.Range) error {
	if r, ok := b.R.(remote.RangeReader); ok {
		return r.ReadRanges(ctx, ranges)
	}
	begin, end := ranges[0].Offset, ranges[len(ranges)-1].End()
	if len(ranges) == 1 {
		return anchor.ReadBlob(b.R, ranges[0].Data, begin, 0)
	}
	all := lend(end - begin)
	defer buffers.Put(all)
	if err := anchor.ReadBlob(b.R, *all, begin, 0); err != nil {
		return err
	}
	for _, r := range ranges {
		copy(r.Data, (*all)[r.Offset-begin:])
	}
	return nil
}
