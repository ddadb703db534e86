package zstd

import (
	"cmp"
	"math/bits"
)

// An fseWriter encodes symbols with FSE (section 4.1), the asymmetric numeral
// system of zstd. A state is a number x in [size, 2*size); a symbol has as many
// states as its probability says.
type fseWriter struct {
	log     uint8 // size is 1<<log
	probs   [maxCodes]uint16
	symbols [maxCodes]fseSymbol
	states  [1 << maxTableLog]uint16 // those of the first symbol in ascending order, then those of the second, and so on
}

// maxCodes is the size of the largest alphabet that FSE is used for, the codes
// for match lengths (section 3.1.1.3.2.1.1).
const maxCodes = 53

// An fseSymbol leads from a state x to the state that the decoder has before it,
// which stands for the symbol. Shifted right by n bits, or by one less, x is a
// number in [p, 2p), where p is the probability of the symbol, and thereby
// selects one of the symbol's p states.
type fseSymbol struct {
	limit uint16 // states from here on are shifted by n bits, others by one less
	n     uint8
	first int16 // index of the symbol's first state, less p
}

// normalize makes probabilities from counts, whose sum is total. Each symbol that
// occurs gets at least 1 of the 1<<log.
func (w *fseWriter) normalize(counts []uint32, total int, log uint8) {
	w.log = log
	clear(w.probs[:])
	left := 1 << log
	for s, c := range counts {
		p := 0
		if c > 0 {
			p = max(1, (int(c)<<log+total/2)/total)
		}
		w.probs[s] = uint16(p)
		left -= p
	}
	// Compensate for rounding where it matters least: add to the symbol with the
	// fewest states for its count, or take from the one that keeps the most.
	for ; left != 0; left -= cmp.Compare(left, 0) {
		best, gone := -1, uint16(0)
		if left < 0 {
			gone = 1
		}
		for s, c := range counts {
			if w.probs[s] <= gone {
				continue
			}
			if best >= 0 {
				a, b := uint64(c)*uint64(w.probs[best]-gone), uint64(counts[best])*uint64(w.probs[s]-gone)
				if a == b || a > b == (left < 0) {
					continue
				}
			}
			best = s
		}
		w.probs[best] += uint16(cmp.Compare(left, 0))
	}
}

// build makes the table for the probabilities (section 4.1.1). The symbols from
// rare on have a probability "less than 1", which is 1 here and differs only in
// which states they get.
func (w *fseWriter) build(rare int) {
	d := distribution{n: maxCodes, log: w.log}
	for s, p := range w.probs {
		d.probs[s] = int16(p)
		if s >= rare && p > 0 {
			d.probs[s] = -1
		}
	}
	var owner [1 << maxTableLog]uint8
	d.spread(&owner)
	size := 1 << w.log
	var next [maxCodes]uint16
	sum := uint16(0)
	for s, p := range w.probs {
		if p == 0 {
			continue
		}
		n := w.log + 1 - uint8(bits.Len16(p))
		w.symbols[s] = fseSymbol{limit: p << n, n: n, first: int16(sum) - int16(p)}
		next[s] = sum
		sum += p
	}
	for x, s := range owner[:size] {
		w.states[next[s]] = uint16(size + x)
		next[s]++
	}
}

// one makes the table for a single symbol (RLE_Mode, section 3.1.1.3.2.1).
func (w *fseWriter) one(s int) {
	w.log = 0
	w.symbols[s] = fseSymbol{limit: 1, first: -1}
	w.states[0] = 1
}

// last returns a state of symbol s, which is the last one to be decoded.
func (w *fseWriter) last(s uint8) uint16 {
	y := w.symbols[s]
	return w.states[y.first+int16(y.limit>>y.n)]
}

// add adds the bits that lead decoders from the state of s to x, the state after
// it, and returns the state of s.
func (w *fseWriter) add(b *bitWriter, x uint16, s uint8) uint16 {
	y := w.symbols[s]
	n := y.n
	if x < y.limit {
		n--
	}
	b.add(uint64(x)&(1<<(n&15)-1), uint(n))
	return w.states[uint16(y.first+int16(x>>(n&15)))&(1<<maxTableLog-1)]
}

// first adds the initial state of the decoder.
func (w *fseWriter) first(b *bitWriter, x uint16) {
	b.add(uint64(x)&(1<<w.log-1), uint(w.log))
}

// cost returns the bits that symbols with these counts take, in units of log2,
// and reports whether all of them have a probability.
func (w *fseWriter) cost(counts []uint32) (sum uint64, ok bool) {
	for s, c := range counts {
		if c > 0 {
			p := w.probs[s]
			if p == 0 {
				return 0, false
			}
			sum += uint64(c) * uint64(uint32(w.log)*one-log2(uint32(p)))
		}
	}
	return sum, true
}

// append appends the FSE table description (section 4.1.1), in which no
// probability is "less than 1". See distribution.parse.
func (w *fseWriter) append(dst []byte) []byte {
	var buf [maxCodes*2 + 8]byte
	b := bitWriter{buf: buf[:]}
	b.add(uint64(w.log-5), 4)
	for s, left := 0, 1<<w.log+1; left > 1; {
		p := int(w.probs[s])
		v, width := p+1, uint(bits.Len(uint(left)))
		few := 1<<width - 1 - left
		switch {
		case v < few:
			width--
		case v >= 1<<(width-1):
			v += few
		}
		b.add(uint64(v), width)
		left -= p
		s++
		for more := p == 0; more; b.flush() {
			zeros := 0
			for zeros < 3 && w.probs[s] == 0 {
				zeros++
				s++
			}
			b.add(uint64(zeros), 2)
			more = zeros == 3
		}
		b.flush()
	}
	return append(dst, buf[:b.end()]...)
}
