//go:build !purego

package zstd

// The assembly needs BMI2 and SSSE3. All that have the first have the other.
func init() { useAsm = hasBMI2() }

func hasBMI2() bool

func (r *sequenceReader) readFast(src []byte, batch []sequence) int {
	if !useAsm || len(batch) == 0 {
		return r.readFastGo(src, batch)
	}
	return readSequences(r, &src[0], &batch[0], len(batch))
}

// readSequences is readFastGo, but for a window of 56 bits. All it reads of src
// are the eight bytes up to a position in the stream; see window.
//
//go:noescape
func readSequences(r *sequenceReader, src *byte, batch *sequence, n int) int

func (x *executor) runFast(batch []sequence) int {
	if !useAsm || len(batch) == 0 || len(x.dst) < margin {
		return x.runFastGo(batch)
	}
	return runSequences(x, &batch[0], len(batch), &patterns)
}

// patterns has, for an offset below 16, which of the bytes before a match are
// its first 16, and at last how many of these are whole repetitions.
var patterns = func() (p [17][16]uint8) {
	for offset := uint8(1); offset < 16; offset++ {
		for i := range p[offset] {
			p[offset][i] = uint8(i) % offset
		}
		p[16][offset] = 16 / offset * offset
	}
	return p
}()

// runSequences is runFastGo; p is patterns. Before it copies anything for a
// sequence it compares the ends of both parts with the bounds, which leave it
// margin bytes to read and write too much.
//
//go:noescape
func runSequences(x *executor, batch *sequence, n int, p *[17][16]uint8) int

func (t *huffmanTables) decodeOne(dst, src []byte, s *[4]stream, n int) {
	if !useAsm {
		t.decodeOneGo(dst, src, s, n)
		return
	}
	decodeHuffmanOne(&t.one, &dst[0], &src[0], s, n)
}

func (t *huffmanTables) decodeTwo(dst, src []byte, s *[4]stream, n int) {
	if !useAsm {
		t.decodeTwoGo(dst, src, s, n)
		return
	}
	decodeHuffmanTwo(&t.two, &dst[0], &src[0], s, n)
}

// decodeHuffmanOne is decodeOneGo. The streams must have started at equal
// distances in dst, and have as many windows and as much room.
//
//go:noescape
func decodeHuffmanOne(t *[1 << huffmanLog]uint16, dst, src *byte, s *[4]stream, n int)

// decodeHuffmanTwo is decodeTwoGo. The streams must have as many windows and
// as much room.
//
//go:noescape
func decodeHuffmanTwo(t *[1 << huffmanLog]uint32, dst, src *byte, s *[4]stream, n int)
