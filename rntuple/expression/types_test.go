package expression

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/rntuple/cpp"
)

// columnsOf has a field of every number type, alone and in a vector, an array and an optional.
type columnsOf[T any] struct {
	One   T
	Many  []T
	Three [3]T
	Maybe *T
}

// testNumbers compares expressions over fields of a type with arithmetic in float64, which is
// exact for these values.
func testNumbers[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64](t *testing.T,
	values ...T) {
	t.Run(reflect.TypeFor[T]().String(), func(t *testing.T) {
		var entries []columnsOf[T]
		for i, v := range values {
			e := columnsOf[T]{One: v, Many: values[:i], Three: [3]T{v, values[0], 1}}
			if i%2 == 0 {
				e.Maybe = &v
			}
			entries = append(entries, e)
		}
		r := made(t, entries...)
		numbers := func(all []T) (out []float64) {
			for _, v := range all {
				out = append(out, float64(v))
			}
			return out
		}
		sum := func(all []float64) (s float64) {
			for _, v := range all {
				s += v
			}
			return s
		}
		item := func(all []float64, i int) any {
			if i < 0 {
				i += len(all)
			}
			if i < 0 || i >= len(all) {
				return nil
			}
			return all[i]
		}
		for text, want := range map[string]func(one float64, many []float64, maybe any) any{
			"One":                        func(one float64, many []float64, maybe any) any { return one },
			"One + 1":                    func(one float64, many []float64, maybe any) any { return one + 1 },
			"2 * One - One":              func(one float64, many []float64, maybe any) any { return one },
			"-One":                       func(one float64, many []float64, maybe any) any { return 0 - one },
			"One / 2":                    func(one float64, many []float64, maybe any) any { return one / 2 },
			"One / 0":                    func(one float64, many []float64, maybe any) any { return one / float64(len("")) },
			"One ** 2":                   func(one float64, many []float64, maybe any) any { return one * one },
			"One > 2":                    func(one float64, many []float64, maybe any) any { return one > 2 },
			"2 >= One":                   func(one float64, many []float64, maybe any) any { return 2 >= one },
			"One == 2.0 or One != One":   func(one float64, many []float64, maybe any) any { return one == 2 || one != one },
			"One in Many":                func(one float64, many []float64, maybe any) any { return slices.Contains(many, one) },
			"One in Three":               func(one float64, many []float64, maybe any) any { return true },
			"len(Many)":                  func(one float64, many []float64, maybe any) any { return float64(len(many)) },
			"sum(Many)":                  func(one float64, many []float64, maybe any) any { return sum(many) },
			"count(Many, # > One)":       func(one float64, many []float64, maybe any) any { return above(many, one) },
			"sum(Many[Many > One])":      func(one float64, many []float64, maybe any) any { return sum(larger(many, one)) },
			"sum(filter(Many, # > One))": func(one float64, many []float64, maybe any) any { return sum(larger(many, one)) },
			"sum(Many * 2 + One)": func(one float64, many []float64, maybe any) any {
				return 2*sum(many) +
					one*float64(len(many))
			},
			"sum(map(Many, # + One))": func(one float64, many []float64, maybe any) any {
				return sum(many) +
					one*float64(len(many))
			},
			"Many[1]":  func(one float64, many []float64, maybe any) any { return item(many, 1) },
			"Many[-1]": func(one float64, many []float64, maybe any) any { return item(many, -1) },
			"Many[-2] > 1": func(one float64, many []float64, maybe any) any {
				v, ok := item(many, -2).(float64)
				return ok && v > 1
			},
			"max(Many) == Many[argmax(Many)]": func(one float64, many []float64, maybe any) any { return len(many) > 0 },
			"min(Many)": func(one float64, many []float64, maybe any) any {
				if len(many) == 0 {
					return nil
				}
				return slices.Min(many)
			},
			"mean(Many) ?? -1": func(one float64, many []float64, maybe any) any {
				if len(many) == 0 {
					return -1.0
				}
				return sum(many) / float64(len(many))
			},
			"sum(Many[1:-1])": func(one float64, many []float64, maybe any) any {
				if len(many) < 2 {
					return 0.0
				}
				return sum(many[1 : len(many)-1])
			},
			"Three[0] + Three[-1]": func(one float64, many []float64, maybe any) any { return one + 1 },
			"Maybe":                func(one float64, many []float64, maybe any) any { return maybe },
			"Maybe > 0": func(one float64, many []float64, maybe any) any {
				v, ok := maybe.(float64)
				return ok &&
					v > 0
			},
			"Maybe != nil ? 1 : 2": func(one float64, many []float64, maybe any) any { return 2 - float64(bit(maybe != nil)) },
			"any(Many, # == Maybe)": func(one float64, many []float64, maybe any) any {
				v, ok := maybe.(float64)
				return ok && slices.Contains(many, v)
			},
		} {
			p, err := Compile(r, must(t, text))
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			i := 0
			for b, err := range p.In(r, rntuple.EntryRange{End: r.NumEntries()}) {
				if err != nil {
					t.Fatal(err)
				}
				for k := range b.Len {
					e := entries[i]
					var maybe any
					if e.Maybe != nil {
						maybe = float64(*e.Maybe)
					}
					w := want(float64(e.One), numbers(e.Many), maybe)
					if x, ok := w.(float64); ok {
						if w = fmt.Sprintf("%b", x); math.IsNaN(x) {
							w = "NaN"
						}
					}
					got := at(b.Values[0], k)
					if n, ok := got.(int64); ok {
						got = fmt.Sprintf("%b", float64(n))
					}
					if got != w {
						t.Errorf("%s, One %v, Many %v, Maybe %v: %v, want %v", text, e.One, e.Many, maybe, got, w)
					}
					i++
				}
			}
		}
	})
}

