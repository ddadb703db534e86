package locator

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/go-rntuple/go-rntuple/frame"
)

// Type tells the kinds of locators apart.
type Type uint8

const (
	File   Type = 0x00 // the 12-byte form: 31-bit size and offset in the file
	Large  Type = 0x01 // 64-bit size and offset in the file
	Object Type = 0x02 // a 32- or 64-bit size and the 64-bit number of an object in a store ("Object64" in ROOT)
	Multi  Type = 0x03 // a part of an object, experimental in ROOT, where its layout is still moving; kept, and refused
	URI    Type = 0x80 // a URI; in pre-release formats only, and the number is this library's
)

// String returns the name of the type, or Type(0x2a).
func (t Type) String() string {
	switch t {
	case File:
		return "File"
	case Large:
		return "Large"
	case Object:
		return "Object64"
	case Multi:
		return "Multi"
	case URI:
		return "URI"
	}
	return fmt.Sprintf("Type(%#02x)", uint8(t))
}

// A Locator says where a block of bytes lies. Locators are comparable; equal
// ones mean the same block.
type Locator struct {
	Offset   uint64 // bytes from the start of the file
	Size     uint64 // bytes in the file, for pages without their checksum
	Type     Type
	Reserved uint8  // for the storage backend; kept
	Payload  string // if the type is neither File nor Large; kept as stored
}

// At returns the shortest locator of a block of size bytes in the file.
func At(offset, size uint64) Locator {
	l := Locator{Offset: offset, Size: size}
	if size > math.MaxInt32 {
		l.Type = Large
	}
	return l
}

// String says where the block lies: "128 bytes at offset 0x1000", or what kind of
// locator it is if the block is not in the file.
func (l Locator) String() string {
	if id, size, err := l.Object(); err == nil {
		return fmt.Sprintf("%d bytes in object %d", size, id)
	}
	switch l.Type {
	case File, Large:
		return fmt.Sprintf("%d bytes at offset %#x", l.Size, l.Offset)
	case URI:
		return fmt.Sprintf("URI %.100q", l.Payload)
	}
	return fmt.Sprintf("%v locator %x", l.Type, l.Payload)
}

// Parse reads the locator that b begins with and returns its length in bytes.
func Parse(b []byte) (l Locator, n int, err error) {
	c := frame.NewReader(b, "locator", 0)
	if l.describe(c); c.Err() != nil {
		return Locator{}, 0, c.Err()
	}
	return l, c.Pos(), nil
}

// Append appends the stored form of the locator to dst.
func (l Locator) Append(dst []byte) ([]byte, error) {
	c := frame.NewWriter(dst, "locator")
	l.describe(c)
	b, err := c.Bytes()
	if err != nil {
		return dst, err
	}
	return b, nil
}

// InFile returns nil if the block lies in the file that holds the locator,
// else an error that wraps frame.ErrUnsupported.
func (l Locator) InFile() error {
	switch l.Type {
	case File, Large:
		return nil
	case Object, Multi:
		return frame.Unsupported("object store locator (type %#02x, %v)", uint8(l.Type), l.Type)
	case URI:
		return frame.Unsupported("locator that is the URI %.100q", l.Payload)
	}
	return frame.Unsupported("locator of unknown type %#02x", uint8(l.Type))
}

// Object returns the number of the object of a store that holds the block, and the size of the
// block in bytes. It is an error that wraps frame.ErrUnsupported if the locator is not of type
// Object, and one that wraps frame.ErrCorrupt if its payload is not as it should be.
//
// Source: ROOT's RNTupleSerializer, Object64; the specification leaves the type open.
func (l Locator) Object() (id, size uint64, err error) {
	p := []byte(l.Payload)
	switch {
	case l.Type != Object:
		return 0, 0, frame.Unsupported("locator of type %v (%#02x), expected one of an object, of type %v (%#02x)", l.Type,
			uint8(l.Type), Object, uint8(Object))
	case len(p) == 12:
		return binary.LittleEndian.Uint64(p[4:]), uint64(binary.LittleEndian.Uint32(p)), nil
	case len(p) == 16:
		return binary.LittleEndian.Uint64(p[8:]), binary.LittleEndian.Uint64(p), nil
	}
	return 0, 0, frame.Corrupt("%v locator of %d bytes, expected 12 or 16", l.Type, len(p))
}

// The parts of a non-standard locator's head word, which is stored negated.
const (
	headSize  = 4
	largeSize = headSize + 16
)

// Wire describes a locator, which errors call name.
func (l *Locator) Wire(c *frame.Codec, name string) {
	c.Within(name, func() { l.describe(c) })
}

// describe walks the members of a locator.
//
// The specification shows size, reserved bits and type as parts of the head
// word; ROOT stores that word negated as a whole.
func (l *Locator) describe(c *frame.Codec) {
	var head int32
	size := headSize + len(l.Payload)
	if l.Type == Large {
		size = largeSize
	}
	if c.Writing() {
		switch {
		case l.Type == File && l.Size > math.MaxInt32:
			c.Fail("size", fmt.Errorf("%d bytes do not fit a simple locator", l.Size))
			return
		case size > math.MaxUint16 || l.Type > 0x7f:
			c.Fail("head", fmt.Errorf("locator of type %v and %d bytes cannot be written", l.Type, size))
			return
		case l.Type == File:
			head = int32(l.Size)
		default:
			head = -int32(uint32(size) | uint32(l.Reserved)<<16 | uint32(l.Type)<<24)
		}
	}
	start := c.Pos()
	frame.Int(c, "head", &head)
	if c.Err() != nil {
		return
	}
	if head >= 0 {
		l.Type, l.Size = File, uint64(head)
		frame.Int(c, "offset", &l.Offset)
		return
	}
	word := -uint32(head)
	size, l.Reserved, l.Type = int(word&0xffff), uint8(word>>16), Type(word>>24)
	switch {
	case size < headSize || l.Type == File:
		c.Fail("head", frame.Corrupt("locator of size %d and type %v, stored as %#08x", size, l.Type, uint32(head)))
	case l.Type == Large && size != largeSize:
		c.Fail("head", frame.Corrupt("large locator of size %d, expected %d", size, largeSize))
	case l.Type == Large:
		frame.Int(c, "size", &l.Size)
		frame.Int(c, "offset", &l.Offset)
	default:
		payload := []byte(l.Payload)
		c.Raw("payload", size-(c.Pos()-start), &payload)
		l.Payload = string(payload)
	}
}

// A Link points to an envelope.
type Link struct {
	Length  uint64 // bytes of the uncompressed envelope, head and checksum included
	Locator Locator
}

// String says where the envelope lies and how long it is.
func (l Link) String() string { return fmt.Sprintf("%d bytes, stored as %v", l.Length, l.Locator) }

// Wire describes an envelope link, which errors call name.
func (l *Link) Wire(c *frame.Codec, name string) {
	c.Within(name, func() {
		frame.Int(c, "length", &l.Length)
		l.Locator.Wire(c, "locator")
	})
}
