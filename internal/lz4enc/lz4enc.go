// Package lz4enc compresses to LZ4 blocks that are small for the time it takes:
// as small as those of the LZ4 library at its high levels. It looks for the
// longest match of each byte, at so many earlier places, and writes the cheapest
// series of what it finds.
package lz4enc

import (
	"encoding/binary"
	"math/bits"
	"sync"
)

// What the format says of a block.
const (
	minMatch  = 4
	maxOffset = 1<<16 - 1
	noBegin   = 11 // no match begins in so many bytes at the end
	noMatch   = 5  // none reaches into these
	maxNibble = 15 // lengths from here on take more bytes
)

// What is good enough.
const (
	hashBits  = 15
	segment   = 4096 // bytes of which the cheapest series is sought
	longMatch = 128  // a match is taken without looking further
	skipShift = 6    // from 64 searches without a match on, every second byte is left out, from 128 two of three
)

// Append appends src as one block to dst and returns the extended slice. A match
// is looked for at up to depth earlier places. Equal input gives equal output,
// whatever was compressed before.
func Append(dst, src []byte, depth int) []byte {
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	return e.append(dst, src, depth)
}

var encoders = sync.Pool{New: func() any { return new(encoder) }}

// A match is bytes that occurred so many bytes earlier. Length 0 is none.
type match struct{ length, offset int32 }

// An encoder knows where four bytes, by their hash, have been before. It counts
// places on from one call to the next, with a gap: old ones are out of reach, and
// nothing needs to be cleared.
type encoder struct {
	base    uint32 // the place of src[0]
	last    [1 << hashBits]uint32
	back    [maxOffset + 1]uint16 // from a place, to the last one before with its hash; 0 is none
	matches [segment]match
	costs   [segment + 1]int32 // bytes that the rest of the segment takes
}

func (e *encoder) append(dst, src []byte, depth int) []byte {
	if e.base += maxOffset + 1; uint64(e.base)+uint64(len(src)) > 1<<32-2*(maxOffset+1) {
		clear(e.last[:])
		e.base = maxOffset + 1
	}
	done := 0 // what of src is in dst
	for at, end := 0, len(src)-noBegin; at < end; {
		n, long := e.search(src, at, min(end-at, segment), depth)
		e.choose(n)
		for i := 0; i < n; i++ {
			if m := e.matches[i]; m.length > 0 {
				dst = appendMatch(dst, src[done:at+i], m)
				i += int(m.length) - 1
				done = at + i + 1
			}
		}
		at += n
		if long.length > 0 {
			dst = appendMatch(dst, src[done:at], long)
			at += int(long.length)
			done = at
		}
	}
	e.base += uint32(len(src))
	dst, _ = appendLiterals(dst, src[done:])
	return dst
}

// search finds the matches of n bytes from at on. It ends at a long match, with
// how far it is.
//
// The bytes in a match have what is left of it. As long as each has a longer
// one, that is found; the others are not searched.
func (e *encoder) search(src []byte, at, n, depth int) (int, match) {
	var m match // of the byte before
	misses := 0
	for i := 0; i < n; i++ {
		rest := match{m.length - 1, m.offset}
		if rest.length < minMatch {
			rest = match{}
		}
		m = e.find(src, at+i, depth, rest)
		e.matches[i] = m
		if m.length == 0 {
			misses++
			for skip := misses >> skipShift; skip > 0 && i+1 < n; skip-- {
				i++
				e.matches[i] = m
				e.back[(e.base+uint32(at+i))&maxOffset] = 0
			}
			continue
		}
		misses = 0
		switch {
		case int(m.length) >= max(longMatch, depth):
			e.insert(src, at+i+1, int(m.length)-1)
			for ; i > 0 && follows(src, at+i-1, m); i-- {
				m.length++
			}
			return i, m
		case m == rest:
			inside := min(int(m.length)-minMatch, n-i-1)
			e.insert(src, at+i+1, inside)
			for range inside {
				i++
				m.length--
				e.matches[i] = m
			}
			m = match{}
		default:
			// It may begin earlier, at bytes that were found elsewhere, too.
			longer := m
			for j := i - 1; j >= 0 && follows(src, at+j, m); j-- {
				longer.length++
				if e.matches[j].length >= longer.length {
					break
				}
				e.matches[j] = longer
			}
		}
	}
	return n, match{}
}

// follows reports whether the byte at a place is like the one m is away.
func follows(src []byte, at int, m match) bool {
	from := at - int(m.offset)
	return from >= 0 && src[from] == src[at]
}

