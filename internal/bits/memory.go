package bits

import (
	"encoding/binary"
	"unsafe"
)

// This file looks at the memory of a slice as another type. It takes only
// slices of numbers, so that every bit pattern is a value, and of bools, which
// are bytes of 0 or 1.

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
	src = head(src, len(dst)*sizeof[W]())
	if littleEndian {
		copy(memory(dst), src)
		return
	}
	loadPlain(dst, src)
}

// Store writes little-endian words; dst is as long as src in bytes.
func Store[W Word](dst []byte, src []W) {
	dst = head(dst, len(src)*sizeof[W]())
	if littleEndian {
		copy(dst, memory(src))
		return
	}
	storePlain(dst, src)
}

// loadPlain is Load for machines of either byte order.
func loadPlain[W Word](dst []W, src []byte) {
	switch d := any(dst).(type) {
	case []uint8:
		copy(d, src)
	case []uint16:
		for i := range d {
			d[i] = le.Uint16(src[2*i : 2*i+2])
		}
	case []uint32:
		for i := range d {
			d[i] = le.Uint32(src[4*i : 4*i+4])
		}
	case []uint64:
		for i := range d {
			d[i] = le.Uint64(src[8*i : 8*i+8])
		}
	}
}

// storePlain is Store for machines of either byte order.
func storePlain[W Word](dst []byte, src []W) {
	switch s := any(src).(type) {
	case []uint8:
		copy(dst, s)
	case []uint16:
		for i, w := range s {
			le.PutUint16(dst[2*i:2*i+2], w)
		}
	case []uint32:
		for i, w := range s {
			le.PutUint32(dst[4*i:4*i+4], w)
		}
	case []uint64:
		for i, w := range s {
			le.PutUint64(dst[8*i:8*i+8], w)
		}
	}
}
