package rootfile

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/go-rntuple/go-rntuple/internal/reflink"
)

// NextBlob returns the offset that the payload of the next blob will have.
func (w *Writer) NextBlob() int64 { return w.end + int64(blobKey().Size()) }

// blobKey returns the key of a blob; ROOT gives them the big form anywhere.
func blobKey() *Key {
	return &Key{Version: KeyVersion + BigVersion, SeekPdir: begin, Class: BlobClassName}
}

// BlockSize returns the size of the blocks that the file can clone from others, 0
// if it can none.
func (w *Writer) BlockSize() int64 {
	if disk, ok := w.w.(*os.File); ok {
		return reflink.BlockSize(disk)
	}
	return 0
}

// Clone makes n bytes at the offset to, which is behind all that has been written,
// those that src has at the offset from; see reflink.Clone. They remain where BlobFrom
// writes nothing.
func (w *Writer) Clone(to int64, src *os.File, from, n int64) error {
	disk, ok := w.w.(*os.File)
	if !ok || to < w.end {
		return errors.ErrUnsupported
	}
	return reflink.Clone(disk, to, src, from, n)
}

// BlobFrom appends n bytes that fill writes, at offsets from 0 on and in any order,
// as Blob does it with those at hand. Where fill writes nothing the bytes are those
// that are cloned, or zeros. An error of fill stays: the file has a hole then.
func (w *Writer) BlobFrom(n int64, fill func(io.WriterAt) error) (offset int64, err error) {
	if w.err != nil {
		return 0, w.err
	}
	k := *blobKey()
	w.place(&k)
	size := int64(k.KeyLen) + n
	if n < 0 || size > math.MaxInt32 {
		return 0, fmt.Errorf("%s: %d bytes do not fit a key", k.Class, n)
	}
	k.NBytes, k.ObjLen = int32(size), uint32(n)
	head, err := encoded(&k)
	if err != nil {
		return 0, err
	}
	offset = k.SeekKey + int64(k.KeyLen)
	if _, err = w.tail.Write(head); err == nil {
		err = w.tail.Flush()
	}
	if err == nil {
		err = fill(&body{w.w, offset, n})
	}
	if err != nil {
		return 0, w.fail(fmt.Errorf("%s at offset %#x: %w", k.Class, k.SeekKey, err))
	}
	w.startAt(offset + n)
	w.changed = true
	return offset, nil
}

// body is n bytes of a file, from the offset at on.
type body struct {
	file  io.WriterAt
	at, n int64
}

func (b *body) WriteAt(p []byte, off int64) (int, error) {
	if off < 0 || off > b.n-int64(len(p)) {
		return 0, fmt.Errorf("%d bytes at %d of %d", len(p), off, b.n)
	}
	return b.file.WriteAt(p, b.at+off)
}
