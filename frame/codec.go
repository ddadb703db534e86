package frame

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Integer lists the types that Int reads and writes, in their own width.
type Integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// A Codec walks the members of records in one direction: it reads them from a byte slice or appends
// them to one. After the first error it does nothing more, and reading then leaves the members as
// they are, so that descriptions of records need no error handling. A Codec must not be used by
// several goroutines at once.
type Codec struct {
	writing bool
	order   interface {
		binary.ByteOrder
		binary.AppendByteOrder
	}
	buf  []byte
	pos  int   // reading: next byte in buf
	base int64 // the offset of buf[0] in errors
	path []step
	err  error

	trace *[]Member // nil unless Trace was called
}

type step struct {
	name  string
	index int // of an element; -1 for a member
}

// NewReader returns a Codec that reads b, little-endian. The paths in errors begin with name;
// offsets count from offset, where b lies in the file, or from 0 if b is a record of its own.
func NewReader(b []byte, name string, offset int64) *Codec {
	return &Codec{order: binary.LittleEndian, buf: b, base: offset, path: []step{{name, -1}}}
}

// NewWriter returns a Codec that appends to dst, little-endian. The paths in errors begin with
// name.
func NewWriter(dst []byte, name string) *Codec {
	return &Codec{writing: true, order: binary.LittleEndian, buf: dst, path: []step{{name, -1}}}
}

// BigEndian switches c to big-endian integers, which ROOT's own records have, and
// returns c.
func (c *Codec) BigEndian() *Codec {
	c.order = binary.BigEndian
	return c
}

// Writing reports whether c writes.
func (c *Codec) Writing() bool { return c.writing }

// Err returns the first error, a *FormatError, or nil.
func (c *Codec) Err() error { return c.err }

// Bytes returns what has been written so far, and the first error.
func (c *Codec) Bytes() ([]byte, error) { return c.buf, c.err }

// Left returns the number of bytes that are left to read in the window.
func (c *Codec) Left() int { return len(c.buf) - c.pos }

// Pos returns the number of bytes read or written so far.
func (c *Codec) Pos() int {
	if c.writing {
		return len(c.buf)
	}
	return c.pos
}

// Fail records err for the member called name, unless there was an error before.
func (c *Codec) Fail(name string, err error) { c.failAt(c.Pos(), name, err) }

func (c *Codec) failAt(pos int, name string, err error) {
	if c.err != nil {
		return
	}
	c.err = &FormatError{Offset: c.base + int64(pos), Path: c.where(name), Err: err}
}

