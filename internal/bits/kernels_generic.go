//go:build purego || !(amd64 || arm64)

package bits

import (
	"math"
	"unsafe"
)

const block = math.MaxInt // no plane has a block, so no kernel is called

func unsplitKernel(dst unsafe.Pointer, src *byte, stride, n, size int, f filter) {}
func splitKernel(dst *byte, src unsafe.Pointer, stride, n, size int, f filter)   {}
func unpackBoolsKernel(dst *bool, src *byte, n int)                              {}
func packBoolsKernel(dst *byte, src *bool, n int)                                {}
