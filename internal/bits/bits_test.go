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
		zigzagged := make([]byte, n*size)
		SplitZigzag(zigzagged, want)
		for _, k := range []int{n - n/2, n / 4} { // up to the last word, and fewer
			some := make([]W, k)
			if UnsplitRange(some, page, n, n/2); !slices.Equal(some, want[n/2:][:k]) {
				t.Errorf("%T, %d words: UnsplitRange of %d gives others", *new(W), n, k)
			}
			clear(some)
			if UnsplitRangeZigzag(some, zigzagged, n, n/2); !slices.Equal(some, want[n/2:][:k]) {
				t.Errorf("%T, %d words: UnsplitRangeZigzag of %d gives others", *new(W), n, k)
			}
		}

		Zigzag(got)
		UnZigzag(got)
		check("UnZigzag")
		Delta(got)
		UnDelta(got)
		check("UnDelta")

		// Both steps in one are the same as one after the other.
		for _, c := range []struct {
			name    string
			filter  func([]W)
			split   func([]byte, []W)
			unsplit func([]W, []byte)
		}{
			{"Zigzag", Zigzag[W], SplitZigzag[W], UnsplitZigzag[W]},
			{"Delta", Delta[W], SplitDelta[W], UnsplitDelta[W]},
		} {
			filtered := slices.Clone(want)
			c.filter(filtered)
			Split(plain, filtered)
			if c.split(page, want); !slices.Equal(page, plain) {
				t.Errorf("%T, %d words: Split%s differs from %[3]s and Split", *new(W), n, c.name)
			}
			clear(got)
			c.unsplit(got, page)
			check("Unsplit" + c.name)
		}
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
}

func TestPackTop(t *testing.T) {
	want := sample[uint32](1000)
	for width := 1; width <= 32; width++ {
		for i := range want {
			want[i] = want[i] >> (32 - width) << (32 - width)
		}
		page, got := make([]byte, packedLen(len(want), width)), make([]uint32, len(want))
		PackTop(page, want, width)
		if UnpackTop(got, page, width); !slices.Equal(got, want) {
			t.Errorf("width %d: elements do not come back", width)
		}
	}
	page := []byte{0, 0, 0xff}
	if PackTop(page, []uint32{0x123fffff, 0xabcfffff}, 12); !slices.Equal(page, []byte{0x23, 0xc1, 0xab}) {
		t.Errorf("PackTop gives %#x", page)
	}
}

func TestPackBools(t *testing.T) {
	for _, n := range []int{0, 1, 8, 9, 31, 64, 1000} {
		bools := make([]bool, n)
		for i, w := range sample[uint8](n) {
			bools[i] = w&1 != 0
		}
		page := slices.Repeat([]byte{0xff}, (n+7)/8)
		PackBools(page, bools)
		for i := range 8 * len(page) {
			if (page[i/8]>>(i%8)&1 != 0) != (i < n && bools[i]) {
				t.Fatalf("%d bools: bit %d of the page is %d", n, i, page[i/8]>>(i%8)&1)
			}
		}
		if n%8 != 0 {
			page[n/8] |= 0x80 // unused bits do not matter
		}
		got := make([]bool, n)
		if UnpackBools(got, page); !slices.Equal(got, bools) {
			t.Errorf("%d bools do not come back", n)
		}
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
		}{{middle, even}, {math.Nextafter32(middle, float32(want)), uint16(h)},
			{math.Nextafter32(middle, float32(next)), uint16(h) + 1}} {
			if got := Float16(math.Float32bits(c.v)); got != c.want {
				t.Fatalf("Float16(%g) is %#04x, want %#04x", c.v, got, c.want)
			}
		}
	}
	// Slices at once: all binary16, and around all places where rounding changes.
	var halves, back []uint16
	var floats []uint32
	for h := range 1 << 16 {
		halves = append(halves, uint16(h))
	}
	wide := make([]uint32, len(halves))
	Float32s(wide, halves)
	for i, f := range wide {
		if f != Float32(uint16(i)) {
			t.Fatalf("Float32s gives %#x for %#x", f, i)
		}
		for _, d := range []uint32{0, 1, 0xfff, 0x1000, 0x1001, 0x1fff, 1 << 22, 1 << 23} {
			floats = append(floats, f-d, f+d)
		}
	}
	back = make([]uint16, len(floats))
	Float16s(back, floats)
	for i, h := range back {
		if h != Float16(floats[i]) {
			t.Fatalf("Float16s gives %#x for %#x, want %#x", h, floats[i], Float16(floats[i]))
		}
	}
	if got := Float16(0x7f800001); got&0x7c00 != 0x7c00 || got&0x3ff == 0 {
		t.Errorf("a NaN whose upper payload is zero becomes %#04x", got)
	}
}

// TestEnds compares Ends with ends that are looked at one by one, with one that is wrong anywhere
// or none, in place or not.
func TestEnds(t *testing.T) {
	forKernels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for range 3000 {
			ends, begin, shift := make([]uint64, rng.IntN(40)), rng.Uint64N(10), rng.Uint64()
			end := begin
			for i := range ends {
				end += rng.Uint64N(3)
				ends[i] = end
			}
			if at := rng.IntN(50); at < len(ends) {
				ends[at] = []uint64{0, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64, ends[at] + 1, ends[at] - 1}[rng.IntN(6)]
			}
			if rng.IntN(20) == 0 {
				begin = []uint64{math.MaxInt64, math.MaxInt64 + 1, begin + 1}[rng.IntN(3)]
			}
			want, ascending, before := make([]uint64, len(ends)), begin <= math.MaxInt64, begin
			for i, end := range ends {
				want[i] = end + shift
				ascending = ascending && end >= before && end <= math.MaxInt64
				before = end
			}
			dst := ends
			if rng.IntN(2) == 0 {
				dst = make([]uint64, len(ends), len(ends)+1)
			}
			given := slices.Clone(ends)
			if got := Ends(dst, ends, begin, shift); got != ascending || !slices.Equal(dst, want) {
				t.Fatalf("Ends of %d, begin %d, shift %d: %v, %d; want %v, %d", given, begin, shift, got, dst, ascending, want)
			}
		}
	})
}
