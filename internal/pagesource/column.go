package pagesource

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/bufpool"
	"github.com/go-rntuple/go-rntuple/internal/parallel"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Column reads the elements of a field's column, in whatever representation a
// cluster has it. It keeps decoded pages, for reads that continue where the previous
// one ended or that come back. It may be used by one goroutine at a time; a ReadAhead
// decodes pages for it in others.
type Column[T column.Element] struct {
	src   *Source
	field *schema.Field
	index int
	ahead *ReadAhead

	decoders []*column.Decoder[T] // by representation

	now     *clusterPages[T]              // of the current cluster
	coming  map[*Cluster]*clusterPages[T] // of those that ahead is working on
	bulk    bool                          // reads span so many pages that none are decoded ahead
	keep    atomic.Bool                   // KeepPages was called; tasks in progress look at it
	gaps    bool                          // reading in order leaves out elements
	at      int64                         // the element at which reading in order continues, or -1
	forward bool                          // the current read continues the previous one
	recent  []pageRef[T]                  // decoded pages that have been read, the latest one last
	here    []columnar.Span               // for ReadSpans
}

// A pageRef identifies a page.
type pageRef[T column.Element] struct {
	pages *clusterPages[T]
	page  int
}

// clusterPages are the pages that a column has in a cluster.
type clusterPages[T column.Element] struct {
	cluster *Cluster
	Chunk
	ends  []int64 // by page: the number of elements of the chunk up to its end
	slots []slot[T]
}

// A slot holds a page once it is decoded.
type slot[T column.Element] struct {
	mu         sync.Mutex
	elements   []T
	lease      bufpool.Lease // of elements, unless they belong to Source.shared, too
	plain      []byte        // the page before it is decoded, nil or kept by within
	plainLease bufpool.Lease // of plain
	err        error
	done       bool  // elements or err are set, or the reader does not need them any more
	charged    int64 // to the read-ahead's budget, in bytes

	planned atomic.Pointer[blob] // what the fetch of the read-ahead has of it, or nil
}

// NewColumn returns a reader of the index-th column of f, and adds it to ahead. If
// a representation of the column cannot be read as T, the error wraps
// frame.ErrUnsupported.
func NewColumn[T column.Element](ahead *ReadAhead, f *schema.Field, index int) (*Column[T], error) {
	c := &Column[T]{src: ahead.src, field: f, index: index, ahead: ahead, coming: map[*Cluster]*clusterPages[T]{}}
	for _, rep := range f.Columns {
		d, err := column.NewDecoder[T](rep[index].Format())
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Path(), err)
		}
		c.decoders = append(c.decoders, d)
	}
	ahead.columns = append(ahead.columns, c)
	return c, nil
}

// KeepPages has the source keep the pages that are read, as other readers of the
// column will soon need them, too. Nobody may change their elements.
func (c *Column[T]) KeepPages() { c.keep.Store(true) }

// Len returns the number of elements that the column has in a cluster.
func (c *Column[T]) Len(cluster *Cluster) (int64, error) {
	if err := c.enter(cluster); err != nil {
		return 0, err
	}
	return c.now.Elements, nil
}

// enter makes a cluster the current one.
func (c *Column[T]) enter(cluster *Cluster) error {
	if c.now != nil && c.now.cluster == cluster {
		return nil
	}
	pages, err := c.pagesIn(cluster)
	if err != nil {
		return err
	}
	if c.now != nil && c.at != c.now.Elements {
		c.at = -1
	} else {
		c.at = 0
	}
	c.leave(c.now)
	delete(c.coming, cluster)
	c.now = pages
	return nil
}

// pagesIn returns the pages that the column has in a cluster, of which some may be decoded.
func (c *Column[T]) pagesIn(cluster *Cluster) (*clusterPages[T], error) {
	if c.now != nil && c.now.cluster == cluster {
		return c.now, nil
	}
	if pages := c.coming[cluster]; pages != nil {
		return pages, nil
	}
	if i := slices.IndexFunc(c.recent, func(r pageRef[T]) bool { return r.pages.cluster == cluster }); i >= 0 {
		return c.recent[i].pages, nil
	}
	return c.pagesOf(cluster)
}

