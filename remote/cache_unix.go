//go:build unix

package remote

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// checkPrivate returns an error if a folder belongs to another user, or others can write to it:
// what they put there would be taken for what a server has sent.
func checkPrivate(dir fs.FileInfo) error {
	if stat, ok := dir.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%w: it belongs to the user %d, not to %d", ErrNotPrivate, stat.Uid, os.Geteuid())
	}
	if mode := dir.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("%w: others can write to it (mode %#o); use chmod go-w", ErrNotPrivate, mode)
	}
	return nil
}
