package zstd

import "encoding/binary"

const maxCodeLen = 11 // Max_Number_of_Bits, section 4.2.1

// A huffmanCode is a prefix code for bytes (section 4.2).
type huffmanCode struct {
	codes  [256]uint32 // the code of each byte, with its length in the lowest 8 bits; 0 if there is none
	last   int         // the greatest byte that has a code
	log    uint8       // length of the longest code
	header []byte      // Huffman_Tree_Description, section 4.2.1
	room   [128]byte   // for the header
}

// make makes a code for bytes with the counts h, at least two of which are not 0.
// It returns false if the format has no description of the code, which happens
// only to codes that are of no use.
func (c *huffmanCode) make(h *histogram) bool {
	var order [256]uint32
	n := h.order(&order)
	var counts [maxCodeLen + 1]int
	codeLengths(order[:n], &counts)
	clear(c.codes[:])
	// The rarer the byte, the longer its code. Longer codes have lower numbers;
	// codes of one length ascend with their bytes (section 4.2.1.3).
	var next [maxCodeLen + 1]uint32
	c.log = 0
	code, i := uint32(0), 0
	for length := maxCodeLen; length > 0; length-- {
		next[length] = code
		code = (code + uint32(counts[length])) >> 1
		for range counts[length] {
			c.codes[uint8(order[i])] = uint32(length)
			c.log = max(c.log, uint8(length))
			i++
		}
	}
	for s, length := range c.codes {
		if length > 0 {
			c.codes[s] |= next[length] << 8
			next[length]++
			c.last = s
		}
	}
	return c.makeHeader()
}

// codeLengths counts the codes of each length that Huffman's method gives to
// bytes in the form of histogram.order. Codes that are too long are shortened at
// the expense of others.
func codeLengths(order []uint32, counts *[maxCodeLen + 1]int) {
	// Leaves are sorted by weight, and inner nodes are made in that order: the
	// next node to join is the first of one of the two.
	var weights [256]uint32 // of the inner nodes
	var parents [512]uint16 // of the leaves, then of the inner nodes
	n, leaf, inner := len(order), 0, 0
	for made := range n - 1 {
		for range 2 {
			if leaf < n && (inner == made || order[leaf]>>8 <= weights[inner]) {
				weights[made] += order[leaf] >> 8
				parents[leaf] = uint16(n + made)
				leaf++
			} else {
				weights[made] += weights[inner]
				parents[n+inner] = uint16(n + made)
				inner++
			}
		}
	}
	var depths [512]uint8
	excess := -1 << maxCodeLen // share of the codes in all numbers of maxCodeLen bits, less the number of these
	for i := 2*n - 3; i >= 0; i-- {
		depths[i] = depths[parents[i]] + 1
		if i < n {
			length := min(int(depths[i]), maxCodeLen)
			counts[length]++
			excess += 1 << (maxCodeLen - length)
		}
	}
	for excess > 0 {
		length := maxCodeLen - 1
		for counts[length] == 0 {
			length--
		}
		counts[length]--
		counts[length+1]++
		excess -= 1 << (maxCodeLen - 1 - length)
	}
	for length := maxCodeLen; excess < 0; length-- {
		for counts[length] > 0 && excess < 0 {
			counts[length]--
			counts[length-1]++
			excess += 1 << (maxCodeLen - length)
		}
	}
}

// makeHeader makes the Huffman_Tree_Description (section 4.2.1): the weights of
// all bytes up to the last one with a code, whose weight follows from the others.
// They are compressed with FSE (section 4.2.1.2) or have 4 bits each.
func (c *huffmanCode) makeHeader() bool {
	var weights [256]uint8
	var counts [maxCodeLen + 1]uint32
	n := c.last
	for s, code := range c.codes[:n] {
		if length := uint8(code); length > 0 {
			weights[s] = c.log + 1 - length
		}
		counts[weights[s]]++
	}
	const maxPlain = 128
	plain := 1 + (n+1)/2
	c.header = c.appendWeights(c.room[:1], weights[:n], &counts)
	if size := len(c.header); size > 1 && size <= len(c.room) && (size < plain || n > maxPlain) {
		c.header[0] = byte(size - 1)
		return true
	}
	if n > maxPlain {
		return false
	}
	c.header = append(c.room[:0], byte(127+n))
	for i := 0; i < n; i += 2 {
		c.header = append(c.header, weights[i]<<4|weights[i+1])
	}
	return true
}

// appendWeights appends weights compressed with FSE (section 4.2.1.2), or nothing
// if that is impossible.
func (c *huffmanCode) appendWeights(dst []byte, weights []uint8, counts *[maxCodeLen + 1]uint32) []byte {
	n := len(weights)
	if n < 3 || int(counts[weights[0]]) == n {
		return dst
	}
	var w fseWriter
	w.normalize(counts[:], n, 6)
	w.build(maxCodes)
	dst = w.append(dst)
	var buf [256 + 8]byte
	b := bitWriter{buf: buf[:]}
	var x [2]uint16 // the two states, which encode weights by turns
	for i := n - 1; i >= 0; i-- {
		if i >= n-2 {
			x[i&1] = w.last(weights[i])
		} else {
			x[i&1] = w.add(&b, x[i&1], weights[i])
		}
		b.flush()
	}
	w.first(&b, x[1])
	w.first(&b, x[0])
	return append(dst, buf[:b.endStream()]...)
}

// size returns about how many bytes the codes of bytes with the counts h take,
// and reports whether all of them have codes.
func (c *huffmanCode) size(h *histogram) (size int, ok bool) {
	sum, ok := uint64(0), true
	for s, k := range h {
		length := uint8(c.codes[s])
		ok = ok && (length > 0 || k == 0)
		sum += uint64(k) * uint64(length)
	}
	return int(sum / 8), ok
}

// encode writes src to dst as a Huffman-coded stream (section 4.2.2) and returns
// its length. dst must have room for 11 bits a byte and 16 bytes.
func (c *huffmanCode) encode(dst, src []byte) int {
	codes := &c.codes
	b := bitWriter{buf: dst}
	for ; len(src)%4 != 0; src = src[:len(src)-1] {
		v := codes[src[len(src)-1]]
		b.add(uint64(v>>8), uint(v&0xff))
	}
	// The same for four bytes at a time, with the writer in registers.
	acc, n, pos := b.acc, b.n, 0
	for i := len(src) - 4; i >= 0; i -= 4 {
		binary.LittleEndian.PutUint64(dst[pos:], acc)
		pos += int(n >> 3)
		acc >>= n & 56
		n &= 7
		s := binary.LittleEndian.Uint32(src[i:])
		v := codes[s>>24]
		acc |= uint64(v>>8) << (n & 63)
		n += uint(v & 0xff)
		v = codes[s>>16&0xff]
		acc |= uint64(v>>8) << (n & 63)
		n += uint(v & 0xff)
		v = codes[s>>8&0xff]
		acc |= uint64(v>>8) << (n & 63)
		n += uint(v & 0xff)
		v = codes[s&0xff]
		acc |= uint64(v>>8) << (n & 63)
		n += uint(v & 0xff)
	}
	b.acc, b.n, b.pos = acc, n, pos
	return b.endStream()
}
