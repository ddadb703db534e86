package zstd

// A cutter cuts a page into blocks (section 3.1.1.2), each of which is worth a
// Huffman code of its own.
//
// Most pages are split: they have the first bytes of all elements, then the
// second bytes, and so on. Their statistics therefore change at eighths of the
// page. The cutter joins neighbouring parts unless they are smaller apart.
type cutter struct {
	src    []byte
	pos    int       // end of the block
	counts histogram // of the bytes of the block

	// The part after the block, and its size in bits, in units of log2.
	end   int
	ahead histogram
	size  uint64
}

const (
	eighths = 8
	maxPart = maxBlockSize / 2
)

func (c *cutter) begin(src []byte) {
	c.src, c.pos, c.end = src, 0, 0
	c.look()
}

// next moves on to the next block and returns its end.
func (c *cutter) next() int {
	from, size := c.pos, c.size
	c.counts, c.pos = c.ahead, c.end
	for c.pos < len(c.src) {
		c.look()
		if c.end-from > maxBlockSize {
			break
		}
		both := c.ahead
		for i := range both {
			both[i] += c.counts[i]
		}
		joined := codedSize(&both, c.end-from)
		if joined > size+c.size {
			break
		}
		c.counts, size, c.pos = both, joined, c.end
	}
	return c.pos
}

// look examines the part after the block.
func (c *cutter) look() {
	c.end = c.partEnd()
	c.ahead = histogram{}
	c.ahead.add(c.src[c.pos:c.end])
	c.size = codedSize(&c.ahead, c.end-c.pos)
}

// partEnd returns the end of the part that starts at pos.
func (c *cutter) partEnd() int {
	n := len(c.src)
	if n < 64 {
		return n
	}
	k := c.pos*eighths/n + 1
	if k*n/eighths == c.pos {
		k++
	}
	return min(k*n/eighths, c.pos+maxPart)
}

// codedSize returns the approximate size in bits, in units of log2, of a block of
// n bytes with the counts h.
func codedSize(h *histogram, n int) uint64 {
	const (
		run   = 4 * 8 * one
		block = 12 * 8 * one // all but the literals and the code
		kind  = 4 * one      // one byte value in the description of a code
	)
	sum, kinds := h.entropy(n)
	if kinds == 1 {
		return run
	}
	return min(sum+block+uint64(kinds)*kind, uint64(n+blockHeaderSize)*8*one)
}
