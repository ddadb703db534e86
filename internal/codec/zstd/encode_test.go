package zstd

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// split returns pages of n elements, split as column encodes them.
func split(width, n int, next func() uint64) []byte {
	b := make([]byte, width*n)
	for i := range n {
		v := next()
		for k := range width {
			b[k*n+i] = byte(v >> (8 * k))
		}
	}
	return b
}

func zigzag(v int64) uint64 { return uint64(v<<1 ^ v>>63) }

// truncated returns the bits of x, rounded to the given bits of mantissa.
func truncated(x float64, bits int) uint64 {
	return uint64(math.Float32bits(float32(x))+1<<(22-bits)) >> (23 - bits) << (23 - bits)
}

// encodeKinds are the kinds of pages in files of events. make returns a page of
// about n bytes.
var encodeKinds = []struct {
	name string
	make func(r *rand.Rand, n int) []byte
}{
	{"doubles", func(r *rand.Rand, n int) []byte {
		return split(8, n/8, func() uint64 { return math.Float64bits(1500 * r.NormFloat64()) })
	}},
	{"floats as doubles", func(r *rand.Rand, n int) []byte {
		return split(8, n/8, func() uint64 { return math.Float64bits(float64(float32(1500 * r.NormFloat64()))) })
	}},
	{"probabilities", func(r *rand.Rand, n int) []byte {
		return split(8, n/8, func() uint64 {
			return math.Float64bits(float64(float32(max(0,
				math.Pow(r.Float64(), 3)-0.01))))
		})
	}},
	{"truncated floats", func(r *rand.Rand, n int) []byte {
		return split(4, n/4, func() uint64 { return truncated(3+20*r.ExpFloat64(), 10) })
	}},
	{"small integers", func(r *rand.Rand, n int) []byte {
		return split(4, n/4, func() uint64 { return zigzag(int64(5 + 8*r.ExpFloat64())) })
	}},
	{"charges", func(r *rand.Rand, n int) []byte {
		return split(4, n/4, func() uint64 { return zigzag(int64(r.IntN(2)*2 - 1)) })
	}},
	{"flags", func(r *rand.Rand, n int) []byte {
		return split(4, n/4, func() uint64 { return zigzag(int64(r.Float64() + 0.05)) })
	}},
	{"booleans", func(r *rand.Rand, n int) []byte {
		b := make([]byte, n)
		for i := range 8 * n {
			if r.Float64() < 0.1 {
				b[i/8] |= 1 << (i % 8)
			}
		}
		return b
	}},
	{"offsets", func(r *rand.Rand, n int) []byte {
		return split(8, n/8, func() uint64 { return uint64(2.5 * r.ExpFloat64()) })
	}},
	{"events", func(r *rand.Rand, n int) []byte {
		v := uint64(0)
		return split(8, n/8, func() uint64 { v += 1 + r.Uint64N(40); return v })
	}},
	{"lumi sections", func(r *rand.Rand, n int) []byte {
		v := uint64(0)
		return split(4, n/4, func() uint64 { v += r.Uint64N(300) / 299; return v })
	}},
	{"constant", func(r *rand.Rand, n int) []byte { return split(4, n/4, func() uint64 { return 194533 }) }},
	{"text", func(r *rand.Rand, n int) []byte {
		words := []string{"mu20", "mu20,e26", "e26", "jet400", "HLT_IsoMu24", ""}
		var b []byte
		for len(b) < n {
			b = append(b, words[r.IntN(len(words))]...)
		}
		return b[:n]
	}},
	{"noise", func(r *rand.Rand, n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}},
	{"patchwork", patchwork},
}

