package bufpool

import (
	"slices"
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
		elements, lease := Borrow[T](n)
		if room := cap(elements); len(elements) != n || room*size > max(16, 2*(n*size+7)) || n == 1<<17 &&
			size&(size-1) == 0 && room != n {
			t.Errorf("%T: %d elements of %d wanted, room for %d", elements, len(elements), n, room)
		}
		for i := range elements {
			elements[i] = *new(T)
		}
		lease.GiveBack()
	}
}

// TestWatch lends memory and takes it back under watch, and then no longer.
func TestWatch(t *testing.T) {
	type event struct {
		memory unsafe.Pointer
		back   bool
	}
	var got []event
	end := Watch(func(memory unsafe.Pointer, back bool) { got = append(got, event{memory, back}) })
	one, oneLease := Borrow[float32](1000)
	other, otherLease := Borrow[bool](3)
	otherLease.GiveBack()
	oneLease.GiveBack()
	oneLease.GiveBack() // which is the zero Lease now
	end()
	_, unwatched := Borrow[byte](100)
	unwatched.GiveBack()
	a, b := unsafe.Pointer(unsafe.SliceData(one)), unsafe.Pointer(unsafe.SliceData(other))
	if want := []event{{a, false}, {b, false}, {b, true}, {a, true}}; !slices.Equal(got, want) {
		t.Errorf("watched %v, want %v", got, want)
	}
}
