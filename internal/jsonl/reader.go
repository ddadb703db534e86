// Package jsonl reads entries from JSON, as value.AppendJSON and the tool's
// command cat print them, into the dynamic values of package value.
//
// The schema says what a value is. Its JSON is that of value.AppendJSON, in any
// layout: spaces and line ends are free, members of objects come in any order,
// numbers and strings are spelled in any way that JSON allows. More exactly:
//
//   - Integers have neither a point nor an exponent and fit the field's type.
//   - Floats are rounded to the nearest of the field's type, and to zero, but
//     not to infinity. The payload of a NaN is not in the JSON and so is lost.
//   - In strings, a lone surrogate from \udc80 to \udcff is the byte in its low
//     eight bits. Other lone surrogates are errors. Bytes that are not UTF-8 are
//     taken as they are.
//   - Objects have each member of the record, once, and no others. Projected
//     fields may be there or not; they are views on other fields, and what they
//     hold is read and dropped.
//   - Maps with string keys are objects or arrays of [key,value], other maps
//     arrays of [key,value]. Keys may repeat.
//
// # Variants
//
// JSON does not say which alternative of a variant is meant. It is the first
// that prints again as the JSON that was read, where it does not count how
// numbers (1.5, 1.50) and strings are spelled, nor spaces. Within variants,
// floats print with a point: 3 is of an integer type if there is one, 3.0 never.
// If no alternative prints the same, it is the first that holds the numbers
// exactly, else the first that takes the JSON at all. So what cat prints
// is read into values that print the same, but where several alternatives print
// alike, the first of them is meant:
//
//   - a double of few digits becomes a float in variant<float,double>, and a
//     float becomes a double in variant<double,float>
//   - among integer types, the first that has the number in its range
//   - among strings, bitsets and the floats "NaN" and "Infinity", the first that
//     takes the string
//   - of types with the same JSON (sets and vectors, an enum and its integer,
//     classes whose members have the same names and fit), the first; an empty
//     array is of the first collection
//   - null is the variant without a value, never an empty optional in it or an
//     inner variant without a value; likewise, it is the outermost optional
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

// A Reader reads entries. It needs memory for the text and the values of one
// entry at a time, and asks its source for more only to finish an entry or to
// find the next.
type Reader struct {
	src    io.Reader
	srcErr error // ended src
	root   *node
	err    error // ended reading

	buf   []byte // holds the whole entry, and does not move while it is read
	pos   int    // in buf
	lines int    // before buf

	stack    []any  // items of the arrays and maps that are being read
	scratch  []byte // the last string that had escapes
	variants int    // around the value that is being read
	fit      fit    // the worst of what was read since it was reset
}

const initialBuffer = 64 << 10

// NewReader returns a reader of entries that have the given top-level fields.
// Projected ones among them are left out of the records.
func NewReader(r io.Reader, fields []*schema.Field) *Reader {
	root := compile(&schema.Field{Shape: schema.Record, Children: fields})
	return &Reader{src: r, root: root, buf: make([]byte, 0, initialBuffer)}
}

// Read returns the next entry, with its members in the order of the fields. At
// the end of the input the error is io.EOF; every other one is an *Error, and
// ends the reading.
func (r *Reader) Read() (value.Record, error) {
	if r.err != nil {
		return value.Record{}, r.err
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

// An Error says where the input is not as the schema wants it.
type Error struct {
	Line int    // from 1
	Path string // of the value, such as jets[3].pt; empty for the entry itself
	Err  error  // what was expected and what is there

	pos int // in the buffer
}

func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("line %d: %s: %v", e.Line, e.Path, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// in puts a member's name or an item's number before the path.
func (e *Error) in(format string, arg any) *Error {
	e.Path = fmt.Sprintf(format, arg) + e.Path
	return e
}

// expected returns the error that the input at pos is not what it should be.
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

// snippet returns the token at pos, shortened, to show to a person.
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