func larger(all []float64, than float64) (out []float64) {
	for _, v := range all {
		if v > than {
			out = append(out, v)
		}
	}
	return out
}

func above(all []float64, than float64) float64 { return float64(len(larger(all, than))) }

func TestTypes(t *testing.T) {
	testNumbers[int8](t, -3, 0, 1, 2, 2, 5)
	testNumbers[uint8](t, 3, 0, 1, 2, 200, 5)
	testNumbers[int16](t, -300, 0, 1, 2, 2, 5)
	testNumbers[uint16](t, 3, 0, 1, 2, 40000, 5)
	testNumbers[int32](t, -1<<31, 0, 1, 2, 2, 5)
	testNumbers[uint32](t, 3, 0, 1<<32-1, 2, 2, 5)
	testNumbers[int64](t, -1<<40, 0, 1, 2, 2, 5)
	testNumbers[uint64](t, 3, 0, 1<<40, 2, 2, 5)
	testNumbers[float32](t, -3, 0.5, 1, 2, 2, 1.75)
	testNumbers[float64](t, -3, 0.5, 1, 2, 2, 1e9)
}

// TestDefinitions puts expressions in the place of names.
func TestDefinitions(t *testing.T) {
	r := zooFile(t, 20, 4, nil)
	all := rntuple.EntryRange{End: 20}
	define := func(name, text string, d ...Definition) Definition {
		return Definition{name, must(t, text).With(d...)}
	}
	double := define("double", "F * 2")
	for _, c := range []struct {
		e    *Expression
		want string
	}{
		{must(t, "double + 1").With(double), "F * 2 + 1"},
		{must(t, "double * 3").With(double, define("double", "double + 1", double)), "(F * 2 + 1) * 3"},
		{must(t, "sum(map(V, # + good))").With(define("good", "N")), "sum(map(V, # + N))"},
		{must(t, "F + $env.F").With(define("F", "F * 2")), "F * 3"},
		{must(t, "a").With(define("b", "N")).With(define("a", "b")), "N"},
	} {
		p, err := Compile(r, c.e)
		if err != nil {
			t.Errorf("%s: %v", c.e, err)
			continue
		}
		q, err := Compile(r, must(t, c.want))
		if err != nil {
			t.Fatal(err)
		}
		got, _ := evaluated(r, p, all)
		want, _ := evaluated(r, q, all)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", c.e, got, want)
		}
	}
	for text, want := range map[string]string{"let double = 1; double": "cannot redeclare double",
		"1 + d": "character 5: in what d stands for: cannot redeclare double"} {
		_, err := Compile(r, must(t, text).With(double, define("d", "let double = 1; N + double")))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	_, err := Compile(r, must(t, "1 + wrong").With(define("wrong", "F + Q")))
	if want := `expression, character 5: in what wrong stands for: no field "Q" in RNTuple "zoo"`; err == nil || err.Error()[:len(want)] != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestDoubled defines names that stand for two of the one before: as text they would grow for ever.
// What is evaluated in the same rows is shared.
func TestDoubled(t *testing.T) {
	r := zooFile(t, 20, 4, nil)
	chain := func(first, next string, times int) (all []Definition) {
		for i := range times {
			all = append(all, Definition{fmt.Sprint("a", i), must(t, strings.ReplaceAll(first, "a", fmt.Sprint("a", i-1)))})
			first = next
		}
		return all
	}
	for _, c := range []struct {
		d    []Definition
		e    string
		want string
	}{
		{chain("N", "a + a", 21), "a20 > 1", ""},
		{chain("N > 0", "a && a", 40), "a39", "an expression of more than 50000 operations"},
		{chain("N", "[a, a][0]", 60), "a59 > 1", ""},
		{chain("V", "filter(a, # in a)", 60), "any(a59, # > 1)", "an expression of more than 50000 operations"},
		{chain("N", "(let x = a; x + a)", 17), "any(V, # > a16)", ""},
		{chain("N", "a + 1", 5000), "a4999 > 1", ""},
	} {
		e := must(t, c.e).With(c.d...)
		for _, e := range []*Expression{e, must(t, "N > 1 && d").With(Definition{"d", And(must(t, "true"), e)})} {
			p, err := Compile(r, e)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %d definitions: %v", c.e, len(c.d), err)
			}
			if err != nil {
				continue
			}
			if _, err := evaluated(r, p, rntuple.EntryRange{End: 20}); err != nil {
				t.Errorf("%s, %d definitions: %v", c.e, len(c.d), err)
			}
		}
	}
}

