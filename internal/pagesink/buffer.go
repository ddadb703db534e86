package pagesink

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/bufpool"
	"github.com/go-rntuple/go-rntuple/schema"
)

// initialPage is the size in bytes that ROOT gives every page at first. A page that
// is full gets twice the size if the budget and MaxPage allow it.
const initialPage = 256

// A Buffer collects elements of a column until they make a page.
type Buffer[T column.Element] struct {
	page []T // its length is the number of elements that it may hold without a call of extend
	n    int // elements in page

	lease   bufpool.Lease // of page
	c       *columnSink
	encoder *column.Encoder[T]
	memory  *pool[T]
	size    int64 // of an element in memory, in bytes
	room    int   // elements that the page may hold before it must grow
	initial int   // room of an empty page
	most    int   // room of the largest page
	before  int   // room that the previous page had at its end
}

// NewBuffer returns the buffer of a column, which must have only one. T must suit
// the column as column.NewEncoder requires.
func NewBuffer[T column.Element](s *Sink, c *schema.Column) (*Buffer[T], error) {
	encoder, err := column.NewEncoder[T](c.Format())
	if err != nil {
		return nil, fmt.Errorf("field %q: %w", c.Owner.Path(), err)
	}
	b := &Buffer[T]{c: s.columns[c.ID], encoder: encoder, memory: poolOf[T](&s.budget), size: column.Size[T]()}
	b.most = int(max(1, s.set.MaxPage/b.size))
	b.initial = min(b.most, int(max(1, initialPage/b.size)))
	b.resize(b.initial)
	b.c.buffer = b
	return b, nil
}

// Push appends one element if there is room for it, and reports whether there was.
// It is small enough to be inlined where a call of Add would be too slow.
func (b *Buffer[T]) Push(v T) bool {
	if n := b.n; uint(n) < uint(len(b.page)) {
		b.page[n] = v
		b.n++
		return true
	}
	return false
}

// Add appends one element.
func (b *Buffer[T]) Add(v T) {
	if !b.Push(v) {
		b.extend(1)
		b.Push(v)
	}
}

// AddAll appends all elements of src.
func (b *Buffer[T]) AddAll(src []T) {
	for len(src) > 0 {
		src = src[copy(b.Next(len(src)), src):]
	}
}

// Next appends elements for the caller to set, at least one and at most n, which must not
// be 0.
func (b *Buffer[T]) Next(n int) []T {
	if b.n == len(b.page) {
		b.extend(n)
	}
	first := b.n
	b.n = min(first+n, len(b.page))
	return b.page[first:b.n]
}

// extend makes room for at least one element, and for want of them if possible.
func (b *Buffer[T]) extend(want int) {
	if b.n == b.room {
		b.grow()
	}
	if cap(b.page) < b.room {
		page, lease := b.memory.get(b.room, b.before)
		copy(page[:b.n], b.page)
		b.memory.put(b.page, b.lease)
		b.page, b.lease = page[:len(b.page)], lease
	}
	more := max(int64(want), b.c.sink.allowance/b.c.packed)
	b.grant(b.n + int(min(more, int64(b.room-b.n))))
}

// grow makes a full page larger, or flushes it.
func (b *Buffer[T]) grow() {
	s, id := b.c.sink, b.c.column.ID
	room := min(2*b.room, b.most)
	if room == b.room || !s.makeRoom(int64(room-b.room)*b.size, s.capacity[id]) {
		b.flush()
		return
	}
	b.resize(room)
}

// resize sets the room of the page.
func (b *Buffer[T]) resize(room int) {
	s, id := b.c.sink, b.c.column.ID
	b.room = room
	s.filling -= s.capacity[id]
	s.capacity[id] = int64(room) * b.size
	s.filling += s.capacity[id]
}

// grant lets the page hold n elements, which count towards the cluster's size.
func (b *Buffer[T]) grant(n int) {
	b.c.sink.unzipped += int64(n-len(b.page)) * b.c.packed
	b.page = b.page[:n]
}

func (b *Buffer[T]) retract() { b.grant(b.n) }

func (b *Buffer[T]) release() {
	b.memory.put(b.page, b.lease)
	b.page, b.lease, b.n = nil, bufpool.Lease{}, 0
}

func (b *Buffer[T]) flush() {
	if b.n == 0 {
		return
	}
	b.retract()
	s, c := b.c.sink, b.c.sink.current
	p := &filledPage[T]{
		page: page{elements: uint32(b.n)}, buffer: b, cluster: c, values: b.page, lease: b.lease, tracked: b.c.tracked,
	}
	b.page, b.lease, b.n = nil, bufpool.Lease{}, 0
	b.before = b.room
	b.resize(b.initial)
	c.add(b.c.column, &p.page)
	s.workers.do(p, s.queueLength())
}

// Takes reports whether pages that are stored in a format, compressed with some settings, can
// be pages of the column as they are. If not, their elements must be added.
func (b *Buffer[T]) Takes(f column.Format, compression uint32) bool {
	return f == b.c.column.Format() && compression == uint32(b.c.sink.set.Compression) && !b.c.tracked
}

// Insert appends a page behind the elements of the buffer. Its Encode may be called until Wait
// returns.
func (b *Buffer[T]) Insert(p Page) {
	b.flush()
	b.c.sink.current.append(b.c, &p)
}

// Reserve has n elements count towards the cluster's size that will be added later, before the
// cluster ends. Before that, Reserve must be called with -n.
func (b *Buffer[T]) Reserve(n int64) { b.c.sink.unzipped += n * b.c.packed }
