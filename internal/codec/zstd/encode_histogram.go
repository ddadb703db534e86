package zstd

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
)

// one is a bit in the units of log2.
const one = 1 << 16

// fractions[i] is log2(1 + i/1024).
var fractions = func() (f [1024]uint16) {
	for i := range f {
		f[i] = uint16(math.Round(one * math.Log2(1+float64(i)/1024)))
	}
	return f
}()

// log2 returns the logarithm of x in units of 1/one, accurate to three decimals.
func log2(x uint32) uint32 {
	n := bits.LeadingZeros32(x)
	return uint32(31-n)*one + uint32(fractions[x<<(n&31)>>21&1023])
}

// A histogram counts bytes.
type histogram [256]uint32

func (h *histogram) add(b []byte) {
	if isRun(b) {
		h[b[0]] += uint32(len(b))
		return
	}
	if len(b) >= 1<<10 {
		b = h.addMany(b)
	}
	for _, c := range b {
		h[c]++
	}
}

// addMany adds all but the last few bytes, which it returns.
func (h *histogram) addMany(b []byte) []byte {
	// Incrementing a count must wait for its last increment. With four
	// histograms, equal neighbours do not wait for each other.
	var more [3]histogram
	for ; len(b) >= 8; b = b[8:] {
		v := binary.LittleEndian.Uint64(b)
		h[uint8(v)]++
		more[0][uint8(v>>8)]++
		more[1][uint8(v>>16)]++
		more[2][uint8(v>>24)]++
		h[uint8(v>>32)]++
		more[0][uint8(v>>40)]++
		more[1][uint8(v>>48)]++
		more[2][uint8(v>>56)]++
	}
	for i := range h {
		h[i] += more[0][i] + more[1][i] + more[2][i]
	}
	return b
}

// isRun reports whether b has several bytes, all equal.
func isRun(b []byte) bool {
	return len(b) > 1 && b[0] == b[len(b)-1] && bytes.Equal(b[1:], b[:len(b)-1])
}

// entropy returns the entropy of the n bytes in bits, in units of log2, and the
// number of different bytes.
func (h *histogram) entropy(n int) (sum uint64, kinds int) {
	whole := log2(uint32(n))
	for _, c := range h {
		if c > 0 {
			sum += uint64(c) * uint64(whole-min(log2(c), whole))
			kinds++
		}
	}
	return sum, kinds
}

// order fills dst with the bytes that occur, by ascending counts: the count in
// the upper 24 bits, the byte in the lower 8. It returns their number.
func (h *histogram) order(dst *[256]uint32) int {
	var room [256]uint32
	from, to := dst[:0], room[:]
	all := uint32(0)
	for b, c := range h {
		if c > 0 {
			from = append(from, c<<8|uint32(b))
			all |= c
		}
	}
	n := len(from)
	for shift := 8; all>>(shift-8) > 0; shift += 8 {
		var ends [256]uint16
		for _, v := range from {
			ends[uint8(v>>shift)]++
		}
		sum := uint16(0)
		for i, k := range ends {
			ends[i], sum = sum, sum+k
		}
		for _, v := range from {
			p := &ends[uint8(v>>shift)]
			to[*p&255] = v
			*p++
		}
		from, to = to[:n], from[:cap(from)]
	}
	copy(dst[:], from)
	return n
}
