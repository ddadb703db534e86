package lz4

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sync"
)

// From the section "End of block restrictions": the last match begins lastMatch bytes before
// the end at the latest, and the last lastLiterals bytes are literals.
const (
	minMatch     = 4
	lastMatch    = 12
	lastLiterals = 5
	window       = 1 << 16 // distances are less
)

const (
	goodMatch = 8  // bytes, after which it does not pay to see whether the next byte has more
	longMatch = 64 // bytes, of which only the last matter to what follows
)

// Append appends the block of src to dst. The level is from 4, for the size of blocks of the LZ4
// library's level 4 at a multiple of its speed, to 9.
func Append(dst, src []byte, level int) []byte {
	dst = slices.Grow(dst, len(src)+len(src)/255+16)
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	e.depth = 1 << (2*level - 6)
	return e.append(dst, src)
}

var encoders = sync.Pool{New: func() any { return new(encoder) }}

// An encoder remembers where 4, 6 and 8 bytes were seen last, by hashes of them. Positions are
// modulo window: what is found is compared anyway, so an old position does no harm.
type encoder struct {
	of4, of6, of8 [window]uint16
	before        [window]uint16 // the position before each that has the same hash of 8 bytes
	shift         uint           // of products of hashes
	depth         int            // how many positions before to compare
}

func (e *encoder) append(dst, src []byte) []byte {
	size := min(max(bits.Len(uint(len(src))), 8), 16)
	e.shift = uint(64 - size)
	clear(e.of4[:1<<size])
	clear(e.of6[:1<<size])
	clear(e.of8[:1<<size])

	literals, misses := 0, 0
	for i := 0; i <= len(src)-lastMatch; {
		n, distance := e.match(src, i)
		if n < minMatch {
			misses++
			i += 1 + min(misses>>6, 16)
			continue
		}
		misses = 0
		next := i + 1 // which is not remembered
		for n < goodMatch && next <= len(src)-lastMatch {
			longer, d := e.match(src, next)
			next++
			if longer <= n {
				break
			}
			i, n, distance = next-1, longer, d
		}
		for i > literals && i > distance && src[i-1] == src[i-1-distance] {
			i, n = i-1, n+1
		}
		dst = appendSequence(dst, src[literals:i], distance, n)
		i += n
		literals = i
		if n > longMatch {
			next = i - goodMatch
		}
		// Every other byte is enough, and takes half of the time.
		for ; next < i && next <= len(src)-lastMatch; next += 2 {
			h4, h6, h8 := e.hashes(load(src, next))
			e.put(next, h4, h6, h8)
		}
	}
	return appendLiterals(dst, src[literals:], 0)
}

// match returns the length and the distance of the longest match at src[i:] that the encoder
// finds, and remembers i. A length of less than minMatch means that there is none.
func (e *encoder) match(src []byte, i int) (n, distance int) {
	v := load(src, i)
	h4, h6, h8 := e.hashes(v)
	d4, d6, d8 := int(uint16(i)-e.of4[h4]), int(uint16(i)-e.of6[h6]), int(uint16(i)-e.of8[h8])
	e.put(i, h4, h6, h8)

	// Without branches, which would be guessed wrongly for most bytes.
	best := longer(longer(common(src, i, d4, v), common(src, i, d6, v)), common(src, i, d8, v))
	n, distance = best/window, best%window
	if n < 8 {
		return n, distance
	}
	rest := src[:len(src)-lastLiterals]
	n = min(n+matchLen(rest, i+n, distance), len(rest)-i)
	for d, left := 0, e.depth; left > 0 && n < min(longMatch, len(rest)-i); left-- {
		next := int(uint16(i) - e.before[uint16(i-d)])
		if next <= d { // beyond the window, or the first one
			break
		}
		d = next
		if src[i+n] != src[i+n-d] || load(src, i-d) != v {
			continue
		}
		if m := 8 + matchLen(rest, i+8, d); m > n {
			n, distance = m, d
		}
	}
	return n, distance
}

// matchLen returns how many bytes of b[i:] are those at a distance.
func matchLen(b []byte, i, distance int) int {
	begin := i
	for ; i+8 <= len(b); i += 8 {
		if x := load(b, i) ^ load(b, i-distance); x != 0 {
			return i - begin + bits.TrailingZeros64(x)/8
		}
	}
	for i < len(b) && b[i] == b[i-distance] {
		i++
	}
	return i - begin
}

// common returns how many of the 8 bytes v at src[i:] are those at a distance, times window,
// plus the distance. It is less than minMatch times window if the distance is 0.
func common(src []byte, i, distance int, v uint64) int {
	none := uint64((distance - 1) >> (bits.UintSize - 1))
	return bits.TrailingZeros64(load(src, i-distance)^v|none)/8*window | distance
}

// longer returns the greater one.
func longer(a, b int) int {
	d := a - b
	return a - d&(d>>(bits.UintSize-1))
}

// put remembers position i of bytes with the given hashes.
func (e *encoder) put(i int, h4, h6, h8 uint16) {
	e.before[uint16(i)] = e.of8[h8]
	e.of4[h4], e.of6[h6], e.of8[h8] = uint16(i), uint16(i), uint16(i)
}

// hashes returns hashes of the first 4, 6 and 8 bytes of v.
func (e *encoder) hashes(v uint64) (h4, h6, h8 uint16) {
	const factor = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	s := e.shift & 63
	return uint16(v << 32 * factor >> s), uint16(v << 16 * factor >> s), uint16(v * factor >> s)
}

func load(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i : i+8]) }

// appendSequence appends literals and a match of n bytes.
func appendSequence(dst, literals []byte, distance, n int) []byte {
	n -= minMatch
	dst = appendLiterals(dst, literals, byte(min(n, 15)))
	dst = append(dst, byte(distance), byte(distance>>8))
	return appendRest(dst, n)
}

// appendLiterals appends a token, whose low half is given, and literals.
func appendLiterals(dst, literals []byte, low byte) []byte {
	dst = append(dst, byte(min(len(literals), 15)<<4)|low)
	dst = appendRest(dst, len(literals))
	return append(dst, literals...)
}

// appendRest appends what half a token cannot hold of a length.
func appendRest(dst []byte, n int) []byte {
	if n < 15 {
		return dst
	}
	for n -= 15; n >= 255; n -= 255 {
		dst = append(dst, 255)
	}
	return append(dst, byte(n))
}