// await is pagesIn for a cluster that will be entered.
func (c *Column[T]) await(cluster *Cluster) (*clusterPages[T], error) {
	pages, err := c.pagesIn(cluster)
	if err == nil && pages != c.now {
		c.coming[cluster] = pages
	}
	return pages, err
}

// leave releases the memory of a cluster's pages, except for recent ones.
func (c *Column[T]) leave(pages *clusterPages[T]) {
	if pages == nil {
		return
	}
	for i := range pages.slots {
		s := &pages.slots[i]
		if slices.Contains(c.recent, pageRef[T]{pages, i}) {
			c.ahead.fetch.drop(s.planned.Swap(nil))
			continue
		}
		s.mu.Lock()                             // a task that began between the next two steps would read the page again
		c.ahead.fetch.drop(s.planned.Swap(nil)) // its task may never run
		c.drop(s)
		s.done = true // for the read-ahead
		s.mu.Unlock()
	}
}

// release releases all memory.
func (c *Column[T]) release() {
	c.dropRecent(len(c.recent)) // they may be of a cluster that was left
	c.leave(c.now)
	c.skip(func(*Cluster) bool { return true })
	c.now, c.at = nil, 0
}

func (c *Column[T]) skip(unwanted func(*Cluster) bool) {
	for cluster, pages := range c.coming {
		if unwanted(cluster) {
			c.leave(pages)
			delete(c.coming, cluster)
		}
	}
}

// Hand has StoredPage use what has been fetched of a page of the current cluster, by its number.
func (c *Column[T]) Hand(page int) { c.ahead.fetch.expect(c.now.slots[page].planned.Swap(nil)) }

// drop releases the memory of a page.
func (c *Column[T]) drop(s *slot[T]) {
	s.lease.GiveBack()
	s.plainLease.GiveBack()
	c.ahead.release(s.charged)
	s.elements, s.plain, s.charged = nil, nil, 0
}

// pagesOf returns the pages that the column has in a cluster, none decoded.
func (c *Column[T]) pagesOf(cluster *Cluster) (*clusterPages[T], error) {
	chunk, err := cluster.Chunk(c.field, c.index)
	if err != nil {
		return nil, err
	}
	p := &clusterPages[T]{cluster: cluster, Chunk: chunk, ends: make([]int64, len(chunk.Pages)),
		slots: make([]slot[T], len(chunk.Pages))}
	end := chunk.Zeros
	for i, page := range chunk.Pages {
		end += int64(page.NumElements)
		p.ends[i] = end
	}
	return p, nil
}

// Read fills dst with the elements from first on, counted from the start of the
// cluster.
func (c *Column[T]) Read(ctx context.Context, cluster *Cluster, first int64, dst []T) error {
	if err := c.enter(cluster); err != nil {
		return err
	}
	if err := c.begin(first, int64(len(dst))); err != nil {
		return err
	}
	now := c.now
	if n := min(int64(len(dst)), now.Zeros-first); n > 0 {
		clear(dst[:n])
		dst, first = dst[n:], first+n
	}
	c.bulk = false
	for p := c.find(first); len(dst) > 0; p++ {
		skip := first - (now.ends[p] - int64(now.Pages[p].NumElements))
		if whole := now.wholePages(p, len(dst)); skip == 0 && whole > 0 {
			n, err := c.direct(ctx, p, whole, dst)
			if err != nil {
				return err
			}
			dst, first, p = dst[n:], first+int64(n), p+whole-1
			c.bulk = c.bulk || whole >= c.src.Workers
			continue
		}
		n := int(min(int64(len(dst)), now.ends[p]-first))
		if read, err := c.within(ctx, p, skip, dst[:n]); err != nil {
			return err
		} else if !read {
			elements, err := c.page(ctx, p)
			if err != nil {
				return err
			}
			copy(dst[:n], elements[skip:])
		}
		dst, first, c.forward = dst[n:], first+int64(n), true
	}
	return nil
}

// SamePages reports whether the column and another one have the same pages in a
// cluster.
func (c *Column[T]) SamePages(other *Column[T], cluster *Cluster) bool {
	if c.enter(cluster) != nil || other.enter(cluster) != nil {
		return false
	}
	a, b := c.now, other.now
	return a.Zeros == b.Zeros && a.Column.Format() == b.Column.Format() && slices.Equal(a.Pages, b.Pages)
}

