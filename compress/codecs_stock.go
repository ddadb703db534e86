//go:build stockcodecs

package compress

import (
	"bytes"
	"errors"
	"hash/adler32"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz/lzma"
)

// The codecs of the standard library and of modules, in place of those of
// codecs_own.go: the reference for these, and a way out for users.

func decodeZstd(dst, src []byte) error { return decodeZstdModule(dst, src) }

// zstdEncoders holds an encoder for levels 1 to 3, 4 to 6, and 7 to 9.
var zstdEncoders = [...]func() *zstd.Encoder{
	zstdEncoder(zstd.SpeedFastest), zstdEncoder(zstd.SpeedDefault), zstdEncoder(zstd.SpeedBetterCompression),
}

func zstdEncoder(level zstd.EncoderLevel) func() *zstd.Encoder {
	return sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil,
			zstd.WithEncoderLevel(level),
			zstd.WithEncoderCRC(false),
			zstd.WithSingleSegment(true))
		if err != nil {
			panic(err) // the options are constants
		}
		return e
	})
}

func encodeZstd(dst, src []byte, level int) ([]byte, error) {
	return zstdEncoders[(level-1)/3]().EncodeAll(src, dst), nil
}

var flateReaders = sync.Pool{New: func() any { return flate.NewReader(nil) }}

func inflateAll(dst, src []byte) (int, error) {
	r := flateReaders.Get().(io.ReadCloser)
	defer flateReaders.Put(r)
	in := bytes.NewReader(src)
	if err := r.(flate.Resetter).Reset(in, nil); err != nil {
		return 0, err
	}
	if _, err := io.ReadFull(r, dst); err != nil {
		return 0, err
	}
	// Only the end of the stream may follow.
	if _, err := io.ReadFull(r, make([]byte, 1)); err != io.EOF {
		return 0, errors.Join(errors.New("more bytes than expected"), err)
	}
	return len(src) - in.Len(), nil
}

// decodeLZMA2 decodes the LZMA2 stream at the front of src into dst. It returns the
// number of bytes written, and the length of the stream.
func decodeLZMA2(dst, src []byte) (n, used int, err error) {
	in := bytes.NewReader(src)
	r, err := lzma.Reader2Config{DictCap: max(lzma.MinDictCap, len(dst))}.NewReader2(in)
	for err == nil && n < len(dst) {
		var m int
		m, err = r.Read(dst[n:])
		n += m
	}
	if err == nil { // dst is full, only the end mark may follow
		if _, err = r.Read(make([]byte, 1)); err == nil {
			return n, 0, errors.New("more bytes than expected")
		}
	}
	if err != io.EOF {
		return n, 0, err
	}
	return n, len(src) - in.Len(), nil
}

func adler32Sum(data []byte) uint32 { return adler32.Checksum(data) }

// appendLZ4High compares sixteen times as many positions as the LZ4 library, to make up for its
// better choice of matches. At level 4, ROOT's default, that would take too long.
func appendLZ4High(dst, src []byte, level int) ([]byte, error) {
	if level == 4 {
		return appendLZ4Fast(dst, src)
	}
	c := lz4HC.Get().(*lz4.CompressorHC)
	defer lz4HC.Put(c)
	c.Level = 1 << (level + 3)
	return appendLZ4With(c.CompressBlock, dst, src)
}

var lz4HC = sync.Pool{New: func() any { return new(lz4.CompressorHC) }}
