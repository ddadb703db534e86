package bits

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// sample returns words with the extremes of their width in front.
func sample[W Word](n int) []W {
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	s := []W{0, 1, ^W(0), ^W(0) >> 1, ^W(0)>>1 + 1}
	for len(s) < n {
		s = append(s, W(rnd.Uint64())>>rnd.IntN(64))
	}
	return s[:n]
}

func testWords[W Word](t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 7, 8, 9, 33, 1000} {
		want := sample[W](n)
		size := sizeof[W]()
		page, got := make([]byte, n*size), make([]W, n)
		check := func(what string) {
			t.Helper()
			if !slices.Equal(got, want) {
				t.Errorf("%T, %d words: %s does not give the words back", *new(W), n, what)
			}
		}

		Store(page, want)
		plain := make([]byte, n*size)
		if storePlain(plain, want); !slices.Equal(page, plain) {
			t.Errorf("%T, %d words: Store differs from its plain form", *new(W), n)
		}
		Load(got, page)
		check("Load")
		clear(got)
		loadPlain(got, page)
		check("loadPlain")

		// The definition: byte k of word i stands at k*n+i.
		Split(page, want)
		for i, w := range want {
			for k := range size {
				if page[k*n+i] != byte(uint64(w)>>(8*k)) {
					t.Fatalf("%T, %d words: byte %d of word %d is misplaced", w, n, k, i)
				}
			}
		}
		clear(got)
		Unsplit(got, page)
		check("Unsplit")

		Zigzag(got)
		UnZigzag(got)
		check("UnZigzag")
		Delta(got)
		UnDelta(got)
		check("UnDelta")
	}
}

func TestWords(t *testing.T) {
	testWords[uint8](t)
	testWords[uint16](t)
	testWords[uint32](t)
	testWords[uint64](t)
}

func TestZigzagAndDeltaByHand(t *testing.T) {
	neg := func(x uint16) uint16 { return -x }
	z := []uint16{0, neg(1), 1, neg(2), 0x7fff, 0x8000}
	if Zigzag(z); !slices.Equal(z, []uint16{0, 1, 2, 3, 0xfffe, 0xffff}) {
		t.Errorf("Zigzag gives %#x", z)
	}
	d := []uint32{5, 5, 7, 3}
	if Delta(d); !slices.Equal(d, []uint32{5, 0, 2, 0xfffffffc}) {
		t.Errorf("Delta gives %#x", d)
	}
}

func TestPack(t *testing.T) {
	for width := 1; width <= 32; width++ {
		for _, n := range []int{0, 1, 7, 8, 9, 100} {
			want := sample[uint32](n)
			for i := range want {
				want[i] &= uint32(1<<width - 1)
			}
			page := make([]byte, (n*width+7)/8)
			Pack(page, want, width)
			for i, w := range want { // the definition: element i takes the bits from i*width
				for b := range width {
					at := i*width + b
					if page[at/8]>>(at%8)&1 != byte(w>>b)&1 {
						t.Fatalf("width %d: bit %d of element %d is misplaced", width, b, i)
					}
				}
			}
			got := make([]uint32, n)
			if Unpack(got, page, width); !slices.Equal(got, want) {
				t.Errorf("width %d: %d elements do not come back", width, n)
			}
		}
	}
	bools := []bool{true, false, false, true, true, false, false, false, true}
	page := make([]byte, 2)
	if PackBools(page, bools); !slices.Equal(page, []byte{0x19, 0x01}) {
		t.Errorf("PackBools gives %#x", page)
	}
	page[1] |= 0xf0 // unused bits do not matter
	got := make([]bool, len(bools))
	if UnpackBools(got, page); !slices.Equal(got, bools) {
		t.Errorf("UnpackBools gives %v", got)
	}
}

// halfValue is the value of a binary16 by its definition.
func halfValue(h uint16) float64 {
	sign, exp, frac := 1.0, int(h>>10&0x1f), float64(h&0x3ff)
	if h>>15 != 0 {
		sign = -1
	}
	switch exp {
	case 0:
		return sign * math.Ldexp(frac, -24)
	case 0x1f:
		if frac != 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+frac, exp-25)
}

// TestHalf compares both directions with the definition for all binary16, and
// the rounding at, just below and just above the middle of neighbours.
func TestHalf(t *testing.T) {
	for h := 0; h <= math.MaxUint16; h++ {
		f := Float32(uint16(h))
		got, want := float64(math.Float32frombits(f)), halfValue(uint16(h))
		if math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("Float32(%#04x) is %g, want %g", h, got, want)
		}
		if back := Float16(f); back != uint16(h) {
			t.Fatalf("Float16(Float32(%#04x)) is %#04x", h, back)
		}
		if h&0x7fff >= 0x7c00 {
			continue
		}
		next := halfValue(uint16(h) + 1)
		if math.IsInf(next, 0) {
			next = math.Copysign(65536, next)
		}
		middle := float32((want + next) / 2) // exact: it has one bit more than a binary16
		even := uint16(h) + uint16(h)&1
		for _, c := range []struct {
			v    float32
			want uint16
		}{{middle, even}, {math.Nextafter32(middle, float32(want)), uint16(h)}, {math.Nextafter32(middle, float32(next)), uint16(h) + 1}} {
			if got := Float16(math.Float32bits(c.v)); got != c.want {
				t.Fatalf("Float16(%g) is %#04x, want %#04x", c.v, got, c.want)
			}
		}
	}
	if got := Float16(0x7f800001); got&0x7c00 != 0x7c00 || got&0x3ff == 0 {
		t.Errorf("a NaN whose upper payload is zero becomes %#04x", got)
	}
}

func BenchmarkUnsplit(b *testing.B) {
	page := make([]byte, 1<<20)
	b.Run("16", func(b *testing.B) { benchUnsplit[uint16](b, page) })
	b.Run("32", func(b *testing.B) { benchUnsplit[uint32](b, page) })
	b.Run("64", func(b *testing.B) { benchUnsplit[uint64](b, page) })
}

func benchUnsplit[W Word](b *testing.B, page []byte) {
	dst := make([]W, len(page)/sizeof[W]())
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		Unsplit(dst, page)
	}
}
