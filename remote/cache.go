package remote

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/checksum"
)

// A Cache caches ranges of remote files in a folder on disk, one file per range, up to a size
// limit. Ranges are keyed by URL and version: if the remote file changes, it is read again, and
// files without a version are not cached. Damaged or truncated ranges are ignored. Several
// processes may share a folder: each adds at most 1/16 of the limit before it rescans the folder
// for additions by others. A Cache is safe for concurrent use.
//
// A marker file identifies the folder as a cache. A Cache counts and removes only files whose names
// and locations match its own scheme.
type Cache struct {
	root  *os.Root
	limit int64

	mu    sync.Mutex
	used  int64 // bytes in the folder when they were counted, and those added since
	added int64 // since then
}

// NewCache returns the cache in a folder, which it creates if necessary, with a limit in bytes. All
// users of the folder should set the same limit. The error wraps ErrNotCache if the folder is not
// empty and not a cache, and, on Unix, ErrNotPrivate if another user owns it or can write to it.
func NewCache(dir string, limit int64) (*Cache, error) {
	if limit <= 0 {
		return nil, fmt.Errorf("a cache of %d bytes; the limit must be positive", limit)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir) // what is checked is what is used, whatever becomes of the path
	if err != nil {
		return nil, err
	}
	c := &Cache{root: root, limit: limit}
	if err = c.claim(); err == nil {
		err = c.evict()
	}
	if err != nil {
		root.Close()
		return nil, fmt.Errorf("cache %s: %w", dir, err)
	}
	return c, nil
}

// A cache has a file named marker. Its name says the version, so that it exists as a whole or not
// at all when several processes make a cache.
const (
	markerPrefix = "rntuple-cache-"
	marker       = markerPrefix + "1"
	markerText   = "This folder is a cache of ranges of files. It may be removed as a whole.\n"
)

// claim makes sure that the folder is a private cache that can be written to. It marks an empty
// folder.
func (c *Cache) claim() error {
	info, err := c.root.Stat(".")
	if err != nil {
		return err
	}
	if err := checkPrivate(info); err != nil {
		return err
	}
	if !c.marked() {
		names, err := fs.ReadDir(c.root.FS(), ".")
		if err != nil {
			return err
		}
		switch { // another process may mark the folder, and fill it, at any time
		case len(names) == 0:
			if err := c.create(marker, []byte(markerText)); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
		case !c.marked():
			return fmt.Errorf("%w%s", ErrNotCache, stranger(names))
		}
	}
	name := newName()
	if err := c.create(name, nil); err != nil {
		return err
	}
	return c.root.Remove(name)
}

// marked reports whether the folder has the marker.
func (c *Cache) marked() bool {
	info, err := c.root.Lstat(marker)
	return err == nil && info.Mode().IsRegular()
}

// stranger says what a folder has that is not empty and has no marker.
func stranger(names []fs.DirEntry) string {
	for _, d := range names {
		if d.Name() == marker {
			return fmt.Sprintf(": its %q is not a regular file", marker)
		}
		if version, ok := strings.CutPrefix(d.Name(), markerPrefix); ok {
			return fmt.Sprintf(" of version %s: its version is %q", marker[len(markerPrefix):], version)
		}
	}
	return fmt.Sprintf(": it has %q, but no file %q", names[0].Name(), marker)
}

