package lzma

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// An encoder makes streams of random symbols, and what they mean. It uses every
// symbol, every kind of chunk and all properties, which no compressor does.
type encoder struct {
	*rand.Rand
	data, out []byte
	dict      int // where in data the dictionary starts
	state     int
	reps      [4]int // the last distances, less 1
	lc, lp    int
	posMask   int
	probs     [numProbs]uint16

	// Of the range encoder.
	low   uint64
	rng   uint32
	cache byte
	carry int // bytes that wait for a carry, with cache the first
	chunk []byte
}

// randomStream returns a stream of chunks, and its content.
func randomStream(r *rand.Rand, chunks, maxChunk int) (data, stream []byte) {
	e := &encoder{Rand: r}
	needed := resetDict
	for range chunks {
		n := 1 + r.IntN(1+r.IntN(maxChunk))
		kinds := []int{plainResetDict, plain, symbols, resetState, resetProperties, resetDict}
		kind := kinds[r.IntN(6)]
		if kind < symbols && r.IntN(4) > 0 {
			kind = symbols
		}
		if kind >= symbols {
			kind = max(kind, needed)
			needed = symbols
		} else if needed == resetDict {
			kind = plainResetDict
		}
		if kind == plainResetDict {
			needed = resetProperties
		}
		if kind == plainResetDict || kind == resetDict {
			e.dict = len(e.data)
		}
		if kind < symbols {
			e.out = append(e.out, byte(kind), byte((n-1)>>8), byte(n-1))
			for range n {
				b := byte(r.Uint32())
				e.data, e.out = append(e.data, b), append(e.out, b)
			}
			continue
		}
		e.symbols(kind, n)
	}
	return e.data, append(e.out, endMark)
}

// symbols appends a chunk of about n bytes.
func (e *encoder) symbols(kind, n int) {
	start := len(e.data)
	e.begin(kind)
	habit := 1 + e.IntN(20) // literals in 20 symbols
	for len(e.data)-start < n && len(e.chunk) < 60_000 {
		e.symbol(e.IntN(20) < habit)
	}
	e.end(kind, len(e.data)-start)
}

func (e *encoder) begin(kind int) {
	if kind >= resetProperties {
		e.lc = e.IntN(5)
		e.lp = e.IntN(5 - e.lc)
		e.posMask = 1<<e.IntN(5) - 1
	}
	if kind >= resetState {
		e.state, e.reps = 0, [4]int{}
		for i := range e.probs {
			e.probs[i] = half
		}
	}
	e.low, e.rng, e.cache, e.carry, e.chunk = 0, 1<<32-1, 0, 1, nil
}

// end appends the chunk, which claims to have so many bytes.
func (e *encoder) end(kind, size int) {
	for range 5 {
		e.shift()
	}
	size--
	e.out = append(e.out, byte(kind|size>>16), byte(size>>8), byte(size))
	e.out = binary.BigEndian.AppendUint16(e.out, uint16(len(e.chunk)-1))
	if kind >= resetProperties {
		e.out = append(e.out, byte(bits.Len(uint(e.posMask))*45+e.lp*9+e.lc))
	}
	e.out = append(e.out, e.chunk...)
}

func (e *encoder) symbol(literal bool) {
	pos := len(e.data) - e.dict
	state, posState := e.state, pos&e.posMask
	if literal || pos == 0 {
		e.bit(isMatch+state*maxPosStates+posState, 0)
		e.literal(pos, byte(e.Uint32()>>(8*e.IntN(2)))&^byte(e.IntN(2)*0xF0))
		return
	}
	e.bit(isMatch+state*maxPosStates+posState, 1)
	after := func(literals int) {
		if e.state = literals; state >= matchStates {
			e.state = min(literals+3, states-1)
		}
	}
	n := min(2+e.IntN(1+e.IntN(1+e.IntN(400))), 273)
	rep := e.IntN(9) - 4 // negative: a distance of its own; 4: one byte
	if rep >= 0 && e.reps[rep%4] >= pos {
		rep = -1
	}
	if rep < 0 {
		copy(e.reps[1:], e.reps[:])
		e.reps[0] = e.IntN(1 + e.IntN(min(pos, 1<<e.IntN(30))))
		e.bit(isRep+state, 0)
		e.length(lenCoder, n, posState)
		e.distance(e.reps[0], n)
		after(7)
		e.copy(n)
		return
	}
	e.bit(isRep+state, 1)
	switch {
	case rep == 4:
		e.bit(isRepG0+state, 0)
		e.bit(isRep0Long+state*maxPosStates+posState, 0)
		after(9)
		e.copy(1)
		return
	case rep == 0:
		e.bit(isRepG0+state, 0)
		e.bit(isRep0Long+state*maxPosStates+posState, 1)
	default:
		e.bit(isRepG0+state, 1)
		e.bit(isRepG1+state, min(rep-1, 1))
		if rep > 1 {
			e.bit(isRepG2+state, rep-2)
		}
		d := e.reps[rep]
		copy(e.reps[1:], e.reps[:rep])
		e.reps[0] = d
	}
	e.length(repCoder, n, posState)
	after(8)
	e.copy(n)
}

