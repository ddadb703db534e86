package bits

import "math/bits"

// Float32s stores Float32 of the words of src, as many as dst has.
func Float32s(dst []uint32, src []uint16) {
	src = head(src, len(dst))
	done := float32Blocks(dst, src)
	float32sRest(dst[done:], src[done:])
}

// Float16s stores Float16 of each word of src in dst, which has the same length.
func Float16s(dst []uint16, src []uint32) {
	dst = head(dst, len(src))
	done := float16Blocks(dst, src)
	float16sRest(dst[done:], src[done:])
}

func float32sRest(dst []uint32, src []uint16) {
	for i, h := range src {
		if exp := h & 0x7c00; exp-1 < 0x7c00-1 { // a normal number
			dst[i] = uint32(h&0x8000)<<16 | uint32(h&0x7fff)<<13 + 112<<23
		} else {
			dst[i] = Float32(h)
		}
	}
}

func float16sRest(dst []uint16, src []uint32) {
	const least, above = 113 << 23, 143<<23 - 1<<12 // normal, and not rounded to infinity
	for i, f := range src {
		if a := f & 0x7fffffff; a-least < above-least {
			a += 1<<12 - 1 + a>>13&1 - 112<<23 // rounds ties to even
			dst[i] = uint16(f>>16&0x8000 | a>>13)
		} else {
			dst[i] = Float16(f)
		}
	}
}

// Float32 returns the bits of the float32 that equals the IEEE-754 binary16 h.
// It keeps the payload of a NaN.
func Float32(h uint16) uint32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch {
	case exp == 0x1f:
		return sign | 0xff<<23 | frac<<13
	case exp != 0:
		return sign | (exp+112)<<23 | frac<<13
	case frac == 0:
		return sign
	}
	// A subnormal binary16 is a normal float32: frac*2^-24.
	shift := uint32(bits.LeadingZeros32(frac)) - 21 // moves the leading one to bit 10
	return sign | (113-shift)<<23 | frac<<shift&0x3ff<<13
}

// Float16 returns the binary16 nearest to the float32 with bits f, ties to the
// even one; too large values become infinite. It keeps the upper payload bits
// of a NaN, and keeps it a NaN.
func Float16(f uint32) uint16 {
	sign, exp, frac := uint16(f>>16&0x8000), int(f>>23&0xff)-112, f&0x7fffff
	switch {
	case exp == 143: // infinity or NaN
		if frac != 0 && frac>>13 == 0 {
			frac = 1 << 13
		}
		return sign | 0x7c00 | uint16(frac>>13)
	case exp >= 0x1f:
		return sign | 0x7c00
	case exp <= -11:
		return sign
	}
	drop := 13 // bits of frac that binary16 has no place for
	if exp <= 0 {
		frac |= 1 << 23
		drop, exp = 14-exp, 0
	}
	h := uint32(exp)<<10 + frac>>drop
	half, rest := uint32(1)<<(drop-1), frac&(1<<drop-1)
	if rest > half || rest == half && h&1 != 0 {
		h++ // may carry into the exponent, up to infinity: both are right
	}
	return sign | uint16(h)
}
