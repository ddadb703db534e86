package pagesink

import (
	"sync"

	"github.com/go-rntuple/go-rntuple/internal/bufpool"
)

// An arena is the memory for the sealed pages of a cluster. It may be used by
// several goroutines.
type arena struct {
	mu    sync.Mutex
	slabs [][]byte
	lent  []bufpool.Lease // of slabs
	slab  int             // the one that take takes from
	used  int             // bytes of that slab
	total int             // bytes of all slabs
}

// take returns n bytes, which belong to the caller until reset.
func (a *arena) take(n int) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	for ; a.slab < len(a.slabs); a.slab++ {
		if left := a.slabs[a.slab][a.used:]; len(left) >= n {
			a.used += n
			return left[:n:n]
		}
		a.used = 0
	}
	slab, lease := bufpool.Borrow[byte](max(n, min(max(a.total, 64<<10), 4<<20)))
	slab = slab[:cap(slab)]
	a.slabs, a.lent = append(a.slabs, slab), append(a.lent, lease)
	a.total += len(slab)
	a.used = n
	return slab[:n:n]
}

// reset takes all memory back, and returns the arena.
func (a *arena) reset() *arena {
	a.slab, a.used = 0, 0
	return a
}

// release gives the memory back.
func (a *arena) release() {
	for i := range a.lent {
		a.lent[i].GiveBack()
	}
	*a = arena{}
}
