package bits

import (
	"encoding/binary"
	"unsafe"
)

// This file looks at the memory of a slice as another type. It is meant for
// numbers, of which every bit pattern is a value, and for bools, which are bytes
// of 0 or 1.

func sizeof[T any]() int {
	var v T
	return int(unsafe.Sizeof(v))
}

// Bytes returns the memory of s.
func Bytes[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*sizeof[T]())
}

// View returns memory as elements of type T. It must be aligned for T; bytes at its
// end that do not make an element are left out.
func View[T any](memory []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(memory))), len(memory)/sizeof[T]())
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// Load reads little-endian words.
func Load[W Word](dst []W, src []byte) {
	src = head(src, len(dst)*sizeof[W]())
	if littleEndian {
		copy(Bytes(dst), src)
		return
	}
	loadPlain(dst, src)
}

// Store writes little-endian words; dst is as long as src in bytes.
func Store[W Word](dst []byte, src []W) {
	dst = head(dst, len(src)*sizeof[W]())
	if littleEndian {
		copy(dst, Bytes(src))
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
