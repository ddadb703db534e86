package zstd

// A cutter cuts a page into blocks that are each worth a code of their own.
//
// Pages are mostly split: the first bytes of all elements come first, then the
// second ones, and so on. What is alike in a page therefore has its bounds at
// eighths of the page. The cutter joins neighbouring parts unless they take
// less apart.
type cutter struct {
	src    []byte
	pos    int       // end of the block
	counts histogram // of its bytes

	// The part behind, and what it takes, in units of log2.
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

// next moves on to the next block, and returns its end.
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

// look looks at the part behind the block.
func (c *cutter) look() {
	c.end = c.partEnd()
	c.ahead = histogram{}
	c.ahead.add(c.src[c.pos:c.end])
	c.size = codedSize(&c.ahead, c.end-c.pos)
}

// partEnd returns the end of the part that begins at pos.
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

// codedSize returns about what a block of n bytes takes that occur so often.
func codedSize(h *histogram, n int) uint64 {
	const (
		run   = 4 * 8 * one
		block = 12 * 8 * one // without the literals
		kind  = 4 * one      // of a byte, in the header of a code
	)
	sum, kinds := h.entropy(n)
	if kinds == 1 {
		return run
	}
	return min(sum+block+uint64(kinds)*kind, uint64(n+blockHeaderSize)*8*one)
}