// create makes a file that does not exist.
func (c *Cache) create(name string, data []byte) error {
	f, err := c.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// newName returns a name for a file that is being written.
func newName() string { return fmt.Sprintf("new-%016x", rand.Uint64()) }

// The names of what a cache has.
var (
	partName  = regexp.MustCompile(`^[0-9a-f]{32}$`)        // of a folder, see of
	rangeName = regexp.MustCompile(`^[0-9a-f]+-[0-9a-f]+$`) // in there, see path
	newNames  = regexp.MustCompile(`^new-[0-9a-f]{16}$`)    // see newName
)

// cached is the part of a cache for a version of a file.
type cached struct {
	*Cache
	dir string // in the cache
	sum uint64 // of what the version is
}

// of returns the part of the cache for a version of the file at a URL. Its name tells nothing about
// either, because URLs may hold secrets.
func (c *Cache) of(url string, info Info) *cached {
	key := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%s", url, info.Size, info.Version))
	return &cached{Cache: c, dir: hex.EncodeToString(key[:16]), sum: binary.LittleEndian.Uint64(key[16:])}
}

// trailer is the size of the checksum behind a range.
const trailer = 8

func (c *cached) path(r Range) string {
	return path.Join(c.dir, fmt.Sprintf("%x-%x", r.Offset, len(r.Data)))
}

func (c *cached) checksum(r Range) uint64 {
	return checksum.Sum(r.Data) ^ c.sum ^ uint64(r.Offset)
}

// fill fills the ranges that the cache has, and returns the others.
func (c *cached) fill(ranges []Range, s *Stats) (missing []Range) {
	for _, r := range ranges {
		name := c.path(r)
		switch err := c.read(name, r); {
		case err == nil:
			now := time.Now()
			c.root.Chtimes(name, now, now) // it is used; that it is not known does no harm
			s.cached.Add(int64(len(r.Data)))
			continue
		case errors.Is(err, errDamaged):
			c.root.Remove(name)
		}
		missing = append(missing, r)
	}
	return missing
}

var errDamaged = errors.New("damaged")

// read fills a range with what a file has. If there is an error, the range holds anything.
func (c *cached) read(name string, r Range) error {
	f, err := c.root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	var sum [trailer + 1]byte
	if _, err := io.ReadFull(f, r.Data); err != nil {
		return errDamaged
	}
	if n, err := io.ReadFull(f, sum[:]); n != trailer || err != io.ErrUnexpectedEOF ||
		binary.LittleEndian.Uint64(sum[:]) != c.checksum(r) {
		return errDamaged
	}
	return nil
}

// block is what files on disk take a multiple of.
const block = 4 << 10

// onDisk returns how many bytes a file of a size takes.
func onDisk(size int64) int64 { return (size + block - 1) / block * block }

// keep keeps ranges. That they cannot be kept is no error.
func (c *cached) keep(ranges []Range) {
	if len(ranges) == 0 || c.root.MkdirAll(c.dir, 0o700) != nil {
		return
	}
	n := int64(0)
	for _, r := range ranges {
		if size := onDisk(int64(len(r.Data)) + trailer); size <= c.limit/4 && c.write(r) == nil {
			n += size
		}
	}
	c.mu.Lock()
	c.used += n
	c.added += n
	if c.used > c.limit || c.added > c.limit/16 { // others may have added as much
		c.evict()
	}
	c.mu.Unlock()
}

// write writes a range under a temporary name first.
func (c *cached) write(r Range) error {
	name := path.Join(c.dir, newName())
	err := c.create(name, binary.LittleEndian.AppendUint64(slices.Clip(r.Data), c.checksum(r)))
	if err == nil {
		err = c.root.Rename(name, c.path(r))
	}
	if err != nil {
		c.root.Remove(name)
	}
	return err
}

// abandoned is the age of a temporary file that nobody is writing any more.
const abandoned = time.Hour

// A kept is a range in the cache.
type kept struct {
	name string
	size int64
	used time.Time
}

// evict removes the ranges that were used longest ago if there are more than the limit allows,
// until a tenth of it is free.
func (c *Cache) evict() error {
	parts, _, err := c.list(".")
	if err != nil {
		return err
	}
	var all []kept
	for _, part := range parts {
		_, ranges, _ := c.list(part) // another process may have removed it
		all = append(all, ranges...)
	}
	total := int64(0)
	for _, k := range all {
		total += k.size
	}
	if total > c.limit {
		slices.SortFunc(all, func(a, b kept) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.name, b.name)) })
		for _, k := range all {
			if total <= c.limit-c.limit/10 {
				break
			}
			if c.root.Remove(k.name) == nil {
				c.root.Remove(path.Dir(k.name)) // if it was the last one
			}
			total -= k.size
		}
	}
	c.used, c.added = total, 0
	return nil
}

// list returns the parts and ranges in a folder of the cache, and removes abandoned files. It
// passes over everything that a cache does not make.
func (c *Cache) list(dir string) (parts []string, ranges []kept, err error) {
	entries, err := fs.ReadDir(c.root.FS(), dir)
	for _, d := range entries {
		name := path.Join(dir, d.Name())
		info, err := d.Info()
		switch {
		case err != nil: // another process has removed it
		case d.IsDir() && dir == "." && partName.MatchString(name):
			parts = append(parts, name)
		case !d.Type().IsRegular():
		case newNames.MatchString(d.Name()):
			if time.Since(info.ModTime()) > abandoned {
				c.root.Remove(name)
			}
		case dir != "." && rangeName.MatchString(d.Name()):
			ranges = append(ranges, kept{name, onDisk(info.Size()), info.ModTime()})
		}
	}
	return parts, ranges, err
}
