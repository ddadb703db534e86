package pagesink

import "testing"

// TestPool takes pages of many sizes from a pool that has pages of other sizes, of which some are no powers of two, as those of
// elements of twelve bytes are not.
func TestPool(t *testing.T) {
	p := poolOf[uint32](&budget{limit: 1 << 20})
	for n := 1; n < 100; n++ {
		p.put(make([]uint32, 0, n))
	}
	for range 3 {
		for n := 1; n < 100; n++ {
			if page := p.get(n, 0); len(page) != 0 || cap(page) < n {
				t.Fatalf("a page of %d elements, with %d in it, for %d", cap(page), len(page), n)
			}
		}
	}
}
