package rootfile

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/disk/reflink"
)

// NextBlob returns the offset that the payload of the next blob will have.
func (w *Writer) NextBlob() int64 { return w.end + int64(blobKey().Size()) }

// blobKey returns the key of a blob; ROOT always gives it the big form.
func blobKey() *Key {
	return &Key{Version: KeyVersion + BigVersion, SeekPdir: begin, Class: BlobClassName}
}

// End returns the length in bytes that the file has so far, with what is not committed.
func (w *Writer) End() int64 { return w.end }

// SetCompression sets how the streamer infos are compressed, as Options.Compression does.
func (w *Writer) SetCompression(s compress.Settings) { w.opts.Compression = s }

// BlockSize returns the size of the blocks that the file can clone from others, or
// 0 if there are none.
func (w *Writer) BlockSize() int64 {
	switch t := w.w.(type) {
	case *os.File:
		return reflink.BlockSize(t)
	case interface{ Disk() *os.File }:
		return reflink.BlockSize(t.Disk())
	}
	return 0
}

// Clone shares the n bytes of src at the offset from as those at the offset to,
// which is beyond everything that has been written; see reflink.Clone. They stay
// wherever BlobFrom then writes nothing.
func (w *Writer) Clone(to int64, src *os.File, from, n int64) error {
	if to < w.end {
		return errors.ErrUnsupported
	}
	if err := w.unchanged(nil); err != nil {
		return w.fail(err)
	}
	switch t := w.w.(type) {
	case *os.File:
		return reflink.Clone(t, to, src, from, n)
	case interface {
		Clone(to int64, src *os.File, from, n int64) error
	}:
		return t.Clone(to, src, from, n)
	}
	return errors.ErrUnsupported
}

// BlobFrom is like Blob, for n bytes that fill writes, at offsets from 0 on and in
// any order. Bytes that fill does not write are those that are cloned, or
// zeros. An error of fill is sticky, because the file then has a hole.
func (w *Writer) BlobFrom(n int64, fill func(io.WriterAt) error) (offset int64, err error) {
	if w.err != nil {
		return 0, w.err
	}
	w.changed = true
	k := *blobKey()
	w.place(&k, w.end)
	k.Datime = w.now()
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
		err = fill(&body{guarded{w}, offset, n})
	}
	if err != nil {
		return 0, w.fail(fmt.Errorf("%s at offset %#x: %w", k.Class, k.SeekKey, err))
	}
	w.startAt(offset + n)
	return offset, nil
}

// body is the n bytes of a file at the offset at.
type body struct {
	file  io.WriterAt
	at, n int64
}

func (b *body) WriteAt(p []byte, off int64) (int, error) {
	if off < 0 || off > b.n-int64(len(p)) {
		return 0, fmt.Errorf("%d bytes at offset %d of %d", len(p), off, b.n)
	}
	return b.file.WriteAt(p, b.at+off)
}
