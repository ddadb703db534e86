package wiretest

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
)

// A Vector is a record as bytes, written by hand.
type Vector struct {
	Bytes  []byte
	Frames []Span // record and list frames
}

// A Span is a range of bytes, from Start up to but not including End.
type Span struct{ Start, End int }

// Hex parses a text of hexadecimal digits and quoted Go strings. Brackets enclose
// frames, # begins a comment. It panics if the size in a frame is wrong.
func Hex(text string) Vector {
	var v Vector
	var open []int // indices into Frames
	for line := range strings.Lines(text) {
		for line = strings.TrimSpace(line); line != "" && line[0] != '#'; line = strings.TrimSpace(line) {
			n := 1
			switch line[0] {
			case '[':
				open = append(open, len(v.Frames))
				v.Frames = append(v.Frames, Span{Start: len(v.Bytes)})
			case ']':
				f := &v.Frames[open[len(open)-1]]
				open, f.End = open[:len(open)-1], len(v.Bytes)
				if size := v.size(*f); size != int64(f.End-f.Start) && size != int64(f.Start-f.End) {
					panic(fmt.Sprintf("frame of %d bytes has the size %d:\n%s", f.End-f.Start, size, text))
				}
			case '"':
				quoted, err := strconv.QuotedPrefix(line)
				if err != nil {
					panic(err)
				}
				s, _ := strconv.Unquote(quoted)
				v.Bytes, n = append(v.Bytes, s...), len(quoted)
			default:
				b, err := hex.DecodeString(line[:2])
				if err != nil {
					panic(fmt.Sprintf("%v in %q", err, line))
				}
				v.Bytes, n = append(v.Bytes, b...), 2
			}
			line = line[n:]
		}
	}
	return v
}

// Record and List return the text of a frame around body, and Str that of a string.
func Record(body ...string) string {
	text := strings.Join(body, "\n")
	return fmt.Sprintf("[ %s %s ]", LE(8, int64(8+len(Hex(text).Bytes))), text)
}

func List(items int, body ...string) string {
	text := strings.Join(body, "\n")
	return fmt.Sprintf("[ %s %s %s ]", LE(8, -int64(12+len(Hex(text).Bytes))), LE(4, int64(items)), text)
}

func Str(s string) string { return LE(4, int64(len(s))) + strconv.Quote(s) }

// LE returns the text of a little-endian integer of n bytes.
func LE(n int, v int64) string {
	return fmt.Sprintf("% x\n", binary.LittleEndian.AppendUint64(nil, uint64(v))[:n])
}

func (v Vector) size(f Span) int64 {
	return int64(binary.LittleEndian.Uint64(v.Bytes[f.Start:]))
}

// With returns the bytes with extra at the end of the frame with the given index.
func (v Vector) With(frame int, extra ...byte) []byte {
	f := v.Frames[frame]
	b := append(append(append([]byte(nil), v.Bytes[:f.End]...), extra...), v.Bytes[f.End:]...)
	for _, outer := range v.Frames {
		if outer.Start <= f.Start && f.End <= outer.End {
			size := v.size(outer)
			if size < 0 {
				size -= int64(len(extra))
			} else {
				size += int64(len(extra))
			}
			binary.LittleEndian.PutUint64(b[outer.Start:], uint64(size))
		}
	}
	return b
}

// A Codec reads and writes values of type T.
type Codec[T any] struct {
	Name   string                                 // with which paths in errors begin
	Base   int64                                  // offset of the first byte
	Parse  func(b []byte) (v T, n int, err error) // n is the number of bytes read
	Append func(dst []byte, v T) ([]byte, error)

	// Seal makes an envelope out of its head and payload. It is nil for records
	// that are not envelopes.
	Seal func(body []byte) []byte
}

// Walk returns the Codec of the records that describe walks over.
func Walk[T any](name string, describe func(*T, *frame.Codec)) Codec[*T] {
	const base = 1000
	return Codec[*T]{
		Name: name, Base: base,
		Parse: func(b []byte) (*T, int, error) {
			v, c := new(T), frame.NewReader(b, name, base)
			describe(v, c)
			return v, c.Pos(), c.Err()
		},
		Append: func(dst []byte, v *T) ([]byte, error) {
			c := frame.NewWriter(dst, name)
			describe(v, c)
			return c.Bytes()
		},
	}
}

// Envelope returns the Codec of envelopes of the given type.
func Envelope[T any](name string, kind uint16, parse func([]byte) (T, error),
	appendTo func(T, []byte) ([]byte, error)) Codec[T] {
	return Codec[T]{
		Name:   name,
		Parse:  func(b []byte) (T, int, error) { v, err := parse(b); return v, len(b), err },
		Append: func(dst []byte, v T) ([]byte, error) { return appendTo(v, dst) },
		Seal:   func(body []byte) []byte { return Seal(kind, body) },
	}
}

// Seal makes an envelope: it adds type, length and checksum to its head and
// payload. Specification: "Envelopes".
func Seal(kind uint16, body []byte) []byte {
	b := append([]byte(nil), body...)
	for len(b) < 8 {
		b = append(b, 0)
	}
	binary.LittleEndian.PutUint64(b, uint64(kind)|uint64(len(b)+8)<<16)
	return binary.LittleEndian.AppendUint64(b, checksum.Sum(b))
}

