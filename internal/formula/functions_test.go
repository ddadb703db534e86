package formula

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// named returns the function of a name with some number of arguments, of floats where
// there is a choice.
func named(t *testing.T, name string, args int) Function {
	t.Helper()
	var found Function
	for _, f := range Named(name) {
		if len(f.parameters()) == args {
			found = f
		}
	}
	if found.F == nil {
		t.Fatalf("there is no %s of %d arguments", name, args)
	}
	return found
}

// apply calls a function as the virtual machine does.
func apply(t *testing.T, f Function, args ...any) any {
	t.Helper()
	v, err := f.call(new(Budget))(args...)
	if err != nil {
		t.Fatalf("%s of %v: %v", f, args, err)
	}
	return v
}

// near reports whether two numbers are the same up to a few units of the last digit.
func near(got, want float64) bool {
	return got == want || math.Abs(got-want) <= 2e-15*math.Abs(want) || got != got && want != want
}

// TestValues compares functions with values that mpmath has computed with 40 digits.
func TestValues(t *testing.T) {
	for name, points := range map[string][][2]float64{
		"sqrt":   {{0.3, 0.5477225575051661}, {2.5, 1.5811388300841897}, {1e-9, 3.1622776601683794e-5}},
		"cbrt":   {{0.3, 0.66943295008216951}, {2.5, 1.3572088082974533}, {1e-9, 0.001}, {-0.7, -0.88790400174260069}},
		"exp":    {{0.3, 1.3498588075760031}, {2.5, 12.182493960703473}, {1e-9, 1.000000001}, {-0.7, 0.49658530379140954}},
		"exp2":   {{0.3, 1.2311444133449163}, {2.5, 5.6568542494923802}, {1e-9, 1.0000000006931472}, {-0.7, 0.61557220667245816}},
		"expm1":  {{0.3, 0.34985880757600309}, {2.5, 11.182493960703473}, {1e-9, 1.0000000005000001e-9}, {-0.7, -0.50341469620859046}},
		"log":    {{0.3, -1.203972804325936}, {2.5, 0.91629073187415507}, {1e-9, -20.723265836946411}},
		"log2":   {{0.3, -1.7369655941662062}, {2.5, 1.3219280948873623}, {1e-9, -29.897352853986261}},
		"log10":  {{0.3, -0.52287874528033758}, {2.5, 0.39794000867203761}, {1e-9, -9.0}},
		"log1p":  {{0.3, 0.26236426446749104}, {2.5, 1.252762968495368}, {1e-9, 9.9999999950000006e-10}, {-0.7, -1.2039728043259358}},
		"sin":    {{0.3, 0.29552020666133956}, {2.5, 0.59847214410395649}, {1e-9, 1.0000000000000001e-9}, {-0.7, -0.64421768723769102}},
		"cos":    {{0.3, 0.95533648912560602}, {2.5, -0.80114361554693371}, {1e-9, 1.0}, {-0.7, 0.76484218728448845}},
		"tan":    {{0.3, 0.30933624960962322}, {2.5, -0.74702229723866028}, {1e-9, 1.0000000000000001e-9}, {-0.7, -0.84228838046307937}},
		"asin":   {{0.3, 0.3046926540153975}, {1e-9, 1.0000000000000001e-9}, {-0.7, -0.775397496610753}},
		"acos":   {{0.3, 1.2661036727794991}, {1e-9, 1.5707963257948966}, {-0.7, 2.3461938234056496}},
		"atan":   {{0.3, 0.29145679447786708}, {2.5, 1.1902899496825317}, {1e-9, 1.0000000000000001e-9}, {-0.7, -0.61072596438920859}},
		"sinh":   {{0.3, 0.30452029344714261}, {2.5, 6.0502044810397873}, {1e-9, 1.0000000000000001e-9}, {-0.7, -0.75858370183953345}},
		"cosh":   {{0.3, 1.0453385141288605}, {2.5, 6.1322894796636861}, {1e-9, 1.0}, {-0.7, 1.255169005630943}},
		"tanh":   {{0.3, 0.2913126124515909}, {2.5, 0.98661429815143029}, {1e-9, 1.0000000000000001e-9}, {-0.7, -0.60436777711716347}},
		"asinh":  {{0.3, 0.29567304756342243}, {2.5, 1.6472311463710957}, {1e-9, 1.0000000000000001e-9}, {-0.7, -0.65266656608235575}},
		"acosh":  {{2.5, 1.5667992369724111}},
		"atanh":  {{0.3, 0.3095196042031117}, {1e-9, 1.0000000000000001e-9}, {-0.7, -0.86730052769405311}},
		"erf":    {{0.3, 0.32862675945912742}, {2.5, 0.99959304798255504}, {1e-9, 1.1283791670955126e-9}, {-0.7, -0.67780119383741844}},
		"erfc":   {{0.3, 0.67137324054087258}, {2.5, 4.0695201744495894e-4}, {1e-9, 0.99999999887162083}, {-0.7, 1.6778011938374184}},
		"gamma":  {{0.3, 2.9915689876875907}, {2.5, 1.329340388179137}, {1e-9, 9.9999999942278427e+8}, {-0.7, -4.2736699824108434}},
		"lgamma": {{0.3, 1.0957979948180756}, {2.5, 0.28468287047291916}, {1e-9, 20.723265836369195}, {-0.7, 1.4524729387568078}},
	} {
		f := named(t, name, 1)
		for _, p := range points {
			if got := apply(t, f, p[0]); !near(got.(float64), p[1]) {
				t.Errorf("%s(%v) = %v, want %v", name, p[0], got, p[1])
			}
		}
	}
	inf, nan := math.Inf(1), math.NaN()
	for _, test := range []struct {
		name string
		want any
		args []any
	}{
		{"abs", 2.5, []any{-2.5}}, {"abs", int64(2), []any{int64(-2)}}, {"abs", int64(math.MinInt64), []any{int64(math.MinInt64)}},
		{"sign", -1.0, []any{-2.5}}, {"sign", 0.0, []any{0.0}}, {"sign", 1.0, []any{inf}}, {"sign", nan, []any{nan}},
		{"floor", -3.0, []any{-2.5}}, {"ceil", -2.0, []any{-2.5}}, {"round", -3.0, []any{-2.5}}, {"round", 2.0, []any{2.4}}, {"trunc", -2.0, []any{-2.5}},
		{"int", int64(-2), []any{-2.5}}, {"int", int64(0), []any{nan}}, {"int", int64(math.MaxInt64), []any{1e300}}, {"int", int64(math.MinInt64), []any{-inf}},
		{"int", int64(math.MinInt64), []any{-0x1p63}}, {"int", int64(math.MaxInt64), []any{0x1p63}}, {"float", 3.0, []any{int64(3)}},
		{"fmod", -1.0, []any{-7.0, 3.0}}, {"fmod", 1.5, []any{7.5, -3.0}}, {"fmod", nan, []any{1.0, 0.0}},
		{"fmin", 1.0, []any{1.0, 2.0}}, {"fmin", 2.0, []any{nan, 2.0}}, {"fmax", 2.0, []any{1.0, 2.0}}, {"fmax", 1.0, []any{1.0, nan}}, {"fmax", nan, []any{nan, nan}},
		{"hypot", 5.0, []any{3.0, -4.0}}, {"hypot", 5e200, []any{3e200, 4e200}}, {"pow", 0.125, []any{2.0, -3.0}}, {"atan2", 3 * math.Pi / 4, []any{1.0, -1.0}},
		{"bitand", int64(4), []any{int64(12), int64(6)}}, {"bitor", int64(14), []any{int64(12), int64(6)}}, {"bitxor", int64(10), []any{int64(12), int64(6)}},
		{"bitnand", int64(8), []any{int64(12), int64(6)}}, {"bitnot", int64(-1 - 1<<40), []any{int64(1 << 40)}},
		{"isnan", true, []any{nan}}, {"isnan", false, []any{inf}}, {"isinf", true, []any{-inf}}, {"isinf", false, []any{nan}}, {"isfinite", true, []any{math.MaxFloat64}}, {"isfinite", false, []any{nan}}, {"isfinite", false, []any{inf}},
		{"argmax", int64(1), []any{[]float64{1, 3, 3}}}, {"argmax", int64(0), []any{[]float64{nan, 3}}}, {"argmax", int64(2), []any{[]float64{-inf, nan, 3}}}, {"argmax", nil, []any{[]float64{}}},
		{"argmin", int64(1), []any{[]int64{3, 1, 1}}}, {"argmin", nil, []any{[]any{}}},
		{"argsort", []int64{3, 1, 2, 4, 0}, []any{[]float64{nan, 0, math.Copysign(0, -1), -inf, 5}}},
		{"take", []string{"c", "a"}, []any{[]string{"a", "b", "c"}, []int64{-1, 0}}}, {"take", nil, []any{[]string{"a"}, []int64{1}}}, {"take", nil, []any{[]bool{true}, []int64{-2}}},
		{"combinations", []any{[]int64{0, 0, 1}, []int64{1, 2, 2}}, []any{[]float64{1, 2, 3}}}, {"combinations", []any{[]int64{}, []int64{}}, []any{[]float64{1}}}, {"combinations", []any{[]int64{}, []int64{}}, []any{[]float64{}}},
		{"combinations", []any{[]int64{0, 0, 1, 1}, []int64{0, 1, 0, 1}}, []any{[]float64{1, 2}, []string{"", ""}}}, {"combinations", []any{[]int64{}, []int64{}}, []any{[]float64{}, []any{nil}}},
		{"px", 0.0, []any{0.0, 1.0}}, {"pz", 0.0, []any{7.0, 0.0}}, {"pt", 5.0, []any{3.0, 4.0}}, {"phi", math.Pi, []any{-1.0, 0.0}},
		{"eta", 0.0, []any{1.0, 1.0, 0.0}}, {"eta", 0.0, []any{0.0, 0.0, 0.0}}, {"eta", inf, []any{0.0, 0.0, 2.0}}, {"eta", -inf, []any{0.0, 0.0, -2.0}},
		{"energy", 5.0, []any{3.0, 0.0, 4.0}}, {"restMass", 4.0, []any{0.0, 3.0, 0.0, 5.0}}, {"restMass", -4.0, []any{5.0, 0.0, 0.0, 3.0}}, {"restMass", 0.0, []any{2.0, 3.0, 6.0, 7.0}},
		{"mass", 0.0, []any{[]float64{}, []float64{}, []float64{}, []float64{}}},
	} {
		f := named(t, test.name, len(test.args))
		if _, ok := test.want.(int64); ok && test.name == "abs" {
			f = Named("abs")[0]
		}
		got := apply(t, f, test.args...)
		x, ok1 := got.(float64)
		y, ok2 := test.want.(float64)
		if ok1 && ok2 && near(x, y) {
			continue
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s of %v = %v, want %v", test.name, test.args, got, test.want)
		}
	}
	for name, want := range map[string]string{ // in terms of others
		"deltaR(0.5, 3, -1, -3)":    "hypot(1.5, deltaPhi(3, -3))",
		"deltaR2(0.5, 3, -1, -3)":   "1.5 ** 2 + deltaPhi(3, -3) ** 2",
		"py(2, 0.3)":                "2 * sin(0.3)",
		"px(2, 0.3)":                "2 * cos(0.3)",
		"pz(2, 0.3)":                "2 * sinh(0.3)",
		"eta(3, 4, 5 * sinh(2))":    "2",
		"energy(2, 0.3, 1)":         "sqrt(1 + 4 * cosh(0.3) ** 2)",
		"phi(px(2, -3), py(2, -3))": "-3",
		"mass(2, 0, 0, 0, 2, 0, 3.141592653589793, 0)": "4",
		"mass([2, 3], [0, 0], [0, 0], [0.5, 0])":       "mass(2, 0, 0, 0.5, 3, 0, 0, 0)",
	} {
		a, _, err1 := run(name)
		b, _, err2 := run("float(" + want + ")")
		if err1 != nil || err2 != nil || !near(a.(float64), b.(float64)) {
			t.Errorf("%s = %v, want %v (%v, %v)", name, a, b, err1, err2)
		}
	}
}

