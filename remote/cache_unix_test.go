//go:build unix

package remote

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestCachePrivate refuses folders of others, and those that others can write to, whether they are
// caches or empty.
func TestCachePrivate(t *testing.T) {
	for _, mark := range []bool{false, true} {
		for _, mode := range []os.FileMode{0o720, 0o702, 0o777, 0o777 | os.ModeSticky, 0o700, 0o755} {
			dir := filepath.Join(t.TempDir(), "a")
			if mark {
				newCache(t, dir, 1<<20)
			}
			if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, mode)); err != nil {
				t.Fatal(err)
			}
			if _, err := NewCache(dir, 1<<20); errors.Is(err, ErrNotPrivate) != (mode&0o022 != 0) {
				t.Errorf("mode %v, marked %t: %v", mode, mark, err)
			}
		}
	}
	if dir := "/"; os.Geteuid() != 0 {
		sealed := filepath.Join(t.TempDir(), "a")
		newCache(t, sealed, 1<<20)
		if err := os.Chmod(sealed, 0o500); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(sealed, 0o700) // so that it can be removed
		if _, err := NewCache(sealed, 1<<20); !errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), "\n") {
			t.Errorf("a cache that cannot be written to: %v", err)
		}
		if _, err := NewCache(dir, 1<<20); !errors.Is(err, ErrNotPrivate) {
			t.Errorf("%s: %v", dir, err)
		}
		return
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 1234, -1); err != nil {
		t.Skip("skipped the folder of another user: ", err)
	}
	if _, err := NewCache(dir, 1<<20); !errors.Is(err, ErrNotPrivate) {
		t.Errorf("a folder of another user: %v", err)
	}
}

// TestCacheLinks makes sure that a link in a cache leads to nothing outside of it.
func TestCacheLinks(t *testing.T) {
	dir, outside := filepath.Join(t.TempDir(), "a"), t.TempDir()
	c := newCache(t, dir, 4*block)
	theirs := filepath.Join(outside, "0-8000")
	err := errors.Join(os.WriteFile(theirs, make([]byte, 8*block), 0o600),
		os.Symlink(outside, filepath.Join(dir, strings.Repeat("a", 32))),
		os.Symlink(outside, filepath.Join(dir, c.of("a", Info{}).dir)))
	if err != nil {
		t.Fatal(err)
	}
	if c = newCache(t, dir, 4*block); c.used != 0 {
		t.Errorf("%d bytes are counted", c.used)
	}
	c.of("a", Info{}).keep([]Range{{0, make([]byte, 1)}})
	if paths, _ := keptFiles(t, outside); len(paths) != 1 || paths[0] != theirs {
		t.Errorf("%q are there, want %q", paths, theirs)
	}
	// The folder itself may be one.
	link := filepath.Join(outside, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	newCache(t, link, 1<<20)
}

// TestCacheFull reads where the disk takes no more than some bytes of a file: that is no error, and
// nothing damaged is kept.
func TestCacheFull(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCacheFullProcess$")
	c.Env = append(os.Environ(), "REMOTE_TEST_FULL="+dir)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	paths, _ := keptFiles(t, dir)
	if len(paths) != 1 || strings.HasPrefix(filepath.Base(paths[0]), "new-") {
		t.Errorf("%q are kept, want what is short", paths)
	}
}

// TestCacheFullProcess is the process of TestCacheFull, because a limit is that of a process.
func TestCacheFullProcess(t *testing.T) {
	dir := os.Getenv("REMOTE_TEST_FULL")
	if dir == "" {
		t.Skip("skipped: is for another test to run")
	}
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	// Not for longer than the test, because a process that measures coverage writes what it has
	// found at its end.
	unlimited := limit
	defer syscall.Setrlimit(syscall.RLIMIT_FSIZE, &unlimited)
	limit.Cur = 1000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	data := noise(100_000)
	b := &fake{data: data, most: 1}
	s := new(Stats)
	f := b.openCached(t, newCache(t, dir, 1<<20), s)
	for range 2 {
		for _, size := range []int{5000, 993, 992, 1000} { // with its checksum, 992 is just short enough
			checkRanges(t, f, data, []Range{{int64(size), make([]byte, size)}})
		}
	}
	if n := s.Count().Cached; n != 992 {
		t.Errorf("%d bytes were kept", n)
	}
}
