package anchor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/go-rntuple/go-rntuple/frame"
)

// offsetSize is the size of the offset of a chunk. Offsets are little-endian, as is
// everything in an RNTuple except its anchor.
const offsetSize = 8

// Chunks says how the bytes of a payload are distributed over RBlob keys. A payload
// of at most the maximal key size is one chunk. Otherwise every chunk except the
// last has exactly that size, and the first one ends with the offsets of the
// others, in order:
//
//	chunk 0: data | offset of chunk 1 | offset of chunk 2 | ...
//	chunk 1: data
//	chunk 2: data
//
// Whether a page is split follows from its size and from the anchor; its locator
// does not tell.
type Chunks struct {
	size uint64 // of the payload
	max  uint64 // of a chunk
	n    uint64 // number of chunks
}

// Split returns the chunks of a payload of size bytes; the size of a page includes
// its checksum. A maxKeySize of zero means no limit. It is an error if maxKeySize
// is so small that the offsets do not fit into the first chunk.
func Split(size, maxKeySize uint64) (Chunks, error) {
	if maxKeySize == 0 || size <= maxKeySize {
		return Chunks{size: size, max: size, n: 1}, nil
	}
	n := size / maxKeySize
	tail := size % maxKeySize
	room := uint64(0) // free bytes in the last chunk, before there are offsets
	if tail > 0 {
		n++
		room = maxKeySize - tail
	}
	// Compared by division, as the product may overflow.
	if n-1 > room/offsetSize {
		n++
	}
	if n-1 > maxKeySize/offsetSize {
		return Chunks{}, frame.Corrupt("payload of %d bytes cannot be split: maximal key size %d has no room for the offsets of %d chunks", size, maxKeySize, n-1)
	}
	return Chunks{size: size, max: maxKeySize, n: n}, nil
}

// Len returns the number of chunks, at least 1. As the offsets fit into one chunk,
// it is at most of the order of the square root of the payload's size.
func (c Chunks) Len() int { return int(c.n) }

// Range returns the bytes of the payload that chunk i holds: those from lo to hi, hi
// excluded. The first chunk may hold none.
func (c Chunks) Range(i int) (lo, hi uint64) {
	first := c.max - offsetSize*(c.n-1)
	if i == 0 {
		return 0, first
	}
	lo = first + uint64(i-1)*c.max
	return lo, lo + min(c.max, c.size-lo)
}

// ReadBlob fills dst with the payload whose first chunk begins at offset. The length
// of dst must be the size of the payload; for a page that includes the checksum.
//
// The caller allocates dst and should first compare its length with the size of
// the file. Chunks beyond the end of the file give an error that wraps
// frame.ErrCorrupt; other errors of r are wrapped as they are.
func ReadBlob(r io.ReaderAt, dst []byte, offset int64, maxKeySize uint64) error {
	chunks, err := Split(uint64(len(dst)), maxKeySize)
	if err != nil {
		return &frame.FormatError{Offset: offset, Path: "blob", Err: err}
	}
	if chunks.Len() == 1 {
		return readAt(r, dst, offset)
	}
	// The whole first chunk is read into dst. Later chunks overwrite its offsets.
	if err := readAt(r, dst[:maxKeySize], offset); err != nil {
		return err
	}
	_, first := chunks.Range(0)
	offsets := append([]byte(nil), dst[first:maxKeySize]...)
	for i := 1; i < chunks.Len(); i++ {
		lo, hi := chunks.Range(i)
		next := binary.LittleEndian.Uint64(offsets[offsetSize*(i-1):])
		if next > math.MaxInt64 {
			return &frame.FormatError{
				Offset: offset + int64(first) + int64(offsetSize*(i-1)),
				Path:   fmt.Sprintf("blob.offset of chunk %d", i),
				Err:    frame.Corrupt("%#x is no file offset", next),
			}
		}
		if err := readAt(r, dst[lo:hi], int64(next)); err != nil {
			return fmt.Errorf("chunk %d of blob at offset %#x: %w", i, offset, err)
		}
	}
	return nil
}

// WriteBlob passes payload to write, chunk by chunk, and returns the offset of the
// first chunk, which is the offset for locators and the anchor. The first chunk is
// written last, as it points to the others. write must store the concatenation of
// parts as one key and return the offset of the key's payload.
func WriteBlob(payload []byte, maxKeySize uint64,
	write func(parts ...[]byte) (offset int64, err error)) (int64, error) {
	chunks, err := Split(uint64(len(payload)), maxKeySize)
	if err != nil {
		return 0, err
	}
	var offsets []byte
	for i := 1; i < chunks.Len(); i++ {
		lo, hi := chunks.Range(i)
		offset, err := write(payload[lo:hi])
		if err != nil {
			return 0, err
		}
		offsets = binary.LittleEndian.AppendUint64(offsets, uint64(offset))
	}
	_, first := chunks.Range(0)
	if offsets == nil {
		return write(payload)
	}
	return write(payload[:first], offsets)
}

// readAt fills b from r.
func readAt(r io.ReaderAt, b []byte, offset int64) error {
	if offset < 0 || offset > math.MaxInt64-int64(len(b)) {
		return &frame.FormatError{Offset: offset, Path: "blob",
			Err: frame.Corrupt("%d bytes at %#x are in no file", len(b), uint64(offset))}
	}
	switch n, err := r.ReadAt(b, offset); {
	case n == len(b): // an io.EOF that comes with the last bytes is no error
		return nil
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &frame.FormatError{Offset: offset, Path: "blob",
			Err: frame.Corrupt("file ends after %d of %d bytes", n, len(b))}
	default:
		return fmt.Errorf("read %d bytes at offset %#x: %w", len(b), offset, err)
	}
}
