package pagesink

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
)

// ErrConcurrent is the error of a sink that several goroutines use at a time.
var ErrConcurrent = errors.New("called while another goroutine was using the writer")

// A guard notices that several goroutines use a sink, or sinks of one Output, at a time.
type guard struct{ busy atomic.Bool }

// Enter begins a call, which Leave ends, and returns nil. If another goroutine
// is within a call, that is the error of the sink from now on, and the call is not begun: the
// caller must not touch the sink, and not call Leave.
func (s *Sink) Enter(call string) error {
	if s.guard.busy.CompareAndSwap(false, true) {
		return nil
	}
	s.fail(fmt.Errorf("%s: %w", call, ErrConcurrent))
	return s.Err()
}

// Leave, which must be deferred where a call may panic, ends a call. After a panic some columns may
// have an entry already and others not, which is the error of the sink from then on.
func (s *Sink) Leave() {
	value := recover()
	if value != nil {
		s.fail(fmt.Errorf("a call panicked: %v", value))
	}
	s.guard.busy.Store(false)
	if value != nil {
		panic(value)
	}
}

// Seize is Enter for calls that must be done in any case: it waits for the other call.
func (s *Sink) Seize(call string) {
	if s.Enter(call) == nil {
		return
	}
	for !s.guard.busy.CompareAndSwap(false, true) {
		runtime.Gosched()
	}
}
