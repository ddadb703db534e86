package frame_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/test/wiretest"
)

// all has a member of every basic type.
type all struct {
	I8      int8
	U8      uint8
	I16     int16
	U16     uint16
	I32     int32
	U32     uint32
	I64     int64
	U64     uint64
	F       float64
	S, None string
	Raw     []byte
	Items   [2]uint16
	Rest    []byte
}

func (v *all) wire(c *frame.Codec) {
	frame.Int(c, "i8", &v.I8)
	frame.Int(c, "u8", &v.U8)
	frame.Int(c, "i16", &v.I16)
	frame.Int(c, "u16", &v.U16)
	frame.Int(c, "i32", &v.I32)
	frame.Int(c, "u32", &v.U32)
	frame.Int(c, "i64", &v.I64)
	frame.Int(c, "u64", &v.U64)
	c.Float64("f", &v.F)
	c.String("s", &v.S)
	c.String("none", &v.None)
	c.Raw("raw", 3, &v.Raw)
	c.Within("items", func() {
		for i := range v.Items {
			c.Element(i, func() { frame.Int(c, "x", &v.Items[i]) })
		}
	})
	frame.Const(c, "end", uint16(0xfffe))
	c.Rest(&v.Rest)
}

const little = `
	fe                        # i8 -2
	fd                        # u8 253
	00 80                     # i16, lowest
	34 12                     # u16
	ff ff ff ff               # i32 -1
	78 56 34 12               # u32
	00 00 00 00 00 00 00 80   # i64, lowest
	ef cd ab 89 67 45 23 01   # u64
	01 00 00 00 00 00 f0 7f   # a signalling NaN
	03 00 00 00 "aä"          # a string of 3 bytes
	00 00 00 00
	61 00 ff                  # as it is
	01 00 02 00               # items
	fe ff`

func want() all {
	return all{-2, 253, math.MinInt16, 0x1234, -1, 0x12345678, math.MinInt64, 0x0123456789abcdef,
		math.Float64frombits(0x7ff0000000000001), "aä", "", []byte{0x61, 0, 0xff}, [2]uint16{1, 2}, nil}
}

func TestBasicTypes(t *testing.T) {
	codec := wiretest.Walk("all", (*all).wire)
	v := wiretest.Hex(little)
	for _, rest := range [][]byte{nil, {0}, {1, 2, 3}} {
		v := wiretest.Vector{Bytes: append(v.Bytes[:len(v.Bytes):len(v.Bytes)], rest...)}
		got := codec.RoundTrip(t, v.Bytes)
		want := want()
		want.Rest = rest
		if math.Float64bits(got.F) != math.Float64bits(want.F) {
			t.Errorf("the payload of the NaN is lost: %#x", math.Float64bits(got.F))
		}
		got.F, want.F = 0, 0
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("got %+v, want %+v", *got, want)
		}
	}
	codec.Prefixes(t, v)
	codec.Damage(t, v)

	// The same in big-endian order.
	b := wiretest.Hex(`fe fd 80 00 12 34 ff ff ff ff 12 34 56 78 80 00 00 00 00 00 00 00 01 23 45 67 89 ab cd ef
		7f f0 00 00 00 00 00 01 00 00 00 03 "aä" 00 00 00 00 61 00 ff 00 01 00 02 ff fe`).Bytes
	w := want()
	c := frame.NewWriter(nil, "all").BigEndian()
	w.wire(c)
	if got, err := c.Bytes(); err != nil || !bytes.Equal(got, b) {
		t.Errorf("wrote %x, %v, want %x", got, err, b)
	}
	var got all
	c = frame.NewReader(b, "all", 0).BigEndian()
	if got.wire(c); c.Err() != nil || c.Left() != 0 || got.U64 != w.U64 || got.I16 != w.I16 || got.S != w.S {
		t.Errorf("read %+v, %v", got, c.Err())
	}
}