// FirstPage returns the offset in the file of the column's first page in a cluster,
// and whether there is one.
func (c *Column[T]) FirstPage(cluster *Cluster) (offset uint64, ok bool, err error) {
	if err := c.enter(cluster); err != nil || len(c.now.Pages) == 0 {
		return 0, false, err
	}
	return c.now.Pages[0].Locator.Offset, true, nil
}

// Next returns the elements from first on, counted from the start of the cluster,
// up to the end of a page: at least one, at most n. They are valid until the next
// call.
func (c *Column[T]) Next(ctx context.Context, cluster *Cluster, first, n int64) ([]T, error) {
	if err := c.enter(cluster); err != nil {
		return nil, err
	}
	if err := c.begin(first, n); err != nil {
		return nil, err
	}
	now := c.now
	if first < now.Zeros {
		n = min(n, now.Zeros-first, 1<<10)
		c.at = first + n
		return make([]T, n), nil
	}
	p := c.find(first)
	elements, err := c.page(ctx, p)
	if err != nil {
		return nil, err
	}
	skip := first - (now.ends[p] - int64(len(elements)))
	elements = elements[skip:min(skip+n, int64(len(elements)))]
	c.at = first + int64(len(elements))
	return elements, nil
}

// Part returns the n elements from first on, counted from the start of the cluster, if one page
// holds them all; they are valid until the next call. If not, it returns nil, and Read must
// read them.
func (c *Column[T]) Part(ctx context.Context, cluster *Cluster, first, n int64) ([]T, error) {
	if err := c.enter(cluster); err != nil {
		return nil, err
	}
	now := c.now
	if first < now.Zeros || first >= now.Elements || n > now.ends[c.find(first)]-first {
		return nil, nil
	}
	return c.Next(ctx, cluster, first, n)
}

// begin begins a read of n elements from first on.
func (c *Column[T]) begin(first, n int64) error {
	c.forward = first == c.at || c.gaps && first > c.at
	c.at = first + n
	if first < 0 || first > c.now.Elements || n > c.now.Elements-first {
		return c.now.cluster.corrupt(c.field, "elements from %d to %d wanted, the column has %d", first,
			first+n, c.now.Elements)
	}
	return nil
}

// last returns the page that was read last, if it is in the current cluster.
func (c *Column[T]) last() (page int, ok bool) {
	if n := len(c.recent); n > 0 && c.recent[n-1].pages == c.now {
		return c.recent[n-1].page, true
	}
	return 0, false
}

// Corrupt returns an error that wraps frame.ErrCorrupt and says what is wrong with
// the column's elements in a cluster.
func (c *Column[T]) Corrupt(cluster *Cluster, format string, args ...any) error {
	return cluster.corrupt(c.field, format, args...)
}

// find returns the page that holds the element first.
func (c *Column[T]) find(first int64) int {
	p := c.now
	if i, ok := c.last(); ok && first < p.ends[i] && first >= p.ends[i]-int64(p.Pages[i].NumElements) {
		return i
	}
	return sort.Search(len(p.ends), func(i int) bool { return p.ends[i] > first })
}

// wholePages returns how many whole pages, from page i on, n elements fill.
func (p *clusterPages[T]) wholePages(i, n int) int {
	first := i
	for ; i < len(p.Pages) && int64(p.Pages[i].NumElements) <= int64(n); i++ {
		n -= int(p.Pages[i].NumElements)
	}
	return i - first
}

// direct decodes a number of whole pages, from page p on, into dst, without a copy
// in between. It returns how many elements they have.
func (c *Column[T]) direct(ctx context.Context, p, pages int, dst []T) (int, error) {
	now := c.now
	begin := now.ends[p] - int64(now.Pages[p].NumElements)
	if c.ahead.fetch != nil {
		var all []aheadPage
		for i := range pages {
			if page, ok := now.ahead(p + i); ok {
				all = append(all, page)
			}
		}
		c.ahead.plan(ctx, all)
	}
	err := parallel.Do(c.src.Workers, pages, func(i int) error {
		end := now.ends[p+i] - begin
		return c.into(ctx, p+i, dst[end-int64(now.Pages[p+i].NumElements):end])
	})
	return int(now.ends[p+pages-1] - begin), err
}

