package pages

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Column reads the elements of a field's column, whatever representation a
// cluster has it in. It keeps decoded pages, for reads that go on where the one
// before ended or come back. It serves one goroutine at a time; a ReadAhead
// decodes pages for it in others.
type Column[T column.Element] struct {
	src   *Source
	field *schema.Field
	index int
	ahead *ReadAhead

	decoders []*column.Decoder[T] // by representation

	now, next *clusterPages[T] // next is what ahead works on beside now
	bulk      bool             // reads are of so many pages that they need no read-ahead
	keep      bool             // the bytes of pages, uncompressed, as others will want them
	recent    []int            // decoded pages of now, in the order of their use

	mu   sync.Mutex
	free [][]T // memory of pages that are not needed any more
}

// clusterPages are the pages that a column has in a cluster.
type clusterPages[T column.Element] struct {
	cluster *Cluster
	Chunk
	ends  []int64 // by page: the elements of the chunk up to its end
	slots []slot[T]
}

// A slot holds a page, once it is decoded.
type slot[T column.Element] struct {
	mu       sync.Mutex
	elements []T
	err      error
	done     bool  // elements or err are set, or the reader did without
	charged  int64 // bytes of the read-ahead's budget
}

// NewColumn returns a reader of the index-th column of f, for whose pages ahead
// may work. An error wraps wire.ErrUnsupported: a representation cannot be read
// as T.
func NewColumn[T column.Element](ahead *ReadAhead, f *schema.Field, index int) (*Column[T], error) {
	c := &Column[T]{src: ahead.src, field: f, index: index, ahead: ahead}
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

// KeepBytes tells that other readers of the column will soon want the same pages.
func (c *Column[T]) KeepBytes() { c.keep = true }

// Len returns the number of elements in a cluster.
func (c *Column[T]) Len(cluster *Cluster) (int64, error) {
	if err := c.enter(cluster); err != nil {
		return 0, err
	}
	return c.now.Elements, nil
}

// enter makes the pages of a cluster the current ones.
func (c *Column[T]) enter(cluster *Cluster) error {
	if c.now != nil && c.now.cluster == cluster {
		return nil
	}
	pages := c.next
	if pages == nil || pages.cluster != cluster {
		var err error
		if pages, err = c.pagesOf(cluster); err != nil {
			return err
		}
	}
	if c.next != pages {
		c.leave(c.next)
	}
	c.leave(c.now)
	c.now, c.next, c.recent = pages, nil, c.recent[:0]
	return nil
}

// leave gives the memory of all pages of a cluster back.
func (c *Column[T]) leave(pages *clusterPages[T]) {
	if pages == nil {
		return
	}
	for i := range pages.slots {
		s := &pages.slots[i]
		s.mu.Lock()
		c.drop(s)
		s.done = true // should the read-ahead come by
		s.mu.Unlock()
	}
}

// drop gives the memory of a page back.
func (c *Column[T]) drop(s *slot[T]) {
	c.release(s.elements)
	c.ahead.release(s.charged)
	s.elements, s.charged = nil, 0
}

func (c *Column[T]) pagesOf(cluster *Cluster) (*clusterPages[T], error) {
	chunk, err := cluster.Chunk(c.field, c.index)
	if err != nil {
		return nil, err
	}
	p := &clusterPages[T]{cluster: cluster, Chunk: chunk, ends: make([]int64, len(chunk.Pages)), slots: make([]slot[T], len(chunk.Pages))}
	end := chunk.Zeros
	for i, page := range chunk.Pages {
		end += int64(page.NumElements)
		p.ends[i] = end
	}
	return p, nil
}

// Read fills dst with the elements from first on, counted in the cluster.
func (c *Column[T]) Read(ctx context.Context, cluster *Cluster, first int64, dst []T) error {
	if err := c.enter(cluster); err != nil {
		return err
	}
	now := c.now
	if err := c.inside(first, int64(len(dst))); err != nil {
		return err
	}
	if n := min(int64(len(dst)), now.Zeros-first); n > 0 {
		clear(dst[:n])
		dst, first = dst[n:], first+n
	}
	c.bulk = false
	for p := now.find(first, c.recent); len(dst) > 0; p++ {
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
		elements, err := c.page(ctx, p)
		if err != nil {
			return err
		}
		n := copy(dst, elements[skip:])
		dst, first = dst[n:], first+int64(n)
	}
	return nil
}

// Next returns elements from first on, counted in the cluster: at least one, at
// most n, as many as one page has. They are valid until the next call.
func (c *Column[T]) Next(ctx context.Context, cluster *Cluster, first, n int64) ([]T, error) {
	if err := c.enter(cluster); err != nil {
		return nil, err
	}
	now := c.now
	if err := c.inside(first, n); err != nil {
		return nil, err
	}
	if first < now.Zeros {
		return make([]T, min(n, now.Zeros-first, 1<<10)), nil
	}
	p := now.find(first, c.recent)
	elements, err := c.page(ctx, p)
	if err != nil {
		return nil, err
	}
	skip := first - (now.ends[p] - int64(len(elements)))
	return elements[skip:min(skip+n, int64(len(elements)))], nil
}

func (c *Column[T]) inside(first, n int64) error {
	if first < 0 || first > c.now.Elements || n > c.now.Elements-first {
		return c.now.cluster.corrupt(c.field, "elements from %d to %d wanted, the column has %d", first, first+n, c.now.Elements)
	}
	return nil
}

// find returns the page that holds the element first; recent pages are tried
// before others.
func (p *clusterPages[T]) find(first int64, recent []int) int {
	if n := len(recent); n > 0 {
		if i := recent[n-1]; first < p.ends[i] && first >= p.ends[i]-int64(p.Pages[i].NumElements) && p.Pages[i].NumElements > 0 {
			return i
		}
	}
	return sort.Search(len(p.ends), func(i int) bool { return p.ends[i] > first })
}

// wholePages returns how many pages from page i on n elements fill.
func (p *clusterPages[T]) wholePages(i, n int) int {
	first := i
	for ; i < len(p.Pages) && int64(p.Pages[i].NumElements) <= int64(n); i++ {
		n -= int(p.Pages[i].NumElements)
	}
	return i - first
}

// direct decodes whole pages from page p on into dst and returns how many
// elements they have.
func (c *Column[T]) direct(ctx context.Context, p, pages int, dst []T) (int, error) {
	now := c.now
	begin := now.ends[p] - int64(now.Pages[p].NumElements)
	tasks := make([]task, pages)
	for i := range tasks {
		tasks[i] = task{format: now.Column.Format(), page: now.Pages[p+i]}
	}
	c.src.join(tasks, maxSpan)
	err := c.src.parallel(pages, func(i int) error {
		defer tasks[i].span.drop()
		end := now.ends[p+i] - begin
		return c.into(ctx, p+i, tasks[i].span, dst[end-int64(now.Pages[p+i].NumElements):end])
	})
	return int(now.ends[p+pages-1] - begin), err
}

// into decodes a whole page into dst, if it is not decoded already.
func (c *Column[T]) into(ctx context.Context, p int, sp *span, dst []T) error {
	s := &c.now.slots[p]
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil:
		return s.err
	case s.elements != nil:
		copy(dst, s.elements)
		return nil
	}
	s.done = true
	return c.decode(ctx, c.now, p, sp, dst)
}

