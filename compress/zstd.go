package compress

import (
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/go-rntuple/go-rntuple/internal/wire"
)

// A zstd block yields at most 128 KiB. The smallest that does so repeats one
// byte: 3 bytes of header and the byte.
const zstdMaxRatio = 128 << 10 / 4

// zstdDecoder is shared: DecodeAll is safe for concurrent use. It writes into
// the slice it is given and stops at its capacity, so that neither a content
// size nor a window in the frame header makes it allocate; the window is
// therefore not limited further.
var zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(0), // as many as GOMAXPROCS
		zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderLowmem(true))
	if err != nil {
		panic(err) // the options are constant
	}
	return d
})

// decodeZstd decodes ZS: a zstd frame.
func decodeZstd(dst, src []byte) error {
	out, err := zstdDecoder().DecodeAll(src, dst[:0:len(dst)])
	switch {
	case errors.Is(err, zstd.ErrCRCMismatch):
		return fmt.Errorf("%w: zstd frame", wire.ErrChecksum)
	case errors.Is(err, zstd.ErrUnknownDictionary), errors.Is(err, zstd.ErrWindowSizeExceeded):
		return wire.Unsupported("zstd: %v", err)
	case err != nil:
		return wire.Corrupt("zstd: %v", err)
	case len(out) != len(dst):
		return wire.Corrupt("zstd: %d bytes, expected %d", len(out), len(dst))
	case &out[0] != &dst[0]:
		copy(dst, out) // the decoder moved to a larger buffer on its way
	}
	return nil
}

// zstdEncoders has the encoders by their own level. Those for short input have a smaller
// window, which saves most of the memory and does not change what they write:
// the window is never shorter than the input. 1 MiB is the usual largest page.
var zstdEncoders [zstd.SpeedBestCompression + 1]struct{ short, long sync.Pool }

const (
	zstdShort = 1 << 20
	zstdLong  = 8 << 20
)

// encodeZstd writes one frame with the content size and without a checksum.
// ROOT's level n is zstd's 2n; the encoder has fewer levels and takes the
// closest one.
func encodeZstd(dst, src []byte, level int) ([]byte, error) {
	speed := zstd.EncoderLevelFromZstd(2 * level)
	pool, window := &zstdEncoders[speed].short, zstdShort
	if len(src) > zstdShort {
		pool, window = &zstdEncoders[speed].long, zstdLong
	}
	e, _ := pool.Get().(*zstd.Encoder)
	if e == nil {
		var err error
		e, err = zstd.NewWriter(nil,
			zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderLevel(speed),
			zstd.WithWindowSize(window),
			zstd.WithEncoderCRC(false),
			zstd.WithSingleSegment(true)) // else frames of less than 256 bytes have no content size
		if err != nil {
			return dst, err
		}
	}
	defer pool.Put(e)
	return e.EncodeAll(src, dst), nil
}
