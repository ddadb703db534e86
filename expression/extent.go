package expression

import (
	"math"
	"math/bits"
)

// An extent describes what the value of a part of an expression may be in some entries. The
// zero value may be anything.
type extent struct {
	kind    kindOfExtent
	missing bool // it may be missing
	nan     bool // it may be NaN
	none    bool // it is nothing else than missing or NaN; there may be no value at all

	yes, no     bool    // boolExtent: it may be true, it may be false
	first, last int64   // intExtent: the bounds
	low, high   float64 // floatExtent: the bounds
	least, most int64   // arrayExtent: the bounds of the number of items
	item        *extent // arrayExtent: what items may be

	path string // of a field of which nothing is known
}

type kindOfExtent uint8

const (
	unknownExtent kindOfExtent = iota
	boolExtent
	intExtent
	floatExtent
	arrayExtent
)

func eitherOf(yes, no bool) extent        { return extent{kind: boolExtent, yes: yes, no: no} }
func intsFrom(first, last int64) extent   { return extent{kind: intExtent, first: first, last: last} }
func floatsFrom(low, high float64) extent { return extent{kind: floatExtent, low: low, high: high} }
func (v extent) anyInteger() extent       { v.first, v.last = math.MinInt64, math.MaxInt64; return v }
func (v extent) isNumber() bool           { return v.kind == intExtent || v.kind == floatExtent }
func (v extent) from(a, b extent) extent { // what holds of the result of every operation on numbers
	v.missing, v.nan, v.none = a.missing || b.missing, v.nan || a.nan || b.nan, a.none || b.none
	return v
}

// anyReal returns v as any float.
func (v extent) anyReal() extent {
	v.kind, v.nan, v.low, v.high = floatExtent, true, math.Inf(-1), math.Inf(1)
	return v
}

// toReal returns a number as a float, as operators convert it.
func (v extent) toReal() extent {
	if v.kind == intExtent {
		v.kind, v.low, v.high = floatExtent, float64(v.first), float64(v.last)
	}
	return v
}

// exact reports whether toReal changes no integer.
func (v extent) exact() bool {
	const most = 1 << 53
	return v.kind == floatExtent || v.first >= -most && v.last <= most
}

// union returns what may be either.
func (v extent) union(w extent) extent {
	switch {
	case v.kind == boolExtent && w.kind == boolExtent:
		v.yes, v.no = v.yes || w.yes, v.no || w.no
		v.missing, v.none = v.missing || w.missing, v.none && w.none
		return v
	case !v.isNumber() || !w.isNumber():
		return extent{}
	case v.kind != w.kind:
		if !v.exact() || !w.exact() {
			return extent{}
		}
		v, w = v.toReal(), w.toReal()
	}
	u := v
	switch {
	case v.none:
		u = w
	case !w.none:
		u.first, u.last = min(v.first, w.first), max(v.last, w.last)
		u.low, u.high = min(v.low, w.low), max(v.high, w.high)
	}
	u.missing, u.nan, u.none = v.missing || w.missing, v.nan || w.nan, v.none && w.none
	return u
}

// not returns the opposite of a bool. What that of a missing one is does not matter.
func (v extent) not() extent {
	if v.kind != boolExtent {
		return extent{}
	}
	v.yes, v.no = v.no || v.missing, v.yes || v.missing
	return v
}

// and returns whether both are true.
func (v extent) and(w extent) extent {
	v, w = v.orAny(), w.orAny()
	missing := v.missing || w.missing
	return extent{kind: boolExtent, yes: v.yes && w.yes, no: v.no || w.no || missing, missing: missing}
}

// or returns whether one of both is true.
func (v extent) or(w extent) extent {
	v, w = v.orAny(), w.orAny()
	missing := v.missing || w.missing && v.no
	return extent{kind: boolExtent, yes: v.yes || w.yes, no: v.no && (w.no || w.missing) || missing, missing: missing}
}

// orAny returns v if it is a bool, or what any bool may be.
func (v extent) orAny() extent {
	if v.kind == boolExtent {
		return v
	}
	return extent{kind: boolExtent, yes: true, no: true, missing: true}
}

// compare returns what a comparison of two values may be. With a missing one it is false; what
// != is then does not matter.
func (v extent) compare(operator string, w extent) extent {
	switch {
	case v.kind == boolExtent && w.kind == boolExtent && (operator == "==" || operator == "!="):
		same, differ := v.yes && w.yes || v.no && w.no, v.yes && w.no || v.no && w.yes
		if v.missing || w.missing {
			same, differ = true, true
		}
		if operator == "!=" {
			same, differ = differ, same
		}
		return eitherOf(same, differ)
	case !v.isNumber() || !w.isNumber():
		return extent{}
	}
	var t extent
	if v.kind == intExtent && w.kind == intExtent {
		t = relate(operator, v.first, v.last, w.first, w.last)
	} else {
		a, b := v.toReal(), w.toReal()
		t = relate(operator, a.low, a.high, b.low, b.high)
	}
	if v.none || w.none {
		t = eitherOf(false, false)
	}
	if v.nan || w.nan || v.missing || w.missing {
		t.no = true
		t.yes = t.yes || operator == "!="
	}
	return t
}

