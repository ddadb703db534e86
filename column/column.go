package column

import (
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/bits"
)

// Tagged is an element of a Switch column: the alternative that an item of a variant
// holds, and the place of its value.
type Tagged struct {
	Index uint64 // of the item in the alternative, counted from the start of the cluster
	Tag   uint32 // number of the alternative, from 1; 0 means that the variant has no value
}

// Element lists the Go types of elements in memory.
type Element interface {
	bool | int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64 | Tagged
}

// A Format says how the pages of a column are encoded.
type Format struct {
	Type     Type
	Bits     uint16  // on storage, per element
	Min, Max float64 // inclusive range of the values of a Real32Quant column

	// PreRelease says that the pages are encoded as ROOT did before format 1:
	// signed integers without zigzag, and an element of a Switch in 64 bits, 44
	// for the index and 20 for the tag.
	PreRelease bool
}

// Check returns an error that wraps frame.ErrUnsupported if the type is not
// known or has another width than the table says, and one that wraps
// frame.ErrCorrupt if the range of a quantized column is impossible.
func (f Format) Check() error {
	if !f.Type.Known() {
		return frame.Unsupported("column type %#02x of %d bits", uint16(f.Type), f.Bits)
	}
	row := types[f.Type]
	if f.PreRelease && f.Type == Switch {
		row.minBits, row.maxBits = 64, 64
	}
	if f.Bits < row.minBits || f.Bits > row.maxBits {
		return frame.Unsupported("column type %v of %d bits", f.Type, f.Bits)
	}
	if f.Type == Real32Quant && !(f.Min < f.Max && !math.IsInf(f.Max-f.Min, 0)) {
		return frame.Corrupt("column type %v with the range [%g, %g]", f.Type, f.Min, f.Max)
	}
	return nil
}

// Kind returns the kind of the Go type that the elements have in memory:
// reflect.Struct for Tagged.
func (f Format) Kind() reflect.Kind { return f.Type.Kind() }

// PageSize returns the length in bytes of a page of n elements, uncompressed.
func (f Format) PageSize(n uint32) int64 { return (int64(n)*int64(f.Bits) + 7) / 8 }

// String returns the name of the type, followed by the bits if the type does not
// determine them, as in "Real32Trunc(16)", and by the range if there is one, as in
// "Real32Quant(8)[-1,1]".
func (f Format) String() string {
	s := f.Type.String()
	if !f.Type.Known() || types[f.Type].minBits != types[f.Type].maxBits {
		s += fmt.Sprintf("(%d)", f.Bits)
	}
	if f.Type == Real32Quant {
		s += fmt.Sprintf("[%g,%g]", f.Min, f.Max)
	}
	return s
}

// ErrRange is wrapped by errors about values that their destination cannot hold.
var ErrRange = errors.New("value out of range")

// pageLength returns an error if page does not have the length of n elements.
func (f Format) pageLength(page []byte, n int) error {
	if want := f.PageSize(uint32(n)); int64(len(page)) != want {
		return frame.Corrupt("page of %d bytes, expected %d for %d elements of %v", len(page), want, n, f)
	}
	return nil
}

// decode decodes a page of n elements. dst is memory for them, in the Go type of
// f's kind.
func decode(f Format, dst []byte, n int, page []byte) error {
	if err := f.pageLength(page, n); err != nil {
		return err
	}
	switch kind := f.Kind(); {
	case kind == reflect.Bool:
		bits.UnpackBools(bits.View[bool](dst), page)
	case kind == reflect.Struct:
		decodeTags(f, bits.View[Tagged](dst), page)
	case kind == reflect.Float32:
		decodeFloat32(f, bits.View[uint32](dst), page)
	case f.Type == Real32Quant:
		dequantize(f, bits.View[float64](dst), page)
	case f.Bits == 8:
		copy(dst, page)
	case f.Bits == 16:
		decodeWords(f, bits.View[uint16](dst), page)
	case f.Bits == 32:
		decodeWords(f, bits.View[uint32](dst), page)
	default:
		decodeWords(f, bits.View[uint64](dst), page)
	}
	return nil
}

// oldIndexBits is the width of the index in a Switch of a pre-release format.
const oldIndexBits = 44

func decodeTags(f Format, dst []Tagged, page []byte) {
	for i := range dst {
		if f.PreRelease {
			word := le.Uint64(page[8*i:])
			dst[i] = Tagged{word & (1<<oldIndexBits - 1), uint32(word >> oldIndexBits)}
			continue
		}
		dst[i] = Tagged{le.Uint64(page[12*i:]), le.Uint32(page[12*i+8:])}
	}
}

func decodeWords[W bits.Word](f Format, dst []W, page []byte) {
	switch encoding := types[f.Type].encoding; {
	case encoding == plain:
		bits.Load(dst, page)
	case encoding == splitZigzag && !f.PreRelease:
		bits.UnsplitZigzag(dst, page)
	case encoding == splitDelta:
		bits.UnsplitDelta(dst, page)
	default:
		bits.Unsplit(dst, page)
	}
}

// encode appends a page of n elements to dst. src is their memory, in the Go type of
// f's kind.
func encode(f Format, dst, src []byte, n int) ([]byte, error) {
	if f.PreRelease {
		return dst, fmt.Errorf("pages of pre-release formats are not written")
	}
	dst, page := grow(dst, int(f.PageSize(uint32(n))))
	switch kind := f.Kind(); {
	case kind == reflect.Bool:
		bits.PackBools(page, bits.View[bool](src))
	case kind == reflect.Struct:
		for i, v := range bits.View[Tagged](src) {
			le.PutUint64(page[12*i:], v.Index)
			le.PutUint32(page[12*i+8:], v.Tag)
		}
	case kind == reflect.Float32:
		encodeFloat32(f, page, bits.View[uint32](src))
	case f.Type == Real32Quant:
		return dst, quantize(f, page, bits.View[float64](src))
	case f.Bits == 8:
		copy(page, src)
	case f.Bits == 16:
		encodeWords(f, page, bits.View[uint16](src))
	case f.Bits == 32:
		encodeWords(f, page, bits.View[uint32](src))
	default:
		encodeWords(f, page, bits.View[uint64](src))
	}
	return dst, nil
}

func encodeWords[W bits.Word](f Format, page []byte, src []W) {
	switch types[f.Type].encoding {
	case plain:
		bits.Store(page, src)
	case split:
		bits.Split(page, src)
	case splitZigzag:
		bits.SplitZigzag(page, src)
	case splitDelta:
		bits.SplitDelta(page, src)
	}
}

// grow appends n bytes to b and returns the whole and the new part.
func grow(b []byte, n int) (all, part []byte) {
	l := len(b)
	if cap(b)-l < n {
		b = append(b, make([]byte, n)...)
	}
	b = b[:l+n]
	return b, b[l:]
}
