package lz4enc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// A kind makes n bytes of one kind of data.
type kind struct {
	name string
	data func(n int) []byte
}

func kinds() []kind {
	all := []kind{
		{"noise", func(n int) []byte {
			b := make([]byte, n)
			rand.NewChaCha8([32]byte{1}).Read(b)
			return b
		}},
		{"text", func(n int) []byte {
			var b []byte
			for r := rand.New(rand.NewPCG(1, 2)); len(b) < n; {
				b = fmt.Appendf(b, "event %d, run %d; ", r.IntN(5000), r.IntN(30))
			}
			return b[:n]
		}},
		{"planes", func(n int) []byte { // of doubles
			r := rand.New(rand.NewPCG(3, 4))
			b, items := make([]byte, n), n/8
			for i := range items {
				v := math.Float64bits(math.Round(91200+2500*r.NormFloat64()) / 1000)
				for k := range 8 {
					b[k*items+i] = byte(v >> (8 * k))
				}
			}
			return b
		}},
		{"records", func(n int) []byte { // of numbers and zeros
			r := rand.New(rand.NewPCG(5, 6))
			var b []byte
			for i := 0; len(b) < n; i++ {
				b = binary.LittleEndian.AppendUint64(b, uint64(i))
				b = append(b, make([]byte, r.IntN(40))...)
				b = binary.LittleEndian.AppendUint32(b, uint32(r.IntN(1000)))
			}
			return b[:n]
		}},
		{"far", func(n int) []byte { // repeats from the end of the window and beyond
			b := make([]byte, n)
			rand.NewChaCha8([32]byte{2}).Read(b[:min(n, 70000)])
			for i := range b {
				switch back := maxOffset - 8 + i/1000%16; {
				case i >= 70000:
					b[i] = b[i-back]
				case i%200 < 20:
					b[i] = 7
				}
			}
			return b
		}},
	}
	for p := 1; p <= 40; p++ {
		all = append(all, kind{fmt.Sprintf("period %d", p), func(n int) []byte {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(i % p * 37)
			}
			return b
		}})
	}
	return all
}

// check fails the test unless the block is src for pierrec's decoder, and keeps
// the rules for its end, which that does not ask for.
func check(t *testing.T, what string, block, src []byte) {
	t.Helper()
	got := make([]byte, len(src))
	n, err := lz4.UncompressBlock(block, got)
	if err != nil || !bytes.Equal(got[:n], src) {
		t.Fatalf("%s: %d of %d bytes, %v", what, n, len(src), err)
	}
	if len(block) > lz4.CompressBlockBound(len(src)) {
		t.Errorf("%s: %d bytes became %d", what, len(src), len(block))
	}
	length := func(nibble byte) int {
		n := int(nibble)
		for more := nibble == 15; more; block = block[1:] {
			n += int(block[0])
			more = block[0] == 255
		}
		return n
	}
	for done, last := 0, 0; ; {
		token := block[0]
		block = block[1:]
		literals := length(token >> 4)
		done += literals
		if block = block[literals:]; len(block) == 0 {
			if last > 0 && (literals < 5 || len(src)-last < 12) {
				t.Errorf("%s: the last match begins %d bytes before the end, and ends %d before it", what, len(src)-last, literals)
			}
			return
		}
		block = block[2:]
		last = done
		done += 4 + length(token&15)
	}
}

func TestAppend(t *testing.T) {
	sizes := []int{65535, 65536, 65537, 200_000}
	if testing.Short() {
		sizes = nil
	}
	for n := range 300 {
		sizes = append(sizes, n)
	}
	for _, k := range kinds() {
		for _, n := range sizes {
			if len(k.name) > 7 && n%17 > 2 {
				continue
			}
			src := k.data(n)
			for _, depth := range []int{1, 8, 256} {
				what := fmt.Sprintf("%s, %d bytes, depth %d", k.name, n, depth)
				out := Append([]byte("kept"), src, depth)
				if string(out[:4]) != "kept" {
					t.Fatalf("%s: %q", what, out[:4])
				}
				check(t, what, out[4:], src)
			}
		}
	}
}

// TestPast: what was compressed before makes no difference, nor that places are
// counted from the start again.
func TestPast(t *testing.T) {
	all := kinds()[:9]
	var want [][]byte
	for _, k := range all {
		want = append(want, new(encoder).append(nil, k.data(100_000), 8))
	}
	for _, base := range []uint32{0, 1<<32 - 300_000, 1<<32 - 2*(maxOffset+1) - 100_000} {
		e := &encoder{base: base}
		for round := range 2 {
			for i, k := range all {
				if !bytes.Equal(e.append(nil, k.data(100_000), 8), want[i]) {
					t.Errorf("base %d, round %d: %s is different", base, round, k.name)
				}
			}
		}
	}
}

// TestSize compares with LZ4_compress_HC of the LZ4 library 1.9.4 at the levels 4
// and 9. The library does better at records, where it chooses among matches by
// what they are longer at the front, too.
func TestSize(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for name, want := range map[string]struct {
		level4, level9 int
		limit          float64
	}{
		"noise":   {1052682, 1052682, 1.02},
		"text":    {267165, 244897, 1.02},
		"planes":  {848035, 833664, 1.02},
		"records": {223419, 219312, 1.05},
		"far":     {462527, 461530, 1.02},
	} {
		all := kinds()
		src := all[slices.IndexFunc(all, func(k kind) bool { return k.name == name })].data(1 << 20)
		for depth, size := range map[int]int{8: want.level4, 256: want.level9} {
			if n := len(Append(nil, src, depth)); float64(n) > want.limit*float64(size) {
				t.Errorf("%s, depth %d: %d bytes, the library needs %d", name, depth, n, size)
			}
		}
	}
}

func FuzzAppend(f *testing.F) {
	for _, k := range kinds()[:8] {
		f.Add(k.data(200), uint8(8), uint16(3))
	}
	f.Fuzz(func(t *testing.T, src []byte, depth uint8, repeat uint16) {
		if n := int(repeat % 1024); len(src)*n < 1<<18 {
			src = bytes.Repeat(src, n)
		}
		check(t, "", Append(nil, src, int(depth)+1), src)
	})
}

func BenchmarkAppend(b *testing.B) {
	for _, k := range append(kinds()[:5], kind{"zero", func(n int) []byte { return make([]byte, n) }}) {
		src := k.data(1 << 20)
		dst := make([]byte, 0, 2<<20)
		c := new(lz4.CompressorHC)
		for _, level := range []int{4, 9} {
			b.Run(fmt.Sprintf("%s/level %d/ours", k.name, level), func(b *testing.B) {
				b.SetBytes(int64(len(src)))
				b.ReportAllocs()
				for b.Loop() {
					dst = Append(dst[:0], src, 1<<(level-1))
				}
				b.ReportMetric(float64(len(dst)), "size")
			})
		}
		b.Run(k.name+"/pierrec", func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			c.Level = 256
			for b.Loop() {
				n, _ := c.CompressBlock(src, dst[:cap(dst)])
				b.ReportMetric(float64(n), "size")
			}
		})
	}
}