// relate compares a number from a to b with one from c to d.
func relate[T int64 | float64](operator string, a, b, c, d T) extent {
	switch operator {
	case "<":
		return eitherOf(a < d, b >= c)
	case "<=":
		return eitherOf(a <= d, b > c)
	case ">":
		return eitherOf(b > c, a <= d)
	case ">=":
		return eitherOf(b >= c, a < d)
	}
	same, differ := a <= d && c <= b, a != b || c != d || a != c
	if operator == "!=" {
		return eitherOf(differ, same)
	}
	return eitherOf(same, differ)
}

// onItems applies a function of numbers to a number, or to the items of an array.
func (v extent) onItems(f func(extent) extent) extent {
	if v.kind == arrayExtent && !v.missing {
		item := v.item.onItems(f)
		v.item = &item
		return v
	}
	if !v.isNumber() {
		return extent{}
	}
	return f(v)
}

func (v extent) plus() extent { return v.onItems(func(v extent) extent { return v }) }

func (v extent) negative() extent {
	return v.onItems(func(v extent) extent {
		if v.first == math.MinInt64 {
			return v.anyInteger()
		}
		v.first, v.last, v.low, v.high = -v.last, -v.first, -v.high, -v.low
		return v
	})
}

func (v extent) abs() extent {
	if v.kind == intExtent {
		switch {
		case v.first == math.MinInt64:
			return v.anyInteger()
		case v.last <= 0:
			v.first, v.last = -v.last, -v.first
		case v.first < 0:
			v.first, v.last = 0, max(-v.first, v.last)
		}
		return v
	}
	switch {
	case v.high <= 0:
		v.low, v.high = -v.high, -v.low
	case v.low < 0:
		v.low, v.high = 0, max(-v.low, v.high)
	}
	return v
}

// arithmetic returns what the result of an operator for numbers may be, or of its
// application to each item of an array.
func (v extent) arithmetic(operator string, w extent) extent {
	switch {
	case v.missing && v.kind == arrayExtent || w.missing && w.kind == arrayExtent:
		return extent{}
	case v.kind == arrayExtent && w.kind == arrayExtent:
		item := v.item.arithmetic(operator, *w.item)
		v.item, v.least, v.most = &item, min(v.least, w.least), max(v.most, w.most)
		return v
	case v.kind == arrayExtent:
		return v.onItems(func(v extent) extent { return v.arithmetic(operator, w) })
	case w.kind == arrayExtent:
		return w.onItems(func(w extent) extent { return v.arithmetic(operator, w) })
	case !v.isNumber() || !w.isNumber():
		return extent{}
	case v.kind == intExtent && w.kind == intExtent && operator != "/":
		return v.ofIntegers(operator, w).from(v, w)
	}
	return v.toReal().ofReals(operator, w.toReal()).from(v, w)
}

// ofIntegers is arithmetic for +, - and * of integers, which wrap.
func (v extent) ofIntegers(operator string, w extent) extent {
	result := intsFrom(math.MaxInt64, math.MinInt64)
	for _, a := range []int64{v.first, v.last} {
		for _, b := range []int64{w.first, w.last} {
			c, ok := a+b, true
			switch operator {
			case "+":
				ok = (c > a) == (b > 0)
			case "-":
				c = a - b
				ok = (c < a) == (b > 0)
			case "*":
				c = a * b
				hi, lo := bits.Mul64(magnitude(a), magnitude(b))
				ok = hi == 0 && lo <= math.MaxInt64
			}
			if !ok {
				return result.anyInteger()
			}
			result.first, result.last = min(result.first, c), max(result.last, c)
		}
	}
	return result
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// ofReals is arithmetic for floats. Rounding is monotonous, so the bounds of the result are
// those that the bounds have.
func (v extent) ofReals(operator string, w extent) extent {
	result := floatsFrom(math.Inf(1), math.Inf(-1))
	for _, a := range []float64{v.low, v.high} {
		for _, b := range []float64{w.low, w.high} {
			var c float64
			switch operator {
			case "+":
				c = a + b
			case "-":
				c = a - b
			case "*":
				c = a * b
			case "/":
				c = a / b
			}
			infinite := math.IsInf(a, 0) || math.IsInf(b, 0)
			if c != c || infinite || operator == "/" && w.low <= 0 && w.high >= 0 {
				return result.anyReal()
			}
			result.low, result.high = min(result.low, c), max(result.high, c)
		}
	}
	return result
}
