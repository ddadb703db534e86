package compress

import (
	"compress/flate"
	"encoding/binary"
	"sync"

	"github.com/go-rntuple/go-rntuple/frame"
)

// A match yields at most 258 bytes and takes at least 2 bits, one for the length
// code and one for the distance code (RFC 1951, section 3.2.5).
const deflateMaxRatio = 258 * 8 / 2

// decodeZlib decodes ZL: a zlib stream (RFC 1950, section 2.2), which is 2 bytes
// of header, a DEFLATE stream, and the Adler-32 of the data, big-endian.
func decodeZlib(dst, src []byte) error {
	if len(src) < 6 {
		return frame.Corrupt("zlib stream of %d bytes", len(src))
	}
	head := binary.BigEndian.Uint16(src)
	if head%31 != 0 || head>>8&0xF != 8 {
		return frame.Corrupt("zlib header %#04x", head)
	}
	if head&0x20 != 0 {
		return frame.Unsupported("zlib preset dictionary")
	}
	body, tail := src[2:len(src)-4], src[len(src)-4:]
	if err := decodeDeflate(dst, body); err != nil {
		return err
	}
	if stored, sum := binary.BigEndian.Uint32(tail), adler32Sum(dst); stored != sum {
		return frame.BadChecksum(uint64(stored), uint64(sum))
	}
	return nil
}

func encodeZlib(dst, src []byte, level int) ([]byte, error) {
	// As zlib does, the second byte states the class of the level, FLEVEL, and
	// makes the two bytes a multiple of 31.
	flags := [...]byte{1: 0x01, 2: 0x5E, 3: 0x5E, 4: 0x5E, 5: 0x5E, 6: 0x9C, 7: 0xDA, 8: 0xDA, 9: 0xDA}
	dst, err := encodeDeflate(append(dst, 0x78, flags[level]), src, level)
	return binary.BigEndian.AppendUint32(dst, adler32Sum(src)), err
}

// decodeDeflate decodes CS: raw deflate (RFC 1951).
func decodeDeflate(dst, src []byte) error {
	n, err := inflateAll(dst, src)
	if err != nil {
		return frame.Corrupt("deflate: %v", err)
	}
	if n < len(src) {
		return frame.Corrupt("deflate: %d bytes after the end", len(src)-n)
	}
	return nil
}

// A deflater is a flate writer of one level with its output. The writer is the
// standard library's because its output is as small as zlib's; that of the
// klauspost module is 4 to 5 % larger at levels up to 6.
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
