//go:build !purego

package bits

import "unsafe"

var hasAVX2 = detectAVX2()

// detectAVX2 asks the processor for AVX2, and whether the operating system saves
// the registers.
func detectAVX2() bool {
	const osxsave, avx, xmmAndYmm, avx2 = 1 << 27, 1 << 28, 1<<1 | 1<<2, 1 << 5
	if most, _, _, _ := cpuid(0, 0); most < 7 {
		return false
	}
	if _, _, c, _ := cpuid(1, 0); c&osxsave == 0 || c&avx == 0 || xgetbv()&xmmAndYmm != xmmAndYmm {
		return false
	}
	_, b, _, _ := cpuid(7, 0)
	return b&avx2 != 0
}

// block is how many bytes of a plane the kernels of AVX2 take at a time; those of
// SSE2 take half of it.
const block = 32

func unsplitKernel(dst unsafe.Pointer, src *byte, stride, n, size int, f filter) {
	if hasAVX2 {
		unsplitAVX2(dst, src, stride, n, size, f)
	} else {
		unsplitSSE2(dst, src, stride, n, size, f)
	}
}

func splitKernel(dst *byte, src unsafe.Pointer, stride, n, size int, f filter) {
	if hasAVX2 {
		splitAVX2(dst, src, stride, n, size, f)
	} else {
		splitSSE2(dst, src, stride, n, size, f)
	}
}

func unpackBoolsKernel(dst *bool, src *byte, n int) {
	if hasAVX2 {
		unpackBoolsAVX2(dst, src, n)
	} else {
		unpackBoolsSSE2(dst, src, n)
	}
}

func packBoolsKernel(dst *byte, src *bool, n int) { packBoolsSSE2(dst, src, n) }

// unpackBlocks unpacks words of up to 25 bits, which lie in 4 bytes wherever
// they begin in a byte. The number of words that it returns is a multiple of 8.
func unpackBlocks(dst []uint32, src []byte, width, left int) int {
	half := width / 2 // whole bytes before the fifth of 8 words
	last := len(src) - half - 16
	if !hasAVX2 || width > 25 || last < 0 {
		return 0
	}
	n := min(len(dst)/8, last/width+1) * 8
	if n < 64 {
		return 0 // not worth the table
	}
	var t unpackTable
	for i := range 8 {
		at := i%4*width + i/4*(4*width%8) // bit, of those loaded into a lane
		t.shift[i] = uint32(at % 8)
		for k := range 4 {
			t.bytes[4*i+k] = byte(at/8 + k)
		}
	}
	unpackAVX2(&dst[0], &src[0], n, width, left, &t)
	return n
}

// An unpackTable says where 8 words are in two lanes of 16 bytes.
type unpackTable struct {
	bytes [32]byte  // the 4 bytes that hold a word
	shift [8]uint32 // bits before it in them
}

func float32Blocks(dst []uint32, src []uint16) int {
	n := len(src) &^ 7
	if !hasAVX2 || n == 0 {
		return 0
	}
	float32sAVX2(&dst[0], &src[0], n)
	return n
}

func float16Blocks(dst []uint16, src []uint32) int {
	n := len(src) &^ 7
	if !hasAVX2 || n == 0 {
		return 0
	}
	float16sAVX2(&dst[0], &src[0], n)
	return n
}

//go:noescape
func unsplitSSE2(dst unsafe.Pointer, src *byte, stride, n, size int, f filter)

//go:noescape
func unsplitAVX2(dst unsafe.Pointer, src *byte, stride, n, size int, f filter)

//go:noescape
func splitSSE2(dst *byte, src unsafe.Pointer, stride, n, size int, f filter)

//go:noescape
func splitAVX2(dst *byte, src unsafe.Pointer, stride, n, size int, f filter)

//go:noescape
func unpackBoolsSSE2(dst *bool, src *byte, n int)

//go:noescape
func unpackBoolsAVX2(dst *bool, src *byte, n int)

//go:noescape
func packBoolsSSE2(dst *byte, src *bool, n int)

//go:noescape
func unpackAVX2(dst *uint32, src *byte, n, width, left int, t *unpackTable)

//go:noescape
func float32sAVX2(dst *uint32, src *uint16, n int)

//go:noescape
func float16sAVX2(dst *uint16, src *uint32, n int)

func cpuid(leaf, sub uint32) (a, b, c, d uint32)

func xgetbv() (a uint32)
