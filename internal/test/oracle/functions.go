package oracle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-rntuple/go-rntuple/internal/formula"
	"github.com/go-rntuple/go-rntuple/internal/syntax"
)

// call checks a call. All arguments are evaluated before the function is.
func (c *checker) call(n *syntax.Call) node {
	if len(n.Args) > 1 {
		for _, a := range n.Args[1:] {
			if p, ok := a.(*syntax.Predicate); ok {
				return c.predicate(n, p)
			}
		}
	}
	if n.Name == "get" && len(n.Args) == 2 {
		return c.checkIndex(n, n.Args[0], n.Args[1])
	}
	var args []node
	var types []Type
	for _, a := range n.Args {
		args = append(args, c.check(a))
		types = append(types, args[len(args)-1].Type)
	}
	if n.Name == "take" && len(args) == 2 && args[1].Kind == Array {
		return c.index(n, args[0], args[1])
	}
	if n.Name == "string" && len(args) == 1 && (args[0].scalar() || args[0].Kind == Variant) ||
		(n.Name == "int" || n.Name == "float") && len(args) == 1 && args[0].is(String, Variant) {
		return conversion(n, args[0])
	}
	f, ok := ofStrings[signature(n.Name, types)]
	if !ok {
		f = ofArrays(n, types)
	}
	if f.value == nil {
		return ofNumbers(n, args)
	}
	return node{f.Type.optional(anyMissing(types)), func(frame *frame) any {
		v := evalAll(args, frame)
		if slices.Contains(nils(v), true) {
			return nil
		}
		return f.value(n, v)
	}}
}

// conversion is int, float and string of strings, variants and, for string, other scalars.
func conversion(n *syntax.Call, x node) node {
	t := map[string]Type{"int": integer, "float": float, "string": str}[n.Name]
	return node{t.optional(x.Missing), func(f *frame) any {
		v := x.eval(f)
		if v == nil {
			return nil
		}
		var result any
		err := fmt.Errorf("%s of %v", n.Name, v)
		switch read(n, v).(type) {
		case bool:
			if n.Name == "string" {
				result, err = fmt.Sprint(v), nil
			}
		case int64, float64:
			switch result, err = v, nil; n.Name {
			case "string":
				result = fmt.Sprint(v)
			case "float":
				result = toFloat(v)
			case "int":
				result = toInt(v)
			}
		case string:
			switch n.Name {
			case "string":
				result, err = v, nil
			case "int":
				result, err = strconv.ParseInt(v.(string), 10, 64)
			case "float":
				result, err = strconv.ParseFloat(v.(string), 64)
			}
			if x.Kind == Variant && n.Name != "string" {
				err = fmt.Errorf("the variant holds a string")
			}
		}
		if err != nil {
			failEntry(n, "%v", err)
		}
		return result
	}}
}

func toInt(v any) int64 {
	if i, ok := v.(int64); ok {
		return i
	}
	return formula.ToInteger(v.(float64))
}

// ofNumbers is a function of numbers, or of arrays of them item by item.
func ofNumbers(n *syntax.Call, args []node) node {
	var candidates []formula.Function
	for _, f := range formula.Table {
		if f.F != nil && f.Name == n.Name && strings.Count(f.Args, ",")+1 == len(args) {
			candidates = append(candidates, f)
		}
	}
	choose := func(types []Type) (any, Type) {
		integers, numbers := true, true
		for _, t := range types {
			integers = integers && t.is(Int, Nil)
			numbers = numbers && t.is(Int, Float, Nil)
		}
		if n.Name == "int" && integers {
			return func(i int64) int64 { return i }, integer
		}
		for _, f := range candidates {
			switch f.F.(type) {
			case func(int64) int64, func(m, n int64) int64:
				if integers {
					return f.F, integer
				}
			case func(float64) bool:
				if numbers {
					return f.F, boolean
				}
			case func(float64) int64:
				if numbers {
					return f.F, integer
				}
			case func(float64) float64, func(a, b float64) float64, func(a, b, c float64) float64,
				func(a, b, c, d float64) float64, func(a, b, c, d, e, f, g, h float64) float64:
				if numbers {
					return f.F, float
				}
			}
		}
		if shift := shifts[n.Name]; shift != nil && integers && len(types) == 2 {
			return shift, integer
		}
		fail(n, "no function %s of %v", n.Name, types)
		return nil, Type{}
	}
	return itemwise(n, args, func(types []Type) Type {
		_, t := choose(types)
		return t.optional(anyMissing(types))
	}, whenAll(nil, func(types []Type, v []any) any {
		f, _ := choose(types)
		return apply(n, f, v)
	}))
}

// apply calls a function of numbers.
func apply(n *syntax.Call, f any, v []any) any {
	var x [8]float64
	var i [8]int64
	for k, arg := range v {
		x[k] = toFloat(arg)
		i[k], _ = arg.(int64)
	}
	switch f := f.(type) {
	case func(float64) float64:
		return f(x[0])
	case func(a, b float64) float64:
		return f(x[0], x[1])
	case func(a, b, c float64) float64:
		return f(x[0], x[1], x[2])
	case func(a, b, c, d float64) float64:
		return f(x[0], x[1], x[2], x[3])
	case func(a, b, c, d, e, f, g, h float64) float64:
		return f(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7])
	case func(float64) bool:
		return f(x[0])
	case func(float64) int64:
		return f(x[0])
	case func(int64) int64:
		return f(i[0])
	case func(m, n int64) int64:
		return f(i[0], i[1])
	case func(x int64, by uint64) int64:
		if i[1] < 0 {
			failEntry(n, "%s by %d", n.Name, i[1])
		}
		return f(i[0], uint64(i[1]))
	}
	panic(fmt.Sprintf("%T", f))
}

var shifts = map[string]func(x int64, by uint64) int64{
	"bitshl":  func(x int64, by uint64) int64 { return x << by },
	"bitshr":  func(x int64, by uint64) int64 { return x >> by },
	"bitushr": func(x int64, by uint64) int64 { return int64(uint64(x) >> by) },
}
