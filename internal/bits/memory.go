package bits

import (
	"encoding/binary"
	"unsafe"
)

// This file looks at the memory of a slice as another type. It takes only
// slices of numbers, bools excepted, so that every bit pattern is a value.

func sizeof[T any]() int {
	var v T
	return int(unsafe.Sizeof(v))
}

// Words returns the memory of s as words; W must be as wide as T.
func Words[W Word, T any](s []T) []W {
	return unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

func memory[W Word](s []W) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*sizeof[W]())
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// Load reads little-endian words.
func Load[W Word](dst []W, src []byte) {
	if littleEndian {
		copy(memory(dst), src[:len(dst)*sizeof[W]()])
		return
	}
	loadPlain(dst, src)
}

// Store writes little-endian words; dst is as long as src in bytes.
func Store[W Word](dst []byte, src []W) {
	if littleEndian {
		copy(dst, memory(src))
		return
	}
	storePlain(dst, src)
}

// loadPlain is Load for machines of either byte order.
func loadPlain[W Word](dst []W, src []byte) {
	n := sizeof[W]()
	for i := range dst {
		var w uint64
		for k, b := range src[i*n : (i+1)*n] {
			w |= uint64(b) << (8 * k)
		}
		dst[i] = W(w)
	}
}

// storePlain is Store for machines of either byte order.
func storePlain[W Word](dst []byte, src []W) {
	n := sizeof[W]()
	for i, w := range src {
		for k := range n {
			dst[i*n+k] = byte(uint64(w) >> (8 * k))
		}
	}
}
