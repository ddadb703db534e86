package pages

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/column"
)

// lent has the memory that elements are decoded into, by the log2 of its
// size in words. Fresh memory costs more than decoding does.
var lent [64]sync.Pool

// borrow returns memory for n elements; its content is undefined.
func borrow[T column.Element](n int) []T {
	size := int(unsafe.Sizeof(*new(T)))
	// Two words at least, as the largest element has.
	class := bits.Len(uint(max(2, (n*size+7)/8) - 1))
	room := 8 << class / size
	if p, ok := lent[class].Get().(*uint64); ok {
		return unsafe.Slice((*T)(unsafe.Pointer(p)), room)[:n]
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(make([]uint64, 1<<class)))), room)[:n]
}

// giveBack takes what borrow has returned.
func giveBack[T column.Element](elements []T) {
	if cap(elements) > 0 {
		class := bits.Len(uint(cap(elements)*int(unsafe.Sizeof(*new(T)))/8)) - 1
		lent[class].Put((*uint64)(unsafe.Pointer(unsafe.SliceData(elements))))
	}
}
