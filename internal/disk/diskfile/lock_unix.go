//go:build unix && !aix

package diskfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock locks f until it is closed. The error is errBusy if another descriptor has the
// lock, and errors.ErrUnsupported if the file system has none.
func lock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EWOULDBLOCK:
			return errBusy
		case errors.Is(err, errors.ErrUnsupported), err == unix.ENOLCK, err == unix.EINVAL:
			return errors.ErrUnsupported
		}
		return err
	}
}

// needsWrite reports whether the file must be open for writing to be locked, as on
// NFS.
func needsWrite(err error) bool { return errors.Is(err, unix.EBADF) }
