package pagesink

import (
	"slices"
	"sync"

	"github.com/go-rntuple/go-rntuple/internal/bufpool"
)

// A task is a page to seal.
type task interface{ seal(*scratch) }

// scratch is the memory that sealing a page needs, which is used again.
type scratch struct{ plain, zipped scrap }

// A scrap is memory for bytes, which may have moved to memory that is not lent when they were
// appended.
type scrap struct {
	bytes []byte
	lease bufpool.Lease
}

// The numbers of pages that may wait for a goroutine: leastQueue always, and mostQueue if
// there is memory. Columns of the same kind fill their pages at the same time, and the
// caller should not stop to seal some of them while others will have nothing to do soon.
const (
	leastQueue = 4
	mostQueue  = 32
)

// workers seal pages: the goroutine that calls their methods, and others.
type workers struct {
	others int // limit for the number of other goroutines

	mu      sync.Mutex
	running int // other goroutines
	queue   []task
	free    []*scratch
}

// do has a page sealed: by another goroutine, which may have the given number of pages
// to seal before, else by the caller's.
func (w *workers) do(t task, before int) {
	w.mu.Lock()
	switch {
	case w.running < w.others:
		w.running++
		w.mu.Unlock()
		go func() {
			for t := t; t != nil; t = w.next(true) {
				w.seal(t)
			}
		}()
	case len(w.queue) < before*w.others:
		w.queue = append(w.queue, t)
		w.mu.Unlock()
	default:
		w.mu.Unlock()
		w.seal(t)
	}
}

// next takes a task from the queue. If there is none it returns nil, and one of the
// other goroutines, if it is such that calls, must end.
func (w *workers) next(other bool) task {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) > 0 {
		t := w.queue[0]
		w.queue = slices.Delete(w.queue, 0, 1)
		return t
	}
	if other {
		w.running--
	}
	return nil
}

// help seals the pages in the queue.
func (w *workers) help() {
	for t := w.next(false); t != nil; t = w.next(false) {
		w.seal(t)
	}
}

func (w *workers) seal(t task) {
	w.mu.Lock()
	s := &scratch{}
	if n := len(w.free); n > 0 {
		s, w.free = w.free[n-1], w.free[:n-1]
	}
	w.mu.Unlock()
	t.seal(s)
	w.mu.Lock()
	w.free = append(w.free, s)
	w.mu.Unlock()
}

// release gives back the memory that sealing needed.
func (w *workers) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.free {
		s.plain.lease.GiveBack()
		s.zipped.lease.GiveBack()
	}
	w.free = nil
}

// room returns memory for n bytes, of length 0: that of s or, if that is too small, other memory in
// its place.
func (s *scrap) room(n int) []byte {
	if cap(s.bytes) < n {
		s.lease.GiveBack()
		s.bytes, s.lease = bufpool.Borrow[byte](n)
	}
	return s.bytes[:0]
}
