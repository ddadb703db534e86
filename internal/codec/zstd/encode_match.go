package zstd

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Sizes of the tables of a matcher.
const (
	hashLog  = 16
	chainLog = 16
)

// bit is one bit in the units of prices.
const bit = 16

const (
	// The approximate prices of a match, of one at a recent distance, and of a
	// run if all matches are runs.
	matchPrice  = 11 * bit // plus the bits of its distance
	recentPrice = 9 * bit
	runPrice    = 5 * bit

	minGain  = bit // of a match
	lazyGain = bit // of a match that begins later over the one found first
	minBits  = 20  // of the literals that a match replaces, unless its distance is recent
	minRun   = 5
)

// A matcher finds repetitions in a page: the sequences of its blocks (section
// 3.1.1.4).
//
// head has the latest position for each hash of a few bytes. chain has for each
// of the last positions the one before with the same hash. The tables store
// positions plus base plus one; values up to base stem from earlier pages and
// mean that there is no position.
type matcher struct {
	head  [1 << hashLog]uint32
	chain [1 << chainLog]uint32
	base  uint32
	known int // positions from here on are not in the tables yet

	effort
	src    []byte
	recent [3]uint32 // distances, the latest first: the repeat offsets, section 3.1.1.5
	padded [shortPage + 8]byte

	// Of the current block:
	prices    [256]uint16 // of literals
	least     int         // shortest match worth a distance that is not recent
	shift     uint        // shifts the bytes out that are not hashed
	dominated bool        // most bytes are the same

	literals  []byte
	sequences []step
	gain      int // what the sequences save
}

// shortPage is the size up to which pages are padded, as their last bytes matter.
const shortPage = 1 << 10

func (m *matcher) begin(src []byte, how effort) {
	m.effort, m.src, m.known = how, src, 0
	m.recent = [3]uint32{1, 4, 8}
	if len(src) <= shortPage {
		// Eight bytes are read at once. Make room for that.
		n := copy(m.padded[:], src)
		m.src = m.padded[:n+8]
		clear(m.src[n:])
	}
}

// end prepares the tables for another page.
func (m *matcher) end() {
	m.base += uint32(len(m.src))
	if m.base > 1<<31 {
		m.base = 0
		clear(m.head[:])
		clear(m.chain[:])
	}
	m.src = nil
}

// price sets the prices of n literals with the counts h, and returns about how
// many bytes they take together.
func (m *matcher) price(h *histogram, n int) int {
	// If more than half of the bytes are equal, their code still takes a bit,
	// and the others share the other half of the codes.
	most, all, more := slices.Max(h[:]), uint32(n), uint32(0)
	if most > all/2 {
		all, more = all-most, one
	}
	whole, sum, kinds := log2(all)+more, uint64(0), 0
	for i, c := range h {
		p := uint32(maxCodeLen * one)
		switch {
		case c == most && more > 0:
			p = one
		case c > 0:
			p = min(whole-log2(c), p)
		}
		if c > 0 {
			kinds++
			sum += uint64(c) * uint64(p)
		}
		m.prices[i] = uint16(p / (one / bit))
	}
	size := int(sum/(8*one)) + kinds/2 + 8
	mean := float64(sum) / float64(n) / one
	if size >= n {
		size, mean = n, 8 // not worth a code
		for i := range m.prices {
			m.prices[i] = 8 * bit
		}
	}
	m.dominated = most > uint32(n)/4*3
	m.least = max(4, int(minBits/mean)+1)
	m.shift = uint(64 - 8*min(m.least, 8))
	return size
}

// insert adds position i to the tables. It returns the position before with the
// same hash, as the tables store it.
func (m *matcher) insert(i int) uint32 {
	const prime = 0x9E3779B97F4A7C15
	h := binary.LittleEndian.Uint64(m.src[i:]) << (m.shift & 63) * prime >> (64 - hashLog)
	p := m.head[h]
	m.head[h] = m.base + uint32(i) + 1
	m.chain[i&(1<<chainLog-1)] = p
	m.known = i + 1
	return p
}

// common returns how many bytes from i on, up to end, equal those from j on; j is
// less than i.
func (m *matcher) common(j, i, end int) int {
	src, n := m.src[:end], 0
	for i+n+8 <= len(src) {
		if x := binary.LittleEndian.Uint64(src[i+n:]) ^ binary.LittleEndian.Uint64(src[j+n:]); x != 0 {
			return n + bits.TrailingZeros64(x)>>3
		}
		n += 8
	}
	for i+n < len(src) && src[i+n] == src[j+n] {
		n++
	}
	return n
}

// A found is a match and what it saves.
type found struct{ length, distance, gain int }

// worth returns the price of length literals from i on.
func (m *matcher) worth(i, length int) (sum int) {
	const enough = 64
	for _, b := range m.src[i : i+min(length, enough)] {
		sum += int(m.prices[b])
	}
	if length > enough {
		sum = sum * length / enough
	}
	return sum
}

