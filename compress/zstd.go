package compress

import "github.com/go-rntuple/go-rntuple/internal/zstd"

// A zstd block yields at most 128 KiB. The smallest that does so repeats one
// byte: 3 bytes of header and the byte.
const zstdMaxRatio = 128 << 10 / 4

// decodeZstd decodes ZS: a zstd frame.
func decodeZstd(dst, src []byte) error { return zstd.Decode(dst, src) }

// encodeZstd writes one frame with the content size and without a checksum.
//
// ROOT's level n is level 2n of the zstd library. The encoder here is made for
// pages and has three levels. This is how small and fast they are, the size and
// speed of ROOT's 505 being 1, for split doubles with the precision of floats,
// columns as in NanoAOD, and the small pages of testdata/dimuon.root:
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
