//go:build !purego

package bits

import "unsafe"

var hasAVX2 = detectAVX2()

// detectAVX2 reports whether the processor has AVX2 and the operating system saves
// its registers.
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

// block is the number of bytes of a plane that the AVX2 kernels handle at a time;
// the SSE2 kernels handle half as many.
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

func cpuid(leaf, sub uint32) (a, b, c, d uint32)

func xgetbv() (a uint32)
