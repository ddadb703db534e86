package rootfile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// A Record is what Scan finds: a key that stands where it says it does.
type Record struct {
	Key
	// Whole says that the length that the key gives is confirmed by what
	// follows the record: another one, a gap, or the end of the file.
	Whole bool
}

// Payload returns where the payload of the record lies and how long it is,
// bytes beyond the end of a file included.
func (r *Record) Payload() (offset, length int64) {
	return r.SeekKey + int64(r.KeyLen), int64(r.NBytes) - int64(r.KeyLen)
}

// Scan calls visit for the records of a ROOT file of size bytes, in the order of
// their positions, without relying on header or directories. It goes from record
// to record by their lengths. Where that leads nowhere, as after damage, it looks
// at every byte for the next one: a key gives its own position, which other bytes
// hardly ever do.
//
// It stops at the first error, of r, visit or ctx, and returns it.
func Scan(ctx context.Context, r io.ReaderAt, size int64, visit func(Record) error) error {
	s := scanner{r: r, size: size}
	for at := int64(begin); at < size; {
		if err := ctx.Err(); err != nil {
			return err
		}
		key, ok, err := s.key(at)
		if err != nil {
			return err
		}
		if !ok {
			if at, err = s.skip(ctx, at); err != nil {
				return err
			}
			continue
		}
		end := at + int64(key.NBytes)
		whole, err := s.border(end)
		if err != nil {
			return err
		}
		if err := visit(Record{key, whole}); err != nil {
			return err
		}
		if at = end; !whole {
			at = key.SeekKey + int64(key.KeyLen)
		}
	}
	return nil
}

const (
	// longestKey is more than keys with three names of maxName bytes need.
	// Longer ones, which nothing of an RNTuple has, are not found.
	longestKey = 1 << 10
	scanBlock  = 64 << 10
	seekAt     = 18 // of the position in a key
)

// A scanner reads keys one by one, and blocks of bytes where it has to search.
type scanner struct {
	r         io.ReaderAt
	size      int64
	one, many block
}

// A block is a part of a file.
type block struct {
	start int64
	bytes []byte
}

// load returns the bytes of the file from an offset on that b has, at least
// least of them unless the file ends before. Where it has not, it reads n.
func (s *scanner) load(b *block, at, least, n int64) ([]byte, error) {
	least = max(0, min(least, s.size-at))
	if at < b.start || at+least > b.start+int64(len(b.bytes)) {
		n = min(n, s.size-at)
		b.start, b.bytes = at, append(b.bytes[:0], make([]byte, n)...)
		if got, err := s.r.ReadAt(b.bytes, at); int64(got) < n {
			b.bytes = b.bytes[:0]
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, fmt.Errorf("read %d bytes at offset %#x: %w", n, at, err)
		}
	}
	return b.bytes[at-b.start:], nil
}

// key returns the key at an offset, if there is one.
func (s *scanner) key(at int64) (k Key, ok bool, err error) {
	b, err := s.load(&s.one, at, longestKey, longestKey)
	if err != nil || !standsAt(b, at) {
		return k, false, err
	}
	c := reader(b, "key", at)
	k.Wire(c)
	ok = c.Err() == nil && k.SeekKey == at && int(k.KeyLen) == k.Size() && int64(k.NBytes) >= int64(k.KeyLen)
	return k, ok, nil
}

// standsAt reports whether b may be a key at an offset of a file.
func standsAt(b []byte, at int64) bool {
	if len(b) < minKey {
		return false
	}
	if binary.BigEndian.Uint16(b[4:]) > BigVersion {
		return binary.BigEndian.Uint64(b[seekAt:]) == uint64(at)
	}
	return int64(binary.BigEndian.Uint32(b[seekAt:])) == at
}

// border reports whether a record can end at an offset.
func (s *scanner) border(at int64) (bool, error) {
	if at >= s.size {
		return at == s.size, nil
	}
	if _, ok, err := s.key(at); ok || err != nil {
		return ok, err
	}
	n, err := s.gap(at)
	return n > 0, err
}

// gap returns the length of the gap at an offset, 0 if there is none.
func (s *scanner) gap(at int64) (int64, error) {
	b, err := s.load(&s.one, at, minGap, longestKey)
	if err != nil || len(b) < minGap {
		return 0, err
	}
	n := -int64(int32(binary.BigEndian.Uint32(b)))
	if n < minGap || n > s.size-at || n > math.MaxInt32 {
		return 0, nil
	}
	return n, nil
}

// skip returns the offset of the next record, or of what may be one, behind an
// offset that has none.
func (s *scanner) skip(ctx context.Context, at int64) (int64, error) {
	n, err := s.gap(at)
	if err != nil {
		return 0, err
	}
	if n > 0 {
		if ok, err := s.border(at + n); ok || err != nil {
			return at + n, err
		}
	}
	for at++; at < s.size; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		b, err := s.load(&s.many, at, minKey, scanBlock)
		if err != nil {
			return 0, err
		}
		for i := range max(0, len(b)-minKey+1) {
			if standsAt(b[i:], at+int64(i)) {
				return at + int64(i), nil
			}
		}
		at += int64(max(1, len(b)-minKey+1))
	}
	return s.size, nil
}

// ReadPayload reads the object of a record that Scan has found. See File.Payload.
func ReadPayload(r io.ReaderAt, size int64, k Key) ([]byte, error) {
	f := File{r: r, size: size}
	return f.Payload(k)
}
