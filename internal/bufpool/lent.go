package bufpool

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/column"
)

// pools hold memory that was given back, by the base-2 logarithm of its size in words.
var pools [64]sync.Pool

// Borrow returns memory for n elements. Its content is undefined.
func Borrow[T column.Element](n int) []T {
	size := int(unsafe.Sizeof(*new(T)))
	// At least two words, the size of the largest element.
	class := bits.Len(uint(max(2, (n*size+7)/8) - 1))
	room := 8 << class / size
	if p, ok := pools[class].Get().(*uint64); ok {
		return unsafe.Slice((*T)(unsafe.Pointer(p)), room)[:n]
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(make([]uint64, 1<<class)))), room)[:n]
}

// GiveBack takes back what Borrow has returned, for later calls of Borrow. Nobody may use it any more. Memory that is not from
// Borrow is left to the garbage collector, or becomes memory to borrow.
func GiveBack[T column.Element](elements []T) {
	size := cap(elements) * int(unsafe.Sizeof(*new(T)))
	if size >= 16 && size&(size-1) == 0 {
		pools[bits.Len(uint(size/8))-1].Put((*uint64)(unsafe.Pointer(unsafe.SliceData(elements))))
	}
}
