package pagesink

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/bufpool"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
)

// A filledPage is a page with the elements of a Buffer.
type filledPage[T column.Element] struct {
	page
	buffer  *Buffer[T]
	cluster *clusterBuilder
	values  []T
	lease   bufpool.Lease // of values
	tracked bool          // the page's bounds are wanted
}

func (p *filledPage[T]) seal(t *scratch) {
	c := p.buffer.c
	p.stored, p.err = p.cluster.seal(t, c.pageSize(p.elements), func(dst []byte) ([]byte, error) {
		n := len(dst)
		dst, err := p.buffer.encoder.Append(dst, p.values)
		if p.tracked && err == nil {
			p.bounds, err = p.buffer.measure(p.values, dst[n:])
		}
		return dst, err
	})
	if p.err != nil {
		p.err = fmt.Errorf("field %q: %w", c.column.Owner.Path(), p.err)
	}
	p.buffer.memory.put(p.values, p.lease)
	p.values = nil
	p.cluster.sealed.Done()
}

// seal returns a page as it is stored, in memory of the cluster. The page that
// encode appends has the given size before compression.
func (c *clusterBuilder) seal(t *scratch, size int,
	encode func(dst []byte) ([]byte, error)) (stored []byte, err error) {
	if c.sink.set.Compression.Level() == 0 {
		return c.store(size, encode)
	}
	t.plain.bytes, err = encode(t.plain.room(size))
	if err != nil {
		return nil, err
	}
	// Most of the time of writing is spent on compression, and many pages are
	// equal: offsets of collections of the same sizes, for example, or defaults.
	key := checksum.Sum(t.plain.bytes)
	if known, ok := c.known.Load(key); ok && c.holds(known.([]byte), t) {
		return known.([]byte), nil
	}
	t.zipped.bytes, err = compress.Append(t.zipped.room(size), t.plain.bytes, c.sink.set.Compression)
	if err != nil {
		return nil, err
	}
	stored = c.sum(append(c.take(len(t.zipped.bytes)), t.zipped.bytes...))
	c.known.Store(key, stored)
	return stored, nil
}

// store returns the page that encode appends, of size bytes at most, with its
// checksum, in memory of the cluster.
func (c *clusterBuilder) store(size int, encode func(dst []byte) ([]byte, error)) (stored []byte, err error) {
	stored, err = encode(c.take(size))
	return c.sum(stored), err
}

// sumSize returns the size of the checksum behind a page.
func (c *clusterBuilder) sumSize() int {
	if c.sink.set.NoChecksums {
		return 0
	}
	return checksum.Size
}

// take returns memory for a page of n bytes and its checksum.
func (c *clusterBuilder) take(n int) []byte { return c.arena.take(n + c.sumSize())[:0] }

// sum appends the checksum to a page, if pages have one.
func (c *clusterBuilder) sum(stored []byte) []byte {
	if c.sink.set.NoChecksums {
		return stored
	}
	return binary.LittleEndian.AppendUint64(stored, checksum.Sum(stored))
}

// holds reports whether a sealed page is the one in t.plain.
func (c *clusterBuilder) holds(stored []byte, t *scratch) bool {
	stored = stored[:len(stored)-c.sumSize()]
	if len(stored) == len(t.plain.bytes) {
		return bytes.Equal(stored, t.plain.bytes)
	}
	if compress.Check(stored, int64(len(t.plain.bytes))) != nil {
		return false
	}
	t.zipped.bytes = t.zipped.room(len(t.plain.bytes))[:len(t.plain.bytes)]
	return compress.Decompress(t.zipped.bytes, stored) == nil && bytes.Equal(t.zipped.bytes, t.plain.bytes)
}