func (e *encoder) copy(n int) {
	for range n {
		e.data = append(e.data, e.data[len(e.data)-e.reps[0]-1])
	}
}

func (e *encoder) literal(pos int, b byte) {
	prev := 0
	if pos > 0 {
		prev = int(e.data[len(e.data)-1])
	}
	tree := literals + 0x300*((pos&(1<<e.lp-1))<<e.lc+prev>>(8-e.lc))
	same := e.state >= matchStates
	for i, m := 7, 1; i >= 0; i-- {
		at, bit := m, int(b>>i&1)
		if same {
			would := int(e.data[len(e.data)-e.reps[0]-1] >> i & 1)
			at += 0x100 * (1 + would)
			same = would == bit
		}
		e.bit(tree+at, bit)
		m = m<<1 | bit
	}
	e.data = append(e.data, b)
	e.state = [states]int{0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 4, 5}[e.state]
}

func (e *encoder) length(coder, n, posState int) {
	switch n -= minMatch; {
	case n < 8:
		e.bit(coder, 0)
		e.tree(coder+low+posState*8, n, 3)
	case n < 16:
		e.bit(coder, 1)
		e.bit(coder+1, 0)
		e.tree(coder+mid+posState*8, n-8, 3)
	default:
		e.bit(coder, 1)
		e.bit(coder+1, 1)
		e.tree(coder+high, n-16, 8)
	}
}

func (e *encoder) distance(d, n int) {
	slot, more := d, 0
	if d > 3 {
		more = bits.Len(uint(d)) - 2
		slot = 2*more + d>>more
	}
	e.tree(posSlot+min(n-minMatch, lenStates-1)*64, slot, 6)
	tree := posSpecial + d>>more<<more - slot
	if slot >= endPosModel {
		for ; more > alignBits; more-- {
			e.rng >>= 1
			if d>>(more-1)&1 == 1 {
				e.low += uint64(e.rng)
			}
			e.normalize()
		}
		tree = align
	}
	for i, m := 0, 1; i < more; i++ {
		e.bit(tree+m, d>>i&1)
		m = m<<1 | d>>i&1
	}
}

func (e *encoder) tree(root, v, n int) {
	for i, m := n-1, 1; i >= 0; i-- {
		e.bit(root+m, v>>i&1)
		m = m<<1 | v>>i&1
	}
}

func (e *encoder) bit(i, bit int) {
	p := &e.probs[i]
	bound := e.rng >> 11 * uint32(*p)
	if bit == 0 {
		e.rng = bound
		*p += (2048 - *p) >> 5
	} else {
		e.low += uint64(bound)
		e.rng -= bound
		*p -= *p >> 5
	}
	e.normalize()
}

func (e *encoder) normalize() {
	if e.rng < topValue {
		e.rng <<= 8
		e.shift()
	}
}

// shift writes the highest byte of low, unless a carry may still change it.
func (e *encoder) shift() {
	if carry := byte(e.low >> 32); carry > 0 || uint32(e.low) < 0xFF<<24 {
		for ; e.carry > 0; e.carry-- {
			e.chunk = append(e.chunk, e.cache+carry)
			e.cache = 0xFF
		}
		e.cache = byte(e.low >> 24)
	}
	e.carry++
	e.low = uint64(uint32(e.low) << 8)
}
