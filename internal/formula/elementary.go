package formula

import (
	"math"
)

func absInt(n int64) int64 { return max(n, -n) }

// ToInteger returns x without its fraction, as the nearest integer of 64 bits, and 0
// for NaN.
func ToInteger(x float64) int64 {
	switch {
	case math.IsNaN(x):
		return 0
	case x >= 1<<63:
		return math.MaxInt64
	case x < -1<<63:
		return math.MinInt64
	}
	return int64(x)
}

func toFloat(x float64) float64 { return x }

// The operations on the bits of integers.
func bitAnd(m, n int64) int64  { return m & n }
func bitOr(m, n int64) int64   { return m | n }
func bitXor(m, n int64) int64  { return m ^ n }
func bitNand(m, n int64) int64 { return m &^ n }
func bitNot(n int64) int64     { return ^n }

// Sign returns -1, 0 or 1, and NaN for NaN.
func Sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x
}

// FMin returns the lesser one of two numbers, of which NaN is none.
func FMin(x, y float64) float64 {
	switch {
	case math.IsNaN(x):
		return y
	case math.IsNaN(y):
		return x
	}
	return min(x, y)
}

// FMax returns the greater one of two numbers, of which NaN is none.
func FMax(x, y float64) float64 {
	switch {
	case math.IsNaN(x):
		return y
	case math.IsNaN(y):
		return x
	}
	return max(x, y)
}

// LGamma returns the logarithm of the absolute value of the gamma function.
func LGamma(x float64) float64 {
	y, _ := math.Lgamma(x)
	return y
}

// IsInf reports whether x is infinite.
func IsInf(x float64) bool { return math.IsInf(x, 0) }

// IsFinite reports whether x is neither infinite nor NaN.
func IsFinite(x float64) bool { return !math.IsNaN(x - x) }
