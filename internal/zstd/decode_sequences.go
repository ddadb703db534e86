package zstd

import (
	"encoding/binary"

	"github.com/go-rntuple/go-rntuple/internal/wire"
)

const (
	maxLiteralLengthLog = 9
	maxOffsetLog        = 8
	maxMatchLengthLog   = 9

	// margin is how far the fast loops read and write beyond what they need.
	margin = 32
	// batchSize is how many sequences are decoded before they are carried out.
	batchSize = 256
)

// A sequence copies some literals and then a match: bytes that were written
// offset bytes before.
type sequence struct{ literals, match, offset uint32 }

// A part is one of the three numbers of sequences.
type part struct {
	table    *fseTable // in use, nil if there is none
	own      fseTable
	codes    []entry // value and extra bits by code
	maxLog   uint8
	standard *fseTable
}

// sequenceTables has what is needed to decode the sequences of blocks.
type sequenceTables struct {
	literals, offset, match part
	dist                    distribution
}

func (t *sequenceTables) reset() {
	if t.literals.codes == nil {
		t.literals = part{codes: literalCodes[:], maxLog: maxLiteralLengthLog, standard: &standardLiterals}
		t.offset = part{codes: offsetCodes[:], maxLog: maxOffsetLog, standard: &standardOffset}
		t.match = part{codes: matchCodes[:], maxLog: maxMatchLengthLog, standard: &standardMatch}
	}
	t.literals.table, t.offset.table, t.match.table = nil, nil, nil
}

