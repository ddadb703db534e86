//go:build cgo

package main

// #include "bridge.h"
import "C"

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// errCanceled is the error of a call whose watch asked for its end.
var errCanceled = errors.New("canceled")

// pollEvery is how often a watch is polled: an interrupt should end a call within 100 ms.
const pollEvery = 50 * time.Millisecond

// A progress is how much of a call is done, of which its watch is told.
type progress struct{ done, total atomic.Int64 }

func (p *progress) set(done, total int64) {
	p.done.Store(done)
	p.total.Store(total)
}

// watched calls f in another goroutine, while this thread, which made the call, polls the watch; the context ends
// when it asks for that. Without a watch, too: a goroutine that C calls is bound to its thread, but a stream may be
// read by several threads, and coroutines (iter.Pull) must not be resumed by a goroutine that is bound elsewhere.
func watched(watch *C.struct_rntuple_watch, f func(ctx context.Context, p *progress) error) error {
	p := new(progress)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	ended := make(chan error, 1)
	go func() { ended <- f(ctx, p) }()
	var tick <-chan time.Time
	if watch != nil && watch.poll != nil {
		ticker := time.NewTicker(pollEvery)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case err := <-ended:
			if ctx.Err() != nil && err != nil {
				return errCanceled
			}
			return err
		case <-tick:
			if ctx.Err() == nil && C.bridge_poll(watch, C.int64_t(p.done.Load()), C.int64_t(p.total.Load())) != 0 {
				cancel(errCanceled)
			}
		}
	}
}

// A canceler ends what a stream does.
type canceler struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func newCanceler() *canceler {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &canceler{ctx, cancel}
}