// precision is that of the tests' own arithmetic, in bits.
const precision = 400

// exp returns e to the power x, by its series.
func exp(x *big.Float) *big.Float {
	sum, term := new(big.Float).SetPrec(precision).SetInt64(1), new(big.Float).SetPrec(precision).SetInt64(1)
	for n := range int64(150) {
		term.Mul(term, x)
		term.Quo(term, new(big.Float).SetInt64(n+1))
		sum.Add(sum, term)
	}
	return sum
}

// sincos returns the sine and the cosine of x, by their series.
func sincos(x *big.Float) (sin, cos *big.Float) {
	parts := []*big.Float{new(big.Float).SetPrec(precision).SetInt64(1), new(big.Float).SetPrec(precision)}
	term := new(big.Float).SetPrec(precision).SetInt64(1)
	for n := int64(1); n < 150; n++ {
		term.Mul(term, x)
		term.Quo(term, new(big.Float).SetInt64(n))
		if parts[n%2].Add(parts[n%2], term); n%2 == 1 {
			term.Neg(term)
		}
	}
	return parts[1], parts[0]
}

// exactMass returns the invariant mass of particles by its definition.
func exactMass(pt, eta, phi, m []float64) float64 {
	b := func() *big.Float { return new(big.Float).SetPrec(precision) }
	square := func(x *big.Float) *big.Float { return b().Mul(x, x) }
	x, y, z, e := b(), b(), b(), b()
	for i := range pt {
		p := b().SetFloat64(pt[i])
		sin, cos := sincos(b().SetFloat64(phi[i]))
		up, down := exp(b().SetFloat64(eta[i])), exp(b().SetFloat64(-eta[i]))
		px, py, pz := b().Mul(p, cos), b().Mul(p, sin), b().Mul(p, b().Mul(b().Sub(up, down), big.NewFloat(0.5)))
		x.Add(x, px)
		y.Add(y, py)
		z.Add(z, pz)
		sum := square(px)
		for _, c := range []*big.Float{py, pz, b().SetFloat64(m[i])} {
			sum.Add(sum, square(c))
		}
		e.Add(e, sum.Sqrt(sum))
	}
	sum := square(e)
	for _, c := range []*big.Float{x, y, z} {
		sum.Sub(sum, square(c))
	}
	f, _ := sum.Float64()
	return math.Sqrt(max(f, 0))
}

