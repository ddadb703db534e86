package bounds

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
)

// TestOf compares the bounds of some numbers with what they are.
func TestOf(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		got  zonemap.Bounds
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
		if c.got.Kind != zonemap.Unknown && !c.got.Valid() {
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
		if got, want := Cluster(zonemap.Float, numbers), Of(values); got != want {
			t.Fatalf("%v: got %v, want %v", values, got, want)
		}
		want := None(zonemap.Size)
		if len(offsets) > 0 {
			want = zonemap.Bounds{Kind: zonemap.Size, Least: least, Greatest: greatest}
		}
		if got := Cluster(zonemap.Size, sizes); got != want {
			t.Fatalf("%v: got %v, want %v", offsets, got, want)
		}
	}
	if got := Cluster(zonemap.Int, []*Part{nil}); got.Kind != zonemap.Unknown {
		t.Errorf("of an unknown part: %v", got)
	}
	if got := Ints(1, 2).Join(Floats(1, 2, false)); got.Kind != zonemap.Unknown {
		t.Errorf("of two kinds: %v", got)
	}
}
