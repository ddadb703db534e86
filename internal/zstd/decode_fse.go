package zstd

import (
	"encoding/binary"
	"math/bits"

	"github.com/go-rntuple/go-rntuple/internal/wire"
)

// A bit stream is read from its end. Its position is that of the bit behind the
// next one, counted from the start of src: all that is below it is unread. A
// stream ends well when the position is that of its start.

// streamEnd returns the position of the stream in src[p:end]: its last byte has
// a 1 above the bits of the stream.
func streamEnd(src []byte, p, end int) (pos int, err error) {
	if p >= end || src[end-1] == 0 {
		return 0, wire.Corrupt("zstd: bit stream without an end")
	}
	return 8*end - 9 + bits.Len8(src[end-1]), nil
}

// windowBits is how many bits of a window are valid.
const windowBits = 57

// window returns the bits of src below pos, the next one on top. They need not
// all be of the stream: as a frame has more than eight bytes in front of its
// first stream, every position in a stream has eight bytes of src below it. Who
// goes below the start of a stream must not ask for another window.
func window(src []byte, pos int) uint64 {
	i := uint(pos+7) >> 3
	return binary.LittleEndian.Uint64(src[i-8:i]) << (uint(-pos) & 7)
}

// top returns the upper n bits of w; n is less than 64.
func top(w uint64, n uint8) uint64 { return w >> 1 >> (^n & 63) }

const maxSymbols = 64 // of all distributions of zstd; a power of two

// A distribution has the probabilities of symbols in FSE: multiples of 1<<-log,
// and -1 for less than one multiple.
type distribution struct {
	probs [maxSymbols]int16
	n     int // symbols
	log   uint8
}

// parse reads a distribution of at most maxN symbols with a log of at most
// maxLog from the front of b and returns its length.
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
		return 0, wire.Corrupt("zstd: FSE table of %d bits, at most %d are allowed", d.log, maxLog)
	}
	for left := int32(1)<<d.log + 1; left > 1; {
		if d.n >= maxN {
			return 0, wire.Corrupt("zstd: FSE table of more than %d symbols", maxN)
		}
		// A value of 0 to left takes all bits of left, or one less if it is
		// one of the first few.
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
		for more := v == 0; more; {
			zeros := int(peek() & 3)
			p += 2
			if d.n+zeros > maxN {
				return 0, wire.Corrupt("zstd: FSE table of more than %d symbols", maxN)
			}
			clear(d.probs[d.n : d.n+zeros])
			d.n += zeros
			more = zeros == 3
		}
		if left < 1 || p > 8*len(b) {
			return 0, wire.Corrupt("zstd: FSE table")
		}
	}
	return (p + 7) >> 3, nil
}

const (
	maxTableLog = 9 // of all distributions of zstd
	tableMask   = 1<<maxTableLog - 1
)

// An entry is a state of FSE, with what its symbol means:
//
//	bits  0-31  the value, to which the extra bits are added
//	bits 32-39  how many bits the next state has
//	bits 40-47  how many extra bits the value has
//	bits 48-63  the next state, to which its bits are added
type entry uint64

func (e entry) value() uint32    { return uint32(e) }
func (e entry) stateBits() uint8 { return uint8(e >> 32) }
func (e entry) extraBits() uint8 { return uint8(e >> 40) }
func (e entry) next() uint64     { return uint64(e >> 48) }

// newEntry is for symbols: it has no state.
func newEntry(value uint32, extraBits uint8) entry { return entry(extraBits)<<40 | entry(value) }

// An fseTable has 1<<log states.
type fseTable struct {
	entries [1 << maxTableLog]entry
	log     uint8
}

// build makes the states of d, whose symbols mean what codes says.
func (t *fseTable) build(d *distribution, codes []entry) {
	t.log = d.log
	var symbols [1 << maxTableLog]uint8
	d.spread(&symbols)
	// The p states of a symbol have the numbers from p to 2p-1. The next state
	// has as many bits as bring the number to the size or more; less the size,
	// it begins there.
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
			e -= size<<48 + 1<<32 // a power of two: one bit less
			next.step >>= 1
		}
		next.entry = e
	}
}

// spread assigns the symbols to the 1<<log states: those of the lowest
// probability to the last ones, the others at a fixed distance, over and over.
func (d *distribution) spread(symbols *[1 << maxTableLog]uint8) {
	var row [1<<maxTableLog + 8]uint8 // the others, one after the other
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
