package bufpool

import (
	"testing"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/column"
)

// TestBorrow makes sure that the memory has enough room, but less than twice what is
// needed, and that it goes back to the pool that it came from.
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
		elements := Borrow[T](n)
		if room := cap(elements); len(elements) != n || room*size > max(16, 2*(n*size+7)) || n == 1<<17 && size&(size-1) == 0 && room != n {
			t.Errorf("%T: %d elements of %d wanted, room for %d", elements, len(elements), n, room)
		}
		for i := range elements {
			elements[i] = *new(T)
		}
		GiveBack(elements)
	}
}
