package expression

import "math"

// functionError bounds the relative and absolute errors of package math's functions, several times
// too high: they may be monotonic but for such errors.
const functionError = 0x1p-40

// monotonicFunctions are functions of a float that rise or fall between two numbers, and are NaN
// elsewhere. Those that are not exact have an error.
var monotonicFunctions = map[string]struct{ from, to, err float64 }{
	"float": everywhere(0), "floor": everywhere(0), "ceil": everywhere(0), "round": everywhere(0),
	"trunc": everywhere(0), "sign": everywhere(0),
	"cbrt": everywhere(functionError), "exp": everywhere(functionError), "exp2": everywhere(functionError),
	"expm1": everywhere(functionError),
	"sinh":  everywhere(functionError), "tanh": everywhere(functionError), "asinh": everywhere(functionError),
	"atan": everywhere(functionError),
	"erf":  everywhere(functionError), "erfc": everywhere(functionError),
	"sqrt": {0, math.Inf(1), 0}, "log": {0, math.Inf(1), functionError}, "log2": {0, math.Inf(1), functionError},
	"log10": {0, math.Inf(1), functionError},
	"log1p": {-1, math.Inf(1), functionError}, "acosh": {1, math.Inf(1), functionError},
	"asin": {-1, 1, functionError}, "acos": {-1, 1, functionError}, "atanh": {-1, 1, functionError},
}

func everywhere(err float64) struct{ from, to, err float64 } {
	return struct{ from, to, err float64 }{math.Inf(-1), math.Inf(1), err}
}

// ofFunction bounds the results of a function of a float. It is nil if it knows none.
func ofFunction(name string, a *node[float64], f func(x float64) float64) func(z *zones) extent[float64] {
	if name == "abs" {
		return func(z *zones) extent[float64] { return magnitude(a.extent(z)) }
	}
	m, ok := monotonicFunctions[name]
	if !ok {
		return nil
	}
	return func(z *zones) extent[float64] {
		e := a.extent(z)
		inside := extent[float64]{nan: e.nan, missing: e.missing}
		if e.some {
			inside = between(max(e.low, m.from), min(e.high, m.to))
			inside.nan, inside.missing = e.nan || e.low < m.from || e.high > m.to, e.missing
		}
		out := corners(func(out, a []float64, _ []bool) { each1(f)(out, a) }, inside, exactly(true))
		return widened(out, m.err, m.err)
	}
}

// ofFunction2 is ofFunction for functions of two floats.
func ofFunction2(name string, a, b *node[float64], f func(x, y float64) float64) func(z *zones) extent[float64] {
	switch name {
	case "hypot", "pt":
		return both(func(a, b extent[float64]) extent[float64] {
			return widened(corners(each2(f), magnitude(a), magnitude(b)), functionError, functionError)
		}, a, b)
	case "pow":
		return both(powers, a, b)
	case "fmin", "fmax":
		return atCorners(each2(f), a, b)
	}
	return nil
}

// classified bounds the results of isnan, isinf and isfinite.
func classified(name string, a *node[float64]) func(z *zones) extent[bool] {
	return func(z *zones) extent[bool] {
		e := a.extent(z)
		infinite, finite := beyond(e, math.MaxFloat64), e.some && e.low <= math.MaxFloat64 && e.high >= -math.MaxFloat64
		switch name {
		case "isnan":
			return eitherOf(e.nan, e.some).orMissing(e.missing)
		case "isinf":
			return eitherOf(infinite, e.nan || finite).orMissing(e.missing)
		}
		return eitherOf(finite, e.nan || infinite).orMissing(e.missing)
	}
}
