package pages

import (
	"encoding/binary"
	"fmt"
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
	if link.Length > math.MaxInt {
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

func borrow(n int) *[]byte {
	p := buffers.Get().(*[]byte)
	if cap(*p) < n {
		*p = make([]byte, n)
	}
	*p = (*p)[:n]
	return p
}

// Page reads the page of a column with format f, verifies it, decompresses it
// and hands it to use, which must not keep it. Errors of use count as errors of
// the page.
func (b *Blobs) Page(f column.Format, p envelope.Page, use func(page []byte) error) error {
	l := p.Locator
	fail := func(err error) error { return &wire.FormatError{Offset: int64(l.Offset), Path: "page", Err: err} }
	var more uint64
	if p.HasChecksum {
		more = checksum.Size
	}
	if err := b.check(l, more); err != nil {
		return fail(err)
	}
	size := f.PageSize(p.NumElements)
	if size > b.MaxPage {
		return fail(wire.Unsupported("page of %d bytes, the limit is %d", size, b.MaxPage))
	}
	buffer := borrow(int(l.Size + more))
	defer buffers.Put(buffer)
	if err := anchor.ReadBlob(b.R, *buffer, int64(l.Offset), b.MaxKeySize); err != nil {
		return err
	}
	stored := (*buffer)[:l.Size]
	if p.HasChecksum && !b.SkipChecksums {
		if err := checksum.Verify(binary.LittleEndian.Uint64((*buffer)[l.Size:]), stored); err != nil {
			return fail(err)
		}
	}
	if int64(len(stored)) != size {
		if err := compress.Check(stored, size); err != nil {
			return fail(err)
		}
		plain := borrow(int(size))
		defer buffers.Put(plain)
		if err := compress.Decompress(*plain, stored); err != nil {
			return fail(err)
		}
		stored = *plain
	}
	if err := use(stored); err != nil {
		return fail(err)
	}
	return nil
}
