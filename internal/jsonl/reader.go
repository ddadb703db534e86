package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// A Reader reads entries. It needs memory for the text and the values of one entry
// at a time, and reads from its source only to complete an entry or to find the
// next.
type Reader struct {
	src    io.Reader
	srcErr error // with which src ended
	root   *node
	err    error // with which reading ended

	buf   []byte // holds the entry that is being read
	pos   int    // in buf
	lines int    // before buf
	begun bool   // the mark, if there is one, has been skipped

	stack    []any  // items of the arrays and maps that are being read
	scratch  []byte // the last string that had escapes
	variants int    // number of those around the value that is being read
	fit      fit    // the worst one since it was reset
}

const initialBuffer = 64 << 10

// Mark is the byte order mark of UTF-8. It is skipped where the input begins with it, as files of
// some programs do.
const Mark = "\ufeff"

// NewReader returns a Reader of entries with the given top-level fields. Records do
// not contain the projected fields among them.
func NewReader(r io.Reader, fields []*schema.Field) *Reader {
	root := compile(&schema.Field{Shape: schema.Record, Children: fields})
	return &Reader{src: r, root: root, buf: make([]byte, 0, initialBuffer)}
}

// Read returns the next entry, with its members in the order of the fields. At the
// end of the input the error is io.EOF; any other error is an *Error, after which
// nothing more can be read.
func (r *Reader) Read() (value.Record, error) {
	if r.err != nil {
		return value.Record{}, r.err
	}
	if !r.begun {
		r.begun = true
		for len(r.buf) < len(Mark) && strings.HasPrefix(Mark, string(r.buf)) && r.fill() {
		}
		if bytes.HasPrefix(r.buf, []byte(Mark)) {
			r.pos = len(Mark)
		}
	}
	if r.pos > cap(r.buf)/2 {
		r.lines += bytes.Count(r.buf[:r.pos], newline)
		r.buf = r.buf[:copy(r.buf, r.buf[r.pos:])]
		r.pos = 0
	}
	if r.next(); r.pos == len(r.buf) && errors.Is(r.srcErr, io.EOF) {
		r.err = io.EOF
		return value.Record{}, r.err
	}
	v, err := r.value(r.root)
	if err != nil {
		err.Line = 1 + r.lines + bytes.Count(r.buf[:err.pos], newline)
		err.Path = strings.TrimPrefix(err.Path, ".")
		r.err = err
		return value.Record{}, r.err
	}
	return v.(value.Record), nil
}

var newline = []byte{'\n'}

// An Error says where the input does not fit the schema.
type Error struct {
	Line int    // from 1
	Path string // of the value, such as jets[3].pt; empty for the whole entry
	Err  error  // what was expected, and what was found

	pos int // in the buffer
}

func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("line %d: %s: %v", e.Line, e.Path, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// in prepends a member's name or an item's number to the path.
func (e *Error) in(format string, arg any) *Error {
	e.Path = fmt.Sprintf(format, arg) + e.Path
	return e
}

// expected returns the error for input at pos that is not what it should be.
func (r *Reader) expected(what string) *Error {
	switch {
	case r.pos < len(r.buf):
		return r.fail("expected %s, found %s", what, r.snippet())
	case errors.Is(r.srcErr, io.EOF):
		return r.fail("expected %s: %w", what, io.ErrUnexpectedEOF)
	}
	return r.fail("expected %s: %w", what, r.srcErr)
}

func (r *Reader) fail(format string, args ...any) *Error {
	return &Error{pos: r.pos, Err: fmt.Errorf(format, args...)}
}

// snippet returns the token at pos, shortened for a message.
func (r *Reader) snippet() string {
	text, end := r.buf[r.pos:], "[]{}:, \t\r\n" // of the token
	n := 1
	if text[0] == '"' {
		end = "\"\n"
	}
	if text[0] == '"' || !strings.ContainsRune(end, rune(text[0])) {
		if n += bytes.IndexAny(text[1:], end); n == 0 {
			n = len(text)
		} else if text[0] == '"' {
			n++
		}
	}
	if n > 24 {
		return fmt.Sprintf("%#q…", text[:24])
	}
	return fmt.Sprintf("%#q", text[:n])
}