// The message of an error is a place, and the first error stays.
func TestErrors(t *testing.T) {
	b := wiretest.Hex(`05 00 00 00 "hello" 07 00 00 00 "he" `).Bytes
	c := frame.NewReader(b, "header", 0x1ea)
	var first, second string
	n := uint32(9)
	c.Within("fields", func() {
		c.Element(3, func() {
			c.String("name", &first)
			c.String("type name", &second)
		})
	})
	c.Fail("later", frame.Unsupported("nothing"))
	frame.Int(c, "flags", &n)
	c.Window("window", 1, func() { t.Error("a window opens after an error") })
	if first != "hello" || second != "" || n != 9 {
		t.Errorf("read %q, %q, %d", first, second, n)
	}
	fault := wiretest.Fault(t, c.Err(), frame.ErrCorrupt)
	if fault.Offset != 0x1ea+9 || fault.Path != "header.fields[3].type name" {
		t.Errorf("%#x, %s", fault.Offset, fault.Path)
	}
	if got, want := c.Err().Error(), "header.fields[3].type name at offset 0x1f3: corrupt data: string of 7 bytes, 2 left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}

	for _, test := range []struct {
		err  error
		kind error
		text string
	}{
		{frame.Corrupt("x %d", 1), frame.ErrCorrupt, "corrupt data: x 1"},
		{frame.Unsupported("x %d", 1), frame.ErrUnsupported, "unsupported: x 1"},
		{frame.BadChecksum(1, 2), frame.ErrChecksum,
			"checksum mismatch: stored 0x0000000000000001, computed 0x0000000000000002"},
	} {
		wiretest.Fault(t, &frame.FormatError{Err: fmt.Errorf("outer: %w", test.err)}, test.kind)
		if test.err.Error() != test.text {
			t.Errorf("%q, want %q", test.err, test.text)
		}
	}
}

// A window hides what lies behind it, and is left at its end.
func TestWindow(t *testing.T) {
	c := frame.NewReader([]byte{1, 2, 3, 4, 5, 6}, "x", 0)
	var a, b uint8
	var rest []byte
	frame.Int(c, "a", &a)
	c.Window("outer", 4, func() {
		c.Window("inner", 2, func() {
			if c.Left() != 2 || c.Pos() != 1 {
				t.Errorf("%d bytes left at %d", c.Left(), c.Pos())
			}
		})
		c.Rest(&rest)
	})
	frame.Int(c, "b", &b)
	if c.Err() != nil || b != 6 || !bytes.Equal(rest, []byte{4, 5}) || c.Left() != 0 {
		t.Errorf("read %d, %d, %d, %v", a, b, rest, c.Err())
	}
	for _, n := range []int{-1, 7, math.MaxInt} {
		c := frame.NewReader(make([]byte, 6), "x", 0)
		c.Window("w", n, func() { t.Errorf("a window of %d bytes opens", n) })
		wiretest.Fault(t, c.Err(), frame.ErrCorrupt)
	}
	c = frame.NewReader(make([]byte, 6), "x", 10)
	c.Window("w", 2, func() { frame.Int(c, "n", new(uint32)) })
	if f := wiretest.Fault(t, c.Err(), frame.ErrCorrupt); f.Offset != 10 || f.Path != "x.n" {
		t.Errorf("a member that reaches over its window: %v", c.Err())
	}
}

// Raw shows the input, Rest copies it; neither lets callers write behind it.
func TestAliasing(t *testing.T) {
	b := []byte{1, 2, 3, 4}
	c := frame.NewReader(b, "x", 0)
	var raw, rest []byte
	c.Raw("raw", 2, &raw)
	c.Rest(&rest)
	if &raw[0] != &b[0] || cap(raw) != 2 || &rest[0] == &b[2] {
		t.Error("Raw copies, or Rest does not")
	}
}

// What cannot be written is an error, but not one of the input.
func TestWriteErrors(t *testing.T) {
	c := frame.NewWriter(nil, "x")
	c.Raw("raw", 2, &[]byte{1})
	err := c.Err()
	if err == nil || !strings.Contains(err.Error(), "x.raw") || errors.Is(err, frame.ErrCorrupt) {
		t.Errorf("1 byte for 2: %v", err)
	}
	if !c.Writing() || frame.NewReader(nil, "x", 0).Writing() {
		t.Error("wrong direction")
	}
	b := []byte{7}
	c = frame.NewWriter(b, "x")
	n := uint16(0)
	frame.Int(c, "n", &n)
	frame.Int(c, "n", &n)
	frame.Patch(c, 1, uint16(0x0201))
	if got, _ := c.Bytes(); !bytes.Equal(got, []byte{7, 1, 2, 0, 0}) {
		t.Errorf("patched: %x", got)
	}
}
