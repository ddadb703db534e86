package zstd

import (
	"encoding/binary"
	"math/bits"

	"github.com/go-rntuple/go-rntuple/frame"
)

const (
	huffmanLog    = 11  // Max_Number_of_Bits: the longest code, section 4.2.1
	maxWeights    = 255 // the weight of the last symbol is not stored
	maxWeight     = huffmanLog
	maxWeightsLog = 6 // log of the distribution of weights, section 4.2.1.2
)

// Literals_Block_Type, section 3.1.1.3.1.1.
const (
	literalsRaw      = iota // Raw_Literals_Block
	literalsRun             // RLE_Literals_Block
	literalsHuffman         // Compressed_Literals_Block
	literalsTreeless        // Treeless_Literals_Block: Huffman, with the last tree
)

// literals describes the literals section of a block (section 3.1.1.3.1).
type literals struct {
	kind   uint8
	single bool // one stream instead of four
	header int  // length of the Literals_Section_Header
	stored int  // bytes after the header: Compressed_Size, or those of the raw or repeated bytes
	size   int  // bytes decoded: Regenerated_Size
}

// parseLiterals parses the Literals_Section_Header at the front of b (section
// 3.1.1.3.1.1), and verifies that b holds the whole section.
func parseLiterals(b []byte) (s literals, err error) {
	if len(b) == 0 {
		return s, errTruncated()
	}
	s.kind = b[0] & 3
	format := b[0] >> 2 & 3
	var w [8]byte
	copy(w[:], b)
	v := binary.LittleEndian.Uint64(w[:]) >> 4
	if s.kind <= literalsRun {
		s.header = [4]int{1, 2, 1, 3}[format]
		switch format {
		case 1:
			s.size = int(v & (1<<12 - 1))
		case 3:
			s.size = int(v & (1<<20 - 1))
		default:
			s.size = int(b[0] >> 3)
		}
		s.stored = s.size
		if s.kind == literalsRun {
			s.stored = 1
		}
	} else {
		s.single = format == 0
		s.header = [4]int{3, 3, 4, 5}[format]
		width := [4]int{10, 10, 14, 18}[format]
		s.size = int(v & (1<<width - 1))
		s.stored = int(v >> width & (1<<width - 1))
		if !s.single && s.size < 6 { // the first three streams could give more literals than that
			return s, frame.Corrupt("zstd: four streams for %d literals", s.size)
		}
	}
	if s.header+s.stored > len(b) {
		return s, errTruncated()
	}
	return s, nil
}

// decodeLiterals fills dst, which has s.size bytes, from src[p:end] (sections
// 3.1.1.3.1.2 to 3.1.1.3.1.4).
func (d *decoder) decodeLiterals(dst []byte, s literals, p, end int) error {
	t := &d.huffman
	switch s.kind {
	case literalsRaw:
		copy(dst, d.src[p:end])
		return nil
	case literalsRun:
		fill(dst, d.src[p])
		return nil
	case literalsHuffman:
		n, err := t.parse(d.src, p, end)
		if err != nil {
			return err
		}
		p += n
	default:
		if t.log == 0 {
			return frame.Corrupt("zstd: literals without a table")
		}
	}
	if s.single {
		return t.decodeSingle(dst, d.src, p, end)
	}
	return t.decodeFour(dst, d.src, p, end)
}

// huffmanTables decode Huffman-coded literals (section 4.2). The tables are
// indexed by the next huffmanLog bits.
type huffmanTables struct {
	log uint8 // length of the longest code; 0 if there is no tree
	// An element of one has the length of a code in the low byte and its symbol
	// in the high one.
	one [1 << huffmanLog]uint16
	// An element of two has the length of one or two codes in the lowest byte,
	// their number in the next, and their symbols in the upper two.
	two    [1 << huffmanLog]uint32
	hasTwo bool

	weights [maxWeights + 1]uint8
	dist    distribution
	fse     fseTable // of weights
}

func (t *huffmanTables) reset() { t.log = 0 }

// parse parses the Huffman_Tree_Description at the front of src[p:end] (section
// 4.2.1) and makes table one. It returns the length of the description.
func (t *huffmanTables) parse(src []byte, p, end int) (n int, err error) {
	if p >= end {
		return 0, errTruncated()
	}
	t.log, t.hasTwo = 0, false
	size := int(src[p]) // headerByte, section 4.2.1.1
	b := src[p+1 : end]
	var count int
	if size < 128 {
		if size > len(b) {
			return 0, errTruncated()
		}
		count, err = t.weightsFSE(src, p+1, p+1+size)
	} else {
		count = size - 127
		size = (count + 1) / 2
		if size > len(b) {
			return 0, errTruncated()
		}
		for i := range count {
			t.weights[i] = b[i/2] >> (4 - i&1*4) & 15
		}
	}
	if err != nil {
		return 0, err
	}
	return 1 + size, t.build(count)
}

