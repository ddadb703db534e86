package bounds

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestOf compares the bounds of some numbers with what they are.
func TestOf(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		got  Bounds
		want string
	}{
		{Of([]bool{true}), "bool [1, 1]"},
		{Of([]bool{true, false}), "bool [0, 1]"},
		{Of([]bool{}), "bool []"},
		{Of([]int8{3, -128, 127}), "int [-128, 127]"},
		{Of([]int64{math.MaxInt64, math.MinInt64, 0}), "int [-9223372036854775808, 9223372036854775807]"},
		{Of([]uint64{math.MaxUint64, 1 << 63}), "uint [9223372036854775808, 18446744073709551615]"},
		{Of([]uint16{}), "uint []"},
		{Of([]float32{0.1}), "float [0.10000000149011612, 0.10000000149011612]"},
		{Of([]float64{2, nan, -1}), "float [-1, 2], NaN"},
		{Of([]float64{nan}), "float [], NaN"},
		{Of([]float64{inf, nan}), "float [+Inf, +Inf], NaN"},
		{Of([]float64{-inf}), "float [-Inf, -Inf]"},
		{Of([]float32{float32(inf), float32(-inf)}), "float [-Inf, +Inf]"},
		{Of([]float64{inf, 5}), "float [5, +Inf]"},
		{Of([]float64{math.Copysign(0, -1)}), "float [0, 0]"},
		{Of([]string{"a"}), "unknown"},
	} {
		if c.got.String() != c.want {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
		if c.got.Kind != Unknown && !c.got.Valid() {
			t.Errorf("%v is not valid", c.got)
		}
	}
}

// TestJoin makes sure that parts have together the bounds of the whole.
func TestJoin(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var values []float64
		var offsets []uint64
		end := uint64(0)
		least, greatest := uint64(math.MaxUint64), uint64(0)
		for range rng.IntN(20) {
			values = append(values, []float64{rng.NormFloat64(), math.NaN(), math.Inf(1), math.Inf(-1), 0}[rng.IntN(5)])
			n := rng.Uint64N(5)
			end, least, greatest = end+n, min(least, n), max(greatest, n)
			offsets = append(offsets, end)
		}
		var numbers, sizes []*Part
		for from := 0; from < len(values); {
			to := from + rng.IntN(len(values)-from+1)
			n, s := Elements(values[from:to]), Offsets(offsets[from:to])
			numbers, sizes, from = append(numbers, &n), append(sizes, &s), to
		}
		if got, want := Cluster(Float, numbers), Of(values); got != want {
			t.Fatalf("%v: got %v, want %v", values, got, want)
		}
		want := None(Size)
		if len(offsets) > 0 {
			want = Bounds{Kind: Size, Least: least, Greatest: greatest}
		}
		if got := Cluster(Size, sizes); got != want {
			t.Fatalf("%v: got %v, want %v", offsets, got, want)
		}
	}
	if got := Cluster(Int, []*Part{nil}); got.Kind != Unknown {
		t.Errorf("of an unknown part: %v", got)
	}
	if got := Ints(1, 2).Join(Floats(1, 2, false)); got.Kind != Unknown {
		t.Errorf("of two kinds: %v", got)
	}
}

// TestContain has bounds that contain others, and bounds that do not.
func TestContain(t *testing.T) {
	for _, c := range []struct {
		outer, inner Bounds
		want         bool
	}{
		{Ints(-1, 5), Ints(0, 5), true},
		{Ints(-1, 5), Ints(-2, 5), false},
		{Ints(-1, 5), None(Int), true},
		{None(Int), Ints(0, 0), false},
		{Ints(-1, 5), Floats(0, 0, false), false},
		{Floats(0, 1, false), Floats(0, 1, true), false},
		{Floats(0, 1, true), Floats(0, 1, false), true},
		{Bounds{}, Bounds{}, false},
	} {
		if got := c.outer.Contain(c.inner); got != c.want {
			t.Errorf("%v contain %v: %v", c.outer, c.inner, got)
		}
	}
	for _, b := range []Bounds{{}, Ints(2, 1), Floats(math.NaN(), 1, false), Floats(2, 1, false), {Kind: Bool, Greatest: 2}, {Kind: 77}, {Kind: Int, NaN: true}, {Kind: Int, Empty: true, Least: 1, Greatest: 1}} {
		if b.Valid() {
			t.Errorf("%v is valid", b)
		}
	}
}
