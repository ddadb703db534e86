package rntflight

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestPanic makes sure that clients learn of a panic, but not its value or trace, which are logged.
func TestPanic(t *testing.T) {
	var log strings.Builder
	s, err := New(&Options{Folder: t.TempDir(), Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	fine := func() (*Query, error) { return &Query{File: "a.root"}, nil }
	for _, parse := range []func() (*Query, error){fine, func() (*Query, error) { panic("secret") }} {
		log.Reset()
		err := s.handle(t.Context(), "DoGet", s.streams, parse, func(context.Context, *call) error { panic("secret") })
		if status.Code(err) != codes.Internal || !strings.Contains(err.Error(), "internal error in DoGet") ||
			strings.Contains(err.Error(), "secret") {
			t.Error(err)
		}
		if !strings.Contains(log.String(), "secret") || !strings.Contains(log.String(), "TestPanic") {
			t.Errorf("the log has no trace: %s", &log)
		}
	}
	if err := s.handle(t.Context(), "DoGet", s.streams, fine,
		func(context.Context, *call) error { return nil }); err != nil {
		t.Error(err)
	}
}
