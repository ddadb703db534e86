package expression

import (
	"bytes"
	"cmp"
	"math"
	"sync"
	"unsafe"
)

// number are the types of numbers in columns.
type number interface{ int64 | float64 }

// compare returns the function that compares the values of two columns.
func compare[T number | bool](op string) func(out []bool, a, b []T) {
	switch op {
	case "==":
		return func(out []bool, a, b []T) {
			for i, v := range a {
				out[i] = v == b[i]
			}
		}
	case "!=":
		return func(out []bool, a, b []T) {
			for i, v := range a {
				out[i] = v != b[i]
			}
		}
	}
	return nil
}

// order returns the function that compares the values of two columns of numbers.
func order[T number](op string) func(out []bool, a, b []T) {
	switch op {
	case "<":
		return func(out []bool, a, b []T) {
			for i, v := range a {
				out[i] = v < b[i]
			}
		}
	case "<=":
		return func(out []bool, a, b []T) {
			for i, v := range a {
				out[i] = v <= b[i]
			}
		}
	case ">":
		return func(out []bool, a, b []T) {
			for i, v := range a {
				out[i] = v > b[i]
			}
		}
	case ">=":
		return func(out []bool, a, b []T) {
			for i, v := range a {
				out[i] = v >= b[i]
			}
		}
	}
	return compare[T](op)
}

// orderConst is like order, for a number on the right side.
func orderConst[T number | float32](op string, c T) func(out []bool, a []T) {
	switch op {
	case "<":
		return func(out []bool, a []T) {
			for i, v := range a {
				out[i] = v < c
			}
		}
	case "<=":
		return func(out []bool, a []T) {
			for i, v := range a {
				out[i] = v <= c
			}
		}
	case ">":
		return func(out []bool, a []T) {
			for i, v := range a {
				out[i] = v > c
			}
		}
	case ">=":
		return func(out []bool, a []T) {
			for i, v := range a {
				out[i] = v >= c
			}
		}
	case "==":
		return func(out []bool, a []T) {
			for i, v := range a {
				out[i] = v == c
			}
		}
	}
	return func(out []bool, a []T) {
		for i, v := range a {
			out[i] = v != c
		}
	}
}

// mirrored are the comparisons with the sides exchanged.
var mirrored = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}

// orderStrings returns the function that compares strings.
func orderStrings(op string) func(a, b []byte) bool {
	test := map[string]func(c int) bool{
		"<":  func(c int) bool { return c < 0 },
		"<=": func(c int) bool { return c <= 0 },
		">":  func(c int) bool { return c > 0 },
		">=": func(c int) bool { return c >= 0 },
		"==": func(c int) bool { return c == 0 },
		"!=": func(c int) bool { return c != 0 },
	}[op]
	return func(a, b []byte) bool { return test(bytes.Compare(a, b)) }
}

// arithmetic returns the function for + - *.
func arithmetic[T number](op string) func(out, a, b []T) {
	switch op {
	case "+":
		return func(out, a, b []T) {
			for i, v := range a {
				out[i] = v + b[i]
			}
		}
	case "-":
		return func(out, a, b []T) {
			for i, v := range a {
				out[i] = v - b[i]
			}
		}
	}
	return func(out, a, b []T) {
		for i, v := range a {
			out[i] = v * b[i]
		}
	}
}

// arithmeticConst is like arithmetic, for a number on the right side.
func arithmeticConst[T number](op string, c T) func(out, a []T) {
	switch op {
	case "+":
		return func(out, a []T) {
			for i, v := range a {
				out[i] = v + c
			}
		}
	case "-":
		return func(out, a []T) {
			for i, v := range a {
				out[i] = v - c
			}
		}
	}
	return func(out, a []T) {
		for i, v := range a {
			out[i] = v * c
		}
	}
}

func divide(out, a, b []float64) {
	for i, v := range a {
		out[i] = v / b[i]
	}
}

func power(out, a, b []float64) {
	for i, v := range a {
		out[i] = math.Pow(v, b[i])
	}
}

// square is power for the exponent 2. Both round once, unless the result is so small that power
// rounds twice.
func square(out, a []float64) {
	for i, v := range a {
		y := v * v
		if y < 0x1p-1000 {
			y = math.Pow(v, 2)
		}
		out[i] = y
	}
}

// modulo is the column of remainders, which are missing where the right side is 0.
func modulo(left, right *node[int64]) *node[int64] {
	return newNode(left.of, func(r *run, n *node[int64]) {
		a, v := left.rows(r)
		b, w := right.rows(r)
		out, valid := n.out(r, len(a)), n.flags(r, len(a))
		for i, x := range a {
			valid[i] = (v == nil || v[i]) && (w == nil || w[i]) && b[i] != 0
			if valid[i] {
				out[i] = x % b[i]
			}
		}
	})
}

