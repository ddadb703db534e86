package inflate

import (
	"bytes"
	"hash/adler32"
	"testing"
)

func TestAdler32(t *testing.T) {
	noise := kinds()[0].data(3<<20 + 100)
	full := bytes.Repeat([]byte{0xFF}, len(noise))
	sizes := []int{1<<20 - 1, 1 << 20, 1<<20 + 1, len(noise)}
	for n := range 1000 {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		for name, data := range map[string][]byte{"noise": noise[:n], "full": full[:n]} {
			if got, want := Adler32(data), adler32.Checksum(data); got != want {
				t.Errorf("%d bytes of %s: %#x, want %#x", n, name, got, want)
			}
			whole := data[:min(n, 1<<20)&^31]
			sum, weighted := sums(whole)
			if s, w := plainSums(whole); s != sum || w != weighted {
				t.Errorf("%d bytes of %s: sums %d and %d, in plain Go %d and %d", n, name, sum, weighted, s, w)
			}
		}
	}
	// Each byte of a block has its own weight.
	data := make([]byte, 500)
	for i := range data {
		data[i] = 1
		if got, want := Adler32(data), adler32.Checksum(data); got != want {
			t.Errorf("%d bytes set: %#x, want %#x", i, got, want)
		}
	}
}

func BenchmarkAdler32(b *testing.B) {
	data := kinds()[0].data(1 << 20)
	for name, sum := range map[string]func([]byte) uint32{"ours": Adler32,
		"plain": func(b []byte) uint32 { s, _ := plainSums(b); return uint32(s) }, "standard": adler32.Checksum} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				sum(data)
			}
		})
	}
}
