package envelope

import (
	"encoding/binary"
	"fmt"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
)

// A Type is a kind of envelope.
type Type uint16

const (
	TypeHeader   Type = 0x01
	TypeFooter   Type = 0x02
	TypePageList Type = 0x03
)

// String returns the name of the type, or Type(0x2a).
func (t Type) String() string {
	switch t {
	case TypeHeader:
		return "header"
	case TypeFooter:
		return "footer"
	case TypePageList:
		return "page list"
	}
	return fmt.Sprintf("Type(%#02x)", uint16(t))
}

const (
	headSize = 8 // type in the low 16 bits, length in the others
	minSize  = headSize + checksum.Size
)

// A payload is what an envelope holds between its head and its checksum.
type payload interface{ wire(*frame.Codec) }

// parse reads an envelope of type t from b, which must hold it and nothing else.
func parse(b []byte, t Type, p payload) error { return Open(b, t, p.wire) }

// Open verifies the head and the checksum of an envelope of type t, which must be
// all that b holds, and makes body read what lies between them.
func Open(b []byte, t Type, body func(*frame.Codec)) error {
	c := frame.NewReader(b, t.String(), 0)
	var head uint64
	frame.Int(c, "head", &head)
	switch {
	case c.Err() != nil:
		return c.Err()
	case Type(head) != t:
		c.Fail("type", frame.Corrupt("is a %v envelope", Type(head)))
	case len(b) < minSize || head>>16 != uint64(len(b)):
		c.Fail("length", frame.Corrupt("%d bytes, but the envelope says %d", len(b), head>>16))
	default:
		if err := checksum.Verify(Checksum(b), b[:len(b)-checksum.Size]); err != nil {
			c.Fail("checksum", err)
		}
		c.Window("payload", len(b)-minSize, func() { body(c) })
	}
	return c.Err()
}

// appendTo appends an envelope of type t to dst.
func appendTo(dst []byte, t Type, p payload) ([]byte, error) {
	start := len(dst)
	c := frame.NewWriter(dst, t.String())
	var head uint64
	frame.Int(c, "head", &head)
	p.wire(c)
	length := uint64(c.Pos() - start + checksum.Size)
	if length>>48 != 0 {
		c.Fail("length", fmt.Errorf("%d bytes are too long", length))
	}
	frame.Patch(c, start, uint64(t)|length<<16)
	b, err := c.Bytes()
	if err != nil {
		return dst, err
	}
	return binary.LittleEndian.AppendUint64(b, checksum.Sum(b[start:])), nil
}

// Checksum returns the checksum that a parsed envelope ends with. Footers and page
// lists refer to their header by it.
func Checksum(envelope []byte) uint64 {
	return binary.LittleEndian.Uint64(envelope[len(envelope)-checksum.Size:])
}