// patchwork returns pieces of different statistics, runs, and copies of earlier
// pieces, in random order.
func patchwork(r *rand.Rand, n int) []byte {
	var b []byte
	for len(b) < n {
		size := 1 + int(math.Exp(r.Float64()*math.Log(float64(n)+1)))
		mask, v := byte(1<<r.IntN(9)-1), byte(r.Uint32())
		switch kind := r.IntN(4); {
		case kind == 0 && len(b) > 0:
			for at := r.IntN(len(b)); size > 0; size-- {
				b = append(b, b[at])
				at++
			}
		case kind == 1:
			b = append(b, bytes.Repeat([]byte{v}, size)...)
		default:
			for range size {
				b = append(b, v^byte(r.Uint32()&r.Uint32())&mask)
			}
		}
	}
	return b[:n]
}

var reference = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0))
	if err != nil {
		panic(err)
	}
	return d
})

// checkEncode encodes src and verifies that the module decodes it.
func checkEncode(t testing.TB, src []byte, level int) []byte {
	t.Helper()
	frame := Encode([]byte("kept"), src, level)
	if !bytes.HasPrefix(frame, []byte("kept")) {
		t.Fatalf("level %d, %d bytes: the prefix is lost", level, len(src))
	}
	frame = frame[4:]
	var h zstd.Header
	if err := h.Decode(frame); err != nil || !h.SingleSegment || h.HasCheckSum || !h.HasFCS ||
		h.FrameContentSize != uint64(len(src)) {
		t.Fatalf("level %d, %d bytes: header %+v, %v", level, len(src), h, err)
	}
	if most := len(src) + 9 + 3*(eighths+len(src)/maxPart); len(frame) > most {
		t.Errorf("level %d: %d bytes became %d, more than %d", level, len(src), len(frame), most)
	}
	got, err := reference().DecodeAll(frame, nil)
	if err != nil || !bytes.Equal(got, src) {
		t.Fatalf("level %d, %d bytes: %v, equal %v", level, len(src), err, bytes.Equal(got, src))
	}
	return frame
}

func TestEncode(t *testing.T) {
	var sizes []int
	for n := range 301 {
		sizes = append(sizes, n)
	}
	for _, n := range []int{1 << 10, 1 << 12, 1 << 14, 1 << 16, 256 + 1<<16, 1 << 17, 1 << 18} {
		sizes = append(sizes, n-8, n-1, n, n+1, n+8)
	}
	if !testing.Short() {
		sizes = append(sizes, 1<<20, 3<<20+5)
	}
	for _, kind := range encodeKinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			for i, n := range sizes {
				src := kind.make(rand.New(rand.NewPCG(uint64(n), 1)), n)
				if n <= 300 || n > 1<<18+8 {
					checkEncode(t, src, 5)
					continue
				}
				checkEncode(t, src, 1+i%9)
			}
		})
	}
}

// TestEncodePatchwork encodes data of sizes and statistics at random.
func TestEncodePatchwork(t *testing.T) {
	count := 2000
	if testing.Short() {
		count = 200
	}
	for seed := range count {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		checkEncode(t, patchwork(r, int(math.Exp(13*r.Float64()))), 1+seed%9)
	}
}

// TestEncodeSize compares sizes with those of the module at its second best
// level, and those of higher levels with those of lower ones.
func TestEncodeSize(t *testing.T) {
	other, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderCRC(false),
		zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, kind := range encodeKinds {
		for _, n := range []int{1 << 12, 1 << 16, 1 << 20} {
			src := kind.make(rand.New(rand.NewPCG(1, 3)), n)
			theirs := len(other.EncodeAll(src, nil))
			sizes := make([]int, 10)
			for level := 1; level < len(sizes); level += 4 {
				sizes[level] = len(Encode(nil, src, level))
			}
			t.Logf("%s, %d bytes: %d at level 1, %d at 5, %d at 9; they have %d", kind.name, n, sizes[1],
				sizes[5], sizes[9], theirs)
			if float64(sizes[5]) > 1.01*float64(theirs)+20 {
				t.Errorf("%s, %d bytes became %d, they have %d", kind.name, n, sizes[5], theirs)
			}
			if float64(sizes[9]) > 1.005*float64(sizes[5])+10 || float64(sizes[5]) > 1.005*float64(sizes[1])+10 {
				t.Errorf("%s, %d bytes: higher levels are larger: %d, %d, %d", kind.name, n, sizes[1], sizes[5], sizes[9])
			}
		}
	}
}

