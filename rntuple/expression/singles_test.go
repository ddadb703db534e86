package expression

import (
	"math"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestSingles compares float32 values with limits that are no float32, and expects what float64
// gives.
func TestSingles(t *testing.T) {
	inf := float32(math.Inf(1))
	values := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.1, -0.1, 16777216, 1e-45, -1e-45, 1e-38,
		math.MaxFloat32, -math.MaxFloat32, inf, -inf, float32(math.NaN())}
	var limits []float64
	for _, v := range values {
		x := float64(v)
		limits = append(limits, x, math.Nextafter(x, math.Inf(1)), math.Nextafter(x, math.Inf(-1)), x*1.00000001)
	}
	limits = append(limits, 1e300, -1e300, 1e-300, -1e-300, 0.1, 1e-46, 16777217)
	d := &domain{clock: new(int), n: len(values)}
	x := newNode[float64](d, nil)
	x.singles = func(*run) []float32 { return values }
	for _, op := range []string{"<", "<=", ">", ">=", "==", "!="} {
		for _, c := range limits {
			n := compareSingles(op, x, c)
			*d.clock++
			got, _ := n.rows(&run{batch: &rntuple.Batch{}})
			want := make([]bool, 1)
			for i, v := range values {
				if orderConst(op, c)(want, []float64{float64(v)}); got[i] != want[0] {
					t.Errorf("float32 %v %s %v is %v", v, op, c, got[i])
				}
			}
		}
	}
}

// TestSquare compares the square of a number with its power 2.
func TestSquare(t *testing.T) {
	values := []float64{0, math.Copysign(0, -1), 3, -0.1, 5e-324, 1e-160, 1.1e-162, 1e-154, 1.3e154, 1e155, math.Inf(1),
		math.Inf(-1), math.NaN()}
	out := make([]float64, len(values))
	square(out, values)
	for i, v := range values {
		if want := math.Pow(v, 2); math.Float64bits(out[i]) != math.Float64bits(want) &&
			!(math.IsNaN(out[i]) && math.IsNaN(want)) {
			t.Errorf("%v squared is %v, not %v", v, out[i], want)
		}
	}
}
