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
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/checksum"
)

// A Cache keeps ranges of files in a folder on disk, one file for each, under a limit of size. Ranges
// belong to a URL and the version of the file there: one that has changed is read anew, and a file
// whose server tells no version is not kept. What is damaged, or was cut short, is not used. Several
// processes may use a folder: each adds a 16th of the limit at most until it counts what the others have
// added. A Cache is safe for concurrent use.
type Cache struct {
	dir   string
	limit int64

	mu    sync.Mutex
	used  int64 // bytes in the folder when they were counted, and those added since
	added int64 // since then
}

// NewCache returns the cache in a folder, which it makes if need be, with a limit in bytes. Others that
// use the folder should have the same limit.
func NewCache(dir string, limit int64) (*Cache, error) {
	if limit <= 0 {
		return nil, fmt.Errorf("a cache of %d bytes; the limit must be positive", limit)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "new-*") // so that who cannot write there learns it
	if err != nil {
		return nil, err
	}
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		return nil, err
	}
	c := &Cache{dir: dir, limit: limit}
	return c, c.evict()
}

// cached is the part of a cache for a version of a file.
type cached struct {
	*Cache
	dir string
	sum uint64 // of what the version is
}

// of returns the part of the cache for a version of the file at a URL. Its name tells nothing about
// either, because URLs may hold secrets.
func (c *Cache) of(url string, info Info) *cached {
	key := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%s", url, info.Size, info.Version))
	return &cached{Cache: c, dir: filepath.Join(c.dir, hex.EncodeToString(key[:16])), sum: binary.LittleEndian.Uint64(key[16:])}
}

// trailer is the size of the checksum behind a range.
const trailer = 8

func (c *cached) path(r Range) string {
	return filepath.Join(c.dir, fmt.Sprintf("%x-%x", r.Offset, len(r.Data)))
}

func (c *cached) checksum(r Range) uint64 {
	return checksum.Sum(r.Data) ^ c.sum ^ uint64(r.Offset)
}

// fill fills the ranges that the cache has, and returns the others.
func (c *cached) fill(ranges []Range, s *Stats) (missing []Range) {
	for _, r := range ranges {
		path := c.path(r)
		switch err := c.read(path, r); {
		case err == nil:
			now := time.Now()
			os.Chtimes(path, now, now) // it is used; that it is not known does no harm
			s.cached.Add(int64(len(r.Data)))
			continue
		case errors.Is(err, errDamaged):
			os.Remove(path)
		}
		missing = append(missing, r)
	}
	return missing
}

var errDamaged = errors.New("damaged")

// read fills a range with what a file has. If there is an error, the range holds anything.
func (c *cached) read(path string, r Range) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var sum [trailer + 1]byte
	if _, err := io.ReadFull(f, r.Data); err != nil {
		return errDamaged
	}
	if n, err := io.ReadFull(f, sum[:]); n != trailer || err != io.ErrUnexpectedEOF || binary.LittleEndian.Uint64(sum[:]) != c.checksum(r) {
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
	if len(ranges) == 0 || os.MkdirAll(c.dir, 0o700) != nil {
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
	f, err := os.CreateTemp(c.dir, "new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(binary.LittleEndian.AppendUint64(slices.Clip(r.Data), c.checksum(r)))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), c.path(r))
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// abandoned is the age of a temporary file that nobody is writing any more.
const abandoned = time.Hour

// evict removes the ranges that were used longest ago if there are more than the limit allows, until a
// tenth of it is free.
func (c *Cache) evict() error {
	type kept struct {
		path string
		size int64
		used time.Time
	}
	var all []kept
	total := int64(0)
	err := filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // another process may have removed it
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		if strings.HasPrefix(d.Name(), "new-") {
			if time.Since(info.ModTime()) > abandoned {
				os.Remove(path)
			}
			return nil
		}
		size := onDisk(info.Size())
		all, total = append(all, kept{path, size, info.ModTime()}), total+size
		return nil
	})
	if total > c.limit {
		slices.SortFunc(all, func(a, b kept) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.path, b.path)) })
		for _, k := range all {
			if total <= c.limit-c.limit/10 {
				break
			}
			if os.Remove(k.path) == nil {
				os.Remove(filepath.Dir(k.path)) // if it was the last one
			}
			total -= k.size
		}
	}
	c.used, c.added = total, 0
	return err
}
