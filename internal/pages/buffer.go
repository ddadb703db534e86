package pages

import (
	"fmt"
	"math/bits"
	"reflect"
	"sync"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/schema"
)

// initialPage is the size in bytes that ROOT gives every page at first. Full
// ones get twice the size, as long as the budget and the largest size allow.
const initialPage = 256

// A Buffer collects the elements of a column until they make a page.
type Buffer[T column.Element] struct {
	page []T // its length is what may be in it before extend must be asked
	n    int // elements in page

	c       *columnSink
	encoder *column.Encoder[T]
	memory  *pool[T]
	size    int64 // bytes of an element in memory
	room    int   // elements that the page may get before it must grow
	initial int   // room of an empty page
	most    int   // room of the largest page
	before  int   // room that the page before got
}

// NewBuffer returns the buffer of a column, which T must suit as NewEncoder
// says. A column has one.
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

// Push appends one element if there is room at hand, and reports whether there
// was. It is small enough to be inlined where the call of Add would count.
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

// AddAll appends elements.
func (b *Buffer[T]) AddAll(src []T) {
	for len(src) > 0 {
		if b.n == len(b.page) {
			b.extend(len(src))
		}
		n := copy(b.page[b.n:], src)
		b.n += n
		src = src[n:]
	}
}

// extend lets at least one element in, if it can be all of want.
func (b *Buffer[T]) extend(want int) {
	if b.n == b.room {
		b.grow()
	}
	if cap(b.page) < b.room {
		page := b.memory.get(b.room, b.before)
		copy(page[:b.n], b.page)
		b.memory.put(b.page)
		b.page = page[:len(b.page)]
	}
	more := max(int64(want), b.c.sink.share/b.c.packed)
	b.grant(b.n + int(min(more, int64(b.room-b.n))))
}

// grow makes a full page larger, or ends it.
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

// grant lets the page have n elements, which count towards the cluster's size.
func (b *Buffer[T]) grant(n int) {
	b.c.sink.unzipped += int64(n-len(b.page)) * b.c.packed
	b.page = b.page[:n]
}

func (b *Buffer[T]) retract() { b.grant(b.n) }

func (b *Buffer[T]) flush() {
	if b.n == 0 {
		return
	}
	b.retract()
	s, c := b.c.sink, b.c.sink.current
	p := &filled[T]{sealing: sealing{elements: uint32(b.n)}, buffer: b, cluster: c, page: b.page}
	b.page, b.n = nil, 0
	b.before = b.room
	b.resize(b.initial)
	c.add(b.c.column, &p.sealing)
	s.crew.do(p)
}

// makeRoom has the pages of columns end that have more memory than floor, until
// more bytes fit into the budget, and reports whether they do. ROOT takes the
// largest one first, that of the last column if several are, and none that has
// not grown yet.
func (s *Sink) makeRoom(more, floor int64) bool {
	floor = max(floor, initialPage)
	for s.filling+more > s.set.PageBudget {
		largest, size := -1, floor+1
		for i, n := range s.capacity {
			if n >= size {
				largest, size = i, n
			}
		}
		if largest < 0 {
			return false
		}
		s.columns[largest].buffer.flush()
	}
	return true
}

// A budget is memory that pools share. Several goroutines can use it.
type budget struct {
	limit int64

	mu    sync.Mutex
	held  int64 // bytes in use, and in pools
	pools map[reflect.Type]any
}

// A pool lends memory for the elements of pages, and keeps what comes back as
// long as the budget allows.
type pool[T column.Element] struct {
	*budget
	free [bits.UintSize + 1][][]T // by log2 of the capacity, rounded up
}

// poolOf returns the pool for elements of type T.
func poolOf[T column.Element](b *budget) *pool[T] {
	t := reflect.TypeFor[T]()
	if b.pools == nil {
		b.pools = map[reflect.Type]any{}
	}
	if b.pools[t] == nil {
		b.pools[t] = &pool[T]{budget: b}
	}
	return b.pools[t].(*pool[T])
}

// get returns memory for at least n elements; for wish elements, if that is more
// and within the budget.
func (p *pool[T]) get(n, wish int) []T {
	p.mu.Lock()
	defer p.mu.Unlock()
	for m := max(n, wish); ; m = n {
		free := &p.free[bits.Len(uint(m-1))]
		if last := len(*free) - 1; last >= 0 {
			page := (*free)[last]
			*free = (*free)[:last]
			return page
		}
		if size := int64(m) * column.Size[T](); m == n || p.held+size <= p.limit {
			p.held += size
			return make([]T, 0, m)
		}
	}
}

// put takes memory back.
func (p *pool[T]) put(page []T) {
	if cap(page) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held > p.limit {
		p.held -= int64(cap(page)) * column.Size[T]()
		return
	}
	free := &p.free[bits.Len(uint(cap(page)-1))]
	*free = append(*free, page[:0])
}
