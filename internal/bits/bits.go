// Package bits holds the loops that turn the bytes of a page into elements and
// back: plain little-endian words, the split, zigzag and delta encodings, and
// bit packing. They are generic over the width of an element, keep no state and
// are safe for concurrent use.
//
// Callers make sure that a page has the bytes that its elements need; a page
// that is too short panics with an index out of range.
//
// Source: specification, section "Column Description".
package bits

import "math/bits"

// Word is an element without its meaning: as many bits as its type says.
type Word interface {
	uint8 | uint16 | uint32 | uint64
}

// Unsplit joins the words whose bytes src holds plane by plane: all lowest
// bytes first.
func Unsplit[W Word](dst []W, src []byte) {
	switch d := any(dst).(type) {
	case []uint8:
		copy(d, src[:len(d)])
	case []uint16:
		unsplit16(d, src)
	case []uint32:
		unsplit32(d, src)
	case []uint64:
		unsplit64(d, src)
	}
}

func unsplit16(dst []uint16, src []byte) {
	n := len(dst)
	p0, p1 := src[:n], src[n:][:n]
	for i := range dst {
		dst[i] = uint16(p0[i]) | uint16(p1[i])<<8
	}
}

func unsplit32(dst []uint32, src []byte) {
	n := len(dst)
	p0, p1, p2, p3 := src[:n], src[n:][:n], src[2*n:][:n], src[3*n:][:n]
	for i := range dst {
		dst[i] = uint32(p0[i]) | uint32(p1[i])<<8 | uint32(p2[i])<<16 | uint32(p3[i])<<24
	}
}

func unsplit64(dst []uint64, src []byte) {
	n := len(dst)
	p0, p1, p2, p3 := src[:n], src[n:][:n], src[2*n:][:n], src[3*n:][:n]
	p4, p5, p6, p7 := src[4*n:][:n], src[5*n:][:n], src[6*n:][:n], src[7*n:][:n]
	for i := range dst {
		lo := uint64(p0[i]) | uint64(p1[i])<<8 | uint64(p2[i])<<16 | uint64(p3[i])<<24
		hi := uint64(p4[i]) | uint64(p5[i])<<8 | uint64(p6[i])<<16 | uint64(p7[i])<<24
		dst[i] = lo | hi<<32
	}
}

// Split is the inverse of Unsplit; dst is as long as src in bytes.
func Split[W Word](dst []byte, src []W) {
	n, shift := len(src), 0
	for len(dst) > 0 {
		for i, w := range src {
			dst[i] = byte(w >> shift)
		}
		dst, shift = dst[n:], shift+8
	}
}

// UnZigzag replaces 0, 1, 2, 3, … by 0, -1, 1, -2, …
func UnZigzag[W Word](s []W) {
	for i, w := range s {
		s[i] = w>>1 ^ -(w & 1)
	}
}

// Zigzag is the inverse of UnZigzag.
func Zigzag[W Word](s []W) {
	top := 8*sizeof[W]() - 1
	for i, w := range s {
		s[i] = w<<1 ^ -(w >> top)
	}
}

// UnDelta replaces every word but the first by its sum with all before it.
func UnDelta[W Word](s []W) {
	var sum W
	for i, w := range s {
		sum += w
		s[i] = sum
	}
}

// Delta is the inverse of UnDelta.
func Delta[W Word](s []W) {
	var last W
	for i, w := range s {
		s[i], last = w-last, w
	}
}

// UnpackBools takes len(dst) bits out of src, lowest bit first. What the last
// byte holds behind them is ignored: ROOT leaves other data there.
func UnpackBools(dst []bool, src []byte) {
	for i := range dst {
		dst[i] = src[i>>3]>>(i&7)&1 != 0
	}
}

// PackBools is the inverse of UnpackBools; unused bits of dst become zero.
func PackBools(dst []byte, src []bool) {
	clear(dst)
	for i, b := range src {
		if b {
			dst[i>>3] |= 1 << (i & 7)
		}
	}
}

// Unpack takes len(dst) words of width bits (1 to 32) out of the bit stream in
// src, lowest bit first.
func Unpack(dst []uint32, src []byte, width int) {
	mask := uint64(1)<<width - 1
	var acc uint64
	var have int
	for i := range dst {
		for have < width {
			acc |= uint64(src[0]) << have
			src, have = src[1:], have+8
		}
		dst[i] = uint32(acc & mask)
		acc, have = acc>>width, have-width
	}
}

// Pack is the inverse of Unpack; unused bits of dst become zero.
func Pack(dst []byte, src []uint32, width int) {
	mask := uint64(1)<<width - 1
	var acc uint64
	var have int
	for _, w := range src {
		acc |= uint64(w) & mask << have
		for have += width; have >= 8; have -= 8 {
			dst[0], dst, acc = byte(acc), dst[1:], acc>>8
		}
	}
	if have > 0 {
		dst[0] = byte(acc)
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