// TestMass compares masses with exact arithmetic, also where ROOT's formula, the root of
// E² - p², has no correct digits.
func TestMass(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		n := 2 + r.IntN(5)
		var pt, eta, phi, m []float64
		apart := math.Pow(10, -8*r.Float64()) // from far apart to nearly parallel
		e0, p0 := 8*r.Float64()-4, 6*r.Float64()-3
		for range n {
			pt = append(pt, math.Pow(10, 4*r.Float64()-1))
			eta = append(eta, e0+apart*(r.Float64()-0.5))
			phi = append(phi, p0+apart*(r.Float64()-0.5))
			m = append(m, []float64{0, 0.000511, 0.105658, 91.1876, 1e-9}[r.IntN(5)])
		}
		want := exactMass(pt[:2], eta[:2], phi[:2], m[:2])
		got := PairMass(pt[0], eta[0], phi[0], m[0], pt[1], eta[1], phi[1], m[1])
		if math.Abs(got-want) > 1e-14*want {
			t.Errorf("pair %v %v %v %v: %v, want %v, %g off", pt[:2], eta[:2], phi[:2], m[:2], got, want, got/want-1)
		}
		// Momenta along the sum and across it are known to 1e-16 of their sizes only.
		want = exactMass(pt, eta, phi, m)
		if got, most := Mass(pt, eta, phi, m), 1e-14+1e-14/apart; math.Abs(got-want) > most*want {
			t.Errorf("%d particles %v %v %v %v: %v, want %v, %g off", n, pt, eta, phi, m, got, want, got/want-1)
		}
	}
	// At rest, and backwards.
	if got := PairMass(0, 0, 0, 3, 0, 5, 1, 4); got != 7 {
		t.Errorf("at rest: %v", got)
	}
	if got := Mass([]float64{0, 0}, []float64{0, 5}, []float64{0, 1}, []float64{3, 4}); got != 7 {
		t.Errorf("at rest: %v", got)
	}
	if a, b := PairMass(-2, 1, 0.5, 0.1, 3, -1, 2, 0.1), PairMass(2, -1, 0.5+math.Pi, 0.1, 3, -1, 2, 0.1); !near(a, b) {
		t.Errorf("backwards: %v, want %v", a, b)
	}
}

