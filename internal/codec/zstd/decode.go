package zstd

import (
	"encoding/binary"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/go-rntuple/go-rntuple/frame"
)

const (
	frameMagic     = 0xFD2FB528 // section 3.1.1
	skippableMagic = 0x184D2A50 // and the 15 numbers after it, section 3.1.2
	maxBlockSize   = 128 << 10  // uncompressed bytes of a block, section 3.1.1.2.4
)

// A decoder is the state of one call of Decode. src is all that Decode was
// given; dst is the content of the frame being decoded and the room after it.
// Positions count from the starts of the two.
type decoder struct {
	src, dst []byte
	out      int // bytes of dst that are done
	blockMax int // limit of a block's size in this frame: Block_Maximum_Size, section 3.1.1.2.4

	huffman   huffmanTables
	sequences sequenceTables
	repeats   [3]uint32 // the last offsets, latest first; section 3.1.1.5

	literals [maxBlockSize + margin]byte
	batch    [batchSize]sequence
}

// useAsm reports whether there is assembly for this machine.
var useAsm bool

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// Decode decodes the frames in src, usually one, and verifies the checksums of
// those that have one. The frames must have len(dst) bytes of content in all.
// As dst serves as the window, no frame's window is too large, and matches may
// reach beyond a small one. dst and src must not overlap. After an error the
// content of dst is undefined.
//
// Errors wrap frame.ErrCorrupt, frame.ErrChecksum, or frame.ErrUnsupported for a
// frame that needs a dictionary.
func Decode(dst, src []byte) error {
	d := decoders.Get().(*decoder)
	d.src = src
	done, err := d.frames(dst)
	d.src, d.dst = nil, nil
	decoders.Put(d)
	if err == nil && done != len(dst) {
		err = frame.Corrupt("zstd: %d bytes, expected %d", done, len(dst))
	}
	return err
}

// frames decodes all frames (section 3.1) and returns the size of their content.
func (d *decoder) frames(dst []byte) (done int, err error) {
	for p := 0; p < len(d.src) && err == nil; {
		// A skippable frame: magic number, size, user data (section 3.1.2).
		if b := d.src[p:]; len(b) >= 8 && binary.LittleEndian.Uint32(b)&^15 == skippableMagic {
			n := binary.LittleEndian.Uint32(b[4:])
			if uint64(n) > uint64(len(b)-8) {
				return done, errTruncated()
			}
			p += 8 + int(n)
			continue
		}
		d.dst, d.out = dst[done:], 0
		p, err = d.frame(p)
		done += d.out
	}
	return done, err
}

func errTruncated() error { return frame.Corrupt("zstd: truncated") }

// frame decodes the Zstandard frame at p (section 3.1.1) and returns its end.
func (d *decoder) frame(p int) (int, error) {
	h, n, err := parseHeader(d.src[p:])
	if err != nil {
		return p, err
	}
	p += n
	if h.hasSize {
		if h.size > uint64(len(d.dst)) {
			return p, frame.Corrupt("zstd: frame of %d bytes, expected %d", h.size, len(d.dst))
		}
		d.dst = d.dst[:h.size]
	}
	d.blockMax = int(min(h.window, maxBlockSize))
	d.huffman.reset()
	d.sequences.reset()
	d.repeats = [3]uint32{1, 4, 8}
	for last := false; !last; {
		if last, p, err = d.block(p); err != nil {
			return p, err
		}
	}
	if h.hasSize && d.out != len(d.dst) {
		return p, frame.Corrupt("zstd: %d bytes, frame header says %d", d.out, h.size)
	}
	if h.hasSum {
		if len(d.src)-p < 4 {
			return p, errTruncated()
		}
		stored, sum := binary.LittleEndian.Uint32(d.src[p:]), uint32(xxhash.Sum64(d.dst[:d.out]))
		if stored != sum {
			return p, frame.BadChecksum(uint64(stored), uint64(sum))
		}
		p += 4
	}
	return p, nil
}

// A header is a Frame_Header (section 3.1.1.1).
type header struct {
	window          uint64 // Window_Size
	size            uint64 // Frame_Content_Size
	hasSize, hasSum bool
}