// best returns the best match at i that ends by end. The literals before it begin
// at anchor.
func (m *matcher) best(i, anchor, end int) (best found) {
	src, recent := m.src, m.recent
	if i == anchor {
		recent = [3]uint32{recent[1], recent[2], recent[0] - 1} // without literals, section 3.1.1.5
	}
	first := binary.LittleEndian.Uint32(src[i:])
	for _, d := range recent {
		j := i - int(d)
		if d == 0 || j < 0 || (binary.LittleEndian.Uint32(src[j:])^first)<<8 != 0 {
			continue
		}
		if n := m.common(j, i, end); n >= minMatch && n > best.length {
			best.length, best.distance = n, int(d)
		}
	}
	if best.length > 0 {
		best.gain = m.worth(i, best.length) - recentPrice
	}

	p := m.chain[i&(1<<chainLog-1)]
	if i >= m.known {
		p = m.insert(i)
	}
	length, distance := max(m.least-1, best.length), 0
	for range m.depth {
		if p <= m.base || i+length >= end {
			break
		}
		j := int(p - m.base - 1)
		if binary.LittleEndian.Uint32(src[j+length-3:]) == binary.LittleEndian.Uint32(src[i+length-3:]) {
			if n := m.common(j, i, end); n > length {
				length, distance = n, i-j
			}
		}
		before := m.chain[j&(1<<chainLog-1)]
		if before >= p || i-j >= 1<<chainLog {
			break // a later position has overwritten the element
		}
		p = before
	}
	if distance > 0 {
		price := matchPrice + int(log2(uint32(distance))/(one/bit))
		if gain := m.worth(i, length) - price; gain > best.gain {
			best = found{length, distance, gain}
		}
	}
	return best
}

// find finds matches in src[from:to].
func (m *matcher) find(from, to int) {
	m.sequences, m.literals, m.gain = m.sequences[:0], m.literals[:0], 0
	anchor := from
	end := min(to, len(m.src)-8) // where to stop looking
	plane, missed := from, 0
	for i := from; i < end; {
		if i >= plane { // it may be quite unlike the one before
			plane += len(m.src)/eighths + 1
			missed = 0
		}
		f := m.best(i, anchor, to)
		if f.gain <= minGain {
			step := 1 + missed>>m.hurry
			missed += step
			i += step
			continue
		}
		for range m.lazy {
			if i+1 >= end {
				break
			}
			g := m.best(i+1, anchor, to)
			if g.gain <= f.gain+lazyGain {
				break
			}
			f = g
			i++
		}
		for i > anchor && i > f.distance && m.src[i-1] == m.src[i-1-f.distance] {
			i--
			f.length++
		}
		missed = max(0, missed-f.gain)
		m.gain += f.gain
		m.add(anchor, i, f)
		anchor = i + f.length
		m.insertAll(max(i+1, m.known), min(anchor, end))
		i = anchor
	}
	m.literals = append(m.literals, m.src[anchor:to]...)
}

// insertAll adds positions to the tables, of many only the first and the last.
func (m *matcher) insertAll(from, to int) {
	const some = 8
	for i := from; i < to; i++ {
		if i == from+some {
			i = max(i, to-some)
		}
		m.insert(i)
	}
}

// findRuns finds runs of equal bytes in src[from:to]: a literal and a match at
// distance 1, which must be the latest distance.
func (m *matcher) findRuns(from, to int) {
	m.sequences, m.literals, m.gain = m.sequences[:0], m.literals[:0], 0
	src, anchor := m.src[:to], from
	for i := from + 1; i+4 <= to; {
		v := binary.LittleEndian.Uint32(src[i:])
		if differ := v ^ (v<<8 | uint32(src[i-1])); differ != 0 {
			// No run begins before the last byte that differs from its
			// predecessor.
			i += (bits.Len32(differ)-1)>>3 + 1
			continue
		}
		n := m.common(i-1, i, to)
		if n >= minRun {
			m.gain += m.worth(i, n) - runPrice
			m.add(anchor, i, found{length: n, distance: 1})
			anchor = i + n
		}
		i += n + 1
	}
	m.literals = append(m.literals, src[anchor:]...)
}

// add adds a sequence: the literals from anchor to i, and a match.
func (m *matcher) add(anchor, i int, f found) {
	m.literals = append(m.literals, m.src[anchor:i]...)
	// Offset_Values of 1 to 3 are the recent distances. Without literals, 1 and
	// 2 are the second and the third, and 3 is the first less one (section
	// 3.1.1.5).
	d, r, none := uint32(f.distance), m.recent, uint32(0)
	if i == anchor {
		none = 1
	}
	offset := d + 3
	switch {
	case d == r[0] && none == 0:
		offset = 1
	case d == r[1]:
		offset = 2 - none
		m.recent = [3]uint32{d, r[0], r[2]}
	default:
		if d == r[2] {
			offset = 3 - none
		} else if d == r[0]-1 && none == 1 {
			offset = 3
		}
		m.recent = [3]uint32{d, r[0], r[1]}
	}
	m.sequences = append(m.sequences, step{uint32(i - anchor), uint32(f.length), offset})
}