// page returns the elements of a page of the current cluster.
func (c *Column[T]) page(ctx context.Context, p int) ([]T, error) {
	if n := len(c.recent); n > 0 && c.recent[n-1] == p {
		return c.now.slots[p].elements, nil
	}
	s := &c.now.slots[p]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	if s.elements == nil {
		elements := c.memory(int(c.now.Pages[p].NumElements))
		if err := c.decode(ctx, c.now, p, nil, elements); err != nil {
			return nil, err
		}
		s.elements, s.done = elements, true
	}
	c.use(p)
	return s.elements, nil
}

// use notes that page p is in use, and gives the memory of others back: of all if
// reading goes forward, else of those used longest ago, as far as they are beyond
// what a column may keep.
func (c *Column[T]) use(p int) {
	forward := len(c.recent) > 0 && c.recent[len(c.recent)-1] == p-1
	c.recent = append(slices.DeleteFunc(c.recent, func(r int) bool { return r == p }), p)
	others := len(c.recent) - 1
	drop := others
	if !forward {
		share := c.ahead.keep / int64(len(c.ahead.columns))
		drop = max(0, others-int(share/max(1, column.Size[T]()*int64(c.now.Pages[p].NumElements))))
	}
	for _, r := range c.recent[:drop] {
		c.drop(&c.now.slots[r])
	}
	c.recent = slices.Delete(c.recent, 0, drop)
}

// decode decodes page p into dst. Its bytes are in sp, if that is not nil.
func (c *Column[T]) decode(ctx context.Context, pages *clusterPages[T], p int, sp *span, dst []T) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	page, format, decoder := pages.Pages[p], pages.Column.Format(), c.decoders[pages.Column.Representation]
	use := func(b []byte) error { return decoder.Decode(dst, b) }
	share := c.keep || pages.cluster.sharesBytes(page)
	err := errNoSpan
	if sp != nil {
		err = c.src.pageIn(sp, format, page, share, use)
	}
	if err == errNoSpan {
		err = c.src.page(format, page, share, use)
	}
	if err != nil {
		err = fmt.Errorf("field %q, column %d, cluster %d, page %d: %w", c.field.Path(), pages.Column.ID, pages.cluster.ID, p, err)
	}
	return err
}

// memory returns memory for n elements.
func (c *Column[T]) memory(n int) []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.free) > 0 {
		m := c.free[len(c.free)-1]
		c.free = c.free[:len(c.free)-1]
		if cap(m) >= n {
			return m[:n]
		}
	}
	return make([]T, n)
}

func (c *Column[T]) release(elements []T) {
	if cap(elements) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.free = append(c.free, elements)
}