var weightCodes = func() (codes [maxWeight + 1]entry) {
	for w := range codes {
		codes[w] = newEntry(uint32(w), 0)
	}
	return codes
}()

// weightsFSE decodes the weights in src[p:end], which are compressed with FSE
// (section 4.2.1.2): two states decode symbols by turns.
func (t *huffmanTables) weightsFSE(src []byte, p, end int) (count int, err error) {
	n, err := t.dist.parse(src[p:end], len(weightCodes), maxWeightsLog)
	if err != nil {
		return 0, err
	}
	t.fse.build(&t.dist, weightCodes[:])
	start := 8 * (p + n)
	pos, err := streamEnd(src, p+n, end)
	if err != nil {
		return 0, err
	}
	log := t.dist.log
	if pos-int(2*log) < start {
		return 0, errTruncated()
	}
	w := window(src, pos)
	pos -= int(2 * log)
	a, b := top(w, log), top(w<<log, log)
	for count < maxWeights {
		e := t.fse.entries[a&tableMask]
		t.weights[count] = uint8(e.value())
		count++
		next := e.next() + top(window(src, pos), e.stateBits())
		if pos -= int(e.stateBits()); pos < start { // the other state has the last symbol
			if count == maxWeights {
				break
			}
			t.weights[count] = uint8(t.fse.entries[b&tableMask].value())
			return count + 1, nil
		}
		a, b = b, next
	}
	return 0, frame.Corrupt("zstd: more than %d Huffman weights", maxWeights)
}

// build makes table one from the first count weights (section 4.2.1.3). A symbol
// of weight w > 0 has a share of 1<<(w-1) of the table. The shares of all symbols
// add up to a power of two, from which the last weight follows.
func (t *huffmanTables) build(count int) error {
	var with [16]int // number of symbols by weight
	sum := 0
	for _, w := range t.weights[:count] {
		with[w]++
		sum += 1 << w >> 1
	}
	log := bits.Len(uint(sum))
	missing := 1<<log - sum
	if sum == 0 || log > huffmanLog || missing&(missing-1) != 0 {
		return frame.Corrupt("zstd: Huffman weights")
	}
	last := bits.Len(uint(missing))
	t.weights[count] = uint8(last)
	with[last]++
	if with[1] < 2 {
		return frame.Corrupt("zstd: Huffman weights")
	}
	var at [16]int // index of the next symbol of each weight
	next := 0
	for w := 1; w <= log; w++ {
		at[w] = next
		next += with[w] << (w - 1) << (huffmanLog - log)
	}
	for s, w := range t.weights[:count+1] {
		if w == 0 {
			continue
		}
		run := 1 << (w - 1) << (huffmanLog - log)
		fill(t.one[at[w]:at[w]+run], uint16(s)<<8|uint16(log+1)-uint16(w))
		at[w] += run
	}
	t.log = uint8(log)
	return nil
}

// buildTwo makes table two from table one.
func (t *huffmanTables) buildTwo() {
	if t.hasTwo {
		return
	}
	t.hasTwo = true
	length := uint8(0)
	var first []uint32 // the elements of the first symbol with this length
	for at := 0; at < len(t.one); {
		e := t.one[at]
		n, s := uint8(e), uint32(e>>8)
		run := t.two[at:][:1<<(huffmanLog-n)]
		at += len(run)
		if n == length {
			change := s<<16 - first[0]&(0xff<<16)
			for i, f := range first[:len(run)] {
				run[i] = f + change
			}
			continue
		}
		length, first = n, run
		for i := range run {
			f := t.one[i<<n&(1<<huffmanLog-1)]
			if m := n + uint8(f); m <= huffmanLog {
				run[i] = uint32(f>>8)<<24 | s<<16 | 2<<8 | uint32(m)
			} else {
				run[i] = s<<16 | 1<<8 | uint32(n)
			}
		}
	}
}

// A stream is a Huffman-coded stream (section 4.2.2): the bits of src from start
// to pos are unread, and dst[out:end] is to be filled from them.
type stream struct {
	pos, start int
	out, end   int
}

