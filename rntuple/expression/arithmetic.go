package expression

import "math"

func arithmeticOf(op string, l, r value) (value, bool, error) {
	missing := l.missing || r.missing
	switch {
	case (l.null || r.null) && (l.null || l.isNumber() || l.kind == String) &&
		(r.null || r.isNumber() || r.kind == String):
		return nothing(l.of), true, nil
	case l.kind == String && r.kind == String && op == "+":
		return scalar(concatenate(l.strings(), r.strings()), missing), true, nil
	case !l.isNumber() || !r.isNumber():
		return value{}, false, nil
	case op == "%":
		if l.kind != Int || r.kind != Int {
			return value{}, false, nil
		}
		if c, ok := r.literal.(int64); ok && c != 0 {
			return scalar(mapped(l.ints(), moduloConst(c)).known(both(remainder, l.ints(), r.ints())), missing), true, nil
		}
		return scalar(modulo(l.ints(), r.ints()).known(both(remainder, l.ints(), r.ints())), true), true, nil
	case op == "/" || op == "**" || l.kind != r.kind:
		l, r = l.asFloats(), r.asFloats()
	}
	switch {
	case l.kind == Int:
		return scalar(calculate(op, l.ints(), r.ints()), missing), true, nil
	case op == "/":
		return scalar(combined(l.floats(), r.floats(), divide).known(both(quotient, l.floats(), r.floats())), missing), true,
			nil
	case op == "**":
		var n *node[float64]
		if e := r.floats().one; e != nil && *e == 2 {
			n = mapped(l.floats(), square)
		} else {
			n = combined(l.floats(), r.floats(), power)
		}
		return scalar(n.known(both(powers, l.floats(), r.floats())), missing), true, nil
	}
	return scalar(calculate(op, l.floats(), r.floats()), missing), true, nil
}

// calculate applies + - *.
func calculate[T number](op string, l, r *node[T]) *node[T] {
	if l.one != nil && op != "-" {
		l, r = r, l
	}
	if r.one != nil {
		return mapped(l, arithmeticConst(op, *r.one)).known(calculated(op, l, r))
	}
	return combined(l, r, arithmetic[T](op)).known(calculated(op, l, r))
}

// concatenate joins strings. Those of a batch share memory.
func concatenate(left, right *node[[]byte]) *node[[]byte] {
	return textOf(left.of, func(r *run, t *text) []bool {
		a, v := left.rows(r)
		b, w := right.rows(r)
		for i, s := range a {
			t.add(s, b[i])
		}
		return t.n.validWhere(r, v, w)
	})
}

func comparisonOf(op string, l, r value) (value, bool, error) {
	if (l.null || r.null) && (l.kind != 0 || r.kind != 0 || l.null && r.null) {
		return literalOf(l.of, false), true, nil
	}
	if l.isNumber() && r.isNumber() && l.kind != r.kind {
		l, r = l.asFloats(), r.asFloats()
	}
	if l.kind != r.kind || l.kind == 0 || l.kind == Bool && op != "==" && op != "!=" {
		return value{}, false, nil
	}
	if l.column.fixed() && !r.column.fixed() {
		l, r, op = r, l, mirrored[op]
	}
	var n *node[bool]
	switch l.kind {
	case Int:
		n = compareNumbers(op, l.ints(), r.ints())
	case Float:
		n = compareNumbers(op, l.floats(), r.floats())
	case String:
		if c, ok := r.literal.(string); ok && (op == "==" || op == "!=") {
			n = mapped(l.strings(), func(out []bool, a [][]byte) {
				for i, s := range a {
					out[i] = (string(s) == c) == (op == "==")
				}
			})
		} else {
			n = onStrings(l.strings(), r.strings(), orderStrings(op))
		}
	case Bool:
		f := compare[bool](op)
		n = combined(l.bools(), r.bools(), f).known(atCorners(f, l.bools(), r.bools()))
	}
	if l.missing || r.missing {
		n = truth(n)
	}
	return scalar(n, false), true, nil
}

func compareNumbers[T number](op string, l, r *node[T]) *node[bool] {
	known := compared(op, l, r)
	if r.one == nil {
		return combined(l, r, order[T](op)).known(known)
	}
	if x, ok := any(l).(*node[float64]); ok && x.singles != nil {
		return compareSingles(op, x, float64(*r.one)).known(known)
	}
	return mapped(l, orderConst(op, *r.one)).known(known)
}

// compareSingles compares a float32 field with c without widening it. It rounds c to a float32 that
// gives the same results.
func compareSingles(op string, x *node[float64], c float64) *node[bool] {
	limit := float32(c)
	switch up := op == "<" || op == ">="; {
	case op == "==" || op == "!=":
		if float64(limit) != c {
			limit = float32(math.NaN()) // c equals no float32; neither does NaN
		}
	case up && float64(limit) < c:
		limit = math.Nextafter32(limit, float32(math.Inf(1)))
	case !up && float64(limit) > c:
		limit = math.Nextafter32(limit, float32(math.Inf(-1)))
	}
	compare := orderConst(op, limit)
	return newNode(x.of, func(r *run, n *node[bool]) {
		a := x.singles(r)
		compare(n.out(r, len(a)), a)
		r.budget.Step(int64(len(a)))
	})
}

