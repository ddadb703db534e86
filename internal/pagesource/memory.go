package pagesource

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/column"
)

// lent holds memory that elements are decoded into, by the base-2 logarithm of its
// size in words. Allocating it anew would take longer than decoding.
var lent [64]sync.Pool

// Borrow returns memory for n elements. Its content is undefined.
func Borrow[T column.Element](n int) []T {
	size := int(unsafe.Sizeof(*new(T)))
	// At least two words, the size of the largest element.
	class := bits.Len(uint(max(2, (n*size+7)/8) - 1))
	room := 8 << class / size
	if p, ok := lent[class].Get().(*uint64); ok {
		return unsafe.Slice((*T)(unsafe.Pointer(p)), room)[:n]
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(make([]uint64, 1<<class)))), room)[:n]
}

// GiveBack takes back what Borrow has returned, for later calls of Borrow.
func GiveBack[T column.Element](elements []T) {
	if cap(elements) > 0 {
		class := bits.Len(uint(cap(elements)*int(unsafe.Sizeof(*new(T)))/8)) - 1
		lent[class].Put((*uint64)(unsafe.Pointer(unsafe.SliceData(elements))))
	}
}
