package compress

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/pierrec/lz4/v4"

	"github.com/go-rntuple/go-rntuple/internal/lz4enc"
	"github.com/go-rntuple/go-rntuple/internal/wire"
)

// A byte of LZ4 that continues a match length adds at most 255 bytes.
const lz4MaxRatio = 255

// lz4Sum is the length of the checksum: XXH64 with seed 0 of the LZ4 data,
// big-endian, in front of them and counted in the block's compressed size.
const lz4Sum = 8

// decodeLZ4 decodes L4: the checksum and one raw LZ4 block. The method byte is
// the major version of the LZ4 library.
func decodeLZ4(dst, src []byte) error {
	if len(src) <= lz4Sum {
		return wire.Corrupt("lz4 block of %d bytes", len(src))
	}
	data := src[lz4Sum:]
	if stored, sum := binary.BigEndian.Uint64(src), xxhash.Sum64(data); stored != sum {
		return wire.Mismatch(stored, sum)
	}
	n, err := lz4.UncompressBlock(data, dst)
	if err != nil {
		return wire.Corrupt("lz4: %v", err)
	}
	if n != len(dst) {
		return wire.Corrupt("lz4: %d bytes, expected %d", n, len(dst))
	}
	return nil
}

var lz4Fast = sync.Pool{New: func() any { return new(lz4.Compressor) }}

// encodeLZ4 uses the fast compressor up to level 4, ROOT's default, which has the
// LZ4 library search longer: pages are 5 to 16 % larger here, and written 5 to 11
// times as fast. From level 5 on the effort doubles with each level, as it does in
// the LZ4 library, and sizes are within 2 % of ROOT's.
func encodeLZ4(dst, src []byte, level int) ([]byte, error) {
	begin := len(dst) + lz4Sum
	room := lz4.CompressBlockBound(len(src)) // with this much the compressor cannot fail
	dst = slices.Grow(dst, lz4Sum+room)
	var err error
	if level < 5 {
		c := lz4Fast.Get().(*lz4.Compressor)
		var n int
		n, err = c.CompressBlock(src, dst[begin:begin+room])
		lz4Fast.Put(c)
		dst = dst[:begin+n]
	} else {
		dst = lz4enc.Append(dst[:begin], src, 1<<(level-1))
	}
	binary.BigEndian.PutUint64(dst[begin-lz4Sum:], xxhash.Sum64(dst[begin:]))
	return dst, err
}
