package pages

import (
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
)

// What is lent has room enough, less than twice of what is needed, and goes back
// to where it came from.
func TestBorrow(t *testing.T) {
	testBorrow[bool](t, 1)
	testBorrow[uint16](t, 2)
	testBorrow[float32](t, 4)
	testBorrow[uint64](t, 8)
	testBorrow[column.Tagged](t, 16)
}

func testBorrow[T column.Element](t *testing.T, size int) {
	for _, n := range []int{0, 1, 2, 3, 7, 8, 9, 1000, 1 << 17, 1<<17 + 1} {
		elements := borrow[T](n)
		if room := cap(elements); len(elements) != n || room*size > max(8, 2*(n*size+7)) || n == 1<<17 && room != n {
			t.Errorf("%T: %d elements of %d wanted, room for %d", elements, len(elements), n, room)
		}
		for i := range elements {
			elements[i] = *new(T)
		}
		giveBack(elements)
	}
}
