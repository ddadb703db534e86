package expression

import (
	"math"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestSingles compares float32 values as such with limits that no float32 is, and sets it beside the comparison as float64.
func TestSingles(t *testing.T) {
	inf := float32(math.Inf(1))
	values := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.1, -0.1, 16777216, 1e-45, -1e-45, 1e-38, math.MaxFloat32, -math.MaxFloat32, inf, -inf, float32(math.NaN())}
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
