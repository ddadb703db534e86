package zstd

import (
	"encoding/binary"

	"github.com/go-rntuple/go-rntuple/frame"
)

const (
	// The largest logs of the distributions, section 3.1.1.3.2.1.
	maxLiteralLengthLog = 9
	maxOffsetLog        = 8
	maxMatchLengthLog   = 9

	// margin is how many bytes the fast loops may read and write in excess.
	margin = 32
	// batchSize is how many sequences are decoded before they are executed.
	batchSize = 256
)

// A sequence copies that many literals and then a match: match bytes that are
// found offset bytes before.
type sequence struct{ literals, match, offset uint32 }

// A part decodes one of the three numbers of sequences.
type part struct {
	table    *fseTable // in use; nil if there is none yet
	own      fseTable  // of a block
	codes    []entry   // baseline and extra bits of each code
	maxLog   uint8
	standard *fseTable // Predefined_Mode
}

// sequenceTables decode the sequences of a frame's blocks.
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

// The codes for lengths and offsets (section 3.1.1.3.2.1.1). The baselines of the
// offset codes are Offset_Value, which resolve turns into an offset.
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

// lengthCodes makes the codes for the lengths from first on: one for each length
// up to the code plain, then one for each range of extra bits.
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

// The default distributions in sections 3.1.1.3.2.2.1 to 3.1.1.3.2.2.3, and the tables of
// Predefined_Mode, made of them.
var (
	literalProbs = []int16{
		4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1}
	matchProbs = []int16{
		1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1}
	offsetProbs = []int16{
		1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1}

	standardLiterals = standard(6, literalCodes[:], literalProbs)
	standardMatch    = standard(6, matchCodes[:], matchProbs)
	standardOffset   = standard(5, offsetCodes[:], offsetProbs)
)

func standard(log uint8, codes []entry, probs []int16) (t fseTable) {
	d := distribution{n: len(probs), log: log}
	copy(d.probs[:], probs)
	t.build(&d, codes)
	return t
}

// parseCount parses Number_of_Sequences at the front of b (section 3.1.1.3.2.1)
// and returns how many bytes it takes.
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

// parse selects the table of a part, or parses it at the front of b, as mode
// says. It returns how many bytes the table takes in b.
func (t *sequenceTables) parse(c *part, mode uint8, b []byte) (int, error) {
	const standard, run, fse = 0, 1, 2 // and Repeat_Mode, section 3.1.1.3.2.1
	switch mode {
	case standard:
		c.table = c.standard
		return 0, nil
	case run:
		if len(b) == 0 {
			return 0, errTruncated()
		}
		if int(b[0]) >= len(c.codes) {
			return 0, frame.Corrupt("zstd: code %d of a sequence", b[0])
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
			return 0, frame.Corrupt("zstd: sequences without a table")
		}
		return 0, nil
	}
}

// decodeSequences decodes and executes the rest of a sequences section (section
// 3.1.1.3.2): count sequences in src[p:end]. The block must not go beyond
// dst[:limit]. lits has margin more bytes than there are literals.
func (d *decoder) decodeSequences(count, p, end, limit int, lits []byte) error {
	if p >= end {
		return errTruncated()
	}
	modes := d.src[p] // Symbol_Compression_Modes
	p++
	if modes&3 != 0 {
		return frame.Corrupt("zstd: reserved modes of sequences")
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
			return frame.Corrupt("zstd: stream of sequences")
		}
		if !x.run(batch) {
			return frame.Corrupt("zstd: sequence out of bounds")
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

// A sequenceReader decodes sequences from the bits of src from start to pos
// (section 3.1.1.3.2.1.2).
type sequenceReader struct {
	pos, start int
	l, o, m    *entry // the states of literals length, offset and match length
	lt, ot, mt *[1 << maxTableLog]entry
	repeats    [3]uint32
}

// begin reads the initial states. It reports whether the stream has them.
func (r *sequenceReader) begin(src []byte, t *sequenceTables) bool {
	r.lt, r.ot, r.mt = &t.literals.table.entries, &t.offset.table.entries, &t.match.table.entries
	r.l = &r.lt[r.bits(src, t.literals.table.log)]
	r.o = &r.ot[r.bits(src, t.offset.table.log)]
	r.m = &r.mt[r.bits(src, t.match.table.log)]
	return r.pos >= r.start
}

// read fills batch and reports whether the stream holds that many sequences. If
// they are the last ones, the stream must end with them.
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

// next reads the numbers of a sequence: offset, match length, literals length.
func (r *sequenceReader) next(src []byte, s *sequence) bool {
	offset := r.o.value() + uint32(r.bits(src, r.o.extraBits()))
	s.match = r.m.value() + uint32(r.bits(src, r.m.extraBits()))
	s.literals = r.l.value() + uint32(r.bits(src, r.l.extraBits()))
	s.offset = resolve(&r.repeats, offset, s.literals)
	return r.pos >= r.start
}

// advance updates the states: literals length, match length, offset.
func (r *sequenceReader) advance(src []byte) bool {
	r.l = &r.lt[(r.l.next()+r.bits(src, r.l.stateBits()))&tableMask]
	r.m = &r.mt[(r.m.next()+r.bits(src, r.m.stateBits()))&tableMask]
	r.o = &r.ot[(r.o.next()+r.bits(src, r.o.stateBits()))&tableMask]
	return r.pos >= r.start
}

// bits reads up to windowBits bits.
func (r *sequenceReader) bits(src []byte, n uint8) uint64 {
	if r.pos -= int(n); r.pos < r.start {
		return 0 // callers check pos
	}
	return top(window(src, r.pos+int(n)), n)
}

// resolve returns the offset for the Offset_Value v and updates the repeat
// offsets (section 3.1.1.5). Bad input may give 0, which is no valid offset.
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

// readFastGo reads sequences, each with the states for the next one, until one
// needs more bits than a window or the stream has. It returns how many it read.
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
