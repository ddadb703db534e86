package diskfile

import (
	"os"

	"golang.org/x/sys/windows"
)

// lock locks f until it is closed. The error is errBusy if another handle has the lock,
// and errors.ErrUnsupported if the file system has none. Windows keeps others from
// reading what is locked, so it is a byte where no file has data.
func lock(f *os.File) error {
	at := windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0,
		1, 0, &at)
	if err == windows.ERROR_LOCK_VIOLATION || err == windows.ERROR_IO_PENDING {
		return errBusy
	}
	return err // ERROR_NOT_SUPPORTED is errors.ErrUnsupported
}

func needsWrite(error) bool { return false }
