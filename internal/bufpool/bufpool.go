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

// Watch has watcher called with the address of all memory that is lent, or given back, until end is called. It is for
// tests of those who borrow: nothing else tells that memory is not given back, or twice.
func Watch(watcher func(memory unsafe.Pointer, back bool)) (end func()) {
	watch.Store(&watcher)
	return func() { watch.Store(nil) }
}

// Borrow returns memory for n elements. Its content is undefined.
func Borrow[T column.Element](n int) []T {
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
	return unsafe.Slice((*T)(unsafe.Pointer(p)), room)[:n]
}

// GiveBack takes back what Borrow has returned, for later calls of Borrow. Nobody may use it any more. Memory that is not from
// Borrow is left to the garbage collector, or becomes memory to borrow.
func GiveBack[T column.Element](elements []T) {
	size := cap(elements) * int(unsafe.Sizeof(*new(T)))
	if size >= 16 && size&(size-1) == 0 {
		p := unsafe.Pointer(unsafe.SliceData(elements))
		if w := watch.Load(); w != nil {
			(*w)(p, true)
		}
		pools[bits.Len(uint(size/8))-1].Put((*uint64)(p))
	}
}
