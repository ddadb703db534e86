package rootfile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// A Record is what Scan finds: a key that is at the position which it gives.
type Record struct {
	Key
	// Whole reports that the length in the key is confirmed by what follows the
	// record: another record, a gap, or the end of the file.
	Whole bool
}

// Payload returns the offset and the length of the payload, including bytes beyond
// the end of the file.
func (r *Record) Payload() (offset, length int64) {
	return r.SeekKey + int64(r.KeyLen), int64(r.NBytes) - int64(r.KeyLen)
}

// Scan calls visit for the records of a ROOT file of size bytes, in the order of
// their positions, without relying on header or directories. It goes from record to
// record by their lengths. Where that fails because of damage, it searches byte by
// byte for the next one: a key gives its own position, which other bytes hardly
// ever do.
//
// It returns the first error of r, visit or ctx.
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
	// longestKey exceeds the length of a key with three names of maxName bytes.
	// Longer keys, which no part of an RNTuple has, are not found.
	longestKey = 1 << 10
	scanBlock  = 64 << 10
	seekAt     = 18 // of the position in a key
)

// A scanner reads keys one by one, and blocks of bytes to search in.
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

// load returns the bytes of b from an offset of the file on: at least least of
// them, unless the file ends before. If b has too few, it reads n bytes.
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

// key returns the key at an offset, if there is a key.
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

// standsAt reports whether b may begin with a key whose position is the given
// offset.
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

// gap returns the length of the gap at an offset, or 0 if there is none.
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

// skip returns the offset of the next possible record after an offset that has
// none.
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
