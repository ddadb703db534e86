package expression

import "math"

// An extent bounds the rows that a column of values has in a cluster. The values of rows that are
// not missing lie from low to high, of bools from false to true, or are NaN.
type extent[T any] struct {
	low, high T
	some      bool // there may be a value that is not NaN; otherwise low and high mean nothing
	nan       bool // there may be a NaN
	missing   bool // there may be a row without a value
}

// anything returns the extent of a column of which nothing is known. Strings have no other one.
func anything[T any]() (e extent[T]) {
	e.some, e.nan, e.missing = true, true, true
	switch e := any(&e).(type) {
	case *extent[bool]:
		e.high = true
	case *extent[int64]:
		e.low, e.high = math.MinInt64, math.MaxInt64
	case *extent[float64]:
		e.low, e.high = math.Inf(-1), math.Inf(1)
	}
	return e
}

// exactly returns the extent of a value.
func exactly[T any](v T) extent[T] { return extent[T]{}.with(v) }

// between returns the extent of numbers from low to high, or of no number if low is above high.
func between[T number](low, high T) (e extent[T]) {
	if low <= high {
		e.low, e.high, e.some = low, high, true
	}
	return e
}

// rowNumbers returns the extent of numbers of rows, of which nothing is known.
func rowNumbers(missing bool) extent[int64] {
	return extent[int64]{high: math.MaxInt64, some: true, missing: missing}
}

// orMissing returns e with missing rows, or without.
func (e extent[T]) orMissing(missing bool) extent[T] {
	e.missing = missing
	return e
}

// eitherOf returns the extent of bools that may be true if yes is set, and false if no is.
func eitherOf(yes, no bool) extent[bool] { return extent[bool]{low: !no, high: yes, some: yes || no} }

// may reports whether a bool may be v.
func may(e extent[bool], v bool) bool { return e.some && (e.low == v || e.high == v) }

// with returns e with one more value.
func (e extent[T]) with(v T) extent[T] {
	x, isFloat := any(v).(float64)
	switch {
	case isFloat && x != x:
		e.nan = true
	case !e.some:
		e.low, e.high, e.some = v, v, true
	case before(v, e.low):
		e.low = v
	case before(e.high, v):
		e.high = v
	}
	return e
}

// before reports whether a is less than b. Strings are not ordered: nothing is known of them.
func before[T any](a, b T) bool {
	switch a := any(a).(type) {
	case bool:
		return !a && any(b).(bool)
	case int64:
		return a < any(b).(int64)
	case float64:
		return a < any(b).(float64)
	}
	return false
}

// union returns the extent of the rows of both.
func (e extent[T]) union(f extent[T]) extent[T] {
	if f.some {
		e = e.with(f.low).with(f.high)
	}
	e.nan, e.missing = e.nan || f.nan, e.missing || f.missing
	return e
}

// points returns the bounds, and NaN if there may be one.
func (e extent[T]) points() (all []T) {
	if e.some {
		all = append(all, e.low, e.high)
	}
	if nan, ok := any(math.NaN()).(T); ok && e.nan {
		all = append(all, nan)
	}
	return all
}

// corners returns the extent of a function's values from those at the bounds. This holds if the
// function is monotonic in each argument, also where the other one is NaN. Sums, differences and
// products of floats are: those of real numbers are, and so is rounding. There is no need to round
// outwards.
func corners[A, B, T any](f func(out []T, a []A, b []B), a extent[A], b extent[B]) extent[T] {
	e := extent[T]{missing: a.missing || b.missing}
	for _, x := range a.points() {
		for _, y := range b.points() {
			var out [1]T
			f(out[:], []A{x}, []B{y})
			e = e.with(out[0])
		}
	}
	return e
}

// beyond reports whether there may be numbers whose magnitude is larger than limit.
func beyond[T number](e extent[T], limit T) bool { return e.some && (e.low < -limit || e.high > limit) }

// magnitude returns the extent of absolute values.
func magnitude[T number](e extent[T]) extent[T] {
	if low, ok := any(e.low).(int64); ok && low == math.MinInt64 { // which has none
		return anything[T]().orMissing(e.missing)
	}
	if e.some {
		e.low, e.high = max(e.low, -e.high, 0), max(e.high, -e.low)
	}
	return e
}

// widened returns the extent of values that are computed with an error, which is relative or
// absolute.
func widened(e extent[float64], relative, absolute float64) extent[float64] {
	if e.some {
		low, high := min(e.low, math.MaxFloat64), max(e.high, -math.MaxFloat64) // the others may be infinite
		if !math.IsInf(low, 0) {
			e.low = low - (math.Abs(low)*relative + absolute)
		}
		if !math.IsInf(high, 0) {
			e.high = high + (math.Abs(high)*relative + absolute)
		}
	}
	return e
}
