package regular

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// An Error says that there is something other than a regular file at a path. It wraps
// fs.ErrInvalid.
type Error struct {
	Path string
	Mode fs.FileMode
}

func (e *Error) Error() string {
	kind := "is not a regular file"
	switch {
	case e.Mode.IsDir():
		kind = "is a directory"
	case e.Mode&fs.ModeNamedPipe != 0:
		kind = "is a pipe, not a regular file"
	case e.Mode&fs.ModeSocket != 0:
		kind = "is a socket, not a regular file"
	case e.Mode&fs.ModeDevice != 0:
		kind = "is a device, not a regular file"
	case e.Mode&fs.ModeSymlink != 0:
		kind = "is a symbolic link, not a regular file"
	}
	return e.Path + ": " + kind
}

func (e *Error) Unwrap() error { return fs.ErrInvalid }

// Open opens the regular file at a path for reading, and never waits for another process.
func Open(path string) (*os.File, fs.FileInfo, error) { return open(path, os.Stat, 0) }

// OpenUnlinked is Open for a path that must not be a symbolic link. Where the system cannot open it
// so, a link that another process puts there at the same time is followed.
func OpenUnlinked(path string) (*os.File, fs.FileInfo, error) { return open(path, os.Lstat, noFollow) }

func open(path string, stat func(string) (fs.FileInfo, error), flag int) (*os.File, fs.FileInfo, error) {
	info, err := stat(path)
	if err == nil && !info.Mode().IsRegular() { // what opening has effects on is not even opened
		err = &Error{path, info.Mode()}
	}
	if e, ok := err.(*fs.PathError); ok {
		err = &fs.PathError{Op: "open", Path: path, Err: e.Err} // rather than stat
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock|flag, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err = f.Stat()
	if err == nil && !info.Mode().IsRegular() { // replaced since then
		err = &Error{path, info.Mode()}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// ReadFile is os.ReadFile for regular files.
func ReadFile(path string) ([]byte, error) {
	f, _, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// maxPrivate limits the size in bytes of files with secrets.
const maxPrivate = 1 << 20

// ReadPrivate reads a file with secrets, such as tokens. It must be a regular file that belongs to
// the user and is closed to others, and its path must not be a symbolic link: anybody who can read
// the secrets can act as the user, and anybody who can replace them makes the user act as somebody
// else.
func ReadPrivate(path string) ([]byte, error) {
	f, info, err := OpenUnlinked(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if !Own(info) {
		return nil, fmt.Errorf("%s: the file belongs to another user: %w", path, fs.ErrPermission)
	}
	if mode := info.Mode().Perm(); checksModes && mode&0o077 != 0 {
		return nil, fmt.Errorf("%s: the file has mode %04o, and others must have no access, as with 0600: %w", path,
			mode, fs.ErrPermission)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxPrivate+1))
	if err == nil && len(b) > maxPrivate {
		err = fmt.Errorf("%s: the file has more than %d bytes", path, maxPrivate)
	}
	return b, err
}