// TestFold evaluates a program in several goroutines.
func TestFold(t *testing.T) {
	r := zooFile(t, 500, 5, nil)
	p, err := Compile(r, must(t, "sum(I) + (O ?? 0)"), must(t, "len(sortBy(V, -#))"))
	if err != nil {
		t.Fatal(err)
	}
	work := func(s rntuple.Source, entries rntuple.EntryRange) (sum int64, err error) {
		for b, err := range p.In(s, entries) {
			if err != nil {
				return 0, err
			}
			for _, a := range b.Values {
				all, err := columnar.Values[int64](a)
				if err != nil {
					return 0, err
				}
				for _, v := range all {
					sum += v
				}
			}
		}
		return sum, nil
	}
	want, err := work(r, rntuple.EntryRange{End: 500})
	if err != nil || want == 0 {
		t.Fatal(want, err)
	}
	for range 10 {
		got, err := rntuple.Fold(r, work, func(a, b int64) int64 { return a + b }, &rntuple.FoldOptions{Workers: 3})
		if err != nil || got != want {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
	}
}

// TestUnsigned reads integers beyond 64 bits with a sign beside others: they are errors of their
// entries, and others, also negative ones, are not.
func TestUnsigned(t *testing.T) {
	type pair struct{ Q uint64 }
	type entry struct {
		I    any `rntuple:",type=std::variant<std::int64_t,std::uint64_t>"`
		F    any `rntuple:",type=std::variant<double,std::uint64_t>"`
		P, R pair
		T    cpp.Pair[uint64, string]
		M    cpp.Pair[uint64, float64]
		N    map[string]uint64
		K    map[uint64]int32
		V    []cpp.Pair[uint64, string]
		W    []pair
	}
	r := fileOf(t, "unsigned", nil, func(w *rntuple.Writer[entry]) {
		for _, e := range []entry{
			{int64(-1), 0.5, pair{1}, pair{2}, cpp.Pair[uint64, string]{First: 1}, cpp.Pair[uint64, float64]{First: 1},
				map[string]uint64{"a": 1}, map[uint64]int32{1: 0}, []cpp.Pair[uint64, string]{{First: 1}}, []pair{{1}}},
			{uint64(7), uint64(7), pair{7}, pair{8}, cpp.Pair[uint64, string]{First: 7}, cpp.Pair[uint64, float64]{First: 7},
				map[string]uint64{"a": 7}, map[uint64]int32{7: 0}, []cpp.Pair[uint64, string]{{First: 7}}, []pair{{7}}},
			{uint64(1 << 63), uint64(1 << 63), pair{1 << 63}, pair{9}, cpp.Pair[uint64, string]{First: 1 << 63}, cpp.Pair[uint64, float64]{First: 1 << 63}, map[string]uint64{"a": 1 << 63}, map[uint64]int32{1 << 63: 0}, []cpp.Pair[uint64, string]{{First: 1 << 63}}, []pair{{1 << 63}}},
		} {
			if err := w.Write(&e); err != nil {
				t.Fatal(err)
			}
		}
	}, nil)
	for text, want := range map[string][]any{
		"I":                              {int64(-1), int64(7)},
		"F * 2 > 1":                      {false, true},
		"(I < 0 ? {Q: -5} : P).Q":        {int64(-5), int64(7)},
		"(I < 0 ? {Q: 0.5} : P).Q > 0.1": {true, true},
		"(R.Q == 8 ? R : P).Q":           {int64(1), int64(8)},
		"T[0]":                           {int64(1), int64(7)},
		"M[0]":                           {int64(1), int64(7)},
		`N["a"]`:                         {int64(1), int64(7)},
		"values(N)[0]":                   {int64(1), int64(7)},
		"max(values(N))":                 {int64(1), int64(7)},
		"max(map(N, .value))":            {int64(1), int64(7)},
		"K[0].key":                       {int64(1), int64(7)},
		"min(map(K, .key))":              {int64(1), int64(7)},
		"V[0][0]":                        {int64(1), int64(7)},
		"map(V, #[0])[0]":                {int64(1), int64(7)},
		"find(V, true)[0]":               {int64(1), int64(7)},
		"min(keys(groupBy(W, .Q)))":      {int64(1), int64(7)},
		"values(groupBy(W, 0))[0][0].Q":  {int64(1), int64(7)},
		"(sortBy(W, 1)[0] ?? P).Q":       {int64(1), int64(7)},
		"first(W).Q":                     {int64(1), int64(7)},
		"flatten([W])[0].Q":              {int64(1), int64(7)},
	} {
		p, err := Compile(r, must(t, text))
		if err != nil {
			t.Fatal(err)
		}
		_, err = evaluated(r, p, rntuple.EntryRange{End: 3})
		if !errors.Is(err, rntuple.ErrRange) || entryOfError(err) != "entry 2" {
			t.Errorf("%s: %v, want an error of entry 2", text, err)
		}
		if strings.Contains(text, "R") && !strings.Contains(err.Error(), "R.Q or P.Q") {
			t.Errorf("%s: %v, want the names of both fields", text, err)
		}
		if got, err := evaluated(r, p, rntuple.EntryRange{End: 2}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
}