// equalsNil compares with nil.
func equalsNil(op string, l, r value) value {
	v := l
	if l.null {
		v = r
	}
	switch {
	case v.null:
		return literalOf(v.of, op == "==")
	case !v.missing:
		return literalOf(v.of, op != "==")
	}
	n := v.valid()
	if op == "==" {
		n = mapped(n, not).known(monotonic(n, not))
	}
	return scalar(n, false)
}

// onStrings returns the column of a function of strings, which looks at each byte.
func onStrings(left, right *node[[]byte], f func(a, b []byte) bool) *node[bool] {
	return newNode(left.of, func(r *run, n *node[bool]) {
		a, v := left.rows(r)
		b, w := right.rows(r)
		out, steps := n.out(r, len(a)), 0
		for i, s := range a {
			out[i] = f(s, b[i])
			if steps += 1 + len(s); steps > maxBlock {
				r.budget.Step(int64(steps))
				steps = 0
			}
		}
		n.validWhere(r, v, w)
	})
}

// calculated bounds the results of +, - or *.
func calculated[T number](op string, a, b *node[T]) func(z *zones) extent[T] {
	return both(func(a, b extent[T]) extent[T] {
		switch a := any(a).(type) {
		case extent[int64]:
			if wrapsAround(op, a, any(b).(extent[int64])) {
				return anything[T]().orMissing(a.missing || b.missing)
			}
		case extent[float64]:
			e := corners(arithmetic[T](op), any(a).(extent[T]), b)
			if op == "*" && undefined(a, any(b).(extent[float64])) { // there is more between the bounds
				e = e.with(0)
				e.nan = true
			}
			return e
		}
		return corners(arithmetic[T](op), a, b)
	}, a, b)
}

// wrapsAround reports whether the sum, difference or product of integers may not fit 64 bits. If
// not at the bounds, it does nowhere.
func wrapsAround(op string, a, b extent[int64]) bool {
	for _, x := range a.points() {
		for _, y := range b.points() {
			switch sum, difference := x+y, x-y; {
			case op == "+" && (x^sum)&(y^sum) < 0, op == "-" && (x^y)&(x^difference) < 0, op == "*" && overflows(x, y):
				return true
			}
		}
	}
	return false
}

// overflows reports whether a product does not fit 64 bits.
func overflows(x, y int64) bool {
	return x == -1 && y == math.MinInt64 || x != 0 && x != -1 && x*y/x != y
}

// undefined reports whether there may be a product of 0 and infinity.
func undefined(a, b extent[float64]) bool {
	zero := func(e extent[float64]) bool { return e.some && e.low <= 0 && e.high >= 0 }
	return zero(a) && beyond(b, math.MaxFloat64) || zero(b) && beyond(a, math.MaxFloat64)
}

// quotient returns the extent of a quotient, which is monotonic where the right side is not 0.
func quotient(a, b extent[float64]) extent[float64] {
	if b.some && b.low <= 0 && b.high >= 0 {
		return anything[float64]().orMissing(a.missing || b.missing)
	}
	e := corners(divide, a, b)
	if beyond(a, math.MaxFloat64) && beyond(b, math.MaxFloat64) { // between the bounds, whose quotient is NaN
		e = e.with(0)
	}
	return e
}

// remainder returns the extent of a % b, which has the sign of a.
func remainder(a, b extent[int64]) extent[int64] {
	e := extent[int64]{missing: a.missing || b.missing || b.some && b.low <= 0 && b.high >= 0}
	most := int64(-1)
	for _, d := range b.points() {
		if d < 0 {
			most = max(most, -(d + 1))
		} else {
			most = max(most, d-1)
		}
	}
	if a.some && most >= 0 {
		e.low, e.high, e.some = max(min(a.low, 0), -most), min(max(a.high, 0), most), true
	}
	return e
}

// powers returns the extent of powers, if the exponent is one whole number from 1 on.
func powers(a, b extent[float64]) extent[float64] {
	n := b.low
	if !b.some || b.nan || n != b.high || n < 1 || n > 1<<53 || n != math.Trunc(n) {
		return anything[float64]().orMissing(a.missing || b.missing)
	}
	if math.Mod(n, 2) == 0 {
		a = magnitude(a)
	}
	return widened(corners(power, a, b), functionError, 0)
}

// compared bounds the results of a comparison of numbers.
func compared[T number](op string, a, b *node[T]) func(z *zones) extent[bool] {
	return both(func(a, b extent[T]) extent[bool] { return comparison(op, a, b) }, a, b)
}

// comparison returns the extent of a comparison of numbers.
func comparison[T number](op string, a, b extent[T]) extent[bool] {
	if op != "==" && op != "!=" {
		return corners(order[T](op), a, b)
	}
	// Equality is not monotonic, but the comparisons that it consists of are.
	less, greater := corners(order[T]("<="), a, b), corners(order[T](">="), a, b)
	same, differ := may(less, true) && may(greater, true), may(less, false) || may(greater, false)
	if op == "!=" {
		same, differ = differ, same
	}
	return eitherOf(same, differ).orMissing(less.missing)
}
