package zstd

import "encoding/binary"

// A literalsWriter writes literals sections (section 3.1.1.3.1).
type literalsWriter struct {
	codes [2]huffmanCode
	literalsState
	buf [maxBlockSize/4*maxCodeLen/8 + 16]byte // one of the four streams
}

// literalsState tells which of the codes decoders know from the blocks before.
type literalsState struct {
	current int
	known   bool
}

// append appends literals with the counts h.
func (w *literalsWriter) append(dst, lits []byte, h *histogram) []byte {
	n := len(lits)
	if n == 0 {
		return appendPlainHeader(dst, literalsRaw, 0)
	}
	if h[lits[0]] == uint32(n) {
		return append(appendPlainHeader(dst, literalsRun, n), lits[0])
	}
	if kind, code := w.choose(h, n); code != nil {
		if out := w.appendCoded(dst, lits, kind, code); len(out)-len(dst) < n {
			if kind == literalsHuffman {
				w.current, w.known = 1-w.current, true
			}
			return out
		}
	}
	return append(appendPlainHeader(dst, literalsRaw, n), lits...)
}

// choose returns the better of two codes for n bytes with the counts h: the one
// that decoders know, and a new one. It returns nil if neither is worthwhile.
func (w *literalsWriter) choose(h *histogram, n int) (kind int, best *huffmanCode) {
	size := n - 4
	if w.known {
		if s, ok := w.codes[w.current].size(h); ok && s < size {
			kind, best, size = literalsTreeless, &w.codes[w.current], s
		}
	}
	if bits, kinds := h.entropy(n); int(bits/(8*one))+kinds/4 >= size {
		return kind, best
	}
	own := &w.codes[1-w.current]
	if own.make(h) {
		if s, _ := own.size(h); s+len(own.header) < size {
			return literalsHuffman, own
		}
	}
	return kind, best
}

// appendCoded appends a Compressed_Literals_Block or a Treeless_Literals_Block
// (section 3.1.1.3.1.4), in one stream or four as the number of literals requires.
func (w *literalsWriter) appendCoded(dst, lits []byte, kind int, code *huffmanCode) []byte {
	n := len(lits)
	format, width := 0, 10 // Size_Format, and the width of the sizes in the header
	switch {
	case n >= 1<<14:
		format, width = 3, 18
	case n >= 1<<10:
		format, width = 2, 14
	case n >= 256:
		format = 1
	}
	begin := len(dst)
	var header [5]byte
	body := begin + (4+2*width+7)/8
	dst = append(dst, header[:body-begin]...)
	if kind == literalsHuffman {
		dst = append(dst, code.header...)
	}
	if format == 0 {
		dst = append(dst, w.buf[:code.encode(w.buf[:], lits)]...)
	} else {
		sizes := len(dst)
		dst = append(dst, 0, 0, 0, 0, 0, 0) // Jump_Table, section 3.1.1.3.1.6
		part := (n + 3) / 4
		for i := range 4 {
			size := code.encode(w.buf[:], lits[i*part:min((i+1)*part, n)])
			dst = append(dst, w.buf[:size]...)
			if i < 3 {
				binary.LittleEndian.PutUint16(dst[sizes+2*i:], uint16(size))
			}
		}
	}
	size := len(dst) - body
	v := uint64(kind|format<<2|n<<4) | uint64(size)<<(4+width)
	for i := begin; i < body; i++ {
		dst[i] = byte(v)
		v >>= 8
	}
	return dst
}

// appendPlainHeader appends the Literals_Section_Header of n literals that are
// raw or a run.
func appendPlainHeader(dst []byte, kind, n int) []byte {
	switch {
	case n < 1<<5:
		return append(dst, byte(kind|n<<3))
	case n < 1<<12:
		return append(dst, byte(kind|1<<2|n<<4), byte(n>>4))
	}
	return append(dst, byte(kind|3<<2|n<<4), byte(n>>4), byte(n>>12))
}
