package compress

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"hash/crc64"
	"math"

	"github.com/ulikunitz/xz"

	"github.com/go-rntuple/go-rntuple/frame"
)

// The densest symbol of LZMA is a repeated match of 273 bytes, in 14 binary
// decisions. The probability of a decision never exceeds 2017/2048, where its
// adaptation ends, so it costs at least 0.0220 bits: 273 bytes in 0.308 bits are
// 7090 to 1, and the rest of the stream only lowers the ratio.
const lzmaMaxRatio = 7100

const (
	xzMagic      = "\xFD7zXZ\x00"
	xzHeaderSize = 12 // magic, 2 bytes of flags, CRC-32 of these
	xzFooterSize = 12 // CRC-32 of what follows, index size, flags, "YZ"
	xzFilter     = 0x21
)

// An xzReader reads an .xz stream (The .xz File Format, version 1.2.1). After the
// first error, which is sticky, it returns zeros.
type xzReader struct {
	src []byte
	pos int
	err error
}

// fail records err, unless there is an error already.
func (r *xzReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// expect records that the stream is corrupt, unless ok.
func (r *xzReader) expect(ok bool, what string) {
	if !ok {
		r.fail(frame.Corrupt("xz: wrong %s", what))
	}
}

// bytes returns the next n bytes, or nil after an error.
func (r *xzReader) bytes(n int) []byte {
	if r.err == nil && (n < 0 || n > len(r.src)-r.pos) {
		r.fail(frame.Corrupt("xz: need %d bytes, have %d", n, len(r.src)-r.pos))
	}
	if r.err != nil {
		return nil
	}
	r.pos += n
	return r.src[r.pos-n : r.pos]
}

func (r *xzReader) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *xzReader) uint32() uint32 {
	if b := r.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// varint reads an integer of 7 bits a byte.
func (r *xzReader) varint() uint64 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.src[r.pos:])
	r.expect(n > 0 && v <= math.MaxInt64, "integer")
	r.pos += max(n, 0)
	return v
}

// zeros reads the padding that makes what starts at begin a multiple of 4 bytes.
func (r *xzReader) zeros(begin int) {
	for _, b := range r.bytes(-(r.pos - begin) & 3) {
		r.expect(b == 0, "padding")
	}
}

// crc reads the CRC-32 of all bytes from begin on and verifies it.
func (r *xzReader) crc(begin int) {
	sum := crc32.ChecksumIEEE(r.src[begin:r.pos])
	if stored := r.uint32(); r.err == nil && stored != sum {
		r.fail(frame.BadChecksum(uint64(stored), uint64(sum)))
	}
}

var crc64Table = crc64.MakeTable(crc64.ECMA)

// check reads the check of data, of the kind in the stream's flags, and verifies
// it. ROOT writes CRC-32 (1); the default of most other writers is CRC-64 (4).
func (r *xzReader) check(kind byte, data []byte) {
	var stored, sum uint64
	switch kind {
	case 0:
	case 1:
		stored, sum = uint64(r.uint32()), uint64(crc32.ChecksumIEEE(data))
	case 4:
		if b := r.bytes(8); b != nil {
			stored, sum = binary.LittleEndian.Uint64(b), crc64.Checksum(data, crc64Table)
		}
	default:
		r.fail(frame.Unsupported("xz check of type %d", kind))
	}
	if r.err == nil && stored != sum {
		r.fail(frame.BadChecksum(stored, sum))
	}
}

// decodeXZ decodes XZ: one complete .xz stream. The container is read here, even
// with the build tag stockcodecs, because the xz module allocates the dictionary
// that the stream asks for, 64 MiB for ROOT's level 9 and up to 4 GiB, for a
// block of any size.
func decodeXZ(dst, src []byte) error {
	r := xzReader{src: src}
	r.expect(string(r.bytes(len(xzMagic))) == xzMagic, "magic")
	flags := uint16(r.byte())<<8 | uint16(r.byte())
	r.crc(len(xzMagic))
	if r.err == nil && flags > 0xF {
		return frame.Unsupported("xz stream flags %#04x", flags)
	}
	done := 0
	var blocks, unpadded uint64
	for r.err == nil && r.pos < len(src) && src[r.pos] != 0 {
		n, size := r.block(dst[done:], byte(flags))
		done += n
		blocks++
		unpadded += uint64(size)
	}
	r.expect(done == len(dst), "length")
	r.index(blocks, unpadded, uint64(done), flags)
	r.expect(r.pos == len(src), "end of stream")
	return r.err
}

