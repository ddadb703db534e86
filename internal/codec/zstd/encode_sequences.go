package zstd

import (
	"math/bits"
	"slices"
)

const minMatch = 3

// A step is a sequence as it is stored: the length of the literals, that of the
// match, and the Offset_Value (section 3.1.1.5), which is a repeat offset from 1
// to 3, or the distance plus 3.
type step struct{ literals, match, offset uint32 }

// A code stands for the numbers that differ only in their lowest bits, the extra
// bits (section 3.1.1.3.2.1.1).
type code struct{ code, extraBits uint8 }

// The codes for short lengths; those of matches are indexed by the length less
// minMatch.
var (
	shortLiterals = [64]code(shortCodes(64, literalCodes[:]))
	shortMatches  = [128]code(shortCodes(128, matchCodes[:]))
)

// shortCodes returns the codes of the first n numbers, given the entries of all codes.
func shortCodes(n int, entries []entry) (table []code) {
	for i := 0; len(table) < n; i++ {
		c := code{uint8(i), entries[i].extraBits()}
		table = append(table, slices.Repeat([]code{c}, 1<<c.extraBits)...)
	}
	return table[:n]
}

func literalsCode(n uint32) code {
	if n < uint32(len(shortLiterals)) {
		return shortLiterals[n]
	}
	b := uint8(bits.Len32(n) - 1)
	return code{b + 19, b}
}

func lengthCode(length uint32) code {
	n := length - minMatch
	if n < uint32(len(shortMatches)) {
		return shortMatches[n]
	}
	b := uint8(bits.Len32(n) - 1)
	return code{b + 36, b}
}

func offsetCode(n uint32) code {
	b := uint8(bits.Len32(n) - 1)
	return code{b, b}
}

// A codeWriter encodes the codes of one of the three numbers of sequences.
type codeWriter struct {
	counts   [maxCodes]uint32
	own      fseWriter
	standard *fseWriter
	maxLog   uint8

	use  *fseWriter
	mode byte
}

// choose selects the mode that takes the fewest bits for the n codes that are
// counted (section 3.1.1.3.2.1), and appends its table, if it has one.
func (w *codeWriter) choose(dst []byte, n int) []byte {
	const modeStandard, modeOne, modeOwn = 0, 1, 2 // Predefined_Mode, RLE_Mode, FSE_Compressed_Mode
	w.use, w.mode = w.standard, modeStandard
	cost, ok := w.standard.cost(w.counts[:])
	if !ok {
		cost = 1 << 62
	}
	kinds, last := 0, 0
	for s, c := range w.counts {
		if c > 0 {
			kinds++
			last = s
		}
	}
	if kinds == 1 {
		if cost > 8*one {
			w.own.one(last)
			w.use, w.mode = &w.own, modeOne
			dst = append(dst, byte(last))
		}
		return dst
	}
	log := min(max(bits.Len(uint(n-1))-2, bits.Len(uint(kinds-1)), 5), int(w.maxLog))
	w.own.normalize(w.counts[:], n, uint8(log))
	out := w.own.append(dst)
	own, _ := w.own.cost(w.counts[:])
	if own+uint64(len(out)-len(dst))*8*one >= cost {
		return dst
	}
	w.own.build(maxCodes)
	w.use, w.mode = &w.own, modeOwn
	return out
}

// A sequencesWriter writes sequences sections (section 3.1.1.3.2).
type sequencesWriter struct {
	literals, offset, match codeWriter
	buf                     []byte
}

func (w *sequencesWriter) init() {
	w.literals.standard, w.literals.maxLog = &codedLiterals, 9
	w.offset.standard, w.offset.maxLog = &codedOffsets, 8
	w.match.standard, w.match.maxLog = &codedMatches, 9
}

// The tables of the default distributions, sections 3.1.1.3.2.2.1 to
// 3.1.1.3.2.2.3.
var (
	codedLiterals = standardWriter(6, literalProbs)
	codedOffsets  = standardWriter(5, offsetProbs)
	codedMatches  = standardWriter(6, matchProbs)
)

