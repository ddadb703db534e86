package frame

import "math"

const (
	recordHead = 8  // bytes: the size
	listHead   = 12 // bytes: the negated size and the number of items
	// minItem is the size of the smallest item that any list of the format has, an
	// empty record frame. It bounds what a stored number of items can make a reader
	// allocate.
	minItem = recordHead
)

// Record reads or writes a record frame whose members body walks. name is its
// name in errors. Bytes of the frame that follow the members are kept in extra.
func Record(c *Codec, name string, extra *[]byte, body func()) {
	c.Within(name, func() {
		if c.Writing() {
			start := c.Pos()
			var size int64
			Int(c, "size", &size)
			body()
			c.Rest(extra)
			Patch(c, start, int64(c.Pos()-start))
			return
		}
		var size int64
		Int(c, "size", &size)
		switch {
		case c.Err() != nil:
		case size < recordHead:
			c.Fail("size", Corrupt("record frame of size %d", size))
		case size-recordHead > int64(c.Left()):
			c.Fail("size", Corrupt("record frame of %d bytes, %d left", size-recordHead, c.Left()))
		default:
			c.Window("frame", int(size-recordHead), func() {
				body()
				c.Rest(extra)
			})
		}
	})
}

// List reads or writes a list frame; item walks one item. name is the list's name
// in errors. Bytes of the frame that follow the items are kept in extra.
//
// An item takes at least 8 bytes, as all items of the format do: a frame with
// less room for its items is corrupt.
func List[T any](c *Codec, name string, items *[]T, extra *[]byte, item func(*Codec, *T)) {
	ListTail(c, name, items, extra, item, func() {})
}

// ListTail is like List, for a list frame whose items are followed by further
// members, which tail walks.
func ListTail[T any](c *Codec, name string, items *[]T, extra *[]byte, item func(*Codec, *T), tail func()) {
	c.Within(name, func() {
		start := c.Pos()
		var size int64
		n := uint32(len(*items))
		if c.Writing() && uint64(len(*items)) > math.MaxUint32 {
			c.Fail("number of items", Unsupported("%d items", len(*items)))
			return
		}
		Int(c, "size", &size)
		Int(c, "number of items", &n)
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
			Patch(c, start, -int64(c.Pos()-start))
		case size > -listHead || size == math.MinInt64:
			c.Fail("size", Corrupt("list frame of size %d", size))
		case -size-listHead > int64(c.Left()):
			c.Fail("size", Corrupt("list frame of %d bytes, %d left", -size-listHead, c.Left()))
		case int64(n) > (-size-listHead)/minItem:
			c.Fail("number of items", Corrupt("%d items in %d bytes", n, -size-listHead))
		default:
			*items = make([]T, n)
			c.Window("frame", int(-size-listHead), rest)
		}
	})
}
