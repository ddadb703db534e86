//go:build unix

package regular

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestOpen(t *testing.T) {
	t.Chdir(t.TempDir()) // the path of a socket must be short
	if err := errors.Join(os.WriteFile("file", []byte("text"), 0o600), os.Symlink("file", "link"),
		syscall.Mkfifo("fifo", 0o600), os.Mkdir("folder", 0o700)); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct{ path, open, unlinked string }{
		{"file", "", ""},
		{"link", "", "is a symbolic link, not a regular file"},
		{"fifo", "is a pipe, not a regular file", "is a pipe, not a regular file"},
		{"folder", "is a directory", "is a directory"},
		{"socket", "is a socket, not a regular file", "is a socket, not a regular file"},
		{os.DevNull, "is a device, not a regular file", "is a device, not a regular file"},
	} {
		for want, open := range map[*string]func(string) (*os.File, fs.FileInfo, error){&c.open: Open,
			&c.unlinked: OpenUnlinked} {
			f, info, err := open(c.path)
			if *want == "" {
				if err != nil || info.Size() != 4 {
					t.Errorf("%s: %v, %v", c.path, info, err)
				}
				f.Close()
			} else if f != nil || err == nil || err.Error() != c.path+": "+*want || !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%s: %v, want %s", c.path, err, *want)
			}
		}
	}
	if b, err := ReadFile("link"); string(b) != "text" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if _, _, err := Open("missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestReplaced has a path become something else between the look at it and its opening.
func TestReplaced(t *testing.T) {
	dir := t.TempDir()
	file, path := filepath.Join(dir, "file"), filepath.Join(dir, "path")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for what, put := range map[string]func() error{
		"is a pipe":            func() error { return syscall.Mkfifo(path, 0o600) },
		"is a directory":       func() error { return os.Mkdir(path, 0o700) },
		syscall.ELOOP.Error():  func() error { return os.Symlink(file, path) },
		syscall.ENOENT.Error(): func() error { return nil },
	} {
		os.Remove(path)
		f, _, err := open(path, func(string) (fs.FileInfo, error) { return lstatAfter(file, put) }, noFollow)
		if f != nil || err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %s", err, what)
		}
	}
}

// lstatAfter looks at a file, and then has something happen.
func lstatAfter(file string, put func() error) (fs.FileInfo, error) {
	info, err := os.Lstat(file)
	return info, errors.Join(err, put())
}