// Check makes all checks of c on v and returns the value. Prefixes of the lengths
// in whole are valid records.
func (c Codec[T]) Check(t *testing.T, v Vector, whole ...int) T {
	t.Helper()
	value := c.RoundTrip(t, c.seal(v.Bytes))
	c.Prefixes(t, v, whole...)
	c.Extra(t, v)
	c.Damage(t, v)
	return value
}

func (c Codec[T]) seal(b []byte) []byte {
	if c.Seal == nil {
		return b
	}
	return c.Seal(b)
}

// RoundTrip checks that all of b is read, and that it is written again without a
// difference.
func (c Codec[T]) RoundTrip(t testing.TB, b []byte) T {
	t.Helper()
	v, n, err := c.Parse(b)
	if err != nil || n != len(b) {
		t.Fatalf("%s: read %d of %d bytes, %v", c.Name, n, len(b), err)
	}
	c.sameBytes(t, v, b)
	return v
}

func (c Codec[T]) sameBytes(t testing.TB, v T, b []byte) {
	t.Helper()
	before := []byte("before")
	got, err := c.Append(before, v)
	if got, ok := bytes.CutPrefix(got, before); err != nil || !ok || !bytes.Equal(got, b) {
		t.Fatalf("%s: %v, wrote\n%x, read\n%x", c.Name, err, got, b)
	}
}

// Prefixes checks that all strict prefixes of v, except those in whole, are
// refused.
func (c Codec[T]) Prefixes(t testing.TB, v Vector, whole ...int) {
	t.Helper()
	b := c.seal(v.Bytes)
	for n := range b {
		_, _, err := c.Parse(b[:n:n])
		c.corrupt(t, err, n)
	}
	if c.Seal == nil {
		return
	}
prefixes:
	for n := 8; n < len(v.Bytes); n++ {
		for _, w := range whole {
			if n == w {
				c.RoundTrip(t, c.Seal(v.Bytes[:n]))
				continue prefixes
			}
		}
		_, _, err := c.Parse(c.Seal(v.Bytes[:n]))
		c.corrupt(t, err, n)
	}
}

// corrupt checks the error for the first n bytes.
func (c Codec[T]) corrupt(t testing.TB, err error, n int) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: the first %d bytes are accepted", c.Name, n)
	} else if fault := Fault(t, err, frame.ErrCorrupt); fault != nil {
		if fault.Offset < c.Base || fault.Offset > c.Base+int64(n) || !strings.HasPrefix(fault.Path, c.Name+".") {
			t.Errorf("%s: the first %d bytes: the error has the wrong place: %v", c.Name, n, err)
		}
	}
}

// Extra checks that a byte at the end of any frame, and of an envelope, is kept.
func (c Codec[T]) Extra(t testing.TB, v Vector) {
	t.Helper()
	for i := range v.Frames {
		c.RoundTrip(t, c.seal(v.With(i, 0xee)))
		c.RoundTrip(t, c.seal(v.With(i, make([]byte, 300)...)))
	}
	if c.Seal != nil {
		c.RoundTrip(t, c.Seal(append(v.Bytes[:len(v.Bytes):len(v.Bytes)], 0xee)))
	}
}

// Damage changes every byte. The result must be refused, or be written as it was
// read.
func (c Codec[T]) Damage(t testing.TB, v Vector) {
	t.Helper()
	b := append([]byte(nil), v.Bytes...)
	for i, old := range v.Bytes {
		for _, b[i] = range []byte{0, 1, 0x7f, 0x80, 0xff, old ^ 4, old + 1, old - 1} {
			c.Try(t, c.seal(b))
		}
		b[i] = old
	}
}

// Try checks that b is refused, or is written as it was read, and that reading it
// allocates memory in proportion to its length. Fuzz targets call it.
func (c Codec[T]) Try(t testing.TB, b []byte) (v T, ok bool) {
	t.Helper()
	var n int
	var err error
	allocated := Allocated(func() { v, n, err = c.Parse(b) })
	if limit := uint64(64*len(b) + 16<<10); allocated > limit {
		t.Errorf("%s: %d bytes allocated for %d: %x", c.Name, allocated, len(b), b)
	}
	if err != nil {
		Fault(t, err, frame.ErrCorrupt, frame.ErrChecksum, frame.ErrUnsupported)
		return v, false
	}
	c.sameBytes(t, v, b[:n])
	return v, true
}

// Fault checks that err is a FormatError that wraps exactly one kind of fault,
// which must be one of kinds, and returns it.
func Fault(t testing.TB, err error, kinds ...error) *frame.FormatError {
	t.Helper()
	var fault *frame.FormatError
	if !errors.As(err, &fault) {
		t.Errorf("%v is not a FormatError", err)
		return nil
	}
	all, of := 0, 0
	for _, kind := range []error{frame.ErrCorrupt, frame.ErrChecksum, frame.ErrUnsupported} {
		if errors.Is(err, kind) {
			all++
		}
	}
	for _, kind := range kinds {
		if errors.Is(err, kind) {
			of++
		}
	}
	if all != 1 || of != 1 {
		t.Errorf("%v wraps %d kinds of fault, %d of %v", err, all, of, kinds)
	}
	return fault
}

// Allocated returns the number of bytes that f allocates.
func Allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
