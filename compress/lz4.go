package compress

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/pierrec/lz4/v4"

	"github.com/go-rntuple/go-rntuple/frame"
)

// A byte that continues a match length adds at most 255 bytes to it (LZ4 Block
// Format Description, "Match length").
const lz4MaxRatio = 255

// lz4Sum is the length of the checksum that precedes the LZ4 data: their XXH64
// with seed 0, big-endian. The block's compressed size includes it.
const lz4Sum = 8

// decodeLZ4 decodes L4: the checksum and one raw LZ4 block. The method byte is
// the major version of the LZ4 library.
func decodeLZ4(dst, src []byte) error {
	if len(src) <= lz4Sum {
		return frame.Corrupt("lz4 block of %d bytes", len(src))
	}
	data := src[lz4Sum:]
	if stored, sum := binary.BigEndian.Uint64(src), xxhash.Sum64(data); stored != sum {
		return frame.BadChecksum(stored, sum)
	}
	n, err := lz4.UncompressBlock(data, dst)
	if err != nil {
		return frame.Corrupt("lz4: %v", err)
	}
	if n != len(dst) {
		return frame.Corrupt("lz4: %d bytes, expected %d", n, len(dst))
	}
	return nil
}

// encodeLZ4 encodes L4. Levels up to 3 stand for a fast compressor, and higher ones for one that
// searches for longer matches, as with the LZ4 library.
func encodeLZ4(dst, src []byte, level int) ([]byte, error) {
	dst = append(dst, make([]byte, lz4Sum)...)
	begin := len(dst)
	var err error
	if level < 4 {
		dst, err = appendLZ4Fast(dst, src)
	} else {
		dst, err = appendLZ4High(dst, src, level)
	}
	binary.BigEndian.PutUint64(dst[begin-lz4Sum:], xxhash.Sum64(dst[begin:]))
	return dst, err
}

func appendLZ4Fast(dst, src []byte) ([]byte, error) {
	c := lz4Fast.Get().(*lz4.Compressor)
	defer lz4Fast.Put(c)
	return appendLZ4With(c.CompressBlock, dst, src)
}

var lz4Fast = sync.Pool{New: func() any { return new(lz4.Compressor) }}

// appendLZ4With appends a block by means of a function of the module.
func appendLZ4With(compress func(src, dst []byte) (int, error), dst, src []byte) ([]byte, error) {
	begin, room := len(dst), lz4.CompressBlockBound(len(src)) // with this much it cannot fail
	dst = slices.Grow(dst, room)
	n, err := compress(src, dst[begin:begin+room])
	return dst[:begin+n], err
}
