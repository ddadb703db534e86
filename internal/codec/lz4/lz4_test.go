package lz4

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// kinds lists functions that make n bytes.
var kinds = map[string]func(r *rand.Rand, n int) []byte{
	"zeros":  func(_ *rand.Rand, n int) []byte { return make([]byte, n) },
	"random": func(r *rand.Rand, n int) []byte { return symbols(r, n, 256) },
	"few":    func(r *rand.Rand, n int) []byte { return symbols(r, n, 2) },
	"some":   func(r *rand.Rand, n int) []byte { return symbols(r, n, 12) },
	"period": func(r *rand.Rand, n int) []byte {
		b := symbols(r, n, 256)
		for i, p := 0, 1+r.IntN(20); i < n; i++ {
			b[i] = b[i%p]
		}
		return b
	},
	"far": func(r *rand.Rand, n int) []byte { // repeats from around the end of the window
		b := symbols(r, n, 256)
		for i := window + 2; i+40 < n; i += 50 + r.IntN(100) {
			from := i - window + r.IntN(4) - 1
			copy(b[i:i+4+r.IntN(30)], b[from:])
		}
		return b
	},
	"planes": func(r *rand.Rand, n int) []byte { // of floats of a few digits
		b := make([]byte, n)
		quarter := n / 4
		for i := range quarter {
			var v [4]byte
			binary.LittleEndian.PutUint32(v[:], math.Float32bits(float32(r.NormFloat64()))&^0xfff)
			for k := range v {
				b[k*quarter+i] = v[k]
			}
		}
		return b
	},
	"words": func(r *rand.Rand, n int) []byte {
		var b bytes.Buffer
		for b.Len() < n {
			fmt.Fprintf(&b, "event %d, run %d; ", r.IntN(1000), r.IntN(4))
		}
		return b.Bytes()[:n]
	},
}

func symbols(r *rand.Rand, n, all int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.IntN(all))
	}
	return b
}

// TestAppend has the module read the blocks of all kinds, lengths and levels, behind what is in
// dst already.
func TestAppend(t *testing.T) {
	for name, make := range kinds {
		r := rand.New(rand.NewPCG(4, 4))
		lengths := []int{100, 255, 256, 1000, window - 1, window, window + 1, 3*window + 7, 1 << 20, 1<<20 + 300}
		for n := range 60 {
			lengths = append(lengths, n, 260+n, r.IntN(5000))
		}
		for _, n := range lengths {
			src := make(r, n)
			level := 4 + r.IntN(6)
			dst := Append([]byte("before"), src, level)
			block, ok := bytes.CutPrefix(dst, []byte("before"))
			if !ok {
				t.Fatalf("%s, %d bytes: what was in dst has changed", name, n)
			}
			if most := n + n/255 + 16; len(block) > most {
				t.Errorf("%s, %d bytes: a block of %d", name, n, len(block))
			}
			checkEnd(t, block, n)
			got := bytes.Repeat([]byte{0xee}, n)
			if read, err := lz4.UncompressBlock(block, got); err != nil || read != n || !bytes.Equal(got, src) {
				t.Fatalf("%s, %d bytes: the module reads %d bytes: %v", name, n, read, err)
			}
		}
	}
}

// checkEnd walks through the sequences of the block of n bytes. Readers may fail if the last ones
// are not as the section "End of block restrictions" demands.
func checkEnd(t *testing.T, block []byte, n int) {
	t.Helper()
	rest := func(half byte) int {
		length := int(half)
		for more := half == 15; more; block = block[1:] {
			length += int(block[0])
			more = block[0] == 255
		}
		return length
	}
	for at := 0; ; {
		token := block[0]
		block = block[1:]
		literals := rest(token >> 4)
		block = block[literals:]
		at += literals
		if len(block) == 0 {
			if at != n || n > lastLiterals && literals < lastLiterals {
				t.Fatalf("%d bytes: %d literals end at byte %d", n, literals, at)
			}
			return
		}
		distance := int(binary.LittleEndian.Uint16(block))
		block = block[2:]
		if distance == 0 || distance > at || at > n-lastMatch {
			t.Fatalf("%d bytes: a match at %d, %d bytes back", n, at, distance)
		}
		at += minMatch + rest(token&15)
	}
}

// TestSize compares sizes at level 4 with those of the module at the depth that the LZ4 library
// has there, wants the same block every time, and no larger ones from higher levels.
func TestSize(t *testing.T) {
	limits := map[string]float64{
		"zeros": 1, "random": 1.0001, "few": 0.85, "some": 1.04, "period": 1, "far": 1, "planes": 0.98, "words": 1.15,
	}
	for name, make := range kinds {
		src := make(rand.New(rand.NewPCG(5, 5)), 1<<20)
		block := Append(nil, src, 4)
		if again := Append(nil, src, 4); !bytes.Equal(again, block) {
			t.Errorf("%s: other bytes the second time", name)
		}
		module := bytes.Repeat([]byte{0}, lz4.CompressBlockBound(len(src)))
		hc := lz4.CompressorHC{Level: 16}
		n, err := hc.CompressBlock(src, module)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			n = len(block) // the module does not write what cannot be compressed
		}
		ratio := float64(len(block)) / float64(n)
		t.Logf("%s: %d bytes, %.3f of the module's", name, len(block), ratio)
		if ratio > limits[name] {
			t.Errorf("%s: %d bytes, more than %.3f of the module's %d", name, len(block), limits[name], n)
		}
		for level := 5; level <= 9; level++ {
			higher := Append(nil, src, level)
			if len(higher) > len(block)+len(block)/1000 {
				t.Errorf("%s: %d bytes at level %d, %d below", name, len(higher), level, len(block))
			}
			block = higher
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	for name, make := range kinds {
		src := make(rand.New(rand.NewPCG(6, 6)), 1<<20)
		dst := Append(nil, src, 4)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				dst = Append(dst[:0], src, 4)
			}
		})
	}
}