// block decodes a block into dst. It returns the number of bytes decoded, and the
// block's size without padding.
func (r *xzReader) block(dst []byte, check byte) (n, size int) {
	begin := r.pos
	end := begin + 4*int(r.src[begin])
	if end+4 > len(r.src) {
		r.fail(frame.Corrupt("xz: block header too long"))
		return 0, 0
	}
	h := xzReader{src: r.src[:end], pos: begin + 1, err: r.err}
	flags := h.byte()
	csize, usize := int64(-1), int64(-1)
	if flags&0x40 != 0 {
		csize = int64(h.varint())
	}
	if flags&0x80 != 0 {
		usize = int64(h.varint())
	}
	filter, properties, dict := h.varint(), h.varint(), h.byte()
	if h.err == nil && (flags&0x3F != 0 || filter != xzFilter) {
		h.fail(frame.Unsupported("xz filter %#x, block flags %#x", filter, flags))
	}
	// A dictionary as large as dst is enough, so the announced size only has to
	// be legal.
	h.expect(properties == 1 && dict <= 40, "LZMA2 properties")
	for _, b := range h.bytes(end - h.pos) {
		h.expect(b == 0, "header padding")
	}
	r.pos = end
	r.crc(begin)
	r.fail(h.err)
	if r.err != nil {
		return 0, 0
	}
	n, used, err := decodeLZMA2(dst, r.src[r.pos:])
	if err != nil {
		r.fail(frame.Corrupt("LZMA2: %v", err))
		return 0, 0
	}
	r.expect(csize < 0 || csize == int64(used), "compressed size")
	r.expect(usize < 0 || usize == int64(n), "uncompressed size")
	data := r.pos
	r.pos += used
	size = r.pos - begin
	r.zeros(data)
	pos := r.pos
	r.check(check, dst[:n])
	return n, size + r.pos - pos
}

// index reads the index and the footer, which repeat the sizes of the blocks and
// the flags. It compares the sums of the sizes; the CRC covers the rest.
func (r *xzReader) index(blocks, unpadded, uncompressed uint64, flags uint16) {
	begin := r.pos
	r.expect(r.byte() == 0, "index")
	r.expect(r.varint() == blocks, "number of blocks")
	for range blocks {
		unpadded -= r.varint()
		uncompressed -= r.varint()
	}
	r.expect(unpadded == 0 && uncompressed == 0, "sizes in the index")
	r.zeros(begin)
	r.crc(begin)
	size := r.pos - begin
	stored := r.uint32()
	begin = r.pos
	r.expect((int64(r.uint32())+1)*4 == int64(size), "index size")
	r.expect(uint16(r.byte())<<8|uint16(r.byte()) == flags, "flags in the footer")
	if r.err != nil {
		return
	}
	if sum := crc32.ChecksumIEEE(r.src[begin:r.pos]); stored != sum {
		r.fail(frame.BadChecksum(uint64(stored), uint64(sum)))
	}
	r.expect(string(r.bytes(2)) == "YZ", "end")
}

// xzDictionaries holds the dictionary sizes of presets 1 to 9 in MiB.
var xzDictionaries = [...]int{1: 1, 2: 2, 3: 4, 4: 4, 5: 8, 6: 8, 7: 16, 8: 32, 9: 64}

// encodeXZ writes one .xz stream with a CRC-32, as ROOT does. A level stands for
// the dictionary size of xz's preset only, limited to what src can use, because
// both writer and reader allocate it.
func encodeXZ(dst, src []byte, level int) ([]byte, error) {
	buf := bytes.NewBuffer(dst)
	w, err := xz.WriterConfig{
		CheckSum: xz.CRC32,
		DictCap:  max(4096, min(len(src), xzDictionaries[level]<<20)),
	}.NewWriter(buf)
	if err == nil {
		_, err = w.Write(src)
	}
	if err == nil {
		err = w.Close()
	}
	return buf.Bytes(), err
}