// standardWriter makes the table of a default distribution.
func standardWriter(log uint8, probs []int16) (w fseWriter) {
	w.log = log
	for s, p := range probs {
		w.probs[s] = uint16(max(p, -p))
	}
	w.build(slices.Index(probs, -1))
	return w
}

// count counts the codes of the sequences and returns the number of their extra
// bits.
func (w *sequencesWriter) count(sequences []step) (extraBits int) {
	clear(w.literals.counts[:])
	clear(w.offset.counts[:])
	clear(w.match.counts[:])
	for _, s := range sequences {
		l, o, m := literalsCode(s.literals), offsetCode(s.offset), lengthCode(s.match)
		w.literals.counts[l.code]++
		w.offset.counts[o.code]++
		w.match.counts[m.code]++
		extraBits += int(l.extraBits + o.extraBits + m.extraBits)
	}
	return extraBits
}

// append appends a sequences section (section 3.1.1.3.2): Number_of_Sequences,
// the modes, the tables and the bitstream.
func (w *sequencesWriter) append(dst []byte, sequences []step) []byte {
	n := len(sequences)
	switch {
	case n < 0x80:
		dst = append(dst, byte(n))
	case n < 0x7f00:
		dst = append(dst, byte(n>>8+0x80), byte(n))
	default:
		dst = append(dst, 0xff, byte(n-0x7f00), byte((n-0x7f00)>>8))
	}
	if n == 0 {
		return dst
	}
	w.count(sequences)
	modes := len(dst)
	dst = append(dst, 0)
	dst = w.literals.choose(dst, n)
	dst = w.offset.choose(dst, n)
	dst = w.match.choose(dst, n)
	dst[modes] = w.literals.mode<<6 | w.offset.mode<<4 | w.match.mode<<2

	const most = 9 + 8 + 9 + 16 + 30 + 16 // bits of a sequence: states and extra bits
	if need := n*most/8 + 16; len(w.buf) < need {
		w.buf = make([]byte, need)
	}
	return append(dst, w.buf[:w.encode(w.buf, sequences)]...)
}

// encode writes the bitstream, last sequence first. Decoders read the initial
// states, the extra bits of the first sequence, the bits that lead to the states
// of the next one, and so on (section 3.1.1.3.2.1.2).
func (w *sequencesWriter) encode(dst []byte, sequences []step) int {
	b := bitWriter{buf: dst}
	literals, offset, match := w.literals.use, w.offset.use, w.match.use
	var x, y, z uint16
	for i := len(sequences) - 1; i >= 0; i-- {
		s := sequences[i]
		l, o, m := literalsCode(s.literals), offsetCode(s.offset), lengthCode(s.match)
		if i == len(sequences)-1 {
			x, y, z = literals.last(l.code), offset.last(o.code), match.last(m.code)
		} else {
			y = offset.add(&b, y, o.code)
			z = match.add(&b, z, m.code)
			x = literals.add(&b, x, l.code)
		}
		b.flush()
		b.add(uint64(s.literals)&(1<<l.extraBits-1), uint(l.extraBits))
		b.add(uint64(s.match-minMatch)&(1<<m.extraBits-1), uint(m.extraBits))
		b.flush()
		b.add(uint64(s.offset)&(1<<o.extraBits-1), uint(o.extraBits))
		b.flush()
	}
	match.first(&b, z)
	offset.first(&b, y)
	literals.first(&b, x)
	return b.endStream()
}

// estimate returns about how many bytes the sequences take, without their tables.
func (w *sequencesWriter) estimate(sequences []step) int {
	sum := uint64(w.count(sequences)) * one
	for _, c := range []*codeWriter{&w.literals, &w.offset, &w.match} {
		var h histogram
		copy(h[:], c.counts[:])
		bits, _ := h.entropy(len(sequences))
		sum += bits
	}
	return int(sum / (8 * one))
}
