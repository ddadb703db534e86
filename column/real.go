package column

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/go-rntuple/go-rntuple/internal/bits"
)

// The floating-point types of less than 32 bits. The specification leaves their
// arithmetic open; it is here as ROOT does it (RColumnElement).

var le = binary.LittleEndian

func decodeFloat32(f Format, dst []uint32, page []byte) {
	switch f.Type {
	case Real16, SplitReal16:
		half := make([]uint16, len(dst))
		decodeWords(f, half, page)
		for i, h := range half {
			dst[i] = bits.Float32(h)
		}
	case Real32Trunc:
		bits.Unpack(dst, page, int(f.Bits))
		for i := range dst {
			dst[i] <<= 32 - f.Bits
		}
	default:
		decodeWords(f, dst, page)
	}
}

func encodeFloat32(f Format, page []byte, src []uint32) {
	switch f.Type {
	case Real16, SplitReal16:
		half := make([]uint16, len(src))
		for i, w := range src {
			half[i] = bits.Float16(w)
		}
		encodeWords(f, page, half)
	case Real32Trunc:
		top := make([]uint32, len(src))
		for i, w := range src {
			top[i] = w >> (32 - f.Bits)
		}
		bits.Pack(page, top, int(f.Bits))
	default:
		encodeWords(f, page, src)
	}
}

// quantum returns the distance of neighbouring values, as ROOT computes it.
func (f Format) quantum() float64 {
	return (f.Max - f.Min) / float64(uint64(1)<<f.Bits-1)
}

func dequantize(f Format, dst []float64, page []byte) {
	q := make([]uint32, len(dst))
	bits.Unpack(q, page, int(f.Bits))
	quantum := f.quantum()
	for i, w := range q {
		// The conversion keeps the product from being fused with the sum.
		dst[i] = min(float64(float64(w)*quantum)+f.Min, f.Max)
	}
}

func quantize(f Format, page []byte, src []float64) error {
	q := make([]uint32, len(src))
	scale := float64(uint64(1)<<f.Bits-1) / (f.Max - f.Min)
	for i, v := range src {
		if !(f.Min <= v && v <= f.Max) {
			return fmt.Errorf("element %d: %w: %g lies outside of [%g, %g]", i, ErrRange, v, f.Min, f.Max)
		}
		q[i] = uint32(math.Min(0.5+float64((v-f.Min)*scale), math.MaxUint32))
	}
	bits.Pack(page, q, int(f.Bits))
	return nil
}
