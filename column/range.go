package column

import (
	"reflect"

	"github.com/go-rntuple/go-rntuple/internal/bits"
)

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
	encoding, size := types[f.Type].encoding, int(f.Bits/8)
	zigzag := encoding == splitZigzag && !f.PreRelease
	switch {
	case encoding == plain:
		return decode(f, bits.Bytes(dst), len(dst), page[first*size:][:len(dst)*size])
	case f.Type.Kind() == reflect.Bool:
		for i, all := 0, bits.View[bool](bits.Bytes(dst)); i < len(all); i++ {
			at := first + i
			all[i] = page[at/8]>>(at%8)&1 != 0
		}
	case size == 2:
		unsplitRange(bits.View[uint16](bits.Bytes(dst)), page, n, first, zigzag)
	case size == 4:
		unsplitRange(bits.View[uint32](bits.Bytes(dst)), page, n, first, zigzag)
	default:
		unsplitRange(bits.View[uint64](bits.Bytes(dst)), page, n, first, zigzag)
	}
	return nil
}

// unsplitRange decodes words of a page of n, whose bytes are split into planes.
func unsplitRange[W uint16 | uint32 | uint64](dst []W, page []byte, n, first int, zigzag bool) {
	clear(dst)
	for at, shift := first, 0; at < len(page); at, shift = at+n, shift+8 {
		for i, b := range page[at:][:len(dst)] {
			dst[i] |= W(b) << shift
		}
	}
	if zigzag {
		for i, w := range dst {
			dst[i] = w>>1 ^ -(w & 1)
		}
	}
}
