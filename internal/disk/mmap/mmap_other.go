//go:build !(unix && (amd64 || arm64 || ppc64 || ppc64le || s390x || riscv64 || loong64 || mips64 || mips64le))

package mmap

import "os"

func mapFile(*os.File, int) ([]byte, error) { return nil, ErrUnsupported }

func unmap([]byte) error { return nil }

func (f *File) holds(uintptr) bool { return false }
