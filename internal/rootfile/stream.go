package rootfile

import (
	"fmt"
	"io"
	"math"
)

// BlobFrom appends n bytes that fill writes, as Blob does it with those at hand.
// An error of fill stays: the file has a hole then.
func (w *Writer) BlobFrom(n int64, fill func(io.Writer) error) (offset int64, err error) {
	if w.err != nil {
		return 0, w.err
	}
	k := Key{Version: KeyVersion + BigVersion, SeekPdir: begin, Class: BlobClassName}
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
	body := &bounded{w: w.tail, left: n}
	if _, err = w.tail.Write(head); err == nil {
		err = fill(body)
	}
	if err == nil && body.left != 0 {
		err = fmt.Errorf("%d bytes are missing", body.left)
	}
	if err != nil {
		return 0, w.fail(fmt.Errorf("%s at offset %#x: %w", k.Class, k.SeekKey, err))
	}
	w.end += size
	w.changed = true
	return k.SeekKey + int64(k.KeyLen), nil
}

// bounded passes on so many bytes and no more.
type bounded struct {
	w    io.Writer
	left int64
}

func (b *bounded) Write(p []byte) (int, error) {
	if int64(len(p)) > b.left {
		return 0, fmt.Errorf("%d bytes where %d are left", len(p), b.left)
	}
	n, err := b.w.Write(p)
	b.left -= int64(n)
	return n, err
}
