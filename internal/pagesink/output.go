package pagesink

import (
	"io"
	"os"
	"slices"
	"sync"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/locator"
)

// An Output is where the sinks of one file write their clusters, one after the
// other. The sinks must all be used by the same goroutine, but for forks.
type Output struct {
	// Blob appends a payload, which consists of parts, to the file and returns its
	// offset. Only with forks it may be called by several goroutines at a time.
	Blob func(parts ...[]byte) (offset int64, err error)

	// SmallBlob is like Blob, for envelopes. Nil stands for Blob.
	SmallBlob func(parts ...[]byte) (offset int64, err error)

	// Stream, if not nil, appends a payload of n bytes, which fill writes from
	// several goroutines and in any order.
	Stream func(n int64, fill func(io.WriterAt) error) (offset int64, err error)

	// Extents, if not nil, are those of the file that Stream writes to.
	Extents Extents

	guard guard

	mu   sync.Mutex
	line []*clusterBuilder // the clusters to write, in this order
}

// Extents let a file clone blocks of other files.
type Extents interface {
	// NextBlob returns the offset that the next payload will have.
	NextBlob() int64
	// BlockSize returns the size of the blocks that can be cloned, 0 if none can.
	BlockSize() int64
	// Clone makes n bytes at the offset to, behind all that has been written, those
	// that src has at the offset from; see reflink.Clone.
	Clone(to int64, src *os.File, from, n int64) error
}

// minStreamed is the size of the smallest payload for which Write uses Stream.
const minStreamed = 64 << 10

// Write appends a payload of n bytes, which fill writes in pieces, to the file and
// returns its offset. A payload that is too small for Stream is collected in memory.
func (o *Output) Write(n int64, fill func(io.WriterAt) error) (offset int64, err error) {
	if o.Stream != nil && n >= minStreamed {
		return o.Stream(n, fill)
	}
	b := make(payload, n)
	if err := fill(b); err != nil {
		return 0, err
	}
	return o.Blob(b)
}

// payload is a payload in memory.
type payload []byte

func (p payload) WriteAt(b []byte, off int64) (int, error) { return copy(p[off:], b), nil }

// append adds a cluster to the line, and reports whether it is the first one; then the
// caller must write it.
func (o *Output) append(c *clusterBuilder) (first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.line = append(o.line, c)
	return len(o.line) == 1
}

// writeFirst writes the first cluster of the line, and reports whether there are more.
func (o *Output) writeFirst() (more bool) {
	o.mu.Lock()
	c := o.line[0]
	o.mu.Unlock()
	c.finish()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.line = slices.Delete(o.line, 0, 1)
	close(c.done)
	return len(o.line) > 0
}

// writeAll writes the clusters in the line.
func (o *Output) writeAll() {
	for o.writeFirst() {
	}
}

// Wait waits for the clusters that are in the line.
func (o *Output) Wait() {
	o.mu.Lock()
	var last *clusterBuilder
	if n := len(o.line); n > 0 {
		last = o.line[n-1]
	}
	o.mu.Unlock()
	if last != nil {
		<-last.done
	}
}

// WriteEnvelope writes an envelope, compressed as pages are, behind the clusters
// that sinks have committed to out.
func WriteEnvelope(out *Output, plain []byte, set Settings) (locator.Link, error) {
	stored, err := compress.Append(nil, plain, set.Compression)
	if err != nil {
		return locator.Link{}, err
	}
	return writeStored(out, stored, len(plain), set.MaxKeySize)
}

// writeStored is WriteEnvelope for an envelope of plain bytes that is compressed.
func writeStored(out *Output, stored []byte, plain int, maxKeySize uint64) (locator.Link, error) {
	out.Wait()
	write := out.SmallBlob
	if write == nil {
		write = out.Blob
	}
	at, err := anchor.WriteBlob(stored, maxKeySize, write)
	return locator.Link{Length: uint64(plain), Locator: locator.At(uint64(at), uint64(len(stored)))}, err
}