// TestDeltaPhi compares angles with exact arithmetic.
func TestDeltaPhi(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		a, b := 20*r.Float64()-10, 20*r.Float64()-10
		d := new(big.Rat).SetFloat64(b - a)
		turn := new(big.Rat).SetFloat64(2 * math.Pi)
		turns := math.Round((b - a) / (2 * math.Pi))
		d.Sub(d, turn.Mul(turn, new(big.Rat).SetFloat64(turns)))
		want, _ := d.Float64()
		if got := DeltaPhi(a, b); math.Abs(got-want) > 1e-15 && math.Abs(math.Abs(want)-math.Pi) > 1e-12 || math.Abs(got) > math.Pi {
			t.Errorf("deltaPhi(%v, %v) = %v, want %v", a, b, got, want)
		}
	}
}

// TestExtremes calls all functions with all combinations of extreme numbers.
func TestExtremes(t *testing.T) {
	extremes := []float64{0, math.Copysign(0, -1), 1, -1, 1e-300, 1e300, -1e300, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1), math.NaN()}
	keeps := []string{"fmin", "fmax", "hypot", "pt", "pow", "int", "isnan", "isinf", "isfinite", "atan2", "phi", "energy", "eta", "mass", "restMass"} // may be numbers for a NaN
	for _, f := range Table {
		params := f.parameters()
		switch params[0] {
		case ofNumber:
		case ofNumbers:
			var args []any
			for range params {
				args = append(args, extremes)
			}
			apply(t, f, args...)
			continue
		case ofInteger:
			for _, m := range []int64{0, -1, math.MinInt64, math.MaxInt64} {
				apply(t, f, slices.Repeat([]any{m}, len(params))...)
			}
			continue
		default:
			continue
		}
		args := make([]any, len(params))
		for i := range args {
			args[i] = 1.0
		}
		for i := range params { // every pair of arguments
			for j := range i + 1 {
				for _, x := range extremes {
					for _, y := range extremes {
						args[i], args[j] = x, y
						result, ok := apply(t, f, args...).(float64)
						if nan := slices.ContainsFunc(args, func(a any) bool { return a != a }); ok && nan && result == result && !slices.Contains(keeps, f.Name) {
							t.Errorf("%s of %v = %v", f, args, result)
						}
						args[i], args[j] = 1.0, 1.0
					}
				}
			}
		}
	}
}

