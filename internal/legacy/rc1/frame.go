package rc1

import (
	"math"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/locator"
)

const (
	recordHead = 4 // bytes: the size
	listHead   = 8 // bytes: the negated size and the number of items
	countBits  = 28
)

// record reads or writes a record frame called name whose members body walks.
// Bytes of the frame that follow them are kept in extra. Document: "Frames".
func record(c *frame.Codec, name string, extra *[]byte, body func()) {
	c.Within(name, func() {
		start := c.Pos()
		var size int32
		frame.Int(c, "size", &size)
		recordRest(c, start, size, extra, body)
	})
}

// recordRest walks what follows the size of a record frame that begins at start.
func recordRest(c *frame.Codec, start int, size int32, extra *[]byte, body func()) {
	switch {
	case c.Writing():
		body()
		c.Rest(extra)
		frame.Patch(c, start, int32(c.Pos()-start))
	case c.Err() != nil:
	case size < recordHead || int(size)-recordHead > c.Left():
		c.Fail("size", frame.Corrupt("record frame of size %d, %d bytes left", size, c.Left()))
	default:
		c.Window("frame", int(size)-recordHead, func() {
			body()
			c.Rest(extra)
		})
	}
}

// list reads or writes a list frame called name, of items that take at least least
// bytes each; tail walks the members that follow them in the frame. Bytes after
// those are kept in extra. Document: "Frames".
func list[T any](c *frame.Codec, name string, least int, items *[]T, extra *[]byte,
	item func(*T, *frame.Codec), tail func()) {
	c.Within(name, func() {
		start := c.Pos()
		var size int32
		frame.Int(c, "size", &size)
		listRest(c, start, size, least, items, extra, item, tail)
	})
}

// listRest walks what follows the size of a list frame that begins at start.
func listRest[T any](c *frame.Codec, start int, size int32, least int, items *[]T, extra *[]byte,
	item func(*T, *frame.Codec), tail func()) {
	n := uint32(len(*items))
	frame.Int(c, "number of items", &n)
	rest := func() {
		for i := range *items {
			if c.Err() != nil {
				return
			}
			c.Element(i, func() { item(&(*items)[i], c) })
		}
		tail()
		c.Rest(extra)
	}
	left := -int64(size) - listHead
	switch {
	case c.Writing():
		rest()
		frame.Patch(c, start, -int32(c.Pos()-start))
	case c.Err() != nil:
	case left < 0 || size == math.MinInt32 || left > int64(c.Left()):
		c.Fail("size", frame.Corrupt("list frame of size %d, %d bytes left", size, c.Left()))
	case n>>countBits != 0:
		c.Fail("number of items", frame.Unsupported("reserved bits %#x are set", n>>countBits))
	case int64(n) > left/int64(least):
		c.Fail("number of items", frame.Corrupt("%d items in %d bytes", n, left))
	default:
		*items = make([]T, n)
		c.Window("frame", int(left), rest)
	}
}

// records is list for record frames.
func records[T any](c *frame.Codec, name string, least int, items *[]T, extra *[]byte, item func(*T, *frame.Codec)) {
	list(c, name, least, items, extra, item, func() {})
}

// Types of locators. Document: "Locators and Envelope Links".
const (
	typeURI    = 0x01
	typeObject = 0x02
)

// wireLocator describes a locator. ROOT negated the whole head of a locator that
// does not point into the file, as it still does.
func wireLocator(c *frame.Codec, name string, l *locator.Locator) {
	const headSize = 4
	c.Within(name, func() {
		var head int32
		n := len(l.Payload)
		if c.Writing() {
			kind := uint32(l.Type)
			if l.Type == locator.URI {
				kind = typeURI
			}
			head = int32(l.Size)
			if l.Type != locator.File {
				head = -int32(uint32(headSize+n) | uint32(l.Reserved)<<16 | kind<<24)
			}
		}
		frame.Int(c, "head", &head)
		if c.Err() == nil && !c.Writing() && head < 0 {
			word := -uint32(head)
			switch kind := word >> 24; {
			case word&0xffff < headSize || kind == 0 || kind > 0x7f:
				c.Fail("head", frame.Corrupt("locator of size %d and type %#x", word&0xffff, kind))
				return
			case kind == typeURI:
				l.Type = locator.URI
			default:
				l.Type = locator.Type(kind)
			}
			n, l.Reserved = int(word&0xffff)-headSize, uint8(word>>16)
		}
		if head >= 0 {
			l.Size = uint64(head)
			frame.Int(c, "offset", &l.Offset)
			return
		}
		payload := []byte(l.Payload)
		c.Raw("payload", n, &payload)
		l.Payload = string(payload)
	})
}

// A Link points to an envelope.
type Link struct {
	Length  uint32 // bytes of the envelope, uncompressed
	Locator locator.Locator
}

// Wire describes a link.
func (l *Link) Wire(c *frame.Codec) {
	frame.Int(c, "length", &l.Length)
	wireLocator(c, "locator", &l.Locator)
}

func (l *Link) lift() locator.Link {
	return locator.Link{Length: uint64(l.Length), Locator: l.Locator}
}
