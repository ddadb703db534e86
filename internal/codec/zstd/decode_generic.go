//go:build !amd64 || purego

package zstd

func (r *sequenceReader) readFast(src []byte, batch []sequence) int {
	return r.readFastGo(src, batch)
}

func (x *executor) runFast(batch []sequence) int { return x.runFastGo(batch) }

func (t *huffmanTables) decodeOne(dst, src []byte, s *[4]stream, n int) {
	t.decodeOneGo(dst, src, s, n)
}

func (t *huffmanTables) decodeTwo(dst, src []byte, s *[4]stream, n int) {
	t.decodeTwoGo(dst, src, s, n)
}