// decodeSingle decodes literals stored as one stream.
func (t *huffmanTables) decodeSingle(dst, src []byte, p, end int) (err error) {
	s := stream{start: 8 * p, end: len(dst)}
	if s.pos, err = streamEnd(src, p, end); err != nil {
		return err
	}
	return t.finish(dst, src, &s)
}

// decodeFour decodes literals stored as four streams, preceded by the Jump_Table
// with the lengths of the first three (section 3.1.1.3.1.6). These three give
// equally many literals.
func (t *huffmanTables) decodeFour(dst, src []byte, p, end int) (err error) {
	const jumpTable = 6
	if end-p < jumpTable {
		return errTruncated()
	}
	var s [4]stream
	share := (len(dst) + 3) / 4
	table := src[p:]
	p += jumpTable
	for i := range s {
		e := end
		if i < 3 {
			e = p + int(binary.LittleEndian.Uint16(table[2*i:]))
		}
		if e > end {
			return errTruncated()
		}
		s[i] = stream{start: 8 * p, out: i * share, end: min((i+1)*share, len(dst))}
		if s[i].pos, err = streamEnd(src, p, e); err != nil {
			return err
		}
		p = e
	}
	t.decodeBulk(dst, src, &s)
	for i := range s {
		if err := t.finish(dst, src, &s[i]); err != nil {
			return err
		}
	}
	return nil
}

// A window holds at least perWindow codes, whatever their lengths.
const perWindow = 5

// decodeBulk decodes all four streams side by side as long as none of them can
// end.
func (t *huffmanTables) decodeBulk(dst, src []byte, s *[4]stream) {
	// Table two pays if most codes are so short that two of them fit, and if
	// there are enough literals to make up for building it.
	stored, size := (s[3].pos-s[0].start)/8, len(dst)
	two := size >= 10<<10 && stored < size*11/16
	symbols := perWindow // at most, of a window
	if two {
		t.buildTwo()
		symbols *= 2
	}
	for {
		n := len(dst)
		for i := range s {
			n = min(n, (s[i].pos-s[i].start)/(perWindow*huffmanLog), (s[i].end-s[i].out)/symbols)
		}
		if n == 0 {
			return
		}
		if two {
			t.decodeTwo(dst, src, s, n)
		} else {
			t.decodeOne(dst, src, s, n)
		}
	}
}

// decodeOneGo decodes n windows of each stream with table one.
func (t *huffmanTables) decodeOneGo(dst, src []byte, s *[4]stream, n int) {
	for range n {
		for i := range s {
			s := &s[i]
			w := window(src, s.pos)
			o := dst[s.out:][:perWindow]
			e0 := t.one[w>>(64-huffmanLog)]
			w <<= e0 & 63
			e1 := t.one[w>>(64-huffmanLog)]
			w <<= e1 & 63
			e2 := t.one[w>>(64-huffmanLog)]
			w <<= e2 & 63
			e3 := t.one[w>>(64-huffmanLog)]
			w <<= e3 & 63
			e4 := t.one[w>>(64-huffmanLog)]
			o[0], o[1], o[2], o[3], o[4] = byte(e0>>8), byte(e1>>8), byte(e2>>8), byte(e3>>8), byte(e4>>8)
			s.pos -= int(uint8(e0) + uint8(e1) + uint8(e2) + uint8(e3) + uint8(e4))
			s.out += perWindow
		}
	}
}

// decodeTwoGo decodes n windows of each stream with table two.
func (t *huffmanTables) decodeTwoGo(dst, src []byte, s *[4]stream, n int) {
	for range n {
		for i := range s {
			s := &s[i]
			w := window(src, s.pos)
			out := s.out
			sum := uint32(0) // of the lengths, which are in the low byte
			for range perWindow {
				e := t.two[w>>(64-huffmanLog)]
				w <<= e & 63
				sum += e & 0xff
				binary.LittleEndian.PutUint16(dst[out:], uint16(e>>16))
				out += int(e >> 8 & 3)
			}
			s.pos -= int(sum)
			s.out = out
		}
	}
}

// finish decodes the rest of a stream.
func (t *huffmanTables) finish(dst, src []byte, s *stream) error {
	pos := s.pos
	rest := dst[s.out:s.end]
	for len(rest) > 0 && pos >= s.start {
		w := window(src, pos)
		n := min(perWindow, len(rest))
		for i := range rest[:n] {
			e := t.one[w>>(64-huffmanLog)]
			w <<= e & 63
			pos -= int(uint8(e))
			rest[i] = byte(e >> 8)
		}
		rest = rest[n:]
	}
	if len(rest) > 0 || pos != s.start {
		return frame.Corrupt("zstd: Huffman stream")
	}
	return nil
}
