package rntgroot

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A cursor reads the bytes of an entry. After an error it reads nothing more.
type cursor struct {
	b   []byte
	err error
}

func (c *cursor) fail(err error) {
	if c.err == nil {
		c.err = err
	}
	c.b = nil
}

// take returns the next n bytes, nil if there are fewer.
func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.b) {
		c.fail(frame.Corrupt("%d bytes needed, %d left", n, len(c.b)))
		return nil
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *cursor) u8() uint8 {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) u16() uint16 {
	if b := c.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// count reads a number of items of at least size bytes each.
func (c *cursor) count(size int) int {
	n := int64(int32(c.u32()))
	if n < 0 || n*int64(size) > int64(len(c.b)) {
		c.fail(frame.Corrupt("%d items in %d bytes", n, len(c.b)))
		return 0
	}
	return int(n)
}

// open reads a byte count and a version. What it returns must be passed to shut, behind what
// the count counts.
func (c *cursor) open() (version uint16, rest []byte) {
	word := c.u32()
	n := int(word &^ countFlag)
	if c.err == nil && (word&countFlag == 0 || n < 2 || n > len(c.b)) {
		c.fail(frame.Corrupt("byte count %#x with %d bytes left", word, len(c.b)))
	}
	if c.err != nil {
		return 0, nil
	}
	rest = c.b[n:]
	c.b = c.b[:n]
	return c.u16(), rest
}

func (c *cursor) shut(rest []byte) {
	if c.err == nil && len(c.b) > 0 {
		c.fail(frame.Corrupt("%d bytes left of those counted", len(c.b)))
	}
	if c.err == nil {
		c.b = rest
	}
}

// A decoder appends values of one type to an Array.
type decoder struct {
	*shape
	// read appends n values, which lie behind each other. Members says that they are a member of
	// n objects that are stored member by member.
	read func(c *cursor, a *columnar.Array, n int, members bool)
	// size is the number of bytes of a value if all have the same and no more than their
	// numbers, else 0.
	size int
	// least is the number of bytes that a value has at least.
	least int
	// whole says that read must be given no more than the bytes of the values.
	whole bool
	// numbers decodes the items of collections behind a byte count, if they have a fixed size.
	numbers *decoder
}

// plain returns the decoder of a number type that is stored as it is in memory.
func plainOf[T columnar.Element](cppType string, size int) *decoder {
	d := &decoder{shape: scalarOf[T](cppType), size: size, least: size}
	d.read = func(c *cursor, a *columnar.Array, n int, _ bool) {
		if n > len(c.b)/size {
			c.fail(frame.Corrupt("%d numbers of %d bytes in %d", n, size, len(c.b)))
			return
		}
		b := c.take(n * size)
		dst := grown[T](a, n)
		if dst, ok := any(dst).([]bool); ok {
			for i, v := range b {
				dst[i] = v != 0
			}
			return
		}
		switch size { // floats have the bits of integers
		case 1:
			copy(wordsOf[uint8](dst), b)
		case 2:
			for i, words := 0, wordsOf[uint16](dst); i < n; i++ {
				words[i] = binary.BigEndian.Uint16(b[2*i:])
			}
		case 4:
			for i, words := 0, wordsOf[uint32](dst); i < n; i++ {
				words[i] = binary.BigEndian.Uint32(b[4*i:])
			}
		case 8:
			for i, words := 0, wordsOf[uint64](dst); i < n; i++ {
				words[i] = binary.BigEndian.Uint64(b[8*i:])
			}
		}
	}
	return d
}

// wordsOf returns the memory of numbers as integers of their size.
func wordsOf[U, T any](numbers []T) []U {
	return unsafe.Slice((*U)(unsafe.Pointer(unsafe.SliceData(numbers))), len(numbers))
}

// converted returns the decoder of numbers of size bytes each that one makes of them.
func converted[T columnar.Element](cppType string, size int, one func(b []byte) T) *decoder {
	d := &decoder{shape: scalarOf[T](cppType), size: size, least: size}
	d.read = func(c *cursor, a *columnar.Array, n int, _ bool) {
		if n > len(c.b)/size {
			c.fail(frame.Corrupt("%d numbers of %d bytes in %d", n, size, len(c.b)))
			return
		}
		b := c.take(n * size)
		for i, dst := 0, grown[T](a, n); i < n; i++ {
			dst[i] = one(b[i*size:])
		}
	}
	return d
}

// grown appends n numbers to the values of a, and returns them.
func grown[T columnar.Element](a *columnar.Array, n int) []T {
	v := columnar.Elements[T](a)
	m := len(v)
	if cap(v)-m < n {
		w := make([]T, m, max(2*cap(v), m+n))
		copy(w, v)
		v = w
	}
	v = v[:m+n]
	columnar.SetValues(a, v)
	return v[m:]
}

// texts reads strings: a byte with the length, or 255 and 4 bytes with it.
var (
	texts    = &decoder{shape: &shape{shape: schema.String, typeName: "std::string"}, least: 1, read: readTexts}
	cstrings = &decoder{shape: texts.shape, read: readCStrings, whole: true}
	tstrings = &decoder{shape: &shape{shape: schema.String, typeName: "std::string", loose: true},
		least: 1, read: readTexts}
)

// readCStrings reads one C string. An empty one may have no byte.
func readCStrings(c *cursor, a *columnar.Array, n int, _ bool) {
	if len(c.b) > 0 {
		readTexts(c, a, n, false)
		return
	}
	for range n {
		a.Offsets = append(a.Offsets, int64(len(a.Bytes)))
		a.Len++
	}
}

func readTexts(c *cursor, a *columnar.Array, n int, _ bool) {
	for i := 0; i < n && c.err == nil; i++ {
		size := int(c.u8())
		if size == 255 {
			size = int(int32(c.u32()))
		}
		a.Bytes = append(a.Bytes, c.take(size)...)
		a.Offsets = append(a.Offsets, int64(len(a.Bytes)))
		a.Len++
	}
}

// listOf returns the decoder of collections: their size, and the items behind each other.
func listOf(s *shape, item *decoder) *decoder {
	d := &decoder{shape: s, least: 4}
	if item.size > 0 {
		d.numbers = item
	}
	d.read = func(c *cursor, a *columnar.Array, n int, _ bool) {
		for i := 0; i < n && c.err == nil; i++ {
			size := c.count(item.least)
			item.read(c, a.Children[0], size, false)
			a.Offsets = append(a.Offsets, a.Offsets[len(a.Offsets)-1]+int64(size))
			a.Len++
		}
	}
	return d
}

// arrayOf returns the decoder of arrays of n items.
func arrayOf(item *decoder, n int) *decoder {
	d := &decoder{shape: arrayShape(item.shape, n), size: n * item.size, least: n * item.least}
	d.read = func(c *cursor, a *columnar.Array, m int, members bool) {
		item.read(c, a.Children[0], m*n, members)
		a.Len += m
	}
	return d
}

// arraysOf returns the decoder of arrays of arrays of the given dimensions.
func arraysOf(item *decoder, dims []int) (*decoder, error) {
	total := 1
	for i := len(dims) - 1; i >= 0; i-- {
		if dims[i] <= 0 || total > math.MaxInt32/dims[i] {
			return nil, frame.Corrupt("an array of the dimensions %d", dims)
		}
		total *= dims[i]
		if item.typeName == "" {
			return nil, frame.Unsupported("an array of objects that have no type in an RNTuple")
		}
		item = arrayOf(item, dims[i])
	}
	return item, nil
}

// headedBy returns the decoder of d's values behind a byte count and a version; several share
// one. Columns reads n that are stored member by member.
func headedBy(d *decoder, columns func(c *cursor, a *columnar.Array, n int)) *decoder {
	h := &decoder{shape: d.shape, least: 6 + d.least, numbers: d.numbers}
	h.read = func(c *cursor, a *columnar.Array, n int, _ bool) {
		version, rest := c.open()
		switch {
		case version&memberwise == 0:
			d.read(c, a, n, false)
		case columns == nil:
			c.fail(frame.Unsupported("%s member by member", d.typeName))
		default:
			columns(c, a, n)
		}
		c.shut(rest)
	}
	return h
}
