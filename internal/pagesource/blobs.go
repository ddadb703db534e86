package pagesource

import (
	"context"
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
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/remote/objects"
)

// Blobs reads the blocks of bytes that locators point to.
type Blobs struct {
	R          io.ReaderAt // if it is an objects.Source, locators must have been placed
	Size       int64       // of the file, in bytes
	MaxKeySize uint64      // of the anchor

	SkipChecksums bool  // of pages; envelopes are always verified
	MaxPage       int64 // limit for a page, uncompressed, in bytes
	MaxEnvelope   int64 // limit for an envelope, and for all page lists together, uncompressed, in bytes; 0: none

	ahead *fetch // nil, or what fetches pages for Exactly; see Source.Expect
}

// check returns an error if the file cannot hold a block at l with the given
// number of bytes more behind it. It is called before memory for the block is
// allocated.
func (b *Blobs) check(l locator.Locator, more uint64) error {
	if err := l.InFile(); err != nil {
		return err
	}
	if size := uint64(b.Size); l.Offset > size || l.Size > size || l.Size+more > size {
		return frame.Corrupt("%d bytes from offset %d on, the file has %d", l.Size+more, l.Offset, b.Size)
	}
	return nil
}

// Far reports whether the file is far away.
func (b *Blobs) Far() bool {
	_, ok := b.R.(remote.RangeReader)
	return ok
}

// InObjects reports whether the blocks are objects, rather than parts of a file.
func (b *Blobs) InObjects() bool {
	_, ok := b.R.(objects.Source)
	return ok
}

