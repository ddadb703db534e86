//go:build !stockcodecs

package compress

import (
	"errors"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/codec/inflate"
	"github.com/go-rntuple/go-rntuple/internal/codec/lz4"
	"github.com/go-rntuple/go-rntuple/internal/codec/lzma"
	"github.com/go-rntuple/go-rntuple/internal/codec/zstd"
)

// The codecs made for pages. codecs_stock.go has the same functions by means of
// the standard library and of modules; docs/notes/performance.md compares the two.

// decodeZstd decodes ZS: zstd frames. A frame that package internal/codec/zstd takes
// for corrupt is corrupt only if the zstd module agrees.
func decodeZstd(dst, src []byte) error {
	err := zstd.Decode(dst, src)
	if errors.Is(err, frame.ErrCorrupt) {
		err = decodeZstdModule(dst, src)
	}
	return err
}

// encodeZstd writes one frame with the content size and without a checksum.
//
// ROOT's level n is level 2n of the zstd library. The encoder here is made for
// pages and has three levels. These are its sizes and speeds relative to ROOT's
// at 505, for split doubles with the precision of floats, columns like those of
// NanoAOD, and the small pages of testdata/dimuon.root:
//
//	     ROOT                                 here
//	     doubles     NanoAOD     dimuon       doubles     NanoAOD     dimuon
//	501  0.997 x6    1.002 x8    1.029 x8     0.981 x9    0.947 x13   0.889 x6
//	503  1.002 x2    1.003 x2    1.002 x2     as 501
//	505  1           1           1            0.981 x9    0.947 x13   0.887 x5
//	507  0.999 x0.2  0.998 x0.2  0.958 x0.2   0.981 x7    0.947 x10   0.886 x3
//	509  0.980 x0.1  0.976 x0.1  0.956 x0.1   as 507
func encodeZstd(dst, src []byte, level int) ([]byte, error) {
	return zstd.Encode(dst, src, level), nil
}

// appendLZ4High appends one LZ4 block.
//
// These are its sizes relative to those of the LZ4 library 1.9.4 at the same level, for split
// doubles with the precision of floats, columns like those of NanoAOD, records with strings, and
// sources of Go:
//
//	     doubles  NanoAOD  strings  text
//	404  0.999    0.984    1.012    1.045
//	405  1.000    0.999    1.005    1.045
//	406  1.000    1.008    1.007    1.050
//	409  1.005    1.031    1.018    1.055
func appendLZ4High(dst, src []byte, level int) ([]byte, error) {
	return lz4.Append(dst, src, level), nil
}

// inflateAll fills dst exactly from the DEFLATE stream at the front of src and
// returns the length of the stream.
func inflateAll(dst, src []byte) (int, error) { return inflate.Decode(dst, src) }

// decodeLZMA2 decodes the LZMA2 stream at the front of src into dst. It returns the
// number of bytes written, and the length of the stream.
func decodeLZMA2(dst, src []byte) (n, used int, err error) { return lzma.Decode(dst, src) }

// adler32Sum returns the checksum of a zlib stream (RFC 1950, section 2.2).
func adler32Sum(data []byte) uint32 { return inflate.Adler32(data) }
