// Package frame reads and writes record and list frames, the containers that
// let RNTuple's metadata grow: a frame starts with its size, and what follows
// the members that a reader knows is kept, not understood.
//
// Source: specification, section "Frames".
package frame

import (
	"math"

	"github.com/go-rntuple/go-rntuple/internal/wire"
)

const (
	recordHead = 8  // bytes: the size
	listHead   = 12 // bytes: the negated size and the number of items
	// minItem is the smallest item that any list of the format has, an empty
	// record frame. It bounds what a stored number of items can make us allocate.
	minItem = recordHead
)

// Record reads or writes a record frame called name whose members body walks.
// Bytes of the frame behind them are kept in extra.
func Record(c *wire.Codec, name string, extra *[]byte, body func()) {
	c.Within(name, func() {
		if c.Writing() {
			start := c.Pos()
			var size int64
			wire.Int(c, "size", &size)
			body()
			c.Rest(extra)
			wire.Patch(c, start, int64(c.Pos()-start))
			return
		}
		var size int64
		wire.Int(c, "size", &size)
		switch {
		case c.Err() != nil:
		case size < recordHead:
			c.Fail("size", wire.Corrupt("record frame of size %d", size))
		case size-recordHead > int64(c.Left()):
			c.Fail("size", wire.Corrupt("record frame of %d bytes, %d left", size-recordHead, c.Left()))
		default:
			c.Window("frame", int(size-recordHead), func() {
				body()
				c.Rest(extra)
			})
		}
	})
}

// List reads or writes a list frame called name; item walks one item. Bytes of
// the frame behind the items are kept in extra.
func List[T any](c *wire.Codec, name string, items *[]T, extra *[]byte, item func(*wire.Codec, *T)) {
	ListTail(c, name, items, extra, item, func() {})
}

// ListTail is List for a list frame with further members behind its items,
// which tail walks.
func ListTail[T any](c *wire.Codec, name string, items *[]T, extra *[]byte, item func(*wire.Codec, *T), tail func()) {
	c.Within(name, func() {
		start := c.Pos()
		var size int64
		n := uint32(len(*items))
		if c.Writing() && uint64(len(*items)) > math.MaxUint32 {
			c.Fail("number of items", wire.Unsupported("%d items", len(*items)))
			return
		}
		wire.Int(c, "size", &size)
		wire.Int(c, "number of items", &n)
		if c.Err() != nil {
			return
		}
		rest := func() {
			for i := range *items {
				if c.Err() != nil {
					return
				}
				c.Element(i, func() { item(c, &(*items)[i]) })
			}
			tail()
			c.Rest(extra)
		}
		switch {
		case c.Writing():
			rest()
			wire.Patch(c, start, -int64(c.Pos()-start))
		case size > -listHead || size == math.MinInt64:
			c.Fail("size", wire.Corrupt("list frame of size %d", size))
		case -size-listHead > int64(c.Left()):
			c.Fail("size", wire.Corrupt("list frame of %d bytes, %d left", -size-listHead, c.Left()))
		case int64(n) > (-size-listHead)/minItem:
			c.Fail("number of items", wire.Corrupt("%d items in %d bytes", n, -size-listHead))
		default:
			*items = make([]T, n)
			c.Window("frame", int(-size-listHead), rest)
		}
	})
}
