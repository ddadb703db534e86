package frame

import (
	"errors"
	"fmt"
)

// The kinds of fault in the input. Every error that the input causes wraps
// exactly one of them.
var (
	// ErrCorrupt means that the bytes contradict the format.
	ErrCorrupt = errors.New("corrupt data")
	// ErrChecksum means that a stored checksum differs from the computed one.
	ErrChecksum = errors.New("checksum mismatch")
	// ErrUnsupported means that the bytes may be correct but use something that
	// this version of the library does not know.
	ErrUnsupported = errors.New("unsupported")
)

// A FormatError says what is wrong with the input, and where. All packages of the format return it
// for bad input.
type FormatError struct {
	Offset int64  // bytes from the start of the file, or of the uncompressed envelope or record that Path begins with
	Path   string // the member, for example "header.fields[3].type name"; empty if it is about the whole input
	Err    error  // wraps ErrCorrupt, ErrChecksum or ErrUnsupported
}

func (e *FormatError) Error() string {
	if e.Path == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("%s at offset %#x: %v", e.Path, e.Offset, e.Err)
}

func (e *FormatError) Unwrap() error { return e.Err }

// Corrupt returns an error that wraps ErrCorrupt and says what is wrong.
func Corrupt(format string, args ...any) error { return tagged(ErrCorrupt, format, args) }

// Unsupported returns an error that wraps ErrUnsupported and says what is unknown.
func Unsupported(format string, args ...any) error { return tagged(ErrUnsupported, format, args) }

// A LimitError says that the input, or an expression, demands more memory than a limit allows. It
// wraps ErrUnsupported.
type LimitError struct {
	Limit string // the member of rntuple.Limits: "PageBytes", "EntryBytes", "EnvelopeBytes" or "ExpressionBytes"
	What  string // what needs the memory: "page", "entry 5"
	Need  int64  // in bytes, at least
	Have  int64  // what the limit is, in bytes
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%v: %s of at least %d bytes, the limit is %d (rntuple.Limits.%s)", ErrUnsupported, e.What,
		e.Need, e.Have, e.Limit)
}

func (e *LimitError) Unwrap() error { return ErrUnsupported }

// BadChecksum returns an error that wraps ErrChecksum.
func BadChecksum(stored, computed uint64) error {
	return fmt.Errorf("%w: stored %#016x, computed %#016x", ErrChecksum, stored, computed)
}

func tagged(kind error, format string, args []any) error {
	return fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...))
}
