package compress

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/go-rntuple/go-rntuple/frame"
)

// A zstd block yields at most 128 KiB (RFC 8878, section 3.1.1.2.4). The
// smallest block that does so is an RLE_Block: 3 bytes of header and the byte.
const zstdMaxRatio = 128 << 10 / 4

// maxZstdWindow is the largest window that RFC 8878 can express (section
// 3.1.1.1.2) or, on 32-bit systems, that an int can hold. The window costs no
// memory, because the decompressed data serve as the window.
const maxZstdWindow = min(1<<41+7<<38, math.MaxInt)

var moduleZstdDecoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(0), // as many as there are processors
		zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderMaxWindow(maxZstdWindow),
		zstd.WithDecoderMaxMemory(maxZstdWindow)) // else this limits the window
	if err != nil {
		panic(err) // the options are constants
	}
	return d
})

// decodeZstdModule decodes ZS, zstd frames, with the zstd module, which writes no
// more than len(dst) bytes.
func decodeZstdModule(dst, src []byte) error {
	out, err := moduleZstdDecoder().DecodeAll(src, dst[:0:len(dst)])
	switch {
	case errors.Is(err, zstd.ErrCRCMismatch):
		return fmt.Errorf("%w: zstd: %v", frame.ErrChecksum, err)
	case errors.Is(err, zstd.ErrUnknownDictionary):
		return frame.Unsupported("zstd: %v", err)
	case err != nil:
		return frame.Corrupt("zstd: %v", err)
	case len(out) != len(dst):
		return frame.Corrupt("zstd: %d bytes, expected %d", len(out), len(dst))
	}
	copy(dst, out) // does nothing unless the module allocated memory of its own
	return nil
}
