//go:build !(linux && (386 || amd64 || arm || arm64 || loong64 || riscv64 || s390x))

package reflink

import (
	"errors"
	"os"
)

// BlockSize returns 0: blocks cannot be cloned here.
func BlockSize(*os.File) int64 { return 0 }

// Clone returns an error: files cannot share blocks here.
func Clone(*os.File, int64, *os.File, int64, int64) error { return errors.ErrUnsupported }
