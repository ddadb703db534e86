//go:build unix

package credential

import (
	"io/fs"
	"os"
	"syscall"
)

const checksModes = true

// own reports whether a file is one of the user.
func own(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}
