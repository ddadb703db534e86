package column

import "github.com/go-rntuple/go-rntuple/internal/bits"

// Ranges reports whether DecodeRange can decode elements without those before them.
func (d *Decoder[T]) Ranges() bool {
	f := d.format
	switch types[f.Type].encoding {
	case plain:
		return d.convert == nil
	case split, splitZigzag:
		return d.convert == nil && f.Type != SplitReal16
	}
	return d.convert == nil && f.Type == Bit
}

// DecodeRange decodes some elements of a page of n: those from first on, as many as dst has.
// They must exist, and Ranges must report true. The error wraps frame.ErrCorrupt if the page
// does not have the length that n elements need.
func (d *Decoder[T]) DecodeRange(dst []T, page []byte, n, first int) error {
	f := d.format
	if err := f.pageLength(page, n); err != nil {
		return err
	}
	switch size := int(f.Bits / 8); {
	case types[f.Type].encoding == plain:
		return decode(f, bits.Bytes(dst), len(dst), page[first*size:][:len(dst)*size])
	case f.Type == Bit:
		unpackRange(bits.View[bool](bits.Bytes(dst)), page, first)
	case size == 2:
		unsplitRange(f, bits.View[uint16](bits.Bytes(dst)), page, n, first)
	case size == 4:
		unsplitRange(f, bits.View[uint32](bits.Bytes(dst)), page, n, first)
	default:
		unsplitRange(f, bits.View[uint64](bits.Bytes(dst)), page, n, first)
	}
	return nil
}

// unpackRange decodes bits from number first on.
func unpackRange(dst []bool, page []byte, first int) {
	for ; first%8 != 0 && len(dst) > 0; first++ {
		dst[0] = page[first/8]>>(first%8)&1 != 0
		dst = dst[1:]
	}
	bits.UnpackBools(dst, page[first/8:][:(len(dst)+7)/8])
}

// unsplitRange decodes words of a page of n, whose bytes are split into planes.
func unsplitRange[W bits.Word](f Format, dst []W, page []byte, n, first int) {
	if types[f.Type].encoding == splitZigzag && !f.PreRelease {
		bits.UnsplitRangeZigzag(dst, page, n, first)
	} else {
		bits.UnsplitRange(dst, page, n, first)
	}
}
