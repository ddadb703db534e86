//go:build unix

package diskfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestMode(t *testing.T) {
	for _, umask := range []int{0o077, 0o022, 0o002} {
		old := syscall.Umask(umask)
		defer syscall.Umask(old)
		dir := t.TempDir()
		path := filepath.Join(dir, "file")
		mode := func(want os.FileMode) {
			t.Helper()
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("umask %03o: mode %v, %v, want %v", umask, info.Mode(), err, want)
			}
		}
		if err := made(path, "new", Options{}); err != nil {
			t.Fatal(err)
		}
		mode(0o666 &^ os.FileMode(umask))
		for _, keep := range []os.FileMode{0o600, 0o640, 0o664, 0o777, 0o444} {
			if err := os.Chmod(path, keep); err != nil {
				t.Fatal(err)
			}
			f, err := Create(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if info, err := f.Disk().Stat(); err != nil || info.Mode().Perm()&^keep != 0 {
				t.Errorf("umask %03o: unfinished, the file has mode %v, %v, and will have %v", umask, info.Mode(), err, keep)
			}
			if err := f.Publish(); err != nil {
				t.Fatal(err)
			}
			f.Close()
			mode(keep)
		}
	}
}

func TestOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may give away files")
	}
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "old")
	if err := os.Chown(path, 12345, 54321); err != nil {
		t.Skipf("files cannot be given away here: %v", err)
	}
	if err := made(path, "new", Options{}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if s := info.Sys().(*syscall.Stat_t); s.Uid != 12345 || s.Gid != 54321 {
		t.Errorf("owner %d, group %d", s.Uid, s.Gid)
	}
}