// TestEncodeSame verifies that frames do not depend on what was encoded before,
// nor on what is encoded at the same time.
func TestEncodeSame(t *testing.T) {
	var pages, frames [][]byte
	for i, kind := range encodeKinds {
		for _, n := range []int{40, 50, 100, 200, 500, 1000, 20_000, 300_000} {
			src := kind.make(rand.New(rand.NewPCG(uint64(i), 4)), n)
			e := newEncoder()
			pages = append(pages, src)
			frames = append(frames, e.frame(nil, src, effortOf(5)))
			// Positions in the tables start again when they get too high.
			for _, base := range []uint32{1<<31 - 1000, 1 << 31} {
				e.matcher.base = base
				for range 2 {
					if again := e.frame(nil, src, effortOf(5)); !bytes.Equal(again, frames[len(frames)-1]) {
						t.Errorf("%s: %d bytes differ from position %d on", kind.name, n, base)
					}
				}
			}
		}
	}
	var all sync.WaitGroup
	for seed := range uint64(8) {
		all.Go(func() {
			for _, i := range rand.New(rand.NewPCG(seed, 5)).Perm(len(pages)) {
				if got := Encode(nil, pages[i], 5); !bytes.Equal(got, frames[i]) {
					t.Errorf("page %d differs", i)
				}
			}
		})
	}
	all.Wait()
}

func TestEncodeAllocs(t *testing.T) {
	src := patchwork(rand.New(rand.NewPCG(1, 6)), 1<<18)
	e := newEncoder()
	dst := e.frame(nil, src, effortOf(5))
	if n := testing.AllocsPerRun(10, func() { dst = e.frame(dst[:0], src, effortOf(5)) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestCodeLengths makes codes of all shapes, among them those of Fibonacci
// numbers, which are the longest, and verifies that they are complete, as
// decoders require.
func TestCodeLengths(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 7))
		var h histogram
		steep := 1 + r.Float64()*r.Float64()
		c := 1.0
		for range 2 + r.IntN(255) {
			h[r.IntN(256)] += uint32(c)
			c = min(c*steep, 1<<15)
		}
		h[0]++
		h[255]++
		var order [256]uint32
		n := h.order(&order)
		if !slices.IsSorted(order[:n]) {
			t.Fatalf("seed %d: counts are not in order", seed)
		}
		var counts [maxCodeLen + 1]int
		codeLengths(order[:n], &counts)
		sum, kinds := 0, 0
		for length, k := range counts {
			sum += k << (maxCodeLen - length)
			kinds += k
		}
		if sum != 1<<maxCodeLen || kinds != n || slices.Min(counts[:]) < 0 || counts[0] > 0 {
			t.Fatalf("seed %d: lengths %v for %d bytes", seed, counts, n)
		}
	}
}

func FuzzEncode(f *testing.F) {
	for _, kind := range encodeKinds {
		f.Add(kind.make(rand.New(rand.NewPCG(1, 8)), 700), byte(5), byte(1))
	}
	f.Fuzz(func(t *testing.T, src []byte, level, repeat byte) {
		checkEncode(t, bytes.Repeat(src, int(repeat)%16), int(level)%11)
	})
}

// BenchmarkEncode encodes pages of 1 MiB, as writers make them, and of 64 KiB.
func BenchmarkEncode(b *testing.B) {
	for _, kind := range encodeKinds {
		for _, n := range []int{1 << 20, 1 << 16} {
			src := kind.make(rand.New(rand.NewPCG(1, 9)), n)
			for _, level := range []int{1, 5, 9} {
				b.Run(fmt.Sprintf("%s/%dK/%d", kind.name, n>>10, level), func(b *testing.B) {
					var dst []byte
					b.SetBytes(int64(n))
					b.ReportAllocs()
					for b.Loop() {
						dst = Encode(dst[:0], src, level)
					}
					b.ReportMetric(float64(len(dst))/float64(n), "ratio")
				})
			}
		}
	}
}