// moduloConst is modulo for a number that is not 0.
func moduloConst(c int64) func(out, a []int64) {
	return func(out, a []int64) {
		for i, v := range a {
			out[i] = v % c
		}
	}
}

func negate[T number](out, a []T) {
	for i, v := range a {
		out[i] = -v
	}
}

func toFloat(out []float64, a []int64) {
	for i, v := range a {
		out[i] = float64(v)
	}
}

func not(out, a []bool) {
	for i, v := range a {
		out[i] = !v
	}
}

// and and or evaluate both sides, which is faster than to jump past one of them.
func and(out, a, b []bool) {
	x := bytesOf(a)
	y, to := bytesOf(b)[:len(x)], bytesOf(out)[:len(x)]
	for i, v := range x {
		to[i] = v & y[i]
	}
}

func or(out, a, b []bool) {
	x := bytesOf(a)
	y, to := bytesOf(b)[:len(x)], bytesOf(out)[:len(x)]
	for i, v := range x {
		to[i] = v | y[i]
	}
}

// bytesOf returns bools as the bytes that they are in memory, 0 or 1.
func bytesOf(b []bool) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}

// trues calls use with how many of the items before each one are true. The differences are what
// arrays have, found without loops over arrays, which are short: processors guess wrongly where
// such loops end. The counts may wrap around; their differences are right.
func trues(a []bool, use func(before []uint32)) {
	buffer := truesPool.Get().(*[]uint32)
	defer truesPool.Put(buffer)
	before := resize(buffer, len(a)+1)
	n := uint32(0)
	before[0] = 0
	after := before[1:][:len(a)]
	for i, v := range bytesOf(a)[:len(after)] {
		n += uint32(v)
		after[i] = n
	}
	use(before)
}

var truesPool = sync.Pool{New: func() any { return new([]uint32) }}

// anyOf, allOf, noneOf and oneOf tell how many items of arrays are true.
func anyOf(out []bool, o []int64, a []bool) {
	trues(a, func(before []uint32) {
		for i := range out {
			out[i] = before[o[i]] != before[o[i+1]]
		}
	})
}

func allOf(out []bool, o []int64, a []bool) {
	trues(a, func(before []uint32) {
		for i := range out {
			out[i] = before[o[i+1]]-before[o[i]] == uint32(o[i+1]-o[i])
		}
	})
}

func noneOf(out []bool, o []int64, a []bool) {
	trues(a, func(before []uint32) {
		for i := range out {
			out[i] = before[o[i]] == before[o[i+1]]
		}
	})
}

func oneOf(out []bool, o []int64, a []bool) {
	trues(a, func(before []uint32) {
		for i := range out {
			out[i] = before[o[i+1]]-before[o[i]] == 1
		}
	})
}

func countOf(out []int64, o []int64, a []bool) {
	trues(a, func(before []uint32) {
		for i := range out {
			out[i] = int64(before[o[i+1]] - before[o[i]])
		}
	})
}

// sumOf adds the items of arrays in order.
func sumOf[T number](out []T, o []int64, a []T) {
	for i := range out {
		sum := T(0)
		for _, v := range a[o[i]:o[i+1]] {
			sum += v
		}
		out[i] = sum
	}
}

// leastOf and greatestOf leave alone what is of an empty array.
func leastOf[T cmp.Ordered](out []T, o []int64, a []T) {
	for i := range out {
		items := a[o[i]:o[i+1]]
		if len(items) == 0 {
			continue
		}
		best := items[0]
		for _, v := range items[1:] {
			if v < best {
				best = v
			}
		}
		out[i] = best
	}
}

func greatestOf[T cmp.Ordered](out []T, o []int64, a []T) {
	for i := range out {
		items := a[o[i]:o[i+1]]
		if len(items) == 0 {
			continue
		}
		best := items[0]
		for _, v := range items[1:] {
			if v > best {
				best = v
			}
		}
		out[i] = best
	}
}

func meanOf(out []float64, o []int64, a []float64) {
	for i := range out {
		sum := 0.0
		for _, v := range a[o[i]:o[i+1]] {
			sum += v
		}
		out[i] = sum / float64(o[i+1]-o[i])
	}
}

// firstLeast and firstGreatest find the indices of the items that leastOf and greatestOf find; 0
// for empty arrays.
func firstLeast[T cmp.Ordered](out []int64, o []int64, a []T) {
	for i := range out {
		best := o[i]
		for k := o[i] + 1; k < o[i+1]; k++ {
			if a[k] < a[best] {
				best = k
			}
		}
		out[i] = best - o[i]
	}
}

func firstGreatest[T cmp.Ordered](out []int64, o []int64, a []T) {
	for i := range out {
		best := o[i]
		for k := o[i] + 1; k < o[i+1]; k++ {
			if a[k] > a[best] {
				best = k
			}
		}
		out[i] = best - o[i]
	}
}
