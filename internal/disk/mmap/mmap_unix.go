//go:build unix && (amd64 || arm64 || ppc64 || ppc64le || s390x || riscv64 || loong64 || mips64 || mips64le)

package mmap

import (
	"os"
	"syscall"
	"unsafe"
)

// Systems with 32-bit addresses have no room for large files, so files are not
// mapped there.

func mapFile(f *os.File, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
}

func unmap(data []byte) error { return syscall.Munmap(data) }

// holds reports whether an address lies in the map.
func (f *File) holds(addr uintptr) bool {
	return addr-uintptr(unsafe.Pointer(unsafe.SliceData(f.data))) < uintptr(len(f.data))
}
