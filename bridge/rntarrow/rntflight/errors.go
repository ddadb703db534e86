package rntflight

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A tooLong is the cause of a context that ends for lack of time.
type tooLong struct {
	format string
	limit  time.Duration
}

func (e *tooLong) Error() string { return fmt.Sprintf(e.format, e.limit) }

// statusOf returns what clients learn of an error, which name says what it is about; see the
// package documentation. The context is that of the request.
func statusOf(ctx context.Context, name string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := status.FromError(err); ok {
		return err
	}
	if cause := context.Cause(ctx); cause != nil {
		if errors.As(cause, new(*tooLong)) {
			return status.Error(codes.DeadlineExceeded, cause.Error())
		}
		return status.FromContextError(ctx.Err()).Err()
	}
	return status.Errorf(codeOf(err), "%s: %v", name, err)
}

func codeOf(err error) codes.Code {
	var limit *frame.LimitError
	var mismatch *schema.MismatchError
	var expr *expression.Error
	switch {
	case errors.Is(err, rntuple.ErrNotFound):
		return codes.NotFound
	case errors.As(err, &limit):
		return codes.ResourceExhausted
	case errors.Is(err, rntuple.ErrUnsupported):
		return codes.Unimplemented
	case errors.Is(err, rntuple.ErrCorrupt), errors.Is(err, rntuple.ErrChecksum):
		return codes.DataLoss
	case errors.Is(err, schema.ErrNoField), errors.As(err, &mismatch), errors.As(err, &expr):
		return codes.InvalidArgument
	case errors.Is(err, fs.ErrClosed):
		return codes.Unavailable
	case errors.As(err, new(*readError)):
		return codes.Internal
	}
	return codes.Unimplemented // package rntarrow has no type for a field or cannot convert a value
}

// A readError says that the system failed to read a file.
type readError struct{ err error }

func (e *readError) Error() string { return "reading: " + e.err.Error() }
func (e *readError) Unwrap() error { return e.err }
