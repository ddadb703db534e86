package lzma

import (
	"syscall"
	"testing"
)

// A fence is memory between two pages that must not be accessed.
type fence struct{ b []byte }

func newFence(t testing.TB, n int) fence {
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
	return fence{all[page : page+n : page+n]}
}

// high returns the last n bytes.
func (f fence) high(n int) []byte { return f.b[len(f.b)-n:] }

// copy returns a copy of b at the end.
func (f fence) copy(b []byte) []byte {
	c := f.high(len(b))
	copy(c, b)
	return c
}
