package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// openCached opens a fake by a URL that is the same each time.
func (b *fake) openCached(t *testing.T, c *Cache, s *Stats) *File {
	t.Helper()
	register()
	fakes.Store("cached", b)
	f, err := Open(t.Context(), "fake://cached/a?secret", &Options{Cache: c, Stats: s, Tail: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// keptFiles returns the files in a cache but its marker, and how many bytes they take on disk.
func keptFiles(t *testing.T, dir string) (paths []string, total int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == marker {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		paths, total = append(paths, path), total+onDisk(info.Size())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths, total
}

func newCache(t *testing.T, dir string, limit int64) *Cache {
	t.Helper()
	c, err := NewCache(dir, limit)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// someRanges returns ranges of a file of n bytes, which do not overlap.
func someRanges(n int, random *rand.Rand) (ranges []Range) {
	for at := random.IntN(5000); ; at += random.IntN(5000) {
		size := 1 + random.IntN(3000)
		if at+size > n {
			return ranges
		}
		ranges = append(ranges, Range{int64(at), make([]byte, size)})
		at += size
	}
}

func checkRanges(t *testing.T, f *File, data []byte, ranges []Range) {
	t.Helper()
	for _, r := range ranges {
		clear(r.Data)
	}
	if err := f.ReadRanges(t.Context(), ranges); err != nil {
		t.Fatal(err)
	}
	for _, r := range ranges {
		if !bytes.Equal(r.Data, data[r.Offset:r.End()]) {
			t.Fatalf("other bytes from %d on", r.Offset)
		}
	}
}

// TestCache reads ranges twice, the second time from the cache, also by another File and Cache.
func TestCache(t *testing.T) {
	data, dir := noise(200_000), filepath.Join(t.TempDir(), "a", "b")
	b := &fake{data: data, most: 1000}
	s := new(Stats)
	f := b.openCached(t, newCache(t, dir, 1<<30), s)
	ranges := someRanges(len(data), rand.New(rand.NewPCG(1, 1)))
	total := int64(0)
	for _, r := range ranges {
		total += int64(len(r.Data))
	}
	checkRanges(t, f, data, ranges)
	if c := s.Count(); c.Cached != 0 || c.Wanted != total || c.Requests != 2 || c.Read < total {
		t.Errorf("%+v, want %d bytes", c, total)
	}
	b.attempts = 0
	checkRanges(t, f, data, ranges)
	checkRanges(t, b.openCached(t, newCache(t, dir, 1<<30), s), data, ranges)
	if c := s.Count(); c.Cached != 2*total || c.Wanted != 3*total || b.attempts != 1 {
		t.Errorf("%+v and %d requests, want %d bytes", c, b.attempts, total)
	}
	more := append(slices.Clone(ranges[:20]), Range{ranges[19].End(), make([]byte, 1)})
	checkRanges(t, f, data, more)
	before := s.Count()
	checkRanges(t, f, data, more[20:]) // of which the cache has it all by now
	if c := s.Count(); c.Read != before.Read || c.Wanted != before.Wanted+1 || b.attempts != 2 {
		t.Errorf("%+v and %d requests for one more byte", c, b.attempts)
	}
	paths, _ := keptFiles(t, dir)
	if n := len(ranges) + 1; len(paths) != n {
		t.Errorf("%d files, want %d", len(paths), n)
	}
	for _, path := range paths {
		if strings.Contains(path, "secret") {
			t.Errorf("the name tells the secret: %s", path)
		}
	}
}

// TestCacheVersions makes sure that another version or file, and one without a version, is read
// anew.
func TestCacheVersions(t *testing.T) {
	c := newCache(t, filepath.Join(t.TempDir(), "cache"), 1<<30)
	const url = "https://h/a"
	for i, other := range []struct {
		url  string
		info Info
	}{
		{url, Info{Size: 10, Version: "1"}},
		{url, Info{Size: 10, Version: "2"}},
		{url, Info{Size: 11, Version: "1"}},
		{url + "b", Info{Size: 10, Version: "1"}},
		{url + "\n10", Info{Size: 1, Version: "1"}},
		{url, Info{Size: 10, Version: "10\n1"}},
	} {
		part := c.of(other.url, other.info)
		r := Range{3, []byte{byte(i), 1, 2}}
		if missing := part.fill([]Range{{3, make([]byte, 3)}}, new(Stats)); len(missing) != 1 {
			t.Errorf("%+v has the bytes of another", other)
		}
		part.keep([]Range{r})
		got := Range{3, make([]byte, 3)}
		if missing := part.fill([]Range{got}, new(Stats)); len(missing) != 0 || !bytes.Equal(got.Data, r.Data) {
			t.Errorf("%+v does not have its bytes", other)
		}
	}
	b := &fake{data: noise(1000), info: &Info{Size: 1000}}
	f := b.openCached(t, newCache(t, filepath.Join(t.TempDir(), "cache"), 1<<30), nil)
	if f.cache != nil {
		t.Error("a file without a version is kept")
	}
}

// TestCacheDamage damages each byte of what is kept, cuts it at each length, and exchanges it.
func TestCacheDamage(t *testing.T) {
	data, dir := noise(5000), filepath.Join(t.TempDir(), "cache")
	b := &fake{data: data, most: 1000}
	f := b.openCached(t, newCache(t, dir, 1<<30), nil)
	ranges := []Range{{100, make([]byte, 50)}, {1000, make([]byte, 50)}}
	checkRanges(t, f, data, ranges)
	path, other := filepath.Join(dir, f.cache.path(ranges[0])), filepath.Join(dir, f.cache.path(ranges[1]))
	good, err1 := os.ReadFile(path)
	exchanged, err2 := os.ReadFile(other)
	if err1 != nil || err2 != nil || len(good) != 58 {
		t.Fatal(err1, err2, len(good))
	}
	bad := map[string][]byte{"another range": exchanged, "longer": append(slices.Clip(good), 0),
		"twice": append(slices.Clip(good), good...)}
	for i := range good {
		for _, x := range []byte{1, 0x80, 0xff} {
			b := slices.Clone(good)
			b[i] ^= x
			bad[fmt.Sprintf("byte %d ^ %#x", i, x)] = b
		}
		bad[fmt.Sprintf("cut at %d", i)] = good[:i]
	}
	for name, content := range bad {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		b.attempts = 0
		checkRanges(t, f, data, ranges)
		if now, err := os.ReadFile(path); b.attempts != 1 || err != nil || !bytes.Equal(now, good) {
			t.Errorf("%s: %d requests, %v", name, b.attempts, err)
		}
	}
	// What is no file is no reason to fail.
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	checkRanges(t, f, data, ranges)
}

// TestCacheLimit keeps within the limit what was used last.
func TestCacheLimit(t *testing.T) {
	const limit = 40 * block
	dir := filepath.Join(t.TempDir(), "cache")
	data := noise(1 << 20)
	c := newCache(t, dir, limit)
	b := &fake{data: data, most: 1}
	f := b.openCached(t, c, nil)
	first := Range{1, make([]byte, 1000)}
	for i := range 200 {
		checkRanges(t, f, data, []Range{{int64(i) * 5000, make([]byte, 1000+i)}})
		checkRanges(t, f, data, []Range{first})
		if _, total := keptFiles(t, dir); total > limit {
			t.Fatalf("%d bytes are kept, with a limit of %d", total, limit)
		}
		if i%10 == 0 {
			time.Sleep(2 * time.Millisecond) // for the times of files
		}
	}
	keeps := func(paths []string, r Range) bool { return slices.Contains(paths, filepath.Join(dir, f.cache.path(r))) }
	paths, total := keptFiles(t, dir)
	if total < limit/2 || !keeps(paths, first) || !keeps(paths, Range{199 * 5000, make([]byte, 1199)}) {
		t.Errorf("%d bytes are kept of %v", total, paths)
	}
	checkRanges(t, f, data, []Range{{0, make([]byte, limit/4)}}) // is too large, with its checksum
	if again, _ := keptFiles(t, dir); !slices.Equal(again, paths) {
		t.Error("a range of a quarter of the limit is kept")
	}
	// A smaller limit holds at once, and what was abandoned is removed, what is being written is
	// not.
	old, now := filepath.Join(dir, newName()), filepath.Join(dir, f.cache.dir, newName())
	long := time.Now().Add(-2 * abandoned)
	if err := errors.Join(os.WriteFile(old, nil, 0o600), os.WriteFile(now, nil, 0o600),
		os.Chtimes(old, long, long)); err != nil {
		t.Fatal(err)
	}
	newCache(t, dir, 10*block)
	paths, total = keptFiles(t, dir)
	if total > 10*block || slices.Contains(paths, old) || !slices.Contains(paths, now) || !keeps(paths, first) {
		t.Errorf("%d bytes are kept of %v", total, paths)
	}
	if _, err := NewCache(dir, 0); err == nil {
		t.Error("a limit of 0 is taken")
	}
	if _, err := NewCache(filepath.Join(dir, f.cache.path(first)), 1000); err == nil {
		t.Error("a file is taken for a folder")
	}
}

// TestCacheStrangers makes sure that a cache touches nothing that it did not make: neither in
// folders that are none, nor in its own.
func TestCacheStrangers(t *testing.T) {
	long := time.Now().Add(-2 * abandoned)
	put := func(path string) {
		t.Helper()
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, make([]byte, 8*block), 0o600),
			os.Chtimes(path, long, long))
		if err != nil {
			t.Fatal(err)
		}
	}
	const part = "0123456789abcdef0123456789abcdef"
	theirs := []string{"thesis.tex", "new-results", "0-8000", "new-0123456789abcdef.txt", "a/0-8000",
		"a/new-0123456789abcdef",
		part + "/notes", part + "/a/0-8000", part + "/0-8000.txt", part + "/new-1", part + "0/0-8000",
		"a/" + part + "/0-8000"}
	for _, name := range append(theirs, part+"/0-8000", "new-0123456789abcdef", "rntuple-cache-2", "rntuple-cache-1/a") {
		dir := filepath.Join(t.TempDir(), "a")
		put(filepath.Join(dir, name))
		_, err := NewCache(dir, block)
		if paths, _ := keptFiles(t, dir); !errors.Is(err, ErrNotCache) || len(paths) != 1 {
			t.Errorf("a folder with %s: %v, and %q are left", name, err, paths)
		}
		if path.Dir(name) == marker && !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("a folder with a folder %s: %v", marker, err)
		}
	}
	dir := filepath.Join(t.TempDir(), "a")
	newCache(t, dir, 4*block)
	want := []string{}
	for _, name := range theirs {
		put(filepath.Join(dir, name))
		want = append(want, filepath.Join(dir, name))
	}
	put(filepath.Join(dir, part, "0-8000")) // is the cache's, and more than its limit
	for range 2 {
		c := newCache(t, dir, 4*block)
		if c.used != 0 {
			t.Errorf("%d bytes are counted", c.used)
		}
		c.of("a", Info{Version: "1"}).keep([]Range{{0, make([]byte, 1)}, {9, make([]byte, 1)}})
		if c.used != 2*block {
			t.Errorf("%d bytes are counted, want %d", c.used, 2*block)
		}
		if err := os.RemoveAll(filepath.Join(dir, c.of("a", Info{Version: "1"}).dir)); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(want)
	if paths, _ := keptFiles(t, dir); !slices.Equal(paths, want) {
		t.Errorf("%q are left of %q", paths, want)
	}
}

// TestCacheAtOnce makes a cache in one folder from many goroutines, which all get it.
func TestCacheAtOnce(t *testing.T) {
	for range 50 {
		dir := filepath.Join(t.TempDir(), "a")
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				c, err := NewCache(dir, 1<<20)
				if err != nil {
					t.Error(err)
					return
				}
				c.of("a", Info{Version: "1"}).keep([]Range{{0, make([]byte, 1)}})
			})
		}
		all.Wait()
	}
}

