//go:build unix

package diskfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

const (
	syncsFolders       = true
	mustCloseToReplace = false
)

func openFile(name string, flag int, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag|syscall.O_NONBLOCK, mode) // what has become a FIFO must not block
}

// cannotSync reports whether err, of syncing a folder, says that the file system cannot
// do that.
func cannotSync(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported)
}

// chown gives f, which is mine, the owner and the group of old. Only root may give away
// files, and others only to groups that they are in: what is not permitted is left, as
// cp --preserve does.
func chown(f *os.File, mine, old fs.FileInfo) error {
	from, ok := mine.Sys().(*syscall.Stat_t)
	to, ok2 := old.Sys().(*syscall.Stat_t)
	if !ok || !ok2 {
		return nil
	}
	uid, gid := int(to.Uid), int(to.Gid)
	if from.Gid != to.Gid {
		if err := f.Chown(-1, gid); err != nil && !errors.Is(err, syscall.EPERM) {
			return err
		}
	}
	if from.Uid != to.Uid {
		if err := f.Chown(uid, -1); err != nil && !errors.Is(err, syscall.EPERM) {
			return err
		}
	}
	return nil
}
