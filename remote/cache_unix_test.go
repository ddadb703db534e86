//go:build unix

package remote

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestCacheFull reads where the disk takes no more than some bytes of a file: that is no error, and nothing
// damaged is kept.
func TestCacheFull(t *testing.T) {
	dir := t.TempDir()
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
