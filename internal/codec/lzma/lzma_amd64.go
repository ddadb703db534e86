//go:build !purego

package lzma

// decode is decodeGo(d.limit).
func (d *decoder) decode() bool {
	return (!useAsm || (d.out > d.dict || d.decodeGo(d.out+1)) && decodeSymbols(d, len(d.src)-inMargin, &repeat)) &&
		d.decodeGo(d.limit)
}

// inMargin is what a symbol can read: 22 bits of at most 11-log2(31) each, where 31
// is the least probability; 26 direct bits; and less than 15 to normalize: 175 bits.
const inMargin = 21

// repeat has, for distances 1 to 7, by what a number of so many bytes must be
// multiplied to be repeated, and then how many of 8 bytes are whole repetitions.
var repeat = [14]uint64{0x0101010101010101, 0x0001000100010001, 0x0001000001000001, 1<<32 | 1, 1<<40 | 1, 1<<48 | 1,
	1<<56 | 1, 8, 8, 6, 8, 5, 6, 7}

// decodeSymbols decodes symbols until dst[:limit] is done, or the next starts after
// src[last]; r is repeat. There must be a byte in the dictionary.
//
//go:noescape
func decodeSymbols(d *decoder, last int, r *[14]uint64) bool