// where returns the path of the member called name.
func (c *Codec) where(name string) string {
	var b strings.Builder
	for i, s := range c.path {
		if s.index >= 0 {
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(s.name)
	}
	if name != "" {
		b.WriteString("." + name)
	}
	return b.String()
}

// Within runs body with name added to the path.
func (c *Codec) Within(name string, body func()) {
	c.path = append(c.path, step{name, -1})
	body()
	c.path = c.path[:len(c.path)-1]
}

// Element runs body with the index i added to the path.
func (c *Codec) Element(i int, body func()) {
	c.path = append(c.path, step{"", i})
	body()
	c.path = c.path[:len(c.path)-1]
}

// Window runs body with the next n bytes as all that can be read, and continues
// after them whatever body has read. It must not be used for writing.
func (c *Codec) Window(name string, n int, body func()) {
	if c.err != nil {
		return
	}
	if n < 0 || n > c.Left() {
		c.Fail(name, Corrupt("need %d bytes, have %d", n, c.Left()))
		return
	}
	outer, end := c.buf, c.pos+n
	c.buf = c.buf[:end:end]
	body()
	if c.trace != nil && c.err == nil {
		c.traced("", c.pos, outer[c.pos:end], nil)
	}
	c.buf, c.pos = outer, end
}

// Unread returns the bytes that are left to read in the window, for looking ahead.
// It returns nil if the walk is traced, as a traced walk must meet every member.
func (c *Codec) Unread() []byte {
	if c.err != nil || c.trace != nil {
		return nil
	}
	return c.buf[c.pos:]
}

// Zeros returns the number of zeros at the end of what is left to read in the window.
func (c *Codec) Zeros() int {
	return c.Left() - len(bytes.TrimRight(c.buf[c.pos:], "\x00"))
}

// Skip skips the next n bytes.
func (c *Codec) Skip(n int) {
	b := c.next("", n)
	if c.trace != nil {
		c.traced("", c.pos-len(b), b, nil)
	}
}

// next returns the next n bytes, or nil after an error.
func (c *Codec) next(name string, n int) []byte {
	if c.err != nil {
		return nil
	}
	if n > c.Left() {
		c.short(name, n)
		return nil
	}
	b := c.buf[c.pos : c.pos+n : c.pos+n]
	c.pos += n
	return b
}

// short records that there are fewer than n bytes. It is not inlined, which keeps
// next small.
//
//go:noinline
func (c *Codec) short(name string, n int) {
	c.Fail(name, Corrupt("need %d bytes, have %d", n, c.Left()))
}

// Int reads or writes an integer of T's width.
func Int[T Integer](c *Codec, name string, v *T) {
	n := width(*v)
	if c.writing {
		c.buf = c.put(c.buf, n, uint64(*v))
		return
	}
	b := c.next(name, n)
	switch len(b) {
	case 1:
		*v = T(b[0])
	case 2:
		*v = T(c.order.Uint16(b))
	case 4:
		*v = T(c.order.Uint32(b))
	case 8:
		*v = T(c.order.Uint64(b))
	}
	if c.trace != nil {
		tracedInt(c, name, b, *v)
	}
}

// width returns the size of T in bytes.
func width[T Integer](T) int {
	n := 0
	for v := T(1); v != 0; v = v << 4 << 4 {
		n++
	}
	return n
}

func (c *Codec) put(b []byte, n int, v uint64) []byte {
	switch n {
	case 1:
		return append(b, byte(v))
	case 2:
		return c.order.AppendUint16(b, uint16(v))
	case 4:
		return c.order.AppendUint32(b, uint32(v))
	}
	return c.order.AppendUint64(b, v)
}

// Patch overwrites the integer written at pos by an earlier Int of T's width.
func Patch[T Integer](c *Codec, pos int, v T) {
	c.put(c.buf[:pos], width(v), uint64(v))
}

// Float64 reads or writes an IEEE-754 double.
func (c *Codec) Float64(name string, v *float64) {
	u := math.Float64bits(*v)
	Int(c, name, &u)
	*v = math.Float64frombits(u)
	if c.trace != nil && c.err == nil {
		(*c.trace)[len(*c.trace)-1].Value = *v
	}
}

// String reads or writes a string, preceded by its length in bytes as 32 bits.
// Specification: "Basic Types".
func (c *Codec) String(name string, v *string) {
	n := uint32(len(*v))
	if c.writing {
		if uint64(len(*v)) > math.MaxUint32 {
			c.Fail(name, fmt.Errorf("string of %d bytes is too long", len(*v)))
			return
		}
		Int(c, name, &n)
		c.buf = append(c.buf, *v...)
		return
	}
	pos := c.pos
	Int(c, name, &n)
	if c.err != nil {
		return
	}
	if uint64(n) > uint64(c.Left()) {
		c.failAt(pos, name, Corrupt("string of %d bytes, %d left", n, c.Left()))
		return
	}
	*v = string(c.next(name, int(n)))
	if c.trace != nil {
		c.tracedString(name, *v)
	}
}

// Raw reads or writes n bytes as they are. The bytes read alias the input.
func (c *Codec) Raw(name string, n int, v *[]byte) {
	if c.writing {
		if len(*v) != n {
			c.Fail(name, fmt.Errorf("%d bytes given for %d", len(*v), n))
			return
		}
		c.buf = append(c.buf, *v...)
		return
	}
	if b := c.next(name, n); b != nil {
		*v = b
		if c.trace != nil {
			c.traced(name, c.pos-n, b, b)
		}
	}
}

// Rest reads all bytes that are left in the window, or writes v. It keeps what a
// newer writer appended; v stays as it is when nothing is left. Reading copies.
func (c *Codec) Rest(v *[]byte) {
	if c.writing {
		c.buf = append(c.buf, *v...)
		return
	}
	if n := c.Left(); c.err == nil && n > 0 {
		*v = append([]byte(nil), c.buf[c.pos:]...)
		c.Skip(n)
	}
}

// Const reads a value that must equal want, or writes it.
func Const[T Integer](c *Codec, name string, want T) {
	v, pos := want, c.Pos()
	Int(c, name, &v)
	if v != want {
		c.failAt(pos, name, Corrupt("is %#x, expected %#x", v, want))
	}
}
