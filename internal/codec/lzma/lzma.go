package lzma

import (
	"encoding/binary"
	"errors"
	"sync"
)

var (
	errTruncated = errors.New("input ends too early")
	errChunk     = errors.New("unknown chunk or properties, or a chunk without the resets that it needs")
	errLong      = errors.New("more bytes than expected")
	errMatch     = errors.New("match beyond the dictionary or the chunk")
	errEnd       = errors.New("symbols do not end with the chunk")
)

// The control bytes of chunks; of chunks with symbols the least. What has a
// greater one resets the same and more.
const (
	endMark         = 0
	plainResetDict  = 1
	plain           = 2
	symbols         = 0x80
	resetState      = 0xA0
	resetProperties = 0xC0
	resetDict       = 0xE0
)

const (
	states         = 12
	matchStates    = 7 // the first state that follows a match
	maxPosStates   = 1 << 4
	lenStates      = 4
	endPosModel    = 14 // the first slot of distances with direct bits
	alignBits      = 4
	maxLiteralBits = 4 // lc + lp in LZMA2
	minMatch       = 2
	half           = 1 << 10 // the probability of bits that were not seen yet
	topValue       = 1 << 24
)

// The places of probabilities. A tree for n bits has 1<<n, but does not use the
// first.
const (
	isMatch    = 0 // by state and posState, as the next
	isRep0Long = isMatch + states*maxPosStates
	isRep      = isRep0Long + states*maxPosStates // by state, as the next three
	isRepG0    = isRep + states
	isRepG1    = isRepG0 + states
	isRepG2    = isRepG1 + states
	lenCoder   = isRepG2 + states
	repCoder   = lenCoder + lenProbs
	posSlot    = repCoder + lenProbs                               // trees for 6 bits, by length
	posSpecial = posSlot + lenStates<<6                            // trees for 1 to 5 bits, by slot
	align      = posSpecial + 1 + 1<<(endPosModel/2) - endPosModel // a tree for 4 bits
	literals   = align + 1<<alignBits                              // by position and previous byte, three trees for 8 bits
	numProbs   = literals + 0x300<<maxLiteralBits + 0x100          // assembly loads what might follow a last bit, too

	// Those of a length coder, after two for single bits.
	low      = 2 // trees for 3 bits, by posState, as the next
	mid      = low + maxPosStates<<3
	high     = mid + maxPosStates<<3 // a tree for 8 bits
	lenProbs = high + 1<<8
)

var afterLiteral = [states]uint32{4: 1, 2, 3, 4, 5, 6, 4, 5} // by state

