package compress

import (
	"bytes"
	"encoding/binary"
	"hash/adler32"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"

	"github.com/go-rntuple/go-rntuple/internal/wire"
)

// A deflate match yields at most 258 bytes and takes at least 2 bits, one for
// the length code and one for the distance code.
const deflateMaxRatio = 258 * 8 / 2

// decodeZlib decodes ZL: a zlib stream (RFC 1950), which is 2 bytes of header,
// raw deflate, and the Adler-32 of the data, big-endian.
func decodeZlib(dst, src []byte) error {
	if len(src) < 6 {
		return wire.Corrupt("zlib stream of %d bytes", len(src))
	}
	head := binary.BigEndian.Uint16(src)
	if head%31 != 0 || head>>8&0xF != 8 {
		return wire.Corrupt("zlib header %#04x", head)
	}
	if head&0x20 != 0 {
		return wire.Unsupported("zlib preset dictionary")
	}
	body, tail := src[2:len(src)-4], src[len(src)-4:]
	if err := decodeDeflate(dst, body); err != nil {
		return err
	}
	if stored, sum := binary.BigEndian.Uint32(tail), adler32.Checksum(dst); stored != sum {
		return wire.Mismatch(uint64(stored), uint64(sum))
	}
	return nil
}

func encodeZlib(dst, src []byte, level int) ([]byte, error) {
	// The second byte repeats the level class as zlib itself does; 31 divides the two.
	flags := [...]byte{1: 0x01, 2: 0x5E, 3: 0x5E, 4: 0x5E, 5: 0x5E, 6: 0x9C, 7: 0xDA, 8: 0xDA, 9: 0xDA}
	dst, err := encodeDeflate(append(dst, 0x78, flags[level]), src, level)
	return binary.BigEndian.AppendUint32(dst, adler32.Checksum(src)), err
}

// An inflater keeps a flate reader together with its input, so that neither is
// allocated again.
type inflater struct {
	in   bytes.Reader
	out  io.ReadCloser
	more [1]byte
}

var inflaters = sync.Pool{New: func() any {
	f := new(inflater)
	f.out = flate.NewReader(&f.in)
	return f
}}

// decodeDeflate decodes CS: raw deflate (RFC 1951).
func decodeDeflate(dst, src []byte) error {
	f := inflaters.Get().(*inflater)
	defer inflaters.Put(f)
	defer f.in.Reset(nil) // do not keep the input alive
	f.in.Reset(src)
	if err := f.out.(flate.Resetter).Reset(&f.in, nil); err != nil {
		return wire.Corrupt("deflate: %v", err)
	}
	if n, err := io.ReadFull(f.out, dst); err != nil {
		return wire.Corrupt("deflate: %v after %d of %d bytes", err, n, len(dst))
	}
	// The end mark must follow; flate reads no byte beyond it.
	if n, err := f.out.Read(f.more[:]); n != 0 || err != io.EOF {
		return wire.Corrupt("deflate: no end after %d bytes", len(dst))
	}
	if n := f.in.Len(); n > 0 {
		return wire.Corrupt("deflate: %d bytes behind the end", n)
	}
	return nil
}

// A deflater keeps a flate writer of one level together with its output.
type deflater struct {
	buf []byte
	out *flate.Writer
}

func (d *deflater) Write(p []byte) (int, error) {
	d.buf = append(d.buf, p...)
	return len(p), nil
}

var deflaters [10]sync.Pool // by level

func encodeDeflate(dst, src []byte, level int) ([]byte, error) {
	d, _ := deflaters[level].Get().(*deflater)
	if d == nil {
		d = new(deflater)
		var err error
		if d.out, err = flate.NewWriter(d, level); err != nil {
			return dst, err
		}
	}
	defer deflaters[level].Put(d)
	d.buf = dst
	d.out.Reset(d)
	_, err := d.out.Write(src)
	if err == nil {
		err = d.out.Close()
	}
	dst, d.buf = d.buf, nil
	return dst, err
}
