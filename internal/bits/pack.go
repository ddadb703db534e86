package bits

// UnpackBools takes len(dst) bits out of src, lowest bit first. What the last
// byte holds behind them is ignored: ROOT leaves other data there.
func UnpackBools(dst []bool, src []byte) {
	src = head(src, packedLen(len(dst), 1))
	done := blocks(len(dst) / 8)
	if done > 0 {
		unpackBoolsKernel(&dst[0], &src[0], done)
	}
	unpackBoolsRest(dst[8*done:], src[done:])
}

// PackBools is the inverse of UnpackBools; unused bits of dst become zero.
func PackBools(dst []byte, src []bool) {
	dst = head(dst, packedLen(len(src), 1))
	done := blocks(len(src) / 8)
	if done > 0 {
		packBoolsKernel(&dst[0], &src[0], done)
	}
	packBoolsRest(dst[done:], src[8*done:])
}

// packedLen returns the number of bytes of n elements of the given width in bits.
func packedLen(n, width int) int { return n/8*width + (n%8*width+7)/8 }

func unpackBoolsRest(dst []bool, src []byte) {
	const everyByte = 0x0101010101010101
	d, full := Bytes(dst), len(dst)/8
	for i, b := range src[:full] {
		bits := uint64(b) * everyByte & 0x8040201008040201 // bit k in byte k
		le.PutUint64(d[8*i:8*i+8], (bits+0x7f*everyByte)>>7&everyByte)
	}
	for i := 8 * full; i < len(d); i++ {
		d[i] = src[full] >> (i & 7) & 1
	}
}

func packBoolsRest(dst []byte, src []bool) {
	s, full := Bytes(src), len(src)/8
	for i := range dst[:full] {
		// The factor has bit 7*(8-k) for byte k, which goes from 8*k to 56+k.
		dst[i] = byte(le.Uint64(s[8*i:8*i+8]) * 0x0102040810204080 >> 56)
	}
	if full < len(dst) {
		dst[full] = 0
		for i, b := range s[8*full:] {
			dst[full] |= b << i
		}
	}
}

// Unpack takes len(dst) words of width bits (1 to 32) out of the bit stream in
// src, lowest bit first.
func Unpack(dst []uint32, src []byte, width int) { unpack(dst, src, width, 0) }

// UnpackTop is Unpack to the highest bits of the words; their other bits become
// zero.
func UnpackTop(dst []uint32, src []byte, width int) { unpack(dst, src, width, 32-width) }

// Pack is the inverse of Unpack; unused bits of dst become zero.
func Pack(dst []byte, src []uint32, width int) { pack(dst, src, width, 0) }

// PackTop is Pack of the highest bits of the words.
func PackTop(dst []byte, src []uint32, width int) { pack(dst, src, width, 32-width) }

// The loops below take 8 words at a time, which are width bytes. For every two of
// them they load or store 64 bits, into which two words of up to widestPair bits
// fit wherever they begin in a byte. All 64 bits begin in the first 32 bytes.
type eightWords = [31 + 8]byte

const widestPair = (64 - 7) / 2

// unpack shifts the words to the left after taking them.
func unpack(dst []uint32, src []byte, width, left int) {
	if width == 32 {
		Load(dst, src)
		return
	}
	src = head(src, packedLen(len(dst), width))
	done := unpackBlocks(dst, src, width, left)
	unpackRest(dst[done:], src[done/8*width:], width, left)
}

func unpackRest(dst []uint32, src []byte, width, left int) {
	mask, w, l := uint32(1)<<width-1, uint(width), uint(left)
	for ; len(dst) >= 8 && len(src) >= len(eightWords{}); dst, src = dst[8:], src[w:] {
		d, s := (*[8]uint32)(dst), (*eightWords)(src)
		if w > widestPair {
			for i := range d {
				at := uint(i) * w
				d[i] = uint32(le.Uint64(s[at>>3&31:])>>(at&7)) & mask << l
			}
			continue
		}
		x := le.Uint64(s[:])
		d[0], d[1] = uint32(x)&mask<<l, uint32(x>>w)&mask<<l
		x = le.Uint64(s[2*w>>3&31:]) >> (2 * w & 7)
		d[2], d[3] = uint32(x)&mask<<l, uint32(x>>w)&mask<<l
		x = le.Uint64(s[4*w>>3&31:]) >> (4 * w & 7)
		d[4], d[5] = uint32(x)&mask<<l, uint32(x>>w)&mask<<l
		x = le.Uint64(s[6*w>>3&31:]) >> (6 * w & 7)
		d[6], d[7] = uint32(x)&mask<<l, uint32(x>>w)&mask<<l
	}
	var rest [len(eightWords{}) + 8]byte
	copy(rest[:], src)
	for i := range dst {
		at := uint(i) * w
		dst[i] = uint32(le.Uint64(rest[at>>3:])>>(at&7)) & mask << l
	}
}

// pack shifts the words to the right before putting them.
func pack(dst []byte, src []uint32, width, right int) {
	if width == 32 {
		Store(dst, src)
		return
	}
	dst = head(dst, packedLen(len(src), width))
	mask, w, r := uint64(1)<<width-1, uint(width), uint(right)
	for ; w <= widestPair && len(src) >= 8 && len(dst) >= len(eightWords{}); dst, src = dst[w:], src[8:] {
		d, s := (*eightWords)(dst), (*[8]uint32)(src)
		pair := func(k int) uint64 { return uint64(s[2*k]>>r)&mask | uint64(s[2*k+1]>>r)&mask<<w }
		b1, b2, b3 := 2*w>>3&31, 4*w>>3&31, 6*w>>3&31
		// A store overwrites the last byte of the one before, and so repeats it.
		x := pair(0)
		le.PutUint64(d[:], x)
		x = x>>(8*b1&63) | pair(1)<<(2*w&7)
		le.PutUint64(d[b1:], x)
		x = x>>(8*(b2-b1)&63) | pair(2)<<(4*w&7)
		le.PutUint64(d[b2:], x)
		x = x>>(8*(b3-b2)&63) | pair(3)<<(6*w&7)
		le.PutUint64(d[b3:], x)
	}
	var acc uint64
	var have uint // bits in acc
	for _, word := range src {
		acc |= uint64(word>>r) & mask << have
		for have += w; have >= 8; have -= 8 {
			dst[0], dst, acc = byte(acc), dst[1:], acc>>8
		}
	}
	if have > 0 {
		dst[0] = byte(acc)
	}
}
