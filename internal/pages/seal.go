package pages

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
)

// A sealing is a page on its way to be sealed: encoded, compressed and with its
// checksum.
type sealing struct {
	elements uint32
	stored   []byte  // with the checksum, if pages have one
	copy     *copied // instead of stored
	err      error
}

// filled is a page of elements that is to be sealed.
type filled[T column.Element] struct {
	sealing
	buffer  *Buffer[T]
	cluster *cluster
	page    []T
}

func (p *filled[T]) seal(t *tools) {
	c := p.buffer.c
	size := int(c.column.Format().PageSize(p.elements))
	p.stored, p.err = p.cluster.seal(t, size, func(dst []byte) ([]byte, error) { return p.buffer.encoder.Append(dst, p.page) })
	if p.err != nil {
		p.err = fmt.Errorf("field %q: %w", c.column.Owner.Path(), p.err)
	}
	p.buffer.memory.put(p.page)
	p.page = nil
	p.cluster.sealed.Done()
}

// seal returns the page of the given size that encode appends as it is stored,
// in memory of the cluster.
func (c *cluster) seal(t *tools, size int, encode func(dst []byte) ([]byte, error)) (stored []byte, err error) {
	if c.sink.set.Compression.Level() == 0 {
		stored, err = encode(c.take(size))
		return c.sum(stored), err
	}
	t.plain, err = encode(slices.Grow(t.plain[:0], size))
	if err != nil {
		return nil, err
	}
	// Compressing takes most of the time that writing does, and many pages are
	// equal: the offsets of collections of the same sizes, or default values.
	key := checksum.Sum(t.plain)
	if twin := c.lookup(key); twin != nil && c.holds(twin, t) {
		return twin, nil
	}
	t.zipped, err = compress.Append(slices.Grow(t.zipped[:0], size), t.plain, c.sink.set.Compression)
	if err != nil {
		return nil, err
	}
	stored = c.sum(append(c.take(len(t.zipped)), t.zipped...))
	c.remember(key, stored)
	return stored, nil
}

// tail returns the length of what follows the bytes of a page.
func (c *cluster) tail() int {
	if c.sink.set.NoChecksums {
		return 0
	}
	return checksum.Size
}

// take returns memory for a page of n bytes.
func (c *cluster) take(n int) []byte { return c.arena.take(n + c.tail())[:0] }

// sum puts the checksum behind a page, if pages have one.
func (c *cluster) sum(stored []byte) []byte {
	if c.sink.set.NoChecksums {
		return stored
	}
	return binary.LittleEndian.AppendUint64(stored, checksum.Sum(stored))
}

// lookup returns a stored page whose bytes before compression have the checksum
// key, or nil.
func (c *cluster) lookup(key uint64) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[key]
}

// remember has lookup find a page.
func (c *cluster) remember(key uint64, stored []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[key] = stored
}

// holds reports whether a stored page is the one in t.plain.
func (c *cluster) holds(stored []byte, t *tools) bool {
	stored = stored[:len(stored)-c.tail()]
	if len(stored) == len(t.plain) {
		return bytes.Equal(stored, t.plain)
	}
	if compress.Check(stored, int64(len(t.plain))) != nil {
		return false
	}
	t.zipped = slices.Grow(t.zipped[:0], len(t.plain))[:len(t.plain)]
	return compress.Decompress(t.zipped, stored) == nil && bytes.Equal(t.zipped, t.plain)
}

// A job is a filled page of any type.
type job interface{ seal(*tools) }

// tools is the memory that sealing a page needs, kept for the next one.
type tools struct{ plain, zipped []byte }

// A crew seals pages: the goroutine that has them, and others.
type crew struct {
	others int // most of them

	mu      sync.Mutex
	working int // of the others
	queue   []job
	tools   []*tools // that nobody uses
}

// do has a page sealed, by another goroutine if it is to be had soon.
func (c *crew) do(j job) {
	c.mu.Lock()
	switch {
	case c.working < c.others:
		c.working++
		c.mu.Unlock()
		go func() {
			for j := j; j != nil; j = c.next(true) {
				c.seal(j)
			}
		}()
	case len(c.queue) < 4*c.others:
		c.queue = append(c.queue, j)
		c.mu.Unlock()
	default:
		c.mu.Unlock()
		c.seal(j)
	}
}

// next takes a page from the queue. If there is none, a worker leaves.
func (c *crew) next(worker bool) job {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) > 0 {
		j := c.queue[0]
		c.queue = slices.Delete(c.queue, 0, 1)
		return j
	}
	if worker {
		c.working--
	}
	return nil
}

// help seals what waits.
func (c *crew) help() {
	for j := c.next(false); j != nil; j = c.next(false) {
		c.seal(j)
	}
}

func (c *crew) seal(j job) {
	c.mu.Lock()
	t := &tools{}
	if n := len(c.tools); n > 0 {
		t, c.tools = c.tools[n-1], c.tools[:n-1]
	}
	c.mu.Unlock()
	j.seal(t)
	c.mu.Lock()
	c.tools = append(c.tools, t)
	c.mu.Unlock()
}

// An arena is the memory of the pages of a cluster, as they are stored. Several
// goroutines can use it.
type arena struct {
	mu    sync.Mutex
	slabs [][]byte
	slab  int // that take takes from
	used  int // bytes of it
	total int // bytes of all
}

// take returns n bytes, which are the caller's until reset.
func (a *arena) take(n int) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	for ; a.slab < len(a.slabs); a.slab++ {
		if left := a.slabs[a.slab][a.used:]; len(left) >= n {
			a.used += n
			return left[:n:n]
		}
		a.used = 0
	}
	size := max(n, min(max(a.total, 64<<10), 4<<20))
	a.slabs = append(a.slabs, make([]byte, size))
	a.total += size
	a.used = n
	return a.slabs[a.slab][:n:n]
}

// reset takes all memory back.
func (a *arena) reset() *arena {
	a.slab, a.used = 0, 0
	return a
}
