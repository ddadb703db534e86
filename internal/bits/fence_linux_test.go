package bits

import (
	"syscall"
	"testing"
)

// TestFence puts page and elements right before and right behind memory that
// must not be touched: a stray access ends the test with a fault.
func TestFence(t *testing.T) {
	before, behind := fenced(t), fenced(t)
	size := len(before)
	forKernels(t, func(t *testing.T) {
		for _, o := range allOps() {
			for n := range 301 {
				next := [][]byte{before, behind}
				get := func(atEnd bool) func(n, align int) []byte {
					return func(n, align int) []byte {
						b := next[0]
						next = append(next[1:], b)
						if atEnd {
							return b[size-n:]
						}
						return b[:n:n]
					}
				}
				o.check(t, n, nil, get(false))
				o.check(t, n, nil, get(true))
			}
		}
	})
}

// fenced returns memory between two pages that cannot be accessed.
func fenced(t *testing.T) []byte {
	page := syscall.Getpagesize()
	b, err := syscall.Mmap(-1, 0, 4*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(b) })
	for _, fence := range [][]byte{b[:page], b[3*page:]} {
		if err := syscall.Mprotect(fence, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return b[page : 3*page]
}
