package zstd

import "encoding/binary"

// A bitWriter writes bits, the lowest first. Decoders read a bitstream backwards
// (section 4.1): what they need first is written last.
type bitWriter struct {
	buf []byte // has room for the bits and 8 more bytes
	pos int    // number of whole bytes written
	acc uint64 // n bits that are not written yet
	n   uint
}

// add adds the n bits of v. At most 56 bits fit between two flushes.
func (b *bitWriter) add(v uint64, n uint) {
	b.acc |= v << (b.n & 63)
	b.n += n
}

func (b *bitWriter) flush() {
	binary.LittleEndian.PutUint64(b.buf[b.pos:], b.acc)
	b.pos += int(b.n >> 3)
	b.acc >>= b.n & 56
	b.n &= 7
}

// end flushes all bits, padding the last byte, and returns the number of bytes.
func (b *bitWriter) end() int {
	b.flush()
	if b.n > 0 {
		b.pos++
	}
	return b.pos
}

// endStream ends a bitstream: a 1 marks where decoders begin to read.
func (b *bitWriter) endStream() int {
	b.add(1, 1)
	return b.end()
}
