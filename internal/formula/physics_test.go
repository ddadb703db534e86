package formula

import (
	"math"
	"testing"
)

// TestPairMass compares masses of pairs with the squares of the sums of their four-vectors, and
// those without a mass with those that have hardly one.
func TestPairMass(t *testing.T) {
	particles := [][4]float64{{10, 0, 0, 0}, {10, 0, math.Pi, 0}, {20, 1.5, 0.3, 0.1057}, {20, -1.5, 0.3, 0},
		{-3, 2, 1, 5}, {0.5, 0.1, -3, 91}, {40, 0, 1, 1e-30}}
	for _, a := range particles {
		for _, b := range particles {
			m := func(m1, m2 float64) float64 { return PairMass(a[0], a[1], a[2], m1, b[0], b[1], b[2], m2) }
			x, y, z, e := Px(a[0], a[2])+Px(b[0], b[2]), Py(a[0], a[2])+Py(b[0], b[2]), Pz(a[0], a[1])+Pz(b[0], b[1]),
				Energy(a[0], a[1], a[3])+Energy(b[0], b[1], b[3])
			square := e*e - x*x - y*y - z*z
			if got := m(a[3], b[3]); math.Abs(got*got-square) > 1e-11*e*e {
				t.Errorf("mass of %v and %v is %v, its square should be %v", a, b, got, square)
			}
			if without, hardly := m(0, 0), m(1e-100, 0); math.Abs(without-hardly) > 1e-14*hardly+1e-99 {
				t.Errorf("mass of %v and %v without masses is %v, with hardly any %v", a, b, without, hardly)
			}
		}
	}
}
