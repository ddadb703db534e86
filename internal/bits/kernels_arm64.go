//go:build !purego

package bits

import "unsafe"

// block is the number of bytes of a plane that a kernel handles at a time.
const block = 16

//go:noescape
func unsplitKernel(dst unsafe.Pointer, src *byte, stride, n, size int, f filter)

//go:noescape
func splitKernel(dst *byte, src unsafe.Pointer, stride, n, size int, f filter)

//go:noescape
func unpackBoolsKernel(dst *bool, src *byte, n int)

//go:noescape
func packBoolsKernel(dst *byte, src *bool, n int)
