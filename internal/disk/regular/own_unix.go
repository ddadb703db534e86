//go:build unix

package regular

import (
	"io/fs"
	"os"
	"syscall"
)

const checksModes = true

// Own reports whether a file belongs to the user of this process.
func Own(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}