// into decodes a whole page into dst, or copies it if it is decoded already.
func (c *Column[T]) into(ctx context.Context, p int, dst []T) error {
	s := &c.now.slots[p]
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil:
		return s.err
	case s.elements != nil:
		copy(dst, s.elements)
		if s.charged > 0 { // the reader is done with what was decoded for it
			c.drop(s)
		}
		return nil
	}
	s.done = true
	if c.keep.Load() {
		elements, lease, err := c.elements(ctx, c.now, p)
		copy(dst, elements)
		lease.GiveBack()
		return err
	}
	return c.decode(ctx, c.now, p, dst)
}

// minPart is the size in bytes of a part of a page that is worth decoding by itself.
const minPart = 32 << 10

// within fills dst with elements of page p, from first on, counted in the page, unless they are
// few, or the page is decoded already, or will be for others, or must be decoded from its
// beginning. What reads a page part by part needs no copy in between then.
func (c *Column[T]) within(ctx context.Context, p int, first int64, dst []T) (read bool, err error) {
	now := c.now
	page, format, decoder := now.Pages[p], now.Column.Format(), c.decoders[now.Column.Representation]
	if int64(len(dst))*column.Size[T]() < minPart || c.keep.Load() || !decoder.Ranges() {
		return false, nil
	}
	s := &now.slots[p]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil || s.elements != nil {
		return false, s.err
	}
	s.done = true
	n := int(page.NumElements)
	if s.plain == nil {
		if c.src.inPlace(format, page) { // verified only once
			return true, c.open(ctx, now, p, true, nil,
				func(b []byte) error { return decoder.DecodeRange(dst, b, n, int(first)) })
		}
		if s.plain, s.plainLease, err = c.decompress(ctx, now, p); err != nil {
			return false, err
		}
		c.use(p)
	}
	err = c.blame(now, p, decoder.DecodeRange(dst, s.plain, n, int(first)))
	if c.forward && first+int64(len(dst)) == int64(page.NumElements) {
		c.drop(s) // reading in order does not come back
	}
	return true, err
}

// decompress returns page p as it is before it is decoded, in memory that is lent.
func (c *Column[T]) decompress(ctx context.Context, pages *clusterPages[T], p int) ([]byte, bufpool.Lease, error) {
	page, format := pages.Pages[p], pages.Column.Format()
	if _, err := c.src.StoredSize(format, page); err != nil {
		return nil, bufpool.Lease{}, c.blame(pages, p, err)
	}
	into, lease := bufpool.Borrow[byte](int(format.PageSize(page.NumElements)))
	err := c.open(ctx, pages, p, pages.cluster.sharesBytes(page), into, func(b []byte) error {
		if unsafe.SliceData(b) != unsafe.SliceData(into) { // not compressed, or kept for others
			copy(into, b)
		}
		return nil
	})
	if err != nil {
		lease.GiveBack()
		return nil, lease, err
	}
	return into, lease, nil
}

