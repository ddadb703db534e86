package rntflight

import (
	"context"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// turns bounds how many of something are under way, and how many wait for that.
type turns struct {
	taken   chan struct{}
	waiting atomic.Int64
	what    string // "streams"
}

func newTurns(n int, what string) *turns { return &turns{taken: make(chan struct{}, n), what: what} }

// take waits for a turn, which give ends.
func (t *turns) take(ctx context.Context, most time.Duration) error {
	select {
	case t.taken <- struct{}{}:
		return nil
	default:
	}
	defer t.waiting.Add(-1)
	if t.waiting.Add(1) > int64(queued*cap(t.taken)) {
		return status.Errorf(codes.ResourceExhausted, "%d %s are under way, and %d wait; try again later", cap(t.taken),
			t.what, queued*cap(t.taken))
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case t.taken <- struct{}{}:
		return nil
	case <-timer.C:
		return status.Errorf(codes.ResourceExhausted, "%d %s are under way, and none ended within %v; try again later",
			cap(t.taken), t.what, most)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t *turns) give() { <-t.taken }
