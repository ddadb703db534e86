//go:build cgo

package main

// #include <errno.h>
// #include "bridge.h"
import "C"

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"syscall"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
)

// The codes of rntuple.h.
const (
	codeOK          = C.RNTUPLE_OK
	codeFailed      = C.RNTUPLE_FAILED
	codeArgument    = C.RNTUPLE_ARGUMENT
	codeNotFound    = C.RNTUPLE_NOT_FOUND
	codeNoField     = C.RNTUPLE_NO_FIELD
	codeExpression  = C.RNTUPLE_EXPRESSION
	codeCorrupt     = C.RNTUPLE_CORRUPT
	codeUnsupported = C.RNTUPLE_UNSUPPORTED
	codeIO          = C.RNTUPLE_IO
	codeExists      = C.RNTUPLE_EXISTS
	codeLimit       = C.RNTUPLE_LIMIT
	codeCanceled    = C.RNTUPLE_CANCELED
	codeClosed      = C.RNTUPLE_CLOSED
	codeInternal    = C.RNTUPLE_INTERNAL
)

// An argumentError is the error of a wrong argument or option.
type argumentError struct{ err error }

func (e *argumentError) Error() string { return e.err.Error() }
func (e *argumentError) Unwrap() error { return e.err }

func argumentf(format string, args ...any) error { return &argumentError{fmt.Errorf(format, args...)} }

// An internal is the value of a panic.
type internal struct {
	value any
	stack string
}

func (e *internal) Error() string {
	return fmt.Sprintf("librntuple has failed, which is a bug; please report it with this text: %v\n%s", e.value, e.stack)
}

func internalError(v any) error { return &internal{v, string(debug.Stack())} }

var (
	errMemory      = errors.New("out of memory")
	errClosed      = errors.New("the dataset is closed")
	errInterrupted = errors.New("the stream has failed before")
)

// codeOf returns the code of an error.
func codeOf(err error) int {
	for _, known := range []struct {
		is   bool
		code int
	}{
		{errors.Is(err, errCanceled), codeCanceled},
		{errors.Is(err, errClosed), codeClosed},
		{errors.As(err, new(*internal)), codeInternal},
		{errors.As(err, new(*argumentError)), codeArgument},
		{errors.As(err, new(*expression.Error)), codeExpression},
		{errors.Is(err, errMemory) || errors.As(err, new(*frame.LimitError)), codeLimit},
		{errors.Is(err, rntuple.ErrNoField), codeNoField},
		{errors.Is(err, rntuple.ErrNotFound) || errors.Is(err, fs.ErrNotExist), codeNotFound},
		{errors.Is(err, fs.ErrExist), codeExists},
		{errors.Is(err, rntuple.ErrCorrupt) || errors.Is(err, rntuple.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF),
			codeCorrupt},
		{errors.Is(err, rntuple.ErrUnsupported) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, remote.ErrScheme),
			codeUnsupported},
		{errors.As(err, new(*fs.PathError)) || errors.As(err, new(*os.SyscallError)) || errors.As(err, new(syscall.Errno)) ||
			errors.As(err, new(*remote.Error)), codeIO},
	} {
		if known.is {
			return known.code
		}
	}
	return codeFailed
}

// errnoOf returns the error number that the stream interface has for a code.
func errnoOf(code C.int) C.int {
	switch code {
	case codeOK:
		return 0
	case codeArgument, codeExpression, codeNoField:
		return C.EINVAL
	case codeCanceled:
		return C.ECANCELED
	case codeLimit:
		return C.ENOMEM
	case codeUnsupported:
		return C.ENOSYS
	case codeCorrupt:
		return C.EBADMSG
	}
	return C.EIO
}
