package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/location"
)

// Errors to test for with errors.Is, in addition to fs.ErrNotExist and fs.ErrPermission.
var (
	ErrScheme   = errors.New("unknown scheme")
	ErrChanged  = errors.New("the file has changed since it was opened")
	ErrNoRanges = errors.New("the server cannot read ranges of the file")
	ErrTimeout  = errors.New("no data arrived in time")
	ErrTooMany  = errors.New("the server does not take so many ranges")
)

// Errors of NewCache.
var (
	// ErrNotCache: the folder is neither empty nor a cache of this version.
	ErrNotCache = errors.New("not a cache")
	// ErrNotPrivate: the folder belongs to another user, or others can write to it.
	ErrNotPrivate = errors.New("not a private folder")
)

// An Error reports the operation that failed and the URL.
type Error struct {
	Op       string // such as "open" or "read"
	URL      string // redacted, see Redact
	Attempts int    // number of attempts, if more than one
	Err      error
}

// Error returns URL, Op, and Err.
func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s: %v", e.URL, e.Op, e.Err)
	if e.Attempts > 1 {
		s += fmt.Sprintf(" (%d attempts)", e.Attempts)
	}
	return s
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Redact returns a URL without its user, password, query and fragment, which may contain tokens and
// signatures. Other names are returned unchanged.
func Redact(name string) string { return location.Parse(name).String() }

// Base returns the last element of the path of a URL, or of the path of a local file.
func Base(name string) string { return location.Parse(name).Base() }

// A Temporary is an error of a Backend after which the request is retried. So are ErrTimeout,
// io.ErrUnexpectedEOF and similar errors, connections that were reset or refused, and errors whose
// method Timeout or Temporary returns true, such as those of package net.
type Temporary struct {
	Err   error
	After time.Duration // delay requested by the server, or 0
}

// Error returns that of Err.
func (e *Temporary) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *Temporary) Unwrap() error { return e.Err }

// temporary reports whether an error may pass, and how long to wait at least.
func temporary(err error) (after time.Duration, ok bool) {
	var t *Temporary
	// Errors of package net have these methods. The package itself makes programs need libc, which
	// takes time to load.
	var n interface {
		Timeout() bool
		Temporary() bool
	}
	switch {
	case errors.Is(err, ErrChanged), errors.Is(err, context.Canceled):
		return 0, false
	case errors.As(err, &t):
		return t.After, true
	case errors.Is(err, ErrTimeout), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EPIPE):
		return 0, true
	case errors.As(err, &n) && (n.Timeout() || n.Temporary()):
		return 0, true
	}
	return 0, false
}