// Envelope reads an envelope and decompresses it. The path names it in errors.
func (b *Blobs) Envelope(ctx context.Context, path string, link locator.Link) ([]byte, error) {
	l := link.Locator
	fail := func(err error) ([]byte, error) {
		return nil, &frame.FormatError{Offset: int64(l.Offset), Path: path, Err: err}
	}
	if err := b.check(l, 0); err != nil {
		return fail(err)
	}
	if err := b.confirm(ctx, l); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	stored := make([]byte, l.Size)
	if err := anchor.ReadBlob(remote.WithContext(ctx, b.R), stored, int64(l.Offset), b.MaxKeySize); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if link.Length == l.Size {
		return stored, nil
	}
	switch {
	case b.MaxEnvelope > 0 && link.Length > uint64(b.MaxEnvelope):
		return fail(tooLong("envelope", link.Length, b.MaxEnvelope))
	case link.Length > math.MaxInt:
		return fail(frame.Corrupt("envelope of %d bytes", link.Length))
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

// tooLong returns the error for metadata of need bytes.
func tooLong(what string, need uint64, have int64) error {
	return &frame.LimitError{Limit: "EnvelopeBytes", What: what, Need: int64(min(need, math.MaxInt64)), Have: have}
}

// tooLarge returns the error for a page of need bytes.
func tooLarge(need, have int64) error {
	return &frame.LimitError{Limit: "PageBytes", What: "page", Need: need, Have: have}
}

// buffers holds memory that pages are read and decompressed into. Tests replace it to see what
// comes back.
var buffers interface {
	Get() any
	Put(any)
} = &sync.Pool{New: func() any { return new([]byte) }}

func lend(n int64) *[]byte {
	p := buffers.Get().(*[]byte)
	if int64(cap(*p)) < n {
		*p = make([]byte, n)
	}
	*p = (*p)[:n]
	return p
}

// Mapped is implemented by a file of which the first Len bytes are mapped into memory.
// Use calls use with n of them, which are valid until use returns. Reading them may
// fail, as mmap.File explains.
type Mapped interface {
	Len() int64
	Use(offset, n int64, use func([]byte) error) error
}

// Page reads a page of a column with format f, verifies it, decompresses it and
// passes it to use, which must not keep it. An error of use is reported as one of
// the page.
func (b *Blobs) Page(ctx context.Context, f column.Format, p envelope.Page, use func(page []byte) error) error {
	return b.page(ctx, f, p, !b.SkipChecksums, nil, use)
}

func (b *Blobs) page(ctx context.Context, f column.Format, p envelope.Page, verify bool, into []byte,
	use func(page []byte) error) error {
	n, err := b.StoredSize(f, p)
	if err != nil {
		return err
	}
	open := func(stored []byte) error { return open(f, p, stored, verify, into, use) }
	if m := b.mapped(int64(p.Locator.Offset), n); m != nil && !b.Chunked(n) {
		return m.Use(int64(p.Locator.Offset), n, open)
	}
	buffer := lend(n)
	defer buffers.Put(buffer)
	if err := b.read(ctx, *buffer, p); err != nil {
		return err
	}
	return open(*buffer)
}

// read fills stored, of StoredSize bytes, with a page as it is stored.
func (b *Blobs) read(ctx context.Context, stored []byte, p envelope.Page) error {
	return anchor.ReadBlob(b.Exactly(ctx), stored, int64(p.Locator.Offset), b.MaxKeySize)
}

// Exactly returns a reader of the file for pages. That of a file that is far away reads just what
// it is asked for, unlike R, by which metadata are read.
func (b *Blobs) Exactly(ctx context.Context) io.ReaderAt {
	if far, ok := b.R.(remote.RangeReader); ok {
		return pieces{ctx, far, b.ahead}
	}
	return b.R
}

type pieces struct {
	ctx context.Context
	remote.RangeReader
	ahead *fetch
}

func (p pieces) ReadAt(b []byte, offset int64) (n int, err error) {
	for n < len(b) {
		if taken, err := p.ahead.take(p.ctx, b[n:], offset+int64(n)); err != nil {
			return n, err
		} else if taken > 0 {
			n += taken
			continue
		}
		more := b[n:][:p.ahead.until(offset+int64(n), int64(len(b)-n))]
		if err := p.ReadRanges(p.ctx, []remote.Range{{Offset: offset + int64(n), Data: more}}); err != nil {
			return n, err
		}
		n += len(more)
	}
	return n, nil
}

// mapped returns the map that holds the n bytes at an offset, or nil. A file may have
// grown since it was mapped.
func (b *Blobs) mapped(offset, n int64) Mapped {
	if m, ok := b.R.(Mapped); ok && offset <= m.Len()-n {
		return m
	}
	return nil
}

// StoredPage fills stored, of StoredSize bytes, with a page as it is stored and the
// checksum behind it, and verifies it.
func (b *Blobs) StoredPage(ctx context.Context, f column.Format, p envelope.Page, stored []byte) error {
	if err := b.read(ctx, stored, p); err != nil {
		return err
	}
	return b.Verify(f, p, stored)
}

// Verify verifies the bytes of a page, which its checksum follows. Without a
// checksum, and with SkipChecksums, it does nothing.
func (b *Blobs) Verify(f column.Format, p envelope.Page, stored []byte) error {
	switch {
	case b.SkipChecksums:
	case p.HasChecksum:
		return verifyStored(p, stored)
	case p.HasCRC32: // of the uncompressed page
		return open(f, p, stored, true, nil, func([]byte) error { return nil })
	}
	return nil
}

// inPlace reports whether a page lies in memory as it is before compression.
func (b *Blobs) inPlace(f column.Format, p envelope.Page) bool {
	n := int64(p.StoredSize())
	return int64(p.Locator.Size) == f.PageSize(p.NumElements) &&
		b.mapped(int64(p.Locator.Offset), n) != nil && !b.Chunked(n)
}

// Chunked reports whether a payload of n bytes is spread over several keys.
func (b *Blobs) Chunked(n int64) bool { return b.MaxKeySize != 0 && uint64(n) > b.MaxKeySize }

// StoredSize returns how many bytes a page takes in the file, with its checksum. It
// is an error if the file cannot hold them or if the page, uncompressed, is larger
// than MaxPage.
func (b *Blobs) StoredSize(f column.Format, p envelope.Page) (int64, error) {
	if err := b.check(p.Locator, p.ChecksumSize()); err != nil {
		return 0, pageError(p, err)
	}
	size := f.PageSize(p.NumElements)
	switch {
	case size > b.MaxPage:
		return 0, pageError(p, tooLarge(size, b.MaxPage))
	case p.Locator.Size > uint64(size) && b.InObjects(): // there is no file that would bound it
		return 0, pageError(p, frame.Corrupt("takes %d bytes, more than its %d uncompressed", p.Locator.Size, size))
	}
	return int64(p.StoredSize()), nil
}

// open verifies, if asked to, and decompresses a page, which its checksum follows,
// into the memory that is given or some other, and passes it to use.
func open(f column.Format, p envelope.Page, stored []byte, verify bool, into []byte,
	use func(page []byte) error) error {
	if p.HasChecksum && verify {
		if err := verifyStored(p, stored); err != nil {
			return err
		}
	}
	page, sum := stored[:p.Locator.Size], stored[p.Locator.Size:]
	size := f.PageSize(p.NumElements)
	if int64(len(page)) != size {
		if err := compress.Check(page, size); err != nil {
			return pageError(p, err)
		}
		if into == nil {
			plain := lend(size)
			defer buffers.Put(plain)
			into = *plain
		}
		if err := compress.Decompress(into, page); err != nil {
			return pageError(p, err)
		}
		page = into
	}
	if p.HasCRC32 && verify {
		if want, got := binary.LittleEndian.Uint32(sum), crc32.ChecksumIEEE(page); want != got {
			return pageError(p, frame.BadChecksum(uint64(want), uint64(got)))
		}
	}
	if err := use(page); err != nil {
		return pageError(p, err)
	}
	return nil
}

// verifyStored verifies the XXH3 checksum that follows the bytes of a page.
func verifyStored(p envelope.Page, stored []byte) error {
	n := p.Locator.Size
	if err := checksum.Verify(binary.LittleEndian.Uint64(stored[n:]), stored[:n]); err != nil {
		return pageError(p, err)
	}
	return nil
}

func pageError(p envelope.Page, err error) error {
	return &frame.FormatError{Offset: int64(p.Locator.Offset), Path: "page", Err: err}
}
