package bufpool

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/column"
)

// pools hold memory that was given back, by the base-2 logarithm of its size in words.
var pools [64]sync.Pool

// watch is what Watch was given last, or nil.
var watch atomic.Pointer[func(memory unsafe.Pointer, back bool)]

// Watch has watcher called with the address of all memory that is lent, or given back, until end is
// called. It is for tests of those who borrow: nothing else tells that memory is not given back, or
// twice.
func Watch(watcher func(memory unsafe.Pointer, back bool)) (end func()) {
	watch.Store(&watcher)
	return func() { watch.Store(nil) }
}

// A Lease stands for memory that is lent. The zero Lease stands for none.
type Lease struct {
	memory *uint64
	class  uint8 // index of its pool
}

// Borrow returns memory for n elements, whose content is undefined, and its Lease.
func Borrow[T column.Element](n int) ([]T, Lease) {
	size := int(unsafe.Sizeof(*new(T)))
	// At least two words, the size of the largest element.
	class := bits.Len(uint(max(2, (n*size+7)/8) - 1))
	room := 8 << class / size
	p, ok := pools[class].Get().(*uint64)
	if !ok {
		p = unsafe.SliceData(make([]uint64, 1<<class))
	}
	if w := watch.Load(); w != nil {
		(*w)(unsafe.Pointer(p), false)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(p)), room)[:n], Lease{p, uint8(class)}
}

// GiveBack takes back the memory, for later calls of Borrow, and makes l the zero Lease. Nobody may
// use the memory, nor a copy of l, any more.
func (l *Lease) GiveBack() {
	if l.memory == nil {
		return
	}
	if w := watch.Load(); w != nil {
		(*w)(unsafe.Pointer(l.memory), true)
	}
	pools[l.class].Put(l.memory)
	*l = Lease{}
}
