package frame

import "github.com/go-rntuple/go-rntuple/internal/wire"

// A Codec walks the members of records in one direction: it reads them from a
// byte slice or appends them to one. After the first error it does nothing more,
// and reading then leaves the members as they are, so that descriptions of
// records need no error handling. A Codec must not be used by several goroutines
// at once.
//
// Besides Int, Const, Record and List, members are walked by the methods
//
//	Float64(name string, v *float64)   // IEEE 754, 8 bytes
//	String(name string, v *string)     // a length of 4 bytes, then the bytes
//	Raw(name string, n int, v *[]byte) // n bytes as they are
//	Rest(v *[]byte)                    // all bytes up to the end of the frame
//	Skip(n int)
//
// and errors are handled by
//
//	Err() error              // the first error, a *FormatError
//	Bytes() ([]byte, error)  // what has been written, and the first error
//	Fail(name string, err error)
//
// Writing reports the direction, Left the number of bytes that are left to read in
// the frame, Pos the number of bytes read or written. Within and Element add names
// and indices to the paths in errors, Window narrows what can be read. BigEndian
// switches to the byte order of ROOT's own records.
type Codec = wire.Codec

// Integer lists the types that Int reads and writes, in their own width.
type Integer = wire.Integer

// A FormatError says what is wrong with the input, and where. All packages of the
// format return it for bad input. It wraps ErrCorrupt, ErrChecksum or
// ErrUnsupported.
type FormatError = wire.FormatError

// The kinds of fault in the input. Every error that the input causes wraps exactly
// one of them.
var (
	ErrCorrupt     = wire.ErrCorrupt     // the bytes contradict the format
	ErrChecksum    = wire.ErrChecksum    // a stored checksum differs from the computed one
	ErrUnsupported = wire.ErrUnsupported // newer than this library, or beyond a limit
)

// NewReader returns a Codec that reads b, little-endian. name is what errors call
// b; their offsets count from its start.
func NewReader(b []byte, name string) *Codec { return wire.NewReader(b, name, 0) }

// NewWriter returns a Codec that appends to dst, little-endian. name is what
// errors call the record.
func NewWriter(dst []byte, name string) *Codec { return wire.NewWriter(dst, name) }

// Int reads or writes an integer in the width of T.
func Int[T Integer](c *Codec, name string, v *T) { wire.Int(c, name, v) }

// Const reads an integer that must equal want, or writes it.
func Const[T Integer](c *Codec, name string, want T) { wire.Const(c, name, want) }