// Codes of lengths and offsets with the number of their extra bits.
var (
	literalCodes = lengthCodes[[36]entry](0, 16,
		1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
	matchCodes = lengthCodes[[53]entry](3, 32,
		1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
	offsetCodes = func() (codes [32]entry) {
		for i := range codes {
			codes[i] = newEntry(1<<i, uint8(i))
		}
		return codes
	}()
)

// lengthCodes makes codes of the lengths from first on: plain ones without
// extra bits, then ranges with these.
func lengthCodes[A [36]entry | [53]entry](first, plain int, extra ...uint8) (codes A) {
	value := first
	for i := range len(codes) {
		n := uint8(0)
		if i >= plain {
			n = extra[i-plain]
		}
		codes[i] = newEntry(uint32(value), n)
		value += 1 << n
	}
	return codes
}

// The tables that are used when a block has none, section 3.1.1.3.2.2.
var (
	standardLiterals = standard(6, literalCodes[:], []int16{
		4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1})
	standardMatch = standard(6, matchCodes[:], []int16{
		1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1})
	standardOffset = standard(5, offsetCodes[:], []int16{
		1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1})
)

func standard(log uint8, codes []entry, probs []int16) (t fseTable) {
	d := distribution{n: len(probs), log: log}
	copy(d.probs[:], probs)
	t.build(&d, codes)
	return t
}

// parseCount reads the number of sequences at the front of b and returns how
// many bytes it has.
func parseCount(b []byte) (count, n int, err error) {
	switch {
	case len(b) >= 1 && b[0] < 128:
		return int(b[0]), 1, nil
	case len(b) >= 2 && b[0] < 255:
		return int(b[0]-128)<<8 | int(b[1]), 2, nil
	case len(b) >= 3:
		return int(binary.LittleEndian.Uint16(b[1:])) + 0x7F00, 3, nil
	}
	return 0, 0, errTruncated()
}

// parse selects the table of a part, or reads it from the front of b, as mode
// says, and returns how many bytes it has there.
func (t *sequenceTables) parse(c *part, mode uint8, b []byte) (int, error) {
	const standard, run, fse = 0, 1, 2
	switch mode {
	case standard:
		c.table = c.standard
		return 0, nil
	case run:
		if len(b) == 0 {
			return 0, errTruncated()
		}
		if int(b[0]) >= len(c.codes) {
			return 0, wire.Corrupt("zstd: code %d of a sequence", b[0])
		}
		c.own.log, c.own.entries[0] = 0, c.codes[b[0]]
		c.table = &c.own
		return 1, nil
	case fse:
		n, err := t.dist.parse(b, len(c.codes), c.maxLog)
		if err != nil {
			return 0, err
		}
		c.own.build(&t.dist, c.codes)
		c.table = &c.own
		return n, nil
	default:
		if c.table == nil {
			return 0, wire.Corrupt("zstd: sequences without a table")
		}
		return 0, nil
	}
}

// decodeSequences decodes the rest of a compressed block: count sequences that
// are in src[p:end]. The block must not go beyond dst[:limit]; lits has margin
// more bytes than there are literals.
func (d *decoder) decodeSequences(count, p, end, limit int, lits []byte) error {
	if p >= end {
		return errTruncated()
	}
	modes := d.src[p]
	p++
	if modes&3 != 0 {
		return wire.Corrupt("zstd: reserved modes of sequences")
	}
	t := &d.sequences
	for i, part := range [3]*part{&t.literals, &t.offset, &t.match} {
		n, err := t.parse(part, modes>>(6-2*i)&3, d.src[p:end])
		if err != nil {
			return err
		}
		p += n
	}
	pos, err := streamEnd(d.src, p, end)
	if err != nil {
		return err
	}
	r := sequenceReader{pos: pos, start: 8 * p, repeats: d.repeats}
	if !r.begin(d.src, t) {
		return errTruncated()
	}
	x := executor{dst: d.dst, out: d.out, limit: limit, lits: lits, litsEnd: len(lits) - margin}
	for count > 0 {
		batch := d.batch[:min(count, batchSize)]
		count -= len(batch)
		if !r.read(d.src, batch, count == 0) {
			return wire.Corrupt("zstd: stream of sequences")
		}
		if !x.run(batch) {
			return wire.Corrupt("zstd: sequence out of bounds")
		}
	}
	rest := lits[x.lit:x.litsEnd]
	if limit-x.out < len(rest) {
		return errTooLong()
	}
	d.out = x.out + copy(d.dst[x.out:], rest)
	d.repeats = r.repeats
	return nil
}

// sequenceReader reads sequences from the bits of src from start to pos.
type sequenceReader struct {
	pos, start int
	l, o, m    *entry // the states of literals, offset and match
	lt, ot, mt *[1 << maxTableLog]entry
	repeats    [3]uint32
}

// begin reads the first states.
func (r *sequenceReader) begin(src []byte, t *sequenceTables) bool {
	r.lt, r.ot, r.mt = &t.literals.table.entries, &t.offset.table.entries, &t.match.table.entries
	r.l = &r.lt[r.bits(src, t.literals.table.log)]
	r.o = &r.ot[r.bits(src, t.offset.table.log)]
	r.m = &r.mt[r.bits(src, t.match.table.log)]
	return r.pos >= r.start
}

// read fills batch and reports whether the stream has as much. It must end
// with the last sequence.
func (r *sequenceReader) read(src []byte, batch []sequence, last bool) bool {
	n := len(batch)
	if last {
		n--
	}
	for i := 0; i < n; i++ {
		if i += r.readFast(src, batch[i:n]); i == n {
			break
		}
		if !r.next(src, &batch[i]) || !r.advance(src) {
			return false
		}
	}
	return !last || r.next(src, &batch[n]) && r.pos == r.start
}

// next reads the numbers of a sequence.
func (r *sequenceReader) next(src []byte, s *sequence) bool {
	offset := r.o.value() + uint32(r.bits(src, r.o.extraBits()))
	s.match = r.m.value() + uint32(r.bits(src, r.m.extraBits()))
	s.literals = r.l.value() + uint32(r.bits(src, r.l.extraBits()))
	s.offset = resolve(&r.repeats, offset, s.literals)
	return r.pos >= r.start
}

// advance reads the next states.
func (r *sequenceReader) advance(src []byte) bool {
	r.l = &r.lt[(r.l.next()+r.bits(src, r.l.stateBits()))&tableMask]
	r.m = &r.mt[(r.m.next()+r.bits(src, r.m.stateBits()))&tableMask]
	r.o = &r.ot[(r.o.next()+r.bits(src, r.o.stateBits()))&tableMask]
	return r.pos >= r.start
}

// bits reads up to 57 bits.
func (r *sequenceReader) bits(src []byte, n uint8) uint64 {
	if r.pos -= int(n); r.pos < r.start {
		return 0 // the caller will see it
	}
	return top(window(src, r.pos+int(n)), n)
}

// resolve returns the offset that v stands for, and keeps the last three. Zero,
// which no sequence can have, comes of bad input.
func resolve(repeats *[3]uint32, v, literals uint32) uint32 {
	if v > 3 {
		repeats[2], repeats[1], repeats[0] = repeats[1], repeats[0], v-3
		return v - 3
	}
	if literals == 0 {
		v++
	}
	offset := repeats[0]
	switch v {
	case 1:
		return offset
	case 2:
		offset = repeats[1]
	case 3:
		offset = repeats[2]
		repeats[2] = repeats[1]
	default:
		offset--
		repeats[2] = repeats[1]
	}
	repeats[1], repeats[0] = repeats[0], offset
	return offset
}

// readFastGo reads sequences and the states behind them until one needs more
// bits than a window or the stream has. It returns how many it read.
func (r *sequenceReader) readFastGo(src []byte, batch []sequence) int {
	pos, lp, op, mp := r.pos, r.l, r.o, r.m
	repeats := r.repeats
	n := 0
	for n < len(batch) {
		l, o, m := *lp, *op, *mp
		below := pos - int(l.extraBits()+o.extraBits()+m.extraBits()+l.stateBits()+o.stateBits()+m.stateBits())
		if below < r.start || pos-below > windowBits {
			break
		}
		w := window(src, pos)
		pos = below
		s := &batch[n]
		n++
		s.offset = o.value() + uint32(top(w, o.extraBits()))
		w <<= o.extraBits() & 63
		s.match = m.value() + uint32(top(w, m.extraBits()))
		w <<= m.extraBits() & 63
		s.literals = l.value() + uint32(top(w, l.extraBits()))
		w <<= l.extraBits() & 63
		if s.offset > 3 {
			s.offset -= 3
			repeats[2], repeats[1], repeats[0] = repeats[1], repeats[0], s.offset
		} else {
			s.offset = resolve(&repeats, s.offset, s.literals)
		}
		bits := l.stateBits()
		lp = &r.lt[(l.next()+top(w, bits))&tableMask]
		w <<= bits & 63
		bits = m.stateBits()
		mp = &r.mt[(m.next()+top(w, bits))&tableMask]
		w <<= bits & 63
		op = &r.ot[(o.next()+top(w, o.stateBits()))&tableMask]
	}
	r.pos, r.l, r.o, r.m, r.repeats = pos, lp, op, mp, repeats
	return n
}
