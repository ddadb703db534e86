package pages

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"sync"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/internal/wire"
	"github.com/go-rntuple/go-rntuple/locator"
)

// Blobs reads the blocks of bytes that locators point to.
type Blobs struct {
	R          io.ReaderAt
	Size       int64  // bytes of the file
	MaxKeySize uint64 // of the anchor

	SkipChecksums bool  // of pages; envelopes are always verified
	MaxPage       int64 // bytes of a page, uncompressed
	MaxEnvelope   int64 // bytes of an envelope, or of all page lists, uncompressed; 0: no limit
}

// check refuses a block of the size that l gives, and more bytes behind it, if
// the file cannot hold it, before memory is allocated for it.
func (b *Blobs) check(l locator.Locator, more uint64) error {
	if err := l.InFile(); err != nil {
		return err
	}
	if size := uint64(b.Size); l.Offset > size || l.Size > size || l.Size+more > size {
		return wire.Corrupt("%d bytes from offset %d on, the file has %d", l.Size+more, l.Offset, b.Size)
	}
	return nil
}

// Envelope reads an envelope and decompresses it. The path names it in errors.
func (b *Blobs) Envelope(path string, link locator.Link) ([]byte, error) {
	l := link.Locator
	fail := func(err error) ([]byte, error) {
		return nil, &wire.FormatError{Offset: int64(l.Offset), Path: path, Err: err}
	}
	if err := b.check(l, 0); err != nil {
		return fail(err)
	}
	stored := make([]byte, l.Size)
	if err := anchor.ReadBlob(b.R, stored, int64(l.Offset), b.MaxKeySize); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if link.Length == l.Size {
		return stored, nil
	}
	switch {
	case b.MaxEnvelope > 0 && link.Length > uint64(b.MaxEnvelope):
		return fail(wire.Unsupported("envelope of %d bytes, the limit is %d", link.Length, b.MaxEnvelope))
	case link.Length > math.MaxInt:
		return fail(wire.Corrupt("envelope of %d bytes", link.Length))
	}
	if err := compress.Check(stored, int64(link.Length)); err != nil {
		return fail(err)
	}
	plain := make([]byte, link.Length)
	if err := compress.Decompress(plain, stored); err != nil {
		return fail(err)
	}
	return plain, nil
}

// buffers lends the memory that stored pages are read into.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

func lend(n int64) *[]byte {
	p := buffers.Get().(*[]byte)
	if int64(cap(*p)) < n {
		*p = make([]byte, n)
	}
	*p = (*p)[:n]
	return p
}

// Mapped is a file in memory. Use calls use with n of its bytes, which are valid
// until use returns and may fail to be read, as mmap.File says.
type Mapped interface {
	Use(offset, n int64, use func([]byte) error) error
}

// Page reads the page of a column with format f, verifies it, decompresses it
// and hands it to use, which must not keep it. Errors of use count as errors of
// the page.
func (b *Blobs) Page(f column.Format, p envelope.Page, use func(page []byte) error) error {
	return b.page(f, p, !b.SkipChecksums, use)
}

func (b *Blobs) page(f column.Format, p envelope.Page, verify bool, use func(page []byte) error) error {
	n, err := b.extent(f, p)
	if err != nil {
		return err
	}
	open := func(stored []byte) error { return b.open(f, p, stored, verify, use) }
	if m, ok := b.R.(Mapped); ok && !b.chunked(n) {
		return m.Use(int64(p.Locator.Offset), n, open)
	}
	buffer := lend(n)
	defer buffers.Put(buffer)
	if err := anchor.ReadBlob(b.R, *buffer, int64(p.Locator.Offset), b.MaxKeySize); err != nil {
		return err
	}
	return open(*buffer)
}

// chunked reports whether a payload of n bytes is spread over several keys.
func (b *Blobs) chunked(n int64) bool { return b.MaxKeySize != 0 && uint64(n) > b.MaxKeySize }

// extent returns how many bytes a page takes in the file, with its checksum, and
// refuses pages that the file cannot hold or that are beyond the limit.
func (b *Blobs) extent(f column.Format, p envelope.Page) (int64, error) {
	more := uint64(0)
	switch {
	case p.HasChecksum:
		more = checksum.Size
	case p.HasCRC32:
		more = crc32.Size
	}
	if err := b.check(p.Locator, more); err != nil {
		return 0, pageError(p, err)
	}
	if size := f.PageSize(p.NumElements); size > b.MaxPage {
		return 0, pageError(p, wire.Unsupported("page of %d bytes, the limit is %d", size, b.MaxPage))
	}
	return int64(p.Locator.Size + more), nil
}

// open verifies, if that is wanted, and decompresses the bytes of a page, which
// its checksum follows, and hands them to use.
func (b *Blobs) open(f column.Format, p envelope.Page, stored []byte, verify bool, use func(page []byte) error) error {
	stored, sum := stored[:p.Locator.Size], stored[p.Locator.Size:]
	if p.HasChecksum && verify {
		if err := checksum.Verify(binary.LittleEndian.Uint64(sum), stored); err != nil {
			return pageError(p, err)
		}
	}
	size := f.PageSize(p.NumElements)
	if int64(len(stored)) != size {
		if err := compress.Check(stored, size); err != nil {
			return pageError(p, err)
		}
		plain := lend(size)
		defer buffers.Put(plain)
		if err := compress.Decompress(*plain, stored); err != nil {
			return pageError(p, err)
		}
		stored = *plain
	}
	if p.HasCRC32 && verify {
		if want, got := binary.LittleEndian.Uint32(sum), crc32.ChecksumIEEE(stored); want != got {
			return pageError(p, wire.Mismatch(uint64(want), uint64(got)))
		}
	}
	if err := use(stored); err != nil {
		return pageError(p, err)
	}
	return nil
}

func pageError(p envelope.Page, err error) error {
	return &wire.FormatError{Offset: int64(p.Locator.Offset), Path: "page", Err: err}
}
