package inflate

import (
	"math/bits"
	"slices"
	"sync"
)

const (
	maxLits    = 286 // number of symbols for literals and lengths, section 3.2.5
	maxDists   = 30  // number of symbols for distances, section 3.2.5
	maxLen     = 15  // bits of the longest code, section 3.2.7
	maxLenLen  = 7   // bits of the longest code for code lengths, section 3.2.7
	maxMatch   = 258 // section 3.2.5
	endOfBlock = 256 // section 3.2.5

	litBits  = 10 // of the index of the table for literals and lengths
	distBits = 8  // of the index of the table for distances
)

// tables decode the two codes of a block. Codes longer than a table's index lead
// to a subtable, indexed by the rest of the bits, that follows the entries for
// the index. A subtable of a complete code has at least two codes.
type tables struct {
	lit  [1<<litBits + 288/2<<(maxLen-litBits)]entry
	dist [1<<distBits + 32/2<<(maxLen-distBits)]entry
}

// An entry tells what the next bits mean:
//
//	bits 0-5    number of bits, extra bits included
//	bits 8-11   number of bits of the code
//	bit  14     the code continues in a subtable
//	bit  15     no literal, length or distance, but a subtable, the end of the
//	            block, or an unused code
//	bits 16-30  the literal, the length or distance without the extra bits, the
//	            index of the subtable, or endOfBlock
//	bit  31     a literal
type entry uint32

const (
	literal  entry = 1 << 31
	special  entry = 1 << 15
	subtable entry = 1 << 14
)

func (e entry) bits() uint     { return uint(e & 63) }
func (e entry) codeBits() uint { return uint(e >> 8 & 15) }
func (e entry) value() int     { return int(e >> 16 & 0x7FFF) }
func (e entry) literal() bool  { return int32(e) < 0 }

// The entries of all symbols, without the bits of their codes (section 3.2.5).
var (
	lenEntries  [19]entry
	litEntries  [288]entry
	distEntries [32]entry
)

// lenOrder is the order in which the lengths of the code for code lengths are
// stored (section 3.2.7).
var lenOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

func init() {
	for i := range lenEntries {
		lenEntries[i] = entry(i) << 16
	}
	for i := range endOfBlock {
		litEntries[i] = literal | entry(i)<<16
	}
	litEntries[endOfBlock] = special | endOfBlock<<16
	for i, base := 0, 3; i < 28; i++ {
		extra := max(i/4-1, 0)
		litEntries[257+i] = entry(base<<16 | extra)
		base += 1 << extra
	}
	litEntries[285] = maxMatch << 16
	litEntries[286], litEntries[287] = special, special
	for i, base := 0, 1; i < maxDists; i++ {
		extra := max(i/2-1, 0)
		distEntries[i] = entry(base<<16 | extra)
		base += 1 << extra
	}
	distEntries[30], distEntries[31] = special, special
}

// fixed returns the tables of the fixed codes (section 3.2.6).
var fixed = sync.OnceValue(func() *tables {
	var lens []uint8
	for _, run := range []struct{ n, bits uint8 }{{144, 8}, {112, 9}, {24, 7}, {8, 8}, {32, 5}} {
		lens = append(lens, slices.Repeat([]uint8{run.bits}, int(run.n))...)
	}
	t := new(tables)
	build(t.lit[:], litBits, lens[:288], litEntries[:], false)
	build(t.dist[:], distBits, lens[288:], distEntries[:], false)
	return t
})

// build makes the table, indexed by indexBits bits, of the code with the lengths
// lens (section 3.2.2) and the given entries. It reports whether these lengths
// make a code: a complete one or, if sparse is set, one with at most one symbol,
// of one bit.
func build(table []entry, indexBits int, lens []uint8, entries []entry, sparse bool) bool {
	var count, next [maxLen + 1]int
	for _, n := range lens {
		count[n]++
	}
	count[0] = 0
	left, longest := 1, 0 // left counts the unassigned codes of length n
	for n := 1; n <= maxLen; n++ {
		next[n] = next[n-1] + count[n-1]
		if left = left<<1 - count[n]; left < 0 {
			return false
		}
		if count[n] > 0 {
			longest = n
		}
	}
	if left > 0 {
		if !sparse || longest > 1 {
			return false
		}
		for i := range table[:1<<indexBits] {
			table[i] = special
		}
	}

	// Sort the symbols by their codes.
	var order [288]uint16
	for i, n := range lens {
		if n != 0 {
			order[next[n]] = uint16(i)
			next[n]++
		}
	}
	if left > 0 {
		if longest == 1 {
			for i := 0; i < 1<<indexBits; i += 2 {
				table[i] = entries[order[0]] + 1<<8 + 1
			}
		}
		return true
	}

	// Codes are stored starting with their highest bit (section 3.1.1), so the
	// index is the code reversed. Short codes repeat throughout the table: keep
	// 1<<n entries, in which codes of n bits occur once, and double them for the
	// next n.
	code, sorted := 0, order[:]
	for n := 1; n <= indexBits; n++ {
		half := 1 << (n - 1)
		copy(table[half:2*half], table[:half])
		for _, i := range sorted[:count[n]] {
			table[code] = entries[i] + entry(n<<8|n)
			code = increment(code, n)
		}
		sorted = sorted[count[n]:]
	}
	if longest <= indexBits {
		return true
	}
	// Longer codes go to subtables. Codes of the same subtable follow each other.
	sub := table[:0]
	index, size, prefix := 1<<indexBits, 1<<(maxLen-indexBits), -1
	for n := indexBits + 1; n <= longest; n++ {
		rest := n - indexBits
		for _, i := range sorted[:count[n]] {
			if p := code & (1<<indexBits - 1); p != prefix {
				prefix = p
				table[p] = special | subtable | entry(index<<16|indexBits)
				sub = table[index : index+size]
				index += size
			}
			for j := code >> indexBits; j < size; j += 1 << rest {
				sub[j] = entries[i] + entry(rest<<8|rest)
			}
			code = increment(code, n)
		}
		sorted = sorted[count[n]:]
	}
	return true
}

// increment adds 1 to a code of n bits whose bits are in reverse order.
func increment(code, n int) int {
	ones := bits.LeadingZeros16(^uint16(code << (16 - n)))
	if ones >= n {
		return 0
	}
	bit := 1 << (n - 1 - ones)
	return code&(bit-1) | bit
}
