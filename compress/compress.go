package compress

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/frame"
)

const (
	headerSize = 9        // magic (2), method (1), compressed and uncompressed size (3 each, little-endian)
	maxBlock   = 0xFFFFFF // uncompressed bytes of one block: the largest number of 3 bytes
	minInput   = 11       // ROOT compresses nothing shorter
)

// A codec is one algorithm. decode fills dst exactly from all of src; encode
// appends src compressed at a level of 1 to 9. Both are safe for concurrent use.
type codec struct {
	algorithm    Algorithm
	name         string
	magic        [2]byte
	method       byte
	defaultLevel int // ROOT's, for this algorithm
	// maxRatio is an upper bound of uncompressed bytes per compressed byte,
	// derived in the algorithm's file.
	maxRatio int64
	decode   func(dst, src []byte) error
	encode   func(dst, src []byte, level int) ([]byte, error)
}

// codecs holds all algorithms in the order of their numbers, from 1.
var codecs = [...]codec{
	{Zlib, "zlib", [2]byte{'Z', 'L'}, 8, 1, deflateMaxRatio, decodeZlib, encodeZlib},
	{LZMA, "lzma", [2]byte{'X', 'Z'}, 0, 7, lzmaMaxRatio, decodeXZ, encodeXZ},
	{OldDeflate, "deflate", [2]byte{'C', 'S'}, 8, 1, deflateMaxRatio, decodeDeflate, encodeDeflate},
	{LZ4, "lz4", [2]byte{'L', '4'}, 1, 4, lz4MaxRatio, decodeLZ4, encodeLZ4},
	{Zstd, "zstd", [2]byte{'Z', 'S'}, 1, 5, zstdMaxRatio, decodeZstd, encodeZstd},
}

// codec returns the row of a, or nil.
func (a Algorithm) codec() *codec {
	if a == Inherit || int(a) > len(codecs) {
		return nil
	}
	return &codecs[a-1]
}

// A block is one block of a buffer.
type block struct {
	codec *codec
	usize int    // uncompressed size
	data  []byte // without the header
}

// next splits the first block off src. left limits its uncompressed size.
func next(src []byte, left int64) (b block, rest []byte, err error) {
	if len(src) < headerSize {
		return b, nil, frame.Corrupt("block header needs %d bytes, have %d", headerSize, len(src))
	}
	magic, method, data := [2]byte(src), src[2], src[headerSize:]
	for i := range codecs {
		if codecs[i].magic == magic && codecs[i].method == method {
			b.codec = &codecs[i]
		}
	}
	if b.codec == nil {
		return b, nil, frame.Unsupported("compression algorithm %q, method %d", src[:2], method)
	}
	csize := uint24(src[3:])
	b.usize = uint24(src[6:])
	switch {
	case csize > len(data):
		return b, nil, frame.Corrupt("%s block of %d bytes, %d left", b.codec.name, csize, len(data))
	case b.usize == 0:
		return b, nil, frame.Corrupt("%s block of no data", b.codec.name)
	case int64(b.usize) > left:
		return b, nil, frame.Corrupt("%s block decompresses to %d bytes, expected at most %d", b.codec.name, b.usize, left)
	case int64(b.usize) > int64(csize)*b.codec.maxRatio:
		return b, nil, frame.Corrupt("%d bytes cannot be %d bytes of %s", b.usize, csize, b.codec.name)
	}
	b.data = data[:csize:csize]
	return b, data[csize:], nil
}

// walk calls visit for each block of src in order; at is the position of the
// block in the uncompressed data. The blocks must have n uncompressed bytes in
// all.
func walk(src []byte, n int64, visit func(b block, at int64) error) error {
	if int64(len(src)) > n {
		// In this case writers store the data as they are; ROOT aborts here.
		return blockError(0, 0, frame.Corrupt("%d bytes compressed, %d uncompressed", len(src), n))
	}
	rest := src
	for i, done := 0, int64(0); done < n; i++ {
		pos := len(src) - len(rest)
		b, r, err := next(rest, n-done)
		if err == nil && visit != nil {
			err = visit(b, done)
		}
		if err != nil {
			return blockError(i, pos, err)
		}
		rest, done = r, done+int64(b.usize)
		if done == n && len(rest) > 0 {
			return blockError(i, pos, frame.Corrupt("%d bytes after the last block", len(rest)))
		}
	}
	return nil
}

// blockError says in which block of the buffer the error is.
func blockError(i, pos int, err error) error {
	return &frame.FormatError{Offset: int64(pos), Path: fmt.Sprintf("block[%d]", i), Err: err}
}

// Check verifies by the block headers alone that src can decompress to n bytes:
// the uncompressed sizes must add up to n, and none may exceed what the algorithm
// can express in so many compressed bytes. Call it before allocating n bytes if n
// comes from a file that may be hostile.
//
// An error is a *frame.FormatError with the offset in src. It wraps ErrCorrupt, or
// ErrUnsupported if the algorithm is unknown.
func Check(src []byte, n int64) error {
	if int64(len(src)) == n {
		return nil
	}
	return walk(src, n, nil)
}

// Decompress fills dst from src. The length of dst must be the uncompressed
// length, and src must have no bytes left over. dst and src must not overlap.
// After an error the content of dst is undefined. Whatever src claims, decoders
// allocate no more memory than dst has; most are pooled.
//
// An error is a *frame.FormatError with the offset of the block in src. It wraps
// ErrCorrupt, ErrChecksum if the algorithm has a checksum that differs, or
// ErrUnsupported if the algorithm, or a feature of it, is unknown.
func Decompress(dst, src []byte) error {
	if len(src) == len(dst) {
		copy(dst, src)
		return nil
	}
	// Check all headers before spending time on the first block.
	n := int64(len(dst))
	if err := walk(src, n, nil); err != nil {
		return err
	}
	return walk(src, n, func(b block, at int64) error {
		return b.codec.decode(dst[at:at+int64(b.usize)], b.data)
	})
}

// Append appends src to dst, compressed with the settings s, and returns the
// extended slice. Like ROOT, it stores src as it is if the level is 0, if src has
// fewer than 11 bytes, or if any block would not get smaller: then it appends
// exactly len(src) bytes, and never more. Readers recognize this by the length,
// so s need not be stored. dst and src must not overlap.
//
// Equal input gives equal output, whatever was compressed before. The only error
// is ErrUnsupported, for an unknown algorithm.
func Append(dst, src []byte, s Settings) ([]byte, error) {
	a := s.Algorithm()
	if a == Inherit {
		a = Zlib
	}
	c := a.codec()
	if c == nil {
		return dst, frame.Unsupported("compression algorithm %d", uint32(a))
	}
	level := min(s.Level(), 9)
	if level == 0 || len(src) < minInput {
		return append(dst, src...), nil
	}
	out := dst
	for rest := src; len(rest) > 0; {
		chunk := rest[:min(len(rest), maxBlock)]
		rest = rest[len(chunk):]
		head := len(out)
		out = append(out, c.magic[0], c.magic[1], c.method, 0, 0, 0, 0, 0, 0)
		var err error
		if out, err = c.encode(out, chunk, level); err != nil {
			return dst, err
		}
		csize := len(out) - head - headerSize
		if headerSize+csize >= len(chunk) {
			return append(out[:len(dst)], src...), nil
		}
		putUint24(out[head+3:], csize)
		putUint24(out[head+6:], len(chunk))
	}
	return out, nil
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

func putUint24(b []byte, v int) { b[0], b[1], b[2] = byte(v), byte(v>>8), byte(v>>16) }
