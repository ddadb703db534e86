package pagesink

import (
	"math/bits"
	"reflect"
	"sync"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/bufpool"
)

// A budget is the memory of several pools. It may be used by several goroutines.
type budget struct {
	limit int64 // in bytes

	mu    sync.Mutex
	held  int64 // bytes in use and in pools
	pools map[reflect.Type]anyPool
}

// anyPool is a *pool of any type.
type anyPool interface{ release() }

// A pool lends memory for the elements of pages, and keeps what comes back as far as
// the budget allows.
type pool[T column.Element] struct {
	*budget
	free [bits.UintSize + 1][]lent[T] // by log2 of the capacity, rounded down
}

// lent is the memory of a page.
type lent[T column.Element] struct {
	page  []T
	lease bufpool.Lease
}

// poolOf returns the pool for elements of type T.
func poolOf[T column.Element](b *budget) *pool[T] {
	t := reflect.TypeFor[T]()
	if b.pools == nil {
		b.pools = map[reflect.Type]anyPool{}
	}
	if b.pools[t] == nil {
		b.pools[t] = &pool[T]{budget: b}
	}
	return b.pools[t].(*pool[T])
}

// get returns memory for at least n elements, or for wish elements if that is more
// and within the budget. Its length is 0.
func (p *pool[T]) get(n, wish int) ([]T, bufpool.Lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for m := max(n, wish); ; m = n {
		free := &p.free[bits.Len(uint(m-1))]
		if last := len(*free) - 1; last >= 0 {
			l := (*free)[last]
			*free = (*free)[:last]
			return l.page, l.lease
		}
		if size := int64(m) * column.Size[T](); m == n || p.held+size <= p.limit {
			page, lease := bufpool.Borrow[T](m)
			p.held += int64(cap(page)) * column.Size[T]()
			return page[:0], lease
		}
	}
}

// put takes memory back.
func (p *pool[T]) put(page []T, lease bufpool.Lease) {
	if cap(page) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held > p.limit {
		p.held -= int64(cap(page)) * column.Size[T]()
		lease.GiveBack()
		return
	}
	free := &p.free[bits.Len(uint(cap(page)))-1]
	*free = append(*free, lent[T]{page[:0], lease})
}

// release gives back what is in the pool.
func (p *pool[T]) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for class, pages := range p.free {
		for _, l := range pages {
			p.held -= int64(cap(l.page)) * column.Size[T]()
			l.lease.GiveBack()
		}
		p.free[class] = nil
	}
}
