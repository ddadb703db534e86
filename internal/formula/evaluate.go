package formula

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/vm/runtime"
)

// A call is a function as the virtual machine calls it.
type call = func(args ...any) (any, error)

// operators are the operators, for all values that Types allow.
var operators = map[string]call{
	"+":  arithmeticOf("+"),
	"-":  arithmeticOf("-"),
	"*":  arithmeticOf("*"),
	"/":  arithmeticOf("/"),
	"%":  arithmeticOf("%"),
	"**": arithmeticOf("**"),
	"<":  comparisonOf("<"),
	"<=": comparisonOf("<="),
	">":  comparisonOf(">"),
	">=": comparisonOf(">="),
	"==": comparisonOf("=="),
	"!=": comparisonOf("!="),
}

// arithmeticOf returns the function of an operator: of a missing value, it is missing.
func arithmeticOf(op string) call {
	var f func(args ...any) (any, error)
	f = func(args ...any) (any, error) {
		a, b := args[0], args[1]
		if a == nil || b == nil {
			return nil, nil
		}
		if m, ok := integer(a); ok {
			if n, ok := integer(b); ok {
				return compute(op, m, n), nil
			}
		}
		if x, ok := number(a); ok {
			if y, ok := number(b); ok && op != "%" {
				return calculate(op, x, y), nil
			}
		}
		if s, ok := a.(string); ok && op == "+" {
			if t, ok := b.(string); ok {
				return s + t, nil
			}
		}
		return itemByItem(op, f, args)
	}
	return f
}

// searches are the operators that look for a string in another one. With a missing one, they are false.
var searches = map[string]call{
	"contains":   searchOf("contains", strings.Contains),
	"startsWith": searchOf("startsWith", strings.HasPrefix),
	"endsWith":   searchOf("endsWith", strings.HasSuffix),
}

func searchOf(op string, f func(s, part string) bool) call {
	return func(args ...any) (any, error) {
		if args[0] == nil || args[1] == nil {
			return false, nil
		}
		s, ok1 := args[0].(string)
		part, ok2 := args[1].(string)
		if !ok1 || !ok2 {
			return nil, fmt.Errorf("invalid operation: %s (%s, %s)", op, noun(args[0]), noun(args[1]))
		}
		return f(s, part), nil
	}
}

// characters returns the length of a string.
func characters(args ...any) (any, error) {
	if s, ok := args[0].(string); ok {
		return int64(utf8.RuneCountInString(s)), nil
	}
	return nil, nil
}

// compute applies an operator to integers, which wrap around.
func compute(op string, m, n int64) any {
	switch op {
	case "+":
		return m + n
	case "-":
		return m - n
	case "*":
		return m * n
	case "%":
		if n == 0 {
			return nil
		}
		return m % n
	}
	return calculate(op, float64(m), float64(n))
}

// calculate applies an operator to floats.
func calculate(op string, x, y float64) float64 {
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "/":
		return x / y
	}
	return math.Pow(x, y)
}

// comparisonOf returns the function of an operator: with a missing value, it is false.
func comparisonOf(op string) call {
	var f func(args ...any) (any, error)
	f = func(args ...any) (any, error) {
		a, b := args[0], args[1]
		if a == nil || b == nil {
			return false, nil
		}
		switch x := a.(type) {
		case float64:
			if y, ok := number(b); ok {
				return compare(op, x, y), nil
			}
		case int, int64:
			m, _ := integer(a)
			if n, ok := integer(b); ok {
				return compare(op, m, n), nil
			}
			if y, ok := b.(float64); ok {
				return compare(op, float64(m), y), nil
			}
		case string:
			if y, ok := b.(string); ok {
				return compare(op, x, y), nil
			}
		case bool:
			if y, ok := b.(bool); ok && (op == "==" || op == "!=") {
				return (x == y) == (op == "=="), nil
			}
		}
		if !isArray(a) && !isArray(b) && (op == "==" || op == "!=") {
			return runtime.Equal(a, b) == (op == "=="), nil
		}
		return itemByItem(op, f, args)
	}
	return func(args ...any) (any, error) {
		_, array1 := length(args[0])
		_, array2 := length(args[1])
		if (args[0] == nil || args[1] == nil) && (array1 || array2) {
			return nil, nil
		}
		return f(args...)
	}
}

