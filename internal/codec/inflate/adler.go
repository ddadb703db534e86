package inflate

import "encoding/binary"

// Adler32 returns the Adler-32 checksum of data (RFC 1950, section 8.2), as
// hash/adler32 does. That package proceeds byte by byte, which takes half as long
// as decoding.
func Adler32(data []byte) uint32 {
	const (
		mod   = 65521
		chunk = 1 << 20 // bytes after which the sums are reduced
	)
	a, b := uint64(1), uint64(0)
	for len(data) > 0 {
		rest := data[:min(len(data), chunk)]
		data = data[len(rest):]
		whole := rest[:len(rest)&^31]
		sum, weighted := sums(whole)
		b += uint64(len(whole))*a + weighted
		a += sum
		for _, c := range rest[len(whole):] {
			a += uint64(c)
			b += a
		}
		a %= mod
		b %= mod
	}
	return uint32(b<<16 | a)
}

// plainSums returns the sum of the bytes of data, and the sum in which the last
// byte counts once, the last but one twice, and so on. The length of data must be
// a multiple of 32 and at most 1 MiB.
func plainSums(data []byte) (sum, weighted uint64) {
	const (
		most  = 160 // bytes whose sums below fit into 16 bits
		even  = 0x00FF00FF00FF00FF
		four  = 0x0001000100010001 // as a factor, it puts the sum of four lanes into the top one
		three = 0x0000000100020003 // the same with the second lane once, the third twice, the fourth 3 times
		low   = 0x0000FFFF0000FFFF
	)
	for len(data) > 0 {
		block := data[:min(len(data), most)]
		data = data[len(block):]
		weighted += sum * uint64(len(block))
		// In lanes of 16 bits: the sums of the words' bytes 0, 2, 4, 6 and 1, 3, 5,
		// 7, and the sums of these sums after each word.
		var s, t, ss, tt uint64
		for ; len(block) >= 32; block = block[32:] {
			for i := 0; i < 32; i += 8 {
				v := binary.LittleEndian.Uint64(block[i:])
				s += v & even
				t += v >> 8 & even
				ss += s
				tt += t
			}
		}
		// A byte counts 8 times for its word and each word after it, less once for
		// each byte before it in its word.
		both := s + t
		after := ss&low + ss>>16&low + tt&low + tt>>16&low
		weighted += 8*(after>>32+after&0xFFFFFFFF) - 2*(both*three>>48) - t*four>>48
		sum += both * four >> 48
	}
	return sum, weighted
}
