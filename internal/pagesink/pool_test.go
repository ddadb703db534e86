package pagesink

import (
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/bufpool"
)

// TestPool takes pages of many sizes from a pool that has pages of other sizes, of which some are
// no powers of two, as those of elements of twelve bytes are not.
func TestPool(t *testing.T) {
	p := poolOf[uint32](&budget{limit: 1 << 20})
	for n := 1; n < 100; n++ {
		p.put(make([]uint32, 0, n), bufpool.Lease{})
	}
	for range 3 {
		for n := 1; n < 100; n++ {
			if page, _ := p.get(n, 0); len(page) != 0 || cap(page) < n {
				t.Fatalf("a page of %d elements, with %d in it, for %d", cap(page), len(page), n)
			}
		}
	}
}

// TestPoolLimit makes sure that a pool keeps pages up to the limit of its budget, lends more than
// is needed only within it, and gives everything back in the end.
func TestPoolLimit(t *testing.T) {
	b := &budget{limit: 1024}
	p, other := poolOf[uint32](b), poolOf[uint64](b)
	held := func(want int64) {
		t.Helper()
		if b.held != want {
			t.Errorf("%d bytes are held, want %d", b.held, want)
		}
	}
	first, firstLease := p.get(64, 128) // more than needed, within the limit
	held(512)
	second, secondLease := p.get(64, 128) // just within the limit
	held(1024)
	third, thirdLease := p.get(64, 65) // beyond it; so as few as needed
	if held(1280); cap(first) != 128 || cap(second) != 128 || cap(third) != 64 {
		t.Errorf("pages of %d, %d and %d elements", cap(first), cap(second), cap(third))
	}
	p.put(third, thirdLease) // more than the limit: it is not kept
	held(1024)
	p.put(second, secondLease)
	p.put(nil, bufpool.Lease{})
	held(1024)
	if again, _ := p.get(128, 0); &again[:1][0] != &second[:1][0] {
		t.Error("a page that was put back is not used again")
	}
	held(1024)
	p.put(second, secondLease)
	p.put(first, firstLease)
	words, wordsLease := other.get(16, 0) // another pool of the budget
	held(1024 + 128)
	other.put(words, wordsLease)
	held(1024)
	if words, lease := poolOf[uint64](&budget{limit: 128}).get(16, 17); cap(words) != 16 {
		t.Errorf("%d words of 8 bytes, with memory for 16", cap(words))
	} else {
		lease.GiveBack()
	}
	if poolOf[uint32](b) != p || poolOf[column.Tagged](b) == nil {
		t.Error("a pool of another type")
	}
	for _, p := range b.pools {
		p.release()
	}
	held(0)
}
