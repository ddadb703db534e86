//go:build !purego

package bits

// unpackBlocks unpacks words of up to 25 bits, which lie within 4 bytes at any
// bit of a byte that they start at. It returns the number of words unpacked, a
// multiple of 8.
func unpackBlocks(dst []uint32, src []byte, width, left int) int {
	half := width / 2 // number of whole bytes before the fifth of 8 words
	last := len(src) - half - 16
	if !hasAVX2 || width > 25 || last < 0 {
		return 0
	}
	n := min(len(dst)/8, last/width+1) * 8
	if n < 64 {
		return 0 // not worth the table
	}
	var t unpackTable
	for i := range 8 {
		at := i%4*width + i/4*(4*width%8) // bit of the word in its lane
		t.shift[i] = uint32(at % 8)
		for k := range 4 {
			t.bytes[4*i+k] = byte(at/8 + k)
		}
	}
	unpackAVX2(&dst[0], &src[0], n, width, left, &t)
	return n
}

// An unpackTable tells where 8 words are in two lanes of 16 bytes.
type unpackTable struct {
	bytes [32]byte  // the 4 bytes that hold each word
	shift [8]uint32 // the number of bits before the word in these
}

// float32Blocks converts multiples of 8 half floats and returns their number.
func float32Blocks(dst []uint32, src []uint16) int {
	n := len(src) &^ 7
	if !hasAVX2 || n == 0 {
		return 0
	}
	float32sAVX2(&dst[0], &src[0], n)
	return n
}

// float16Blocks converts multiples of 8 floats to half floats and returns their
// number.
func float16Blocks(dst []uint16, src []uint32) int {
	n := len(src) &^ 7
	if !hasAVX2 || n == 0 {
		return 0
	}
	float16sAVX2(&dst[0], &src[0], n)
	return n
}

// endsBlocks does multiples of 4 ends, and returns their number.
func endsBlocks(dst, ends []uint64, begin, shift uint64) (n int, wrong uint64) {
	n = len(ends) &^ 3
	if !hasAVX2 || n == 0 {
		return 0, 0
	}
	return n, endsAVX2(&dst[0], &ends[0], n, begin, shift)
}

//go:noescape
func unpackAVX2(dst *uint32, src *byte, n, width, left int, t *unpackTable)

//go:noescape
func float32sAVX2(dst *uint32, src *uint16, n int)

//go:noescape
func float16sAVX2(dst *uint16, src *uint32, n int)

//go:noescape
func endsAVX2(dst, ends *uint64, n int, begin, shift uint64) (wrong uint64)
