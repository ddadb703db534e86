//go:build linux && (386 || amd64 || arm || arm64 || loong64 || riscv64 || s390x)

package reflink

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// BlockSize returns the size of the blocks that a file is made of, in bytes; 0 if
// they cannot be cloned.
func BlockSize(f *os.File) int64 {
	var fs syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &fs); err != nil {
		return 0
	}
	block := int64(fs.Bsize)
	if block <= 0 || block > maxBlock || block&(block-1) != 0 {
		return 0
	}
	return block
}

// ficlonerange is the request FICLONERANGE of linux/fs.h, which has another number
// on the machines that this file is not for.
const ficlonerange = 0x4020940d

// Clone makes n bytes of dst, from the offset to on, those that src has from the
// offset from on. All three are multiples of the block size; dst grows if need be.
// It is an error if the file systems are not the same or cannot do it.
func Clone(dst *os.File, to int64, src *os.File, from, n int64) error {
	request := struct {
		src           int64
		from, n, dest uint64
	}{int64(src.Fd()), uint64(from), uint64(n), uint64(to)}
	for {
		_, _, err := syscall.Syscall(syscall.SYS_IOCTL, dst.Fd(), ficlonerange, uintptr(unsafe.Pointer(&request)))
		runtime.KeepAlive(src)
		switch err {
		case 0:
			return nil
		case syscall.EINTR:
		default:
			return &os.PathError{Op: "share extents of " + src.Name() + " with", Path: dst.Name(), Err: err}
		}
	}
}
