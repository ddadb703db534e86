package pages

import (
	"testing"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/column"
)

// What is lent has room enough, less than twice of what is needed, and goes back
// to where it came from.
func TestBorrow(t *testing.T) {
	testBorrow[bool](t)
	testBorrow[uint16](t)
	testBorrow[float32](t)
	testBorrow[uint64](t)
	testBorrow[column.Tagged](t)
}

func testBorrow[T column.Element](t *testing.T) {
	size := int(unsafe.Sizeof(*new(T)))
	for _, n := range []int{0, 1, 2, 3, 7, 8, 9, 1000, 1 << 17, 1<<17 + 1} {
		elements := borrow[T](n)
		if room := cap(elements); len(elements) != n || room*size > max(16, 2*(n*size+7)) || n == 1<<17 && size&(size-1) == 0 && room != n {
			t.Errorf("%T: %d elements of %d wanted, room for %d", elements, len(elements), n, room)
		}
		for i := range elements {
			elements[i] = *new(T)
		}
		giveBack(elements)
	}
}