// page returns the elements of a page of the current cluster.
func (c *Column[T]) page(ctx context.Context, p int) (_ []T, err error) {
	s := &c.now.slots[p]
	if last, ok := c.last(); ok && last == p && s.elements != nil {
		return s.elements, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	if s.elements == nil {
		if s.elements, s.lease, err = c.elements(ctx, c.now, p); err != nil {
			return nil, err
		}
		s.plainLease.GiveBack()
		s.plain, s.done = nil, true
	}
	c.ahead.release(s.charged) // the budget is for pages that wait to be read
	s.charged = 0
	c.use(p)
	return s.elements, nil
}

// maxRecent limits the pages that a column keeps, so that they are found quickly.
const maxRecent = 64

// use notes that page p is in use, and releases the memory of others: of all if the
// column is read in order, else of those that were used longest ago and are more
// than a column may keep.
func (c *Column[T]) use(p int) {
	this := pageRef[T]{c.now, p}
	c.recent = append(slices.DeleteFunc(c.recent, func(r pageRef[T]) bool { return r == this }), this)
	others := len(c.recent) - 1
	drop := others
	if !c.forward {
		keep := c.ahead.keep / int64(len(c.ahead.columns))
		drop = max(0, others-int(min(maxRecent, keep/max(1, column.Size[T]()*int64(c.now.Pages[p].NumElements)))))
	}
	c.dropRecent(drop)
}

// dropRecent releases the memory of the n recent pages that were used longest ago.
func (c *Column[T]) dropRecent(n int) {
	for _, r := range c.recent[:n] {
		c.drop(&r.pages.slots[r.page])
	}
	c.recent = slices.Delete(c.recent, 0, n)
}

// elements returns the elements of page p, and their lease, which is zero if others may have them,
// too.
func (c *Column[T]) elements(ctx context.Context, pages *clusterPages[T], p int) ([]T, bufpool.Lease, error) {
	if err := ctx.Err(); err != nil {
		return nil, bufpool.Lease{}, err
	}
	format, page := pages.Column.Format(), pages.Pages[p]
	key := keyOf(format, page)
	key.format = format
	shared := c.keep.Load()
	if shared {
		kept, _ := c.src.shared.get(key)
		if elements, ok := kept.([]T); ok && len(elements) == int(page.NumElements) {
			c.ahead.fetch.drop(pages.slots[p].planned.Swap(nil))
			return elements, bufpool.Lease{}, nil
		}
	}
	elements, lease, err := c.room(pages, p)
	if err != nil {
		return nil, lease, err
	}
	if !shared {
		err = c.decode(ctx, pages, p, elements)
	} else {
		err = c.open(ctx, pages, p, false, nil, func(b []byte) error {
			return c.decoders[pages.Column.Representation].Decode(elements, b)
		})
		if err == nil {
			c.src.shared.put(key, elements, cap(elements)*int(column.Size[T]()))
		}
	}
	if err != nil {
		lease.GiveBack()
		return nil, lease, err
	}
	if shared {
		lease = bufpool.Lease{}
	}
	return elements, lease, nil
}

// decode decodes page p into dst.
func (c *Column[T]) decode(ctx context.Context, pages *clusterPages[T], p int, dst []T) error {
	decoder := c.decoders[pages.Column.Representation]
	return c.plain(ctx, pages, p, func(b []byte) error { return decoder.Decode(dst, b) })
}

// plain calls use with page p, decompressed.
func (c *Column[T]) plain(ctx context.Context, pages *clusterPages[T], p int, use func(page []byte) error) error {
	if b := pages.slots[p].plain; b != nil {
		return c.blame(pages, p, use(b))
	}
	return c.open(ctx, pages, p, pages.cluster.sharesBytes(pages.Pages[p]), nil, use)
}

// open is plain for a page that is not decompressed yet; see Source.readPage.
func (c *Column[T]) open(ctx context.Context, pages *clusterPages[T], p int, keep bool, into []byte,
	use func(page []byte) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer c.ahead.fetch.drop(pages.slots[p].planned.Swap(nil))
	return c.blame(pages, p, c.src.readPage(ctx, c.ahead.fetch, pages.Column.Format(), pages.Pages[p], keep, into, use))
}

// blame adds to err, if it is not nil, which page it is about.
func (c *Column[T]) blame(pages *clusterPages[T], p int, err error) error {
	if err != nil {
		err = fmt.Errorf("field %q, column %d, cluster %d, page %d: %w", c.field.Path(), pages.Column.ID,
			pages.cluster.ID, p, err)
	}
	return err
}

// room returns memory for the elements of page p. Their size is limited like that of
// the page itself, of which one byte can hold many elements.
func (c *Column[T]) room(pages *clusterPages[T], p int) ([]T, bufpool.Lease, error) {
	page := pages.Pages[p]
	_, err := c.src.StoredSize(pages.Column.Format(), page)
	if size := int64(page.NumElements) * column.Size[T](); err == nil && size > c.src.MaxPage {
		err = pageError(page, tooLarge(size, c.src.MaxPage))
	}
	if err != nil {
		return nil, bufpool.Lease{}, c.blame(pages, p, err)
	}
	elements, lease := bufpool.Borrow[T](int(page.NumElements))
	return elements, lease, nil
}
