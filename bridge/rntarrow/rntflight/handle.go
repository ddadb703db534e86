package rntflight

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// A call is a request that is under way.
type call struct {
	*Query
	from    net.Addr
	cancel  context.CancelCauseFunc
	entries atomic.Int64 // that were sent
}

// handle does what a request asks for once it is its turn, and returns the status for the
// client. If the request is canceled, takes too long or stalls, handle does not wait for do, which
// may itself be waiting for the client until the request has ended.
func (s *Server) handle(ctx context.Context, method string, t *turns, parse func() (*Query, error),
	do func(context.Context, *call) error) error {
	started, c := time.Now(), &call{Query: new(Query)}
	if p, ok := peer.FromContext(ctx); ok {
		c.from = p.Addr
	}
	err := s.authenticate(ctx)
	if err == nil {
		var q *Query
		err = s.caught(method, c, func() (err error) {
			q, err = parse()
			return err
		})
		if err == nil {
			c.Query = q
			err = t.take(ctx, s.options.Timeout)
		}
	}
	if err == nil {
		timed, stop := context.WithTimeoutCause(ctx, s.options.MaxTime,
			&tooLong{"the request took longer than %v", s.options.MaxTime})
		defer stop()
		ctx, c.cancel = context.WithCancelCause(timed)
		defer c.cancel(nil)
		err = s.run(ctx, method, t, c, do)
	}
	err = statusOf(ctx, fmt.Sprintf("file %q", c.File), err)
	level, text := slog.LevelInfo, ""
	if err != nil {
		level, text = slog.LevelWarn, status.Convert(err).Message()
	}
	s.options.Log.Log(ctx, level, method, "from", c.from, "file", c.File, "ntuple", c.Ntuple, "entries", c.entries.Load(),
		"time", time.Since(started).Round(time.Millisecond), "code", status.Code(err), "error", text)
	return err
}

// run calls do in a goroutine of its own, until its end or that of the context. The turn ends
// with do.
func (s *Server) run(ctx context.Context, method string, t *turns, c *call,
	do func(context.Context, *call) error) error {
	done := make(chan error, 1)
	s.running.Go(func() {
		defer t.give()
		done <- s.caught(method, c, func() error { return do(ctx, c) })
	})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	default:
		return context.Cause(ctx)
	}
}

// caught returns the error of f, or one for a panic in it, which is logged.
func (s *Server) caught(method string, c *call, f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			s.options.Log.Error("panic", "method", method, "file", c.File, "value", value, "stack", string(debug.Stack()))
			err = status.Errorf(codes.Internal, "internal error in %s; the log of the server says more", method)
		}
	}()
	return f()
}

// send calls f, which sends something to the client, and cancels the request if that takes too
// long.
func (s *Server) send(ctx context.Context, c *call, f func() error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	slow := time.AfterFunc(s.options.Timeout, func() {
		c.cancel(&tooLong{"the client took no data for %v", s.options.Timeout})
		s.stalled.add(c.from)
	})
	defer slow.Stop()
	return f()
}
