package diskfile

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

const (
	syncsFolders = false
	// A file that is open cannot be replaced, so its lock is given up just before.
	mustCloseToReplace = true
)

// openFile is os.OpenFile for a file that may be renamed and removed while it is open.
func openFile(name string, flag int, _ os.FileMode) (*os.File, error) {
	fail := func(err error) (*os.File, error) { return nil, &os.PathError{Op: "open", Path: name, Err: err} }
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return fail(err)
	}
	access, disposition := uint32(windows.GENERIC_READ), uint32(windows.OPEN_EXISTING)
	if flag&os.O_RDWR != 0 {
		access |= windows.GENERIC_WRITE
	}
	if flag&os.O_CREATE != 0 {
		disposition = windows.CREATE_NEW
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(path, access, share, nil, disposition, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return fail(err)
	}
	return os.NewFile(uintptr(h), name), nil
}

func cannotSync(error) bool { return false }

func chown(*os.File, fs.FileInfo, fs.FileInfo) error { return nil }
