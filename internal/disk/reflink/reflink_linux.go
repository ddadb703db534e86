//go:build linux && (386 || amd64 || arm || arm64 || loong64 || riscv64 || s390x)

package reflink

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// BlockSize returns the size in bytes of the blocks of a file's file system, or 0
// if it is not one that Clone can use.
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

// ficlonerange is the request FICLONERANGE of linux/fs.h. Its number differs on the
// architectures that this file is not built for.
const ficlonerange = 0x4020940d

// Clone makes dst share the n bytes of src at the offset from as its own bytes at
// the offset to. All three numbers must be multiples of the block size; dst grows
// if necessary. Clone fails if the file systems differ or do not support sharing.
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
