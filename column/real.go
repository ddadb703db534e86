package column

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/go-rntuple/go-rntuple/internal/bits"
)

// This file has the floating-point types of less than 32 bits. The specification does
// not define their arithmetic; this is ROOT's (RColumnElement).

var le = binary.LittleEndian

func decodeFloat32(f Format, dst []uint32, page []byte) {
	switch f.Type {
	case Real16, SplitReal16:
		half := make([]uint16, len(dst))
		decodeWords(f, half, page)
		bits.Float32s(dst, half)
	case Real32Trunc:
		bits.UnpackTop(dst, page, int(f.Bits))
	default:
		decodeWords(f, dst, page)
	}
}

func encodeFloat32(f Format, page []byte, src []uint32) {
	switch f.Type {
	case Real16, SplitReal16:
		half := make([]uint16, len(src))
		bits.Float16s(half, src)
		encodeWords(f, page, half)
	case Real32Trunc:
		bits.PackTop(page, src, int(f.Bits))
	default:
		encodeWords(f, page, src)
	}
}

// quantum returns the distance between neighbouring values, as ROOT computes it.
func (f Format) quantum() float64 {
	return (f.Max - f.Min) / float64(uint64(1)<<f.Bits-1)
}

// chunk is the number of values that are quantized at a time. It fills whole bytes.
const chunk = 1024

func dequantize(f Format, dst []float64, page []byte) {
	var q [chunk]uint32
	quantum, least, most := f.quantum(), f.Min, f.Max
	for len(dst) > 0 {
		n := min(chunk, len(dst))
		bits.Unpack(q[:n], page, int(f.Bits))
		for i, w := range q[:n] {
			// The conversion keeps the product from being fused with the sum.
			v := float64(float64(w)*quantum) + least
			if v > most {
				v = most
			}
			dst[i] = v
		}
		dst, page = dst[n:], page[f.PageSize(uint32(n)):]
	}
}

func quantize(f Format, page []byte, src []float64) error {
	var q [chunk]uint32
	scale := float64(uint64(1)<<f.Bits-1) / (f.Max - f.Min)
	least, most := f.Min, f.Max
	for done := 0; done < len(src); {
		n := min(chunk, len(src)-done)
		for i, v := range src[done:][:n] {
			if !(least <= v && v <= most) {
				return fmt.Errorf("element %d: %w: %g lies outside of [%g, %g]", done+i, ErrRange, v, least, most)
			}
			q[i] = uint32(min(0.5+float64((v-least)*scale), math.MaxUint32))
		}
		bits.Pack(page, q[:n], int(f.Bits))
		done, page = done+n, page[f.PageSize(uint32(n)):]
	}
	return nil
}
