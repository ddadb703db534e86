package fencetest

import (
	"syscall"
	"testing"
)

// A Fence is memory between two pages that must not be accessed; only on Linux it
// is protected.
type Fence struct{ b []byte }

// New returns a fence around n bytes, a multiple of the page size. They are given
// back when the test ends.
func New(t testing.TB, n int) Fence {
	t.Helper()
	page := syscall.Getpagesize()
	all, err := syscall.Mmap(-1, 0, n+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(all) })
	for _, edge := range [][]byte{all[:page], all[page+n:]} {
		if err := syscall.Mprotect(edge, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return Fence{all[page : page+n : page+n]}
}

// First returns the first n bytes, with no capacity for more.
func (f Fence) First(n int) []byte { return f.b[:n:n] }

// Last returns the last n bytes.
func (f Fence) Last(n int) []byte { return f.b[len(f.b)-n:] }

// Copy returns a copy of b that ends where the fence does.
func (f Fence) Copy(b []byte) []byte {
	c := f.Last(len(b))
	copy(c, b)
	return c
}
