package zstd

import (
	"encoding/binary"
	"sync"
)

// An effort says how hard to search for matches. The size of pages of numbers
// depends less on it than on the codes of their literals; that of text depends
// on it more.
type effort struct {
	depth int  // how many positions with the same hash to compare
	lazy  int  // how many positions later a better match may begin
	hurry uint // steps get one byte longer every 1<<hurry bytes without a match
}

// efforts holds the efforts for levels 1 to 3, 4 to 6, and 7 to 9.
var efforts = [...]effort{
	{depth: 1, lazy: 0, hurry: 4},
	{depth: 8, lazy: 2, hurry: 5},
	{depth: 128, lazy: 2, hurry: 8},
}

func effortOf(level int) effort { return efforts[(min(max(level, 1), 9)-1)/3] }

// An encoder is the state of one call of Encode.
type encoder struct {
	src       []byte
	cutter    cutter
	matcher   matcher
	literals  literalsWriter
	sequences sequencesWriter
}

var encoders = sync.Pool{New: func() any { return newEncoder() }}

func newEncoder() *encoder {
	e := new(encoder)
	e.sequences.init()
	return e
}

// Encode appends src to dst as one frame, with the content size and without a
// checksum, and returns the extended slice. Levels go from 1, the fastest, to 9;
// another level stands for the nearest of these. src must have at most 1 GiB and
// must not overlap dst. Equal input gives equal output, whatever was encoded
// before or at the same time. Encode is safe for concurrent use.
func Encode(dst, src []byte, level int) []byte {
	e := encoders.Get().(*encoder)
	dst = e.frame(dst, src, effortOf(level))
	e.src, e.cutter.src = nil, nil
	encoders.Put(e)
	return dst
}

// frame appends src as one frame (section 3.1.1).
func (e *encoder) frame(dst, src []byte, how effort) []byte {
	dst = appendFrameHeader(dst, len(src))
	if len(src) == 0 {
		return appendBlockHeader(dst, blockRaw, 0, true)
	}
	e.src = src
	e.literals.known = false
	e.matcher.begin(src, how)
	e.cutter.begin(src)
	for to := 0; to < len(src); {
		from := to
		to = e.cutter.next()
		dst = e.block(dst, from, to)
	}
	e.matcher.end()
	return dst
}

// appendFrameHeader appends the magic number and the Frame_Header of a frame of
// n bytes (section 3.1.1.1). The Single_Segment_Flag is set: matches may refer to
// any of the content.
func appendFrameHeader(dst []byte, n int) []byte {
	const single = 1 << 5
	dst = binary.LittleEndian.AppendUint32(dst, frameMagic)
	switch {
	case n < 256:
		return append(dst, single, byte(n))
	case n < 256+1<<16:
		return binary.LittleEndian.AppendUint16(append(dst, single|1<<6), uint16(n-256))
	}
	return binary.LittleEndian.AppendUint32(append(dst, single|2<<6), uint32(n))
}

// Block_Type, section 3.1.1.2.2.
const (
	blockRaw = iota
	blockRun
	blockCompressed
)

const blockHeaderSize = 3

// appendBlockHeader appends a Block_Header (section 3.1.1.2). size is that of the
// bytes that follow; for blockRun it is that of the content.
func appendBlockHeader(dst []byte, kind, size int, last bool) []byte {
	v := size<<3 | kind<<1
	if last {
		v |= 1
	}
	return append(dst, byte(v), byte(v>>8), byte(v>>16))
}

// block appends the block src[from:to], which the cutter has just cut: as a run,
// compressed with matches, compressed without, or raw.
func (e *encoder) block(dst []byte, from, to int) []byte {
	src, counts := e.src[from:to], &e.cutter.counts
	n, last := to-from, to == len(e.src)
	if counts[src[0]] == uint32(n) {
		return append(appendBlockHeader(dst, blockRun, n, last), src[0])
	}
	m := &e.matcher
	plain := m.price(counts, n) // about the size without matches
	codes, recent := e.literals.literalsState, m.recent
	body := len(dst) + blockHeaderSize

	if e.find(from, to); m.gain > n/256*8*bit { // else it is not worth trying
		var h histogram
		h.add(m.literals)
		out := append(dst, 0, 0, 0)
		out = e.literals.append(out, m.literals, &h)
		out = e.sequences.append(out, m.sequences)
		if size := len(out) - body; size < min(plain, n) {
			appendBlockHeader(out[:len(dst)], blockCompressed, size, last)
			return out
		}
		dst = out[:len(dst)]
		e.literals.literalsState = codes
	}
	m.recent = recent

	out := append(dst, 0, 0, 0)
	out = e.literals.append(out, src, counts)
	out = e.sequences.append(out, nil)
	if size := len(out) - body; size < n {
		appendBlockHeader(out[:len(dst)], blockCompressed, size, last)
		return out
	}
	e.literals.literalsState = codes
	return append(appendBlockHeader(out[:len(dst)], blockRaw, n, last), src...)
}

// find finds matches in a block.
func (e *encoder) find(from, to int) {
	m := &e.matcher
	if !m.dominated || m.recent[0] != 1 {
		m.find(from, to)
		return
	}
	// There are matches everywhere, which take long to compare. Mostly it is
	// better to use runs only. Find out with the start of the block.
	const sample = 2 << 10
	end := min(to, from+sample)
	recent := m.recent
	m.find(from, end)
	all := e.estimate()
	m.recent = recent
	m.findRuns(from, end)
	switch runs := e.estimate(); {
	case runs > all+all/10:
		m.recent = recent
		m.find(from, to)
	case end < to:
		m.findRuns(from, to)
	}
}

// estimate returns about how many bytes the block takes with the matches found.
func (e *encoder) estimate() int {
	var h histogram
	n := len(e.matcher.literals)
	h.add(e.matcher.literals)
	bits, _ := h.entropy(max(n, 1))
	return int(max(bits/one, uint64(n))/8) + e.sequences.estimate(e.matcher.sequences)
}