// scalars returns a comparison of values that are no arrays.
func scalars(op string) call {
	f := operators[op]
	return func(args ...any) (any, error) {
		v, err := f(args...)
		if _, ok := v.(bool); err == nil && !ok {
			return nil, fmt.Errorf("invalid operation: %s (%s, %s)", op, noun(args[0]), noun(args[1]))
		}
		return v, err
	}
}

func compare[T int64 | float64 | string](op string, a, b T) bool {
	switch op {
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	case ">=":
		return a >= b
	case "==":
		return a == b
	}
	return a != b
}

// itemByItem applies a function to the items of those arguments that are arrays.
func itemByItem(name string, f call, args []any) (any, error) {
	n, err := common(name, args)
	if err != nil {
		return nil, err
	}
	results, one := make([]any, n), make([]any, len(args))
	for i := range results {
		for k, a := range args {
			if one[k] = a; isArray(a) {
				one[k] = item(a, i)
			}
		}
		if results[i], err = f(one...); err != nil {
			return nil, err
		}
	}
	return pack(results), nil
}

func isArray(v any) bool {
	_, ok := length(v)
	return ok
}

// common returns the length of arguments that are arrays.
func common(name string, args []any) (int, error) {
	all := -1
	for _, a := range args {
		n, ok := length(a)
		switch {
		case !ok:
		case all < 0:
			all = n
		case n != all:
			return 0, fmt.Errorf("%s: arrays of %d and %d items", name, all, n)
		}
	}
	if all < 0 {
		return 0, fmt.Errorf("invalid operation: %s (%s, %s)", name, noun(args[0]), noun(args[len(args)-1]))
	}
	return all, nil
}

// isTrue returns a condition, which is false if it is missing.
func isTrue(args ...any) (any, error) {
	switch v := args[0].(type) {
	case nil:
		return false, nil
	case bool:
		return v, nil
	}
	return nil, fmt.Errorf("the condition is %s, not true or false", noun(args[0]))
}

// isMissing and isEmpty are conditions for arrays.
func isMissing(args ...any) (any, error) { return args[0] == nil, nil }
func isEmpty(args ...any) (any, error) {
	n, ok := length(args[0])
	return args[0] == nil || ok && n == 0, nil
}

func negate(args ...any) (any, error) {
	switch v := args[0].(type) {
	case nil:
		return nil, nil
	case float64:
		return -v, nil
	case int, int64:
		n, _ := integer(v)
		return -n, nil
	}
	return itemByItem("-", negate, args)
}

// notItems, andItems and orItems are logic for arrays.
func notItems(args ...any) (any, error) {
	if args[0] == nil {
		return nil, nil
	}
	return itemByItem("not", func(args ...any) (any, error) { return args[0] != true, nil }, args)
}

func andItems(args ...any) (any, error) {
	if args[0] == nil || args[1] == nil {
		return nil, nil
	}
	return itemByItem("and", func(args ...any) (any, error) { return args[0] == true && args[1] == true, nil }, args)
}

func orItems(args ...any) (any, error) {
	if args[0] == nil || args[1] == nil {
		return nil, nil
	}
	return itemByItem("or", func(args ...any) (any, error) { return args[0] == true || args[1] == true, nil }, args)
}

// maxItems is how many items an array that an expression makes of numbers may have.
const maxItems = 1e6

func (b *Budget) rangeOf(args ...any) (any, error) {
	from, ok1 := integer(args[0])
	to, ok2 := integer(args[1])
	switch {
	case args[0] == nil || args[1] == nil:
		return nil, nil
	case !ok1 || !ok2:
		return nil, fmt.Errorf("invalid operation: .. (%s, %s)", noun(args[0]), noun(args[1]))
	case to < from:
		return []int64{}, nil
	case uint64(to-from) >= maxItems:
		return nil, fmt.Errorf("%d..%d has more than a million items", from, to)
	}
	b.Take(8 * (to - from + 1))
	b.Step(to - from + 1)
	all := make([]int64, to-from+1)
	for i := range all {
		all[i] = from + int64(i)
	}
	return all, nil
}