// find returns the longest match at a place, m if there is no longer one, and
// remembers the place.
func (e *encoder) find(src []byte, at, depth int, m match) match {
	e.insert(src, at, 1)
	place := e.base + uint32(at)
	offset, reach, long := 0, min(at, maxOffset), max(longMatch, depth)
	target := src[at : len(src)-noMatch]
	best := max(int(m.length), minMatch-1)
	if best >= len(target) {
		return m
	}
	tail := binary.LittleEndian.Uint32(target[best-3:]) // the last bytes that a better match has
	for ; depth > 0; depth-- {
		d := e.back[place&maxOffset]
		place -= uint32(d)
		offset += int(d)
		if d == 0 || offset > reach {
			break
		}
		from := at - offset
		if binary.LittleEndian.Uint32(src[from+best-3:]) != tail {
			continue
		}
		if n := common(src[from:], target); n > best {
			m = match{int32(n), int32(offset)}
			if n >= long || n == len(target) {
				break
			}
			best, tail = n, binary.LittleEndian.Uint32(target[n-3:])
		}
	}
	return m
}

// insert remembers n places from at on.
func (e *encoder) insert(src []byte, at, n int) {
	if n >= 16 && src[at] == src[at-1] {
		// In a run, the place before has the same hash.
		if k := run(src[at:at+n], src[at]) - minMatch; k > 0 {
			for i := at; i < at+k; i++ {
				e.back[(e.base+uint32(i))&maxOffset] = 1
			}
			e.last[hash(src, at)] = e.base + uint32(at+k-1)
			at, n = at+k, n-k
		}
	}
	for i := at; i < at+n; i++ {
		last := &e.last[hash(src, i)]
		place := e.base + uint32(i)
		d := place - *last
		if d > maxOffset {
			d = 0
		}
		e.back[place&maxOffset] = uint16(d)
		*last = place
	}
}

// hash mixes the four bytes at a place.
func hash(src []byte, at int) uint32 {
	return binary.LittleEndian.Uint32(src[at:]) * 0x9E3779B1 >> (32 - hashBits)
}

// choose keeps of the first n matches the series that takes the fewest bytes, cut
// where the next begins, and sets the length of the others to 0. That the length
// of many literals takes bytes, too, is left out.
func (e *encoder) choose(n int) {
	e.costs[n] = 0
	var offset, reach, end int // of the match at hand, and where it is best cut
	for i := n - 1; i >= 0; i-- {
		e.costs[i] = e.costs[i+1] + 1
		m := &e.matches[i]
		length := int(m.length)
		m.length = 0
		if length == 0 || i+minMatch > n {
			continue
		}
		if int(m.offset) != offset || i+length != reach {
			offset, reach = int(m.offset), i+length
			end = min(reach, n)
			for cut := end - 1; cut > i+minMatch; cut-- {
				if e.costs[cut] < e.costs[end] {
					end = cut
				}
			}
		}
		if e.costs[i+minMatch] < e.costs[end] {
			end = i + minMatch
		}
		cost := e.costs[end] + 3
		if end-i >= minMatch+maxNibble {
			cost++
		}
		if cost < e.costs[i] {
			e.costs[i], m.length = cost, int32(end-i)
		}
	}
}

// common returns how many of the first bytes of a and b are the same, at most
// len(b). a is not shorter.
func common(a, b []byte) int {
	n := 0
	for ; n+8 <= len(b); n += 8 {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
	}
	for n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// run returns how many bytes c b begins with.
func run(b []byte, c byte) int {
	n := 0
	for ; n+8 <= len(b); n += 8 {
		if x := binary.LittleEndian.Uint64(b[n:]) ^ uint64(c)*0x0101010101010101; x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
	}
	for n < len(b) && b[n] == c {
		n++
	}
	return n
}

// appendMatch appends a sequence: literals and a match.
func appendMatch(dst, literals []byte, m match) []byte {
	dst, token := appendLiterals(dst, literals)
	dst = append(dst, byte(m.offset), byte(m.offset>>8))
	n := int(m.length) - minMatch
	dst[token] |= byte(min(n, maxNibble))
	return appendLength(dst, n)
}

// appendLiterals appends literals behind their token, and tells where that is.
func appendLiterals(dst, literals []byte) (_ []byte, token int) {
	token = len(dst)
	dst = append(dst, byte(min(len(literals), maxNibble)<<4))
	dst = appendLength(dst, len(literals))
	return append(dst, literals...), token
}

// appendLength appends what of a length its nibble does not hold.
func appendLength(dst []byte, n int) []byte {
	for n -= maxNibble; n >= 0; n -= 255 {
		dst = append(dst, byte(min(n, 255)))
	}
	return dst
}