// TestItems applies all functions to arrays, and to missing values: results are those of
// their items, and missing.
func TestItems(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, f := range Table {
		params := f.parameters()
		for i := range params {
			args := make([]any, len(params))
			for k := range args {
				args[k] = []float64{1}
			}
			if args[i] = nil; apply(t, f, args...) != nil {
				t.Errorf("%s of a missing value is not missing", f)
			}
		}
		if params[0] != ofNumber && params[0] != ofInteger {
			continue
		}
		for array := range 1 << len(params) { // which arguments are arrays
			if array == 0 || len(params) == 8 && array%37 != 0 {
				continue
			}
			const n = 4
			args, items := make([]any, len(params)), [n][]any{}
			for k := range params {
				floats, ints, dynamic := make([]float64, n), make([]int64, n), make([]any, n)
				for i := range n {
					floats[i], ints[i] = 3*r.Float64(), r.Int64N(100)
					if dynamic[i] = floats[i]; params[k] == ofInteger {
						dynamic[i] = ints[i]
					}
				}
				kinds := []any{floats, ints, dynamic}
				args[k] = kinds[r.IntN(3)]
				if params[k] == ofInteger {
					args[k] = kinds[1+r.IntN(2)]
				}
				if array>>k&1 == 0 {
					args[k] = item(args[k], 0)
				}
				for i := range n {
					v := args[k]
					if isArray(v) {
						v = item(v, i)
					}
					items[i] = append(items[i], v)
				}
			}
			got := apply(t, f, args...)
			for i := range n {
				if want := apply(t, f, items[i]...); fmt.Sprint(item(got, i)) != fmt.Sprint(want) {
					t.Errorf("%s of %v: item %d is %v, want %v", f, args, i, item(got, i), want)
				}
			}
		}
	}
}

// TestTable makes sure that all functions of the table can be called, by names for which
// there is one function for some number and kind of arguments.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Table {
		key := fmt.Sprint(f.Name, f.parameters())
		if f.call(new(Budget)); seen[key] {
			t.Errorf("%s is there twice", f)
		}
		seen[key] = true
	}
	for _, n := range []int64{1414, 1415, 1e6, 1e9, math.MaxInt64} {
		if pairs := Pairs(n); (pairs == nil) != (n > 1414) {
			t.Errorf("pairs of %d: nil is %v", n, pairs == nil)
		}
		if Product(n, math.MaxInt64/4) != nil || Product(math.MaxInt64, n) != nil {
			t.Errorf("product of %d is not nil", n)
		}
	}
}