// A decoder is the state of one call of Decode.
type decoder struct {
	dst, src    []byte
	out, in     int    // dst[:out] is done, src[:in] read
	dict, limit int    // where in dst the dictionary starts and the chunk ends
	rng, code   uint32 // of the range decoder
	state       uint32
	reps        [4]uint32 // the last distances, less 1
	lc, litMask uint32    // litMask has the bits of position and previous byte that choose the trees of a literal
	posMask     uint32
	probs       [numProbs]uint16 // that a bit is 0, of 1<<11
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

var useAsm = true // where there is any; tests do without

// Decode decodes the LZMA2 stream at the front of src, up to its end mark. It
// returns how many bytes it wrote to the front of dst and the length of the
// stream. After an error these and the content of dst mean nothing. Decode is safe
// for concurrent use.
func Decode(dst, src []byte) (n, used int, err error) {
	d := decoders.Get().(*decoder)
	d.dst, d.src, d.out, d.in = dst, src, 0, 0
	for done, needed := false, byte(resetDict); !done && err == nil; {
		done, needed, err = d.chunk(needed)
	}
	n, used = d.out, d.in
	d.dst, d.src = nil, nil // do not keep them alive
	decoders.Put(d)
	return n, used, err
}

// chunk decodes a chunk, or the end mark. A chunk with symbols must have at least
// the control byte needed; the next one that which is returned.
func (d *decoder) chunk(needed byte) (done bool, next byte, err error) {
	var h [6]byte
	n := copy(h[:], d.src[d.in:])
	control, size := h[0], int(binary.BigEndian.Uint16(h[1:]))+1
	header, stored := 3, size
	switch {
	case n == 0:
		return false, 0, errTruncated
	case control == endMark:
		d.in++
		return true, 0, nil
	case control == plainResetDict:
		needed = resetProperties
	case control == plain && needed < resetDict:
	case control < max(symbols, needed):
		return false, 0, errChunk
	default:
		needed = symbols
		size += int(control&0x1F) << 16
		header, stored = 5, int(binary.BigEndian.Uint16(h[3:]))+1
		if control >= resetProperties {
			header = 6
		}
	}
	d.in += header
	end := d.in + stored
	if end > len(d.src) || control >= symbols && stored < 5 {
		return false, 0, errTruncated
	}
	if size > len(d.dst)-d.out {
		return false, 0, errLong
	}
	if control == plainResetDict || control >= resetDict {
		d.dict = d.out
	}
	if control < symbols {
		d.out += copy(d.dst[d.out:], d.src[d.in:end])
		d.in = end
		return false, needed, nil
	}
	if control >= resetProperties {
		lc, lp, pb := uint32(h[5]%9), uint32(h[5]/9%5), uint32(h[5]/45)
		if lc+lp > maxLiteralBits || pb > 4 {
			return false, 0, errChunk
		}
		d.lc, d.litMask, d.posMask = lc, 0x100<<lp-0x100>>lc, 1<<pb-1
	}
	if control >= resetState {
		d.state, d.reps = 0, [4]uint32{}
		d.probs[0] = half
		for n := 1; n < len(d.probs); n *= 2 { // twice as many each time, for small pages
			copy(d.probs[n:], d.probs[:n])
		}
	}
	first := d.src[d.in]
	d.rng, d.code = 1<<32-1, binary.BigEndian.Uint32(d.src[d.in+1:])
	d.in += 5
	d.limit = d.out + size
	if !d.decode() {
		return false, 0, errMatch
	}
	d.normalize()
	if first != 0 || d.code != 0 || d.in != end {
		return false, 0, errEnd
	}
	return false, needed, nil
}

// decodeGo decodes symbols until dst[:until] is done. It reports whether all
// matches are valid. It may read more than the chunk.
func (d *decoder) decodeGo(until int) bool {
	for d.out < until {
		pos := uint32(d.out - d.dict)
		state, posState := d.state, pos&d.posMask
		if d.bit(isMatch+state*maxPosStates+posState) == 0 {
			d.literal(pos)
			continue
		}
		n, coder := 1, uint32(repCoder)
		d.state = 8
		if d.bit(isRep+state) == 0 {
			copy(d.reps[1:], d.reps[:])
			coder, d.state = lenCoder, 7
		} else if d.bit(isRepG0+state) == 1 {
			i := d.bit(isRepG1 + state)
			if i > 0 {
				i += d.bit(isRepG2 + state)
			}
			rep := d.reps[i+1]
			copy(d.reps[1:], d.reps[:i+1])
			d.reps[0] = rep
		} else if d.bit(isRep0Long+state*maxPosStates+posState) == 0 {
			coder, d.state = 0, 9
		}
		if coder != 0 {
			n = d.length(coder, posState)
		}
		if coder == lenCoder {
			d.reps[0] = d.distance(uint32(min(n-minMatch, lenStates-1)))
		}
		if state >= matchStates {
			d.state = min(d.state+3, 11)
		}
		if uint64(d.reps[0]) >= uint64(d.out-d.dict) || n > d.limit-d.out {
			return false
		}
		from := d.out - int(d.reps[0]) - 1
		for n += d.out; d.out < n; { // what is copied may repeat
			d.out += copy(d.dst[d.out:n], d.dst[from:d.out])
		}
	}
	return true
}

// literal decodes a byte.
func (d *decoder) literal(pos uint32) {
	prev := uint32(0)
	if pos > 0 {
		prev = uint32(d.dst[d.out-1])
	}
	tree, m := literals+3*((pos<<8|prev)&d.litMask)<<d.lc, uint32(1)
	if d.state >= matchStates { // the byte is not that which would make the match longer
		match := uint32(d.dst[d.out-int(d.reps[0])-1])
		for same := uint32(0x100); m < 0x100; {
			match <<= 1
			want := match & same
			b := d.bit(tree + same + want + m)
			m = m<<1 | b
			if same ^= want; b == 1 {
				same = want
			}
		}
	}
	for m < 0x100 {
		m = m<<1 | d.bit(tree+m)
	}
	d.dst[d.out] = byte(m)
	d.out++
	d.state = afterLiteral[d.state]
}

// length decodes the length of a match.
func (d *decoder) length(coder, posState uint32) int {
	if d.bit(coder) == 0 {
		return minMatch + int(d.tree(coder+low+posState<<3, 3))
	}
	if d.bit(coder+1) == 0 {
		return minMatch + 8 + int(d.tree(coder+mid+posState<<3, 3))
	}
	return minMatch + 16 + int(d.tree(coder+high, 8))
}

// distance decodes a distance, less 1.
func (d *decoder) distance(lenState uint32) uint32 {
	slot := d.tree(posSlot+lenState<<6, 6)
	if slot < 4 {
		return slot
	}
	n := slot>>1 - 1
	dist := (2 | slot&1) << n
	tree := posSpecial + dist - slot
	if slot >= endPosModel {
		for ; n > alignBits; n-- { // direct bits, which have no probabilities
			d.normalize()
			d.rng >>= 1
			if d.code >= d.rng {
				d.code -= d.rng
				dist += 1 << (n - 1)
			}
		}
		tree = align
	}
	for i, m := uint32(0), uint32(1); i < n; i++ { // from the lowest bit on
		b := d.bit(tree + m)
		m = m<<1 | b
		dist += b << i
	}
	return dist
}

// tree decodes n bits, from the highest on.
func (d *decoder) tree(root, n uint32) uint32 {
	m := uint32(1)
	for m>>n == 0 {
		m = m<<1 | d.bit(root+m)
	}
	return m - 1<<n
}

// bit decodes a bit with the probability i, which it adapts.
func (d *decoder) bit(i uint32) uint32 {
	d.normalize()
	p := &d.probs[i]
	bound := d.rng >> 11 * uint32(*p)
	if d.code < bound {
		d.rng = bound
		*p += (1<<11 - *p) >> 5
		return 0
	}
	d.rng -= bound
	d.code -= bound
	*p -= *p >> 5
	return 1
}

// normalize keeps the range above 1<<24. Behind the end of src it reads zeros.
func (d *decoder) normalize() {
	if d.rng < topValue {
		d.rng <<= 8
		d.code <<= 8
		if d.in < len(d.src) {
			d.code |= uint32(d.src[d.in])
		}
		d.in++
	}
}
