package surgery

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/verify"
)

// cloning returns a folder in a file system of the given type that can clone
// extents, made in a loop file; or the one that RNTUPLE_REFLINK_DIR names.
func cloning(t *testing.T, kind string, format ...string) string {
	t.Helper()
	if dir := os.Getenv("RNTUPLE_REFLINK_DIR"); dir != "" {
		dir, err := os.MkdirTemp(dir, "rntuple")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		return dir
	}
	mkfs, err := exec.LookPath("mkfs." + kind)
	if err != nil {
		mkfs, err = exec.LookPath("/usr/sbin/mkfs." + kind)
	}
	if err != nil {
		t.Skip("no file system that clones extents: there is no mkfs." + kind +
			", and RNTUPLE_REFLINK_DIR names no folder in one")
	}
	image, dir := filepath.Join(t.TempDir(), "image"), t.TempDir()
	f, err := os.Create(image)
	if err == nil {
		err = f.Truncate(400 << 20) // XFS needs 300 MB
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, cmd := range [][]string{append(append([]string{mkfs}, format...), image), {"mount", "-o", "loop", image, dir}} {
		if out, err := exec.Command(cmd[0], cmd[1:]...).CombinedOutput(); err != nil {
			t.Skipf("no file system that clones extents: %v: %v: %s", cmd, err, out)
		}
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir
}

// used returns how many bytes of a file system are in use.
func used(t *testing.T, dir string) int64 {
	t.Helper()
	if out, err := exec.Command("sync", "-f", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		t.Fatal(err)
	}
	return int64(fs.Blocks-fs.Bfree) * int64(fs.Bsize)
}

// TestClone merges in real file systems that clone extents: the output takes no
// room there.
func TestClone(t *testing.T) {
	t.Run("btrfs", func(t *testing.T) { testClone(t, cloning(t, "btrfs", "-q")) })
	t.Run("xfs", func(t *testing.T) { testClone(t, cloning(t, "xfs", "-q", "-m", "reflink=1")) })
}

func testClone(t *testing.T, dir string) {
	const n = 400_000
	var inputs []Input
	size := int64(0)
	for i := range 3 {
		in := Input{Path: filepath.Join(dir, string('a'+rune(i))+".root")}
		points(t, in.Path, i*n, n, &rntuple.WriteOptions{Compression: compress.None, ClusterSize: 3 << 20})
		inputs = append(inputs, in)
		info, err := os.Stat(in.Path)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	check := func(t *testing.T, out string, report *Report, level Level) {
		t.Helper()
		if report.Levels[level] != sum(report) || sum(report).Bytes < size*9/10 {
			t.Errorf("%v of %d bytes, expected %q", report.Levels, size, level)
		}
		checkPoints(t, out, 3*n)
		if _, err := verify.File(all, out, func(p verify.Problem) error { return p.Err }, nil); err != nil {
			t.Error(err)
		}
	}
	out := filepath.Join(dir, "out.root")
	for _, workers := range []int{1, 2} {
		for _, verified := range []bool{true, false} {
			before := used(t, dir)
			report, err := Merge(all, out, inputs,
				&MergeOptions{Options: Options{AtMost: new(Clone), Write: rntuple.WriteOptions{Workers: workers},
					Read: rntuple.ReadOptions{SkipChecksums: !verified}}})
			if err != nil {
				t.Fatal(err)
			}
			check(t, out, report, Clone)
			if took := used(t, dir) - before; took > size/10 {
				t.Errorf("the file system has %d bytes more for %d that are cloned", took, size)
			}
			if err := os.Remove(out); err != nil {
				t.Fatal(err)
			}
		}
	}
	if report, err := Merge(all, out, inputs, &MergeOptions{Options: Options{AtLeast: Copy}}); err != nil {
		t.Error(err)
	} else {
		check(t, out, report, Copy)
	}

	into := filepath.Join(dir, "into.root")
	copyFile(t, inputs[0].Path, into)
	before := used(t, dir)
	report, err := MergeInto(all, Input{Path: into}, inputs[1:],
		&MergeOptions{Options: Options{Read: rntuple.ReadOptions{NoMap: true}}})
	if err != nil {
		t.Fatal(err)
	}
	if report.Levels[Clone] != sum(report) || used(t, dir)-before > size/10 {
		t.Errorf("%v", report.Levels)
	}
	checkPoints(t, into, 3*n)

	elsewhere := filepath.Join(t.TempDir(), "out.root")
	if report, err := Merge(all, elsewhere, inputs, nil); err != nil {
		t.Error(err)
	} else {
		check(t, elsewhere, report, Copy)
	}
	os.Remove(elsewhere)
	if _, err := Merge(all, elsewhere, inputs,
		&MergeOptions{Options: Options{AtMost: new(Clone)}}); !errors.Is(err, syscall.EXDEV) || !errors.Is(err, errLevel) {
		t.Errorf("cloning from another file system: %v", err)
	}
	noFile(t, elsewhere)

	damage(t, inputs[1].Path)
	bad := filepath.Join(dir, "sub", "bad.root")
	if err := os.Mkdir(filepath.Dir(bad), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(all, bad, inputs, nil); !errors.Is(err, rntuple.ErrChecksum) {
		t.Errorf("cloning damaged pages: %v", err)
	}
	noFile(t, bad)
}

// damage changes a byte in the middle of a file.
func damage(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	b, at := []byte{0}, info.Size()/2
	if _, err := f.ReadAt(b, at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
}
