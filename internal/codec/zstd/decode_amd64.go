//go:build !purego

package zstd

// The assembly needs BMI2 and SSSE3; every processor with the former has the
// latter.
func init() { useAsm = hasBMI2() }

func hasBMI2() bool

func (r *sequenceReader) readFast(src []byte, batch []sequence) int {
	if !useAsm || len(batch) == 0 {
		return r.readFastGo(src, batch)
	}
	return readSequences(r, &src[0], &batch[0], len(batch))
}

// readSequences is readFastGo with a window of 56 bits. Of src it reads only the
// eight bytes below a position in the stream; see window.
//
//go:noescape
func readSequences(r *sequenceReader, src *byte, batch *sequence, n int) int

func (x *executor) runFast(batch []sequence) int {
	if !useAsm || len(batch) == 0 || len(x.dst) < margin {
		return x.runFastGo(batch)
	}
	return runSequences(x, &batch[0], len(batch), &patterns)
}

// patterns[offset], for offsets below 16, tells which of the bytes before a match
// make up its first 16, as a mask for PSHUFB. patterns[16][offset] is how many of
// the 16 are whole repetitions.
var patterns = func() (p [17][16]uint8) {
	for offset := uint8(1); offset < 16; offset++ {
		for i := range p[offset] {
			p[offset][i] = uint8(i) % offset
		}
		p[16][offset] = 16 / offset * offset
	}
	return p
}()

// runSequences is runFastGo; p is patterns. Before it copies any byte of a
// sequence it compares the ends of its literals and its match with bounds that
// leave margin bytes to read and write in excess.
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

// decodeHuffmanOne is decodeOneGo. The outputs of the streams must start at equal
// distances in dst, and each stream must have bits and room for n windows.
//
//go:noescape
func decodeHuffmanOne(t *[1 << huffmanLog]uint16, dst, src *byte, s *[4]stream, n int)

// decodeHuffmanTwo is decodeTwoGo. Each stream must have bits and room for n
// windows.
//
//go:noescape
func decodeHuffmanTwo(t *[1 << huffmanLog]uint32, dst, src *byte, s *[4]stream, n int)
