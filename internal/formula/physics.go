package formula

import "math"

// DeltaPhi returns phi2 - phi1 as an angle in [-pi, pi], as ROOT::VecOps::DeltaPhi.
func DeltaPhi(phi1, phi2 float64) float64 {
	d := phi2 - phi1
	if !(math.Abs(d) < 2*math.Pi) { // Mod is slow, and changes nothing below; NaN takes it, too
		d = math.Mod(d, 2*math.Pi)
	}
	switch {
	case d < -math.Pi:
		d += 2 * math.Pi
	case d > math.Pi:
		d -= 2 * math.Pi
	}
	return d
}

// DeltaR2 returns the square of DeltaR.
func DeltaR2(eta1, phi1, eta2, phi2 float64) float64 {
	eta, phi := eta1-eta2, DeltaPhi(phi1, phi2)
	return float64(eta*eta) + float64(phi*phi)
}

// DeltaR returns the distance of two directions in the plane of eta and phi.
func DeltaR(eta1, phi1, eta2, phi2 float64) float64 {
	return math.Sqrt(DeltaR2(eta1, phi1, eta2, phi2))
}

// PairMass returns the invariant mass of two particles. It is
//
//	m² = m1² + m2² + 2 (E1 E2 - p1 p2) + 2 (p1 p2 - p1·p2)
//
// where, for its precision, each difference is a sum of squares:
//
//	E1 E2 - p1 p2  = (m1² p2² + m2² p1² + m1² m2²) / (E1 E2 + p1 p2)
//	p1 p2 - p1·p2  = 2 pt1 pt2 (sinh²(Δη/2) + sin²(Δφ/2))
//
// so that it loses no digits if the mass is small against the energies, unlike the
// square root of E² - p² that ROOT::VecOps::InvariantMasses computes.
func PairMass(pt1, eta1, phi1, m1, pt2, eta2, phi2, m2 float64) float64 {
	if pt1 < 0 {
		pt1, eta1, phi1 = -pt1, -eta1, phi1+math.Pi
	}
	if pt2 < 0 {
		pt2, eta2, phi2 = -pt2, -eta2, phi2+math.Pi
	}
	sh, s := math.Sinh((eta1-eta2)/2), math.Sin((phi1-phi2)/2)
	sum := float64(m1*m1) + float64(m2*m2) + float64(4*pt1*pt2*(float64(sh*sh)+float64(s*s)))
	if m1 == 0 && m2 == 0 { // E = p, and the functions below are slow
		return math.Sqrt(sum)
	}
	p1, p2 := pt1*math.Cosh(eta1), pt2*math.Cosh(eta2)
	e1, e2 := math.Hypot(p1, m1), math.Hypot(p2, m2)
	a, b, c := m1*p2, m2*p1, m1*m2
	if d := float64(e1*e2) + float64(p1*p2); d > 0 {
		sum += 2 * (float64(a*a) + float64(b*b) + float64(c*c)) / d
	}
	return math.Sqrt(sum)
}

// Mass returns the invariant mass of particles: sqrt(E² - P²) of their sums. For its
// precision, E - P is the sum of what the particles have more energy than momentum
// along P, each from the squares of its mass and of its momentum across P.
func Mass(pt, eta, phi, m []float64) float64 {
	var x, y, z, e float64
	for i := range pt {
		px, py, pz := Px(pt[i], phi[i]), Py(pt[i], phi[i]), Pz(pt[i], eta[i])
		x, y, z = x+px, y+py, z+pz
		e += math.Hypot(pt[i]*math.Cosh(eta[i]), m[i])
	}
	p := math.Hypot(math.Hypot(x, y), z)
	if p == 0 {
		return e
	}
	x, y, z = x/p, y/p, z/p
	rest := 0.0 // e - p
	for i := range pt {
		px, py, pz := Px(pt[i], phi[i]), Py(pt[i], phi[i]), Pz(pt[i], eta[i])
		along := float64(px*x) + float64(py*y) + float64(pz*z)
		energy := math.Hypot(pt[i]*math.Cosh(eta[i]), m[i])
		if along <= 0 {
			rest += energy - along
			continue
		}
		cx, cy, cz := float64(py*z)-float64(pz*y), float64(pz*x)-float64(px*z), float64(px*y)-float64(py*x)
		rest += (float64(m[i]*m[i]) + float64(cx*cx) + float64(cy*cy) + float64(cz*cz)) / (energy + along)
	}
	return math.Sqrt(rest * (e + p))
}

// RestMass returns the mass of a four-vector. That of a space-like one is negative, as
// ROOT::Math::PxPyPzE4D::M has it.
func RestMass(px, py, pz, e float64) float64 {
	p := math.Hypot(math.Hypot(px, py), pz)
	square := (math.Abs(e) - p) * (math.Abs(e) + p)
	if square < 0 {
		return -math.Sqrt(-square)
	}
	return math.Sqrt(square)
}

// Px, Py and Pz return the components of a momentum.
func Px(pt, phi float64) float64 { return pt * math.Cos(phi) }
func Py(pt, phi float64) float64 { return pt * math.Sin(phi) }
func Pz(pt, eta float64) float64 { return pt * math.Sinh(eta) }

// Energy returns the energy of a particle.
func Energy(pt, eta, m float64) float64 { return math.Hypot(pt*math.Cosh(eta), m) }

// Eta returns the pseudorapidity of a momentum.
func Eta(px, py, pz float64) float64 {
	if pz == 0 && px == 0 && py == 0 {
		return 0
	}
	return math.Asinh(pz / math.Hypot(px, py))
}

// Phi returns the azimuth of a momentum.
func Phi(px, py float64) float64 { return math.Atan2(py, px) }