// parseHeader parses the magic number and the Frame_Header at the front of b and
// returns their length.
func parseHeader(b []byte) (h header, n int, err error) {
	if len(b) < 5 {
		return h, 0, errTruncated()
	}
	if magic := binary.LittleEndian.Uint32(b); magic != frameMagic {
		return h, 0, frame.Corrupt("zstd: magic number %#x", magic)
	}
	// Frame_Header_Descriptor (section 3.1.1.1.1). The Unused_Bit, 0x10, may
	// have any value.
	descriptor := b[4]
	single := descriptor&0x20 != 0
	h.hasSum = descriptor&4 != 0
	if descriptor&8 != 0 {
		return h, 0, frame.Corrupt("zstd: reserved bit in frame header")
	}
	windowBytes, dictBytes, sizeBytes := 1, [4]int{0, 1, 2, 4}[descriptor&3], [4]int{0, 2, 4, 8}[descriptor>>6]
	if single {
		windowBytes = 0
		sizeBytes = max(sizeBytes, 1)
	}
	n = 5
	next := func(size int) (v uint64) {
		for i, c := range b[n : n+size] {
			v |= uint64(c) << (8 * i)
		}
		n += size
		return v
	}
	if len(b) < n+windowBytes+dictBytes+sizeBytes {
		return h, 0, errTruncated()
	}
	w := next(windowBytes) // Window_Descriptor: mantissa and exponent (section 3.1.1.1.2)
	h.window = (8 + w&7) << (w>>3 + 7)
	if id := next(dictBytes); id != 0 {
		return h, 0, frame.Unsupported("zstd: dictionary %d", id)
	}
	h.size, h.hasSize = next(sizeBytes), sizeBytes > 0 // section 3.1.1.1.4
	if sizeBytes == 2 {
		h.size += 256
	}
	if single {
		h.window = max(h.size, 1<<10)
	}
	return h, n, nil
}

// block decodes the block at p (section 3.1.1.2). It returns the block's end and
// reports whether the block is the last one of the frame.
func (d *decoder) block(p int) (last bool, end int, err error) {
	if len(d.src)-p < 3 {
		return false, p, errTruncated()
	}
	h := int(uint24(d.src[p:]))
	p += 3
	last, size := h&1 != 0, h>>3
	if size > d.blockMax {
		return false, p, frame.Corrupt("zstd: block of %d bytes, at most %d are allowed", size, d.blockMax)
	}
	kind := h >> 1 & 3
	have := size // of Block_Content, section 3.1.1.2.3
	if kind == blockRun {
		have = 1
	}
	if len(d.src)-p < have {
		return false, p, errTruncated()
	}
	end = p + have
	if kind <= blockRun && len(d.dst)-d.out < size {
		return false, p, errTooLong()
	}
	switch kind {
	case blockRaw:
		d.out += copy(d.dst[d.out:], d.src[p:end])
	case blockRun:
		fill(d.dst[d.out:d.out+size], d.src[p])
		d.out += size
	case blockCompressed:
		err = d.compressed(p, end)
	default:
		err = frame.Corrupt("zstd: reserved block type")
	}
	return last, end, err
}

func errTooLong() error { return frame.Corrupt("zstd: more data than expected") }

// compressed decodes the Compressed_Block src[p:end] (section 3.1.1.3): a
// literals section and a sequences section.
func (d *decoder) compressed(p, end int) error {
	limit := min(len(d.dst), d.out+d.blockMax)
	s, err := parseLiterals(d.src[p:end])
	if err != nil {
		return err
	}
	if s.size > d.blockMax {
		return frame.Corrupt("zstd: %d literals in a block of at most %d bytes", s.size, d.blockMax)
	}
	p += s.header
	q := p + s.stored // start of the sequences section
	count, n, err := parseCount(d.src[q:end])
	if err != nil {
		return err
	}
	if count == 0 {
		if q+n != end {
			return frame.Corrupt("zstd: %d bytes after the literals", end-q-n)
		}
		if limit-d.out < s.size {
			return errTooLong()
		}
		lits := d.dst[d.out : d.out+s.size]
		if s.kind == literalsRaw {
			copy(lits, d.src[p:q])
		} else if err := d.decodeLiterals(lits, s, p, q); err != nil {
			return err
		}
		d.out += s.size
		return nil
	}
	// Literals are copied sixteen bytes at a time, which reads beyond their end.
	lits := d.literals[:s.size+margin]
	if s.kind == literalsRaw && q+margin <= len(d.src) {
		lits = d.src[p : q+margin]
	} else if err := d.decodeLiterals(lits[:s.size], s, p, q); err != nil {
		return err
	}
	return d.decodeSequences(count, q+n, end, limit, lits)
}

// fill sets all of dst to v.
func fill[T uint8 | uint16](dst []T, v T) {
	if v == 0 {
		clear(dst)
		return
	}
	n := min(len(dst), 16)
	for i := range dst[:n] {
		dst[i] = v
	}
	for n < len(dst) {
		n += copy(dst[n:], dst[:min(n, 4<<10)])
	}
}

func uint24(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 }