// TestCacheProcesses lets several processes read the same file through one cache, which is so small
// that they remove what others have kept.
func TestCacheProcesses(t *testing.T) {
	const limit = 64 * block
	dir := filepath.Join(t.TempDir(), "cache")
	var all sync.WaitGroup
	const processes = 4
	for i := range processes {
		all.Go(func() {
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCacheProcess$")
			c.Env = append(os.Environ(), "REMOTE_TEST_CACHE="+dir, fmt.Sprint("REMOTE_TEST_SEED=", i))
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	all.Wait()
	paths, total := keptFiles(t, dir)
	if total > limit+processes*(limit/16+8*block) || total < limit/2 {
		t.Errorf("%d bytes are kept, with a limit of %d", total, limit)
	}
	for _, path := range paths {
		if strings.HasPrefix(filepath.Base(path), "new-") {
			t.Errorf("%s is left", path)
		}
	}
}

// TestCacheProcess is one process of TestCacheProcesses.
func TestCacheProcess(t *testing.T) {
	dir := os.Getenv("REMOTE_TEST_CACHE")
	if dir == "" {
		t.Skip("skipped: is for another test to run")
	}
	var seed uint64
	fmt.Sscan(os.Getenv("REMOTE_TEST_SEED"), &seed)
	random := rand.New(rand.NewPCG(seed, 1))
	data := noise(500_000)
	b := &fake{data: data, most: 1000}
	s := new(Stats)
	f := b.openCached(t, newCache(t, dir, 64*block), s)
	var ranges []Range
	for i := range 100 {
		ranges = append(ranges, Range{int64(i) * 5000, make([]byte, 100+i)})
	}
	for range 400 {
		at := random.IntN(90)
		checkRanges(t, f, data, ranges[at:at+8])
	}
	if c := s.Count(); c.Cached == 0 || c.Wanted == 0 {
		t.Errorf("%+v", c)
	}
}
