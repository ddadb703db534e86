package zstd

import (
	"encoding/binary"
	"math/bits"

	"github.com/go-rntuple/go-rntuple/frame"
)

// A bitstream of FSE or Huffman codes is read backwards (section 4.1). Its
// position counts the bits from the start of src up to where the next ones are
// read: those below the position are unread. A stream is complete if it ends
// with the position at its start.

// streamEnd returns the initial position in the stream src[p:end]. The highest 1
// of the last byte marks the end of the stream and is not part of it.
func streamEnd(src []byte, p, end int) (pos int, err error) {
	if p >= end || src[end-1] == 0 {
		return 0, frame.Corrupt("zstd: bit stream without an end")
	}
	return 8*end - 9 + bits.Len8(src[end-1]), nil
}

// windowBits is the number of valid bits in a window.
const windowBits = 57

// window returns the bits of src below pos, the next one on top. Some may lie
// before the start of the stream: a frame has more than eight bytes before its
// first stream, so every position in a stream has eight bytes of src below it.
// pos must not be below the start of the stream.
func window(src []byte, pos int) uint64 {
	i := uint(pos+7) >> 3
	return binary.LittleEndian.Uint64(src[i-8:i]) << (uint(-pos) & 7)
}

// top returns the upper n bits of w; n is less than 64.
func top(w uint64, n uint8) uint64 { return w >> 1 >> (^n & 63) }

const maxSymbols = 64 // bounds the symbols of all distributions; a power of two

// A distribution holds the probabilities of symbols in units of 1/(1<<log); -1
// stands for "less than 1" (section 4.1.1).
type distribution struct {
	probs [maxSymbols]int16
	n     int   // number of symbols
	log   uint8 // Accuracy_Log
}

// parse parses the FSE table description at the front of b (section 4.1.1), which
// may have at most maxN symbols and a log of at most maxLog, and returns its
// length.
func (d *distribution) parse(b []byte, maxN int, maxLog uint8) (int, error) {
	p := 0 // in bits
	peek := func() uint32 {
		var w [8]byte
		if p>>3 < len(b) {
			copy(w[:], b[p>>3:])
		}
		return uint32(binary.LittleEndian.Uint64(w[:]) >> (p & 7))
	}
	d.n, d.log = 0, uint8(peek()&15)+5
	p += 4
	if d.log > maxLog {
		return 0, frame.Corrupt("zstd: FSE table of %d bits, at most %d are allowed", d.log, maxLog)
	}
	for left := int32(1)<<d.log + 1; left > 1; {
		if d.n >= maxN {
			return 0, frame.Corrupt("zstd: FSE table of more than %d symbols", maxN)
		}
		// A value from 0 to left has as many bits as left, or one bit less if
		// it is one of the lowest few.
		width := bits.Len32(uint32(left))
		few := int32(1)<<width - 1 - left
		v := int32(peek())
		if short := v & (1<<(width-1) - 1); short < few {
			v = short
			p += width - 1
		} else {
			if v &= 1<<width - 1; v >= 1<<(width-1) {
				v -= few
			}
			p += width
		}
		v--
		d.probs[d.n] = int16(v)
		d.n++
		left -= max(v, -v)
		for more := v == 0; more; { // repeat flags: how many more symbols have probability 0
			zeros := int(peek() & 3)
			p += 2
			if d.n+zeros > maxN {
				return 0, frame.Corrupt("zstd: FSE table of more than %d symbols", maxN)
			}
			clear(d.probs[d.n : d.n+zeros])
			d.n += zeros
			more = zeros == 3
		}
		if left < 1 || p > 8*len(b) {
			return 0, frame.Corrupt("zstd: FSE table")
		}
	}
	return (p + 7) >> 3, nil
}

const (
	maxTableLog = 9 // the largest log of all distributions
	tableMask   = 1<<maxTableLog - 1
)

// An entry is a state of an FSE table, together with the value of its symbol:
//
//	bits  0-31  the value's baseline, to which the extra bits are added
//	bits 32-39  the number of bits to read for the next state
//	bits 40-47  the number of the value's extra bits
//	bits 48-63  the next state's baseline, to which its bits are added
type entry uint64

func (e entry) value() uint32    { return uint32(e) }
func (e entry) stateBits() uint8 { return uint8(e >> 32) }
func (e entry) extraBits() uint8 { return uint8(e >> 40) }
func (e entry) next() uint64     { return uint64(e >> 48) }

// newEntry returns the entry of a symbol, without a state.
func newEntry(value uint32, extraBits uint8) entry { return entry(extraBits)<<40 | entry(value) }

// An fseTable has 1<<log states.
type fseTable struct {
	entries [1 << maxTableLog]entry
	log     uint8
}

// build makes the table of d (section 4.1.1). codes holds the entries of the
// symbols.
func (t *fseTable) build(d *distribution, codes []entry) {
	t.log = d.log
	var symbols [1 << maxTableLog]uint8
	d.spread(&symbols)
	// Number the p states of a symbol p to 2p-1 in the order of the table. A
	// state with number x reads the n bits that bring x<<n into the range from
	// size to 2*size-1; its baseline is x<<n - size.
	var nexts [maxSymbols]struct{ entry, step entry }
	size := entry(1) << d.log
	for s, p := range d.probs[:d.n] {
		x := uint16(max(p, -p))
		n := d.log + 1 - uint8(bits.Len16(x))
		nexts[s].entry = codes[s] | entry(n)<<32 | (entry(x)<<n-size)<<48
		nexts[s].step = 1 << 48 << n
	}
	for i, s := range symbols[:size] {
		next := &nexts[s%maxSymbols]
		e := next.entry
		t.entries[i] = e
		if e += next.step; e>>48 == size {
			e -= size<<48 + 1<<32 // x is a power of two: from here on one bit less
			next.step >>= 1
		}
		next.entry = e
	}
}

// spread assigns the symbols to the 1<<log states (section 4.1.1): those of
// probability "less than 1" to the last states, the others in steps of a fixed
// distance around the rest of the table.
func (d *distribution) spread(symbols *[1 << maxTableLog]uint8) {
	var row [1<<maxTableLog + 8]uint8 // the others in order, each as often as it has states
	n, end := 0, 1<<d.log
	for s, p := range d.probs[:d.n] {
		if p < 0 {
			end--
			symbols[end&tableMask] = uint8(s)
			continue
		}
		for i := 0; i < int(p); i += 8 {
			binary.LittleEndian.PutUint64(row[n+i:], uint64(s)*0x0101010101010101)
		}
		n += int(p)
	}
	mask, step := 1<<d.log-1, 5<<d.log>>3+3
	if end > mask {
		for i, s := range row[:1<<d.log] {
			symbols[i*step&mask&tableMask] = s
		}
		return
	}
	at := 0
	for _, s := range row[:n] {
		symbols[at&tableMask] = s
		for at = (at + step) & mask; at >= end; {
			at = (at + step) & mask
		}
	}
}