// isBetween reports whether a number is one of the integers of a range. An integer becomes a float
// beside a float, as everywhere.
func isBetween(args ...any) (any, error) {
	from, ok1 := integer(args[1])
	to, ok2 := integer(args[2])
	x, isNumber := number(args[0])
	switch {
	case args[0] == nil || args[1] == nil || args[2] == nil:
		return false, nil
	case !ok1 || !ok2 || !isNumber:
		return nil, fmt.Errorf("invalid operation: %s in %s..%s", noun(args[0]), noun(args[1]), noun(args[2]))
	}
	if n, ok := integer(args[0]); ok {
		return from <= n && n <= to, nil
	}
	return from <= to && float64(from) <= x && x <= float64(to) && x == math.Trunc(x), nil
}

// contains reports whether a value is equal to an item of an array, or is a key of a map. What is
// missing is equal to nothing.
func contains(args ...any) (any, error) {
	what, in := args[0], args[1]
	if what == nil || in == nil {
		return false, nil
	}
	if record, ok := in.(map[string]any); ok {
		name, ok := what.(string)
		_, found := record[name]
		return ok && found, nil
	}
	n, ok := length(in)
	if !ok {
		return nil, fmt.Errorf("invalid operation: in (%s, %s)", noun(what), noun(in))
	}
	for i := range n {
		if v := item(in, i); v != nil && runtime.Equal(v, what) {
			return true, nil
		}
	}
	return false, nil
}

// index returns a member of a record, an item of an array, or, by several indices or by
// bools, some of them.
func index(args ...any) (any, error) {
	base, at := args[0], args[1]
	if base == nil || at == nil {
		return nil, nil
	}
	if record, ok := base.(map[string]any); ok {
		if name, ok := at.(string); ok {
			return record[name], nil
		}
	}
	n, ok := length(base)
	if !ok {
		return nil, fmt.Errorf("%s has no members or items", noun(base))
	}
	if i, ok := integer(at); ok {
		if i < 0 {
			i += int64(n)
		}
		if i < 0 || i >= int64(n) {
			return nil, nil
		}
		return item(base, int(i)), nil
	}
	if _, ok := at.([]bool); ok {
		return masked(args...)
	}
	if indices, ok := integers(at); ok {
		return Take(base, indices), nil
	}
	if incomplete(at) {
		return nil, nil
	}
	return nil, fmt.Errorf("%s is no index", noun(at))
}

// indexAll returns some items of an array, all of which must be there.
func indexAll(args ...any) (any, error) {
	v, err := index(args...)
	if n, ok := length(args[0]); err == nil && v == nil && ok && !incomplete(args[1]) {
		return nil, fmt.Errorf("%v are indices of a longer array than one of %d items", args[1], n)
	}
	return v, err
}

// masked returns the items of an array for which an array of bools, which must be as long,
// has true; what is missing there is false.
func masked(args ...any) (any, error) {
	base, mask := args[0], args[1]
	if base == nil || mask == nil {
		return nil, nil
	}
	n, _ := length(base)
	if bools, _ := length(mask); bools != n {
		return nil, fmt.Errorf("an array of %d items has an index of %d bools", n, bools)
	}
	indices := []int64{}
	for i := range n {
		if item(mask, i) == true {
			indices = append(indices, int64(i))
		}
	}
	return Take(base, indices), nil
}

// slice returns a part of an array or a string, whose bounds are cut to it.
func slice(args ...any) (any, error) {
	for _, a := range args {
		if a == nil {
			return nil, nil
		}
	}
	s, isString := args[0].(string)
	n, ok := length(args[0])
	if isString {
		n, ok = len(s), true
	}
	from, ok1 := integer(args[1])
	to, ok2 := integer(args[2])
	if !ok || !ok1 || !ok2 {
		return nil, fmt.Errorf("cannot slice %s from %s to %s", noun(args[0]), noun(args[1]), noun(args[2]))
	}
	bound := func(i int64) int {
		if i < 0 {
			i += int64(n)
		}
		return int(min(max(i, 0), int64(n)))
	}
	a, b := bound(from), bound(to)
	a = min(a, b)
	switch v := args[0].(type) {
	case string:
		return v[a:b], nil
	case []float64:
		return v[a:b], nil
	case []int64:
		return v[a:b], nil
	case []int:
		return v[a:b], nil
	case []bool:
		return v[a:b], nil
	case []string:
		return v[a:b], nil
	case []any:
		return v[a:b], nil
	}
	return nil, nil
}
