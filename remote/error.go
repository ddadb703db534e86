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

// These are the errors to test for with errors.Is, beside fs.ErrNotExist and fs.ErrPermission.
var (
	ErrScheme   = errors.New("unknown scheme")
	ErrChanged  = errors.New("the file has changed since it was opened")
	ErrNoRanges = errors.New("the server cannot read ranges of the file")
	ErrTimeout  = errors.New("no data arrived in time")
	ErrTooMany  = errors.New("the server does not take so many ranges")
)

// These are the errors of NewCache.
var (
	// ErrNotCache: the folder is neither empty nor a cache of this version.
	ErrNotCache = errors.New("not a cache")
	// ErrNotPrivate: the folder belongs to another user, or others can write to it.
	ErrNotPrivate = errors.New("not a private folder")
)

// An Error says what could not be done with which file.
type Error struct {
	Op       string // as "open" or "read"
	URL      string // without what may be secret
	Attempts int    // that were made, if more than one
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

// Redact returns a URL without its user, password, query and fragment, which may hold tokens and
// signatures, and other names as they are.
func Redact(name string) string { return location.Parse(name).String() }

// Base returns the last element of the path of a URL, or of the path of a local file.
func Base(name string) string { return location.Parse(name).Base() }

// A Temporary is an error of a Backend that may pass: the request is worth another attempt. So are
// ErrTimeout, errors of package io about an early end, connections that were reset or refused, and
// errors with methods Timeout and Temporary, as those of package net have, one of which returns
// true.
type Temporary struct {
	Err   error
	After time.Duration // that the server asks to wait before, or 0
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
