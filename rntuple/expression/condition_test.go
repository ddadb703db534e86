package expression

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

type point struct{ X, Y float64 }

type event struct {
	N      int32
	Big    uint64
	F      float32
	OK     bool
	Name   string
	Pt     []float32
	Q      []int8
	Tags   []string
	Nested [][]int32
	At     point
	Deep   struct{ In struct{ A, B int32 } }
	Hits   []point
	Weight map[string]float64
	ByRun  map[int32]string
	Opt    *int32
	Three  [3]int32
	Pair   any   `rntuple:"Pair,type=std::pair<std::int32_t,std::string>"`
	Odd    int32 `rntuple:"odd-name"`
}

// sample has 2500 entries.
func sample(t *testing.T, opts *rntuple.ReadOptions) *rntuple.Reader {
	t.Helper()
	return fileOf(t, "n", nil, func(w *rntuple.Writer[event]) {
		for i := range int32(2500) {
			e := event{N: i, Big: uint64(i), F: float32(i) / 10, OK: i%2 == 0, Name: fmt.Sprint("n", i), Odd: -i,
				Three: [3]int32{i, i + 1, i + 2}}
			for k := range i % 4 {
				e.Pt, e.Q, e.Tags = append(e.Pt, float32(k)), append(e.Q, int8(k)-1), append(e.Tags, fmt.Sprint(k))
				e.Nested, e.Hits = append(e.Nested, []int32{k, i}), append(e.Hits, point{float64(k), float64(i)})
			}
			e.At, e.Deep.In.A, e.Pair = point{float64(i), math.NaN()}, i, []any{i, e.Name}
			e.Weight, e.ByRun = map[string]float64{e.Name: 2}, map[int32]string{i: "x"}
			if i%5 == 0 {
				e.Opt = &i
			}
			if i == 2400 {
				e.Big = math.MaxUint64
			}
			w.Write(&e)
		}
	}, opts)
}

func selectedBy(t *testing.T, r *rntuple.Reader, text string) (ranges []rntuple.EntryRange, err error) {
	t.Helper()
	e, err := Parse(text)
	if err != nil {
		return nil, err
	}
	c := e.Condition()
	if err := c.Check(r); err != nil {
		return nil, err
	}
	for r, err := range c.Select(r, rntuple.EntryRange{End: r.NumEntries()}) {
		if err != nil {
			return nil, err
		}
		if r.Len() > 0 {
			ranges = append(ranges, r)
		}
	}
	return ranges, nil
}

// TestConditions compares conditions with what they mean in Go.
func TestConditions(t *testing.T) {
	r := sample(t, nil)
	for text, want := range map[string]func(i int) bool{
		"true":                                              func(int) bool { return true },
		"N < 0":                                             func(int) bool { return false },
		"N >= 1000 && N < 1003":                             func(i int) bool { return i >= 1000 && i < 1003 },
		"OK and not (N % 3 == 0)":                           func(i int) bool { return i%2 == 0 && i%3 != 0 },
		"F > 100":                                           func(i int) bool { return i > 1000 },
		"F == 0.1":                                          func(i int) bool { return false }, // the float is not the number
		"N / 2 == 1.5":                                      func(i int) bool { return i == 3 },
		`Name == "n17" or Name endsWith "99"`:               func(i int) bool { return i == 17 || i%100 == 99 },
		"any(Pt, # == 2)":                                   func(i int) bool { return i%4 == 3 },
		"len(filter(Pt, # > 0)) == 1":                       func(i int) bool { return i%4 == 2 },
		"sum(Pt) == 3 && Pt[-1] == 2":                       func(i int) bool { return i%4 == 3 },
		"sum(Q) == 0 && len(Q) > 0":                         func(i int) bool { return i%4 == 3 },
		`"1" in Tags`:                                       func(i int) bool { return i%4 >= 2 },
		"any(Nested, #[1] > 2490)":                          func(i int) bool { return i > 2490 && i%4 > 0 },
		"At.X == 7 or At.Y == At.Y":                         func(i int) bool { return i == 7 },
		"Deep.In.A == 8 && Deep.In.B == 0":                  func(i int) bool { return i == 8 },
		"Deep.In.A == 8 && len(Deep.In) == 2":               func(i int) bool { return i == 8 },
		"any(Hits, .X == 1 && .Y > 2000)":                   func(i int) bool { return i > 2000 && i%4 >= 2 },
		`Weight["n9"] == 2`:                                 func(i int) bool { return i == 9 },
		`"n9" in Weight`:                                    func(i int) bool { return i == 9 },
		"any(ByRun, .key == 4)":                             func(i int) bool { return i == 4 },
		"Opt != nil && Opt > 2000":                          func(i int) bool { return i > 2000 && i%5 == 0 },
		"(Opt ?? 7) == 7":                                   func(i int) bool { return i%5 != 0 },
		"Three[2] == 50":                                    func(i int) bool { return i == 48 },
		`Pair[0] == 5 && Pair[1] == "n5"`:                   func(i int) bool { return i == 5 },
		`$env["odd-name"] == -3 || $env.N == 99`:            func(i int) bool { return i == 3 || i == 99 },
		"let n = N; n == 4":                                 func(i int) bool { return i == 4 },
		"any(Pt, let x = #; count(Pt, # > x) == 2)":         func(i int) bool { return i%4 == 3 },
		"(findLast(Pt, # > 99) ?? 4) + 1 == 5":              func(i int) bool { return true },
		"find(Pt, # > 0) == 1 and findLast(Pt, # < 2) == 1": func(i int) bool { return i%4 >= 2 },
		"findLastIndex(Pt, # < 2) == 1 and findIndex(Pt, # > 9) == nil": func(i int) bool { return i%4 >= 2 },
		"Pt[1] > 0":                func(i int) bool { return i%4 >= 2 },
		"not (Pt[1] > 0)":          func(i int) bool { return i%4 < 2 },
		"sum(Pt[Q >= 0] * 2) == 6": func(i int) bool { return i%4 == 3 },
		"any(map(Hits, .X), # == 2) and Hits[-1].Y == N":             func(i int) bool { return i%4 == 3 },
		"let c = combinations(Pt); any(Pt[c[0]] + Pt[c[1]], # == 3)": func(i int) bool { return i%4 == 3 },
		"first(Pt[argsort(-Pt)]) == 2":                               func(i int) bool { return i%4 == 3 },
		"len(Pt) > 0 ? Pt[-1] == 0 : OK":                             func(i int) bool { return i%4 < 2 },
		"sum(Nested[-1]) == N + 1":                                   func(i int) bool { return i%4 == 2 },
		"max(Three) - min(Three) == 2 and Name matches \"^n1.$\"":    func(i int) bool { return i >= 10 && i < 20 },
		"N in [3, 5] or N in 7..8 or Name in [\"n11\"]": func(i int) bool {
			return i == 3 || i == 5 ||
				i == 7 || i == 8 || i == 11
		},
		"N in 1..5000000 and N not in -1..2000": func(i int) bool { return i > 2000 },
		"F in 3..Opt":                           func(i int) bool { return i%10 == 0 && i >= 30 },
		"Opt in [Opt] and N < 7":                func(i int) bool { return i == 0 || i == 5 },
		"Opt in [nil, Opt, 7 / 2] or Name == \"n1 // /* # \\\"//\"": func(i int) bool { return i%5 == 0 },
		"(Opt ?? F) in [0.5, 10]":                                   func(i int) bool { return i == 10 },
		"1 / (N - 3) > 1e300 or N % (N - 3) == 1": func(i int) bool {
			return i == 3 ||
				i != 3 && i%(i-3) == 1
		},
	} {
		got, err := selectedBy(t, r, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var all []rntuple.EntryRange
		for i := range 2500 {
			switch {
			case !want(i):
			case len(all) > 0 && all[len(all)-1].End == int64(i):
				all[len(all)-1].End++
			default:
				all = append(all, rntuple.EntryRange{First: int64(i), End: int64(i) + 1})
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(all) {
			t.Errorf("%s: %v, want %v", text, got, all)
		}
	}
}

// TestAnd joins conditions: none reaches into another, and errors have their places in the text of
// one.
func TestAnd(t *testing.T) {
	r := sample(t, nil)
	for _, test := range []struct {
		conditions []string
		define     string
		want       string // ranges, or what is wrong
	}{
		{[]string{"N < 9", "N > 6"}, "", "[[7, 9)]"},
		{[]string{"N < 3 or N > 2000", "N < 4 or N > 2498", "OK"}, "", "[[0, 1) [2, 3)]"},
		{[]string{"let n = N; n < 9", "let n = F; n > 0.75"}, "", "[[8, 9)]"},
		{[]string{"m < 20", "m > 15"}, "m = 2 * N", "[[8, 10)]"},
		{[]string{"any(Pt, # == 2)", `Name matches "^n[0-9]$"`}, "", "[[3, 4) [7, 8)]"},
		{[]string{"len(Pt) == 1 and N < 2", "sum(Pt * Nested[0]) > 1"}, "",
			"entry 1: expression, character 37: *: arrays of 1 and 2 items, in (len"},
		{[]string{"N > 1", "Pt > 1"}, "", "expected bool, but got array of bool: Pt > 1"},
		{[]string{"N > 1", "OK && nested"}, "", `expression, character 7: no field "nested"`},
		{[]string{"OK", "m > 1"}, "m = N + nested", `expression, character 1: in what m stands for: no field "nested"`},
	} {
		var all []*Expression
		for _, text := range test.conditions {
			e, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, e)
		}
		e := And(all...)
		if test.define != "" {
			d, err := ParseFields(test.define)
			if err != nil {
				t.Fatal(err)
			}
			e = e.With(d.Definitions()...)
		}
		some, err := rntuple.Where(r, e.Condition(), nil)
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(slices.Collect(some.Ranges()))
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%q: %s, want %s", test.conditions, got, test.want)
		}
	}
	for _, text := range []string{"OK) || (OK", "OK)", "(OK"} {
		if e, err := Parse(text); err == nil {
			t.Errorf("%q is the expression %v", text, e)
		}
	}
}

// TestFields makes sure that nothing is read but what the condition names.
func TestFields(t *testing.T) {
	r := sample(t, nil)
	for text, want := range map[string]string{
		"true":                           "",
		"N > 1 && N < 4 && any(Pt, #>N)": "N Pt",
		"At.X > 1":                       "At.X",
		"At.X > 1 && len(At) > 1":        "At.X",
		"Deep.In.A > Deep.In.B":          "Deep.In.A Deep.In.B",
		`Deep["In"].A > 1`:               "Deep.In.A",
		`$env.At["X"] > 1`:               "At.X",
		"any(Hits, .X > N)":              "Hits.X N",
	} {
		c, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(r, c)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		paths := p.Fields()
		if got := strings.Join(paths, " "); got != want {
			t.Errorf("%s reads %s, want %s", text, got, want)
		}
	}
}

// TestErrors has what is wrong with conditions: what it says, and whether it does
// so before entries are read.
func TestErrors(t *testing.T) {
	r := sample(t, nil)
	for _, test := range []struct{ text, want string }{
		{"N >", "expression, character 3: unexpected token EOF"},
		{`Name matches "a{1,2000}"`, "expression, character 14: error parsing regexp: invalid repeat count: `{1,2000}`"},
		{`Name matches "(a{1,900}b{1,900}c{1,900}d{1,900}){0,1}` + strings.Repeat("e{1,1000}", 30) + `"`,
			"instructions, which is more than 20000"},
		{"N//2 == 1", `character 2: "//" begins a comment, and an expression must not have one; for a quotient without its fraction, write int(x / y)`},
		{"Name == '\\'//' and\n N == 1 /* one */", `line 2, character 9: "/*" begins a comment`},
		{"Name == `//", "literal not terminated"},
		{"Nn > 1 && OK", `expression, character 1: no field "Nn" in RNTuple "n"; did you mean "N"?`},
		{"OK && nested", `expression, character 7: no field "nested" in RNTuple "n"; did you mean "Nested"?`},
		{"OK && something", `expression, character 7: no field "something"`},
		{"N + 1", "expected bool, but got int"},
		{`N > "1"`, `expression, character 3: invalid operation: > (N is std::int32_t, "1" is a string)`},
		{"At.Z > 1", `expression, character 4: At has no member "Z"`},
		{"At > 1", "(At is untyped record, 1 is an integer)"},
		{"any(Pt, # matches \"x\")", "(# is a float, \"x\" is a string)"},
		{"$env == nil", `$env can only be used as $env["name"]`},
		{"Opt", "expected bool, but got int, may be missing: Opt"},
		{"len(Pt) == 0 or true &&\nsum(Pt * Nested[0]) > 1",
			"entry 1: expression, line 2, character 8: *: arrays of 1 and 2 items"},
		{"Big > 1", "entry 2400"},
		{"N == 2; OK", "expression, character 3: the value of N == 2 is lost; join conditions with &&"},
		{"let n = N; n == 2; OK", "the value of n == 2 is lost"},
		// For those who know other languages.
		{"N = 2", "; equality is written =="},
		{"N === 2", "; equality is written =="},
		{"N == 2 & OK", "; write and"},
		{"N == 2 | OK", "; write or"},
		{"N == 2 | N == 3", "; write or"},
		{"N == 2 AND OK", "; write and, or, not in small letters"},
		{"NOT OK", "; write and, or, not in small letters"},
		{"Sum$(Pt) > 2", "unknown function Sum$; write sum(array)"},
		{"Alt$(Pt[0], 0) > 2", "; write array[1] ?? 0"},
		{"Entry$ < 3", "; expressions have no special variables"},
		{"F < pi", "; pi is 3.141592653589793"},
		{"F < pi()", "; pi is 3.141592653589793"},
		{"F < TMath::Pi()", "; pi is 3.141592653589793"},
		{"TMath::Sqrt(F) < 3", "; functions have no TMath:: before their names"},
		{"OK == True", "; write true or false"},
		{"OK == 1", "; a bool is a condition by itself: OK, or not OK"},
		{"0 != OK", "; a bool is a condition by itself: OK, or not OK"},
		{"int(OK) == 1", "; as a number it is (OK ? 1 : 0)"},
		{"OK * 2 == N", "; as a number it is (OK ? 1 : 0)"},
		{"Pt > 2", "expected bool, but got array of bool: Pt > 2; use any(Pt, # > 2)"},
		{"2 < Pt", "; use any(2 < Pt, #)"},
		{"N", "expected bool, but got int: N; compare it with a number"},
		{"{}", "expected bool, but got value of another kind: {}"},
		{"[]", "expected bool, but got value of another kind: []"},
		{"At", "expected bool, but got value of another kind: At"},
		{"OK and groupBy(Pt, #)", "(OK is bool, groupBy(Pt, #) is a map)"},
	} {
		_, err := selectedBy(t, r, test.text)
		var e *Error
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "goroutine") ||
			!errors.As(err, &e) && !errors.Is(err, rntuple.ErrRange) {
			t.Errorf("%s: %v, want %s", test.text, err, test.want)
		}
	}
}

// TestOddNames has fields whose names are not words of the language: errors say how
// they are written.
func TestOddNames(t *testing.T) {
	type event struct {
		Colon int32 `rntuple:"a:b"`
		Minus int32 `rntuple:"a-b"`
	}
	r := fileOf(t, "odd", nil, func(w *rntuple.Writer[event]) {
		for i := range int32(3) {
			w.Write(&event{i, -i})
		}
	}, nil)
	for text, want := range map[string]string{
		"a:b > 1":               `; if a:b is a field, write $env["a:b"]`,
		"a-b < 0":               `; write the field a-b as $env["a-b"]`,
		"x ? y : z":             `no field "x" in RNTuple "odd"`,
		"x >":                   "unexpected token EOF",
		`$env["a:b"] + $env[-1`: "unexpected token",
	} {
		if _, err := selectedBy(t, r, text); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "$env[") != strings.Contains(want, "$env[") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if ranges, err := selectedBy(t, r, `$env["a:b"] == 2 && $env["a-b"] == -2`); err != nil || len(ranges) != 1 {
		t.Errorf("%v, %v", ranges, err)
	}
}

// TestLargeConditions evaluates conditions that take much memory for all entries together.
func TestLargeConditions(t *testing.T) {
	r := sample(t, &rntuple.ReadOptions{Limits: rntuple.Limits{ExpressionBytes: 10 << 20}}) // enough for one entry
	for _, text := range []string{"all(1..900000, # > 0)", "OK or all(1..900000, # > 0)"} {
		if _, err := selectedBy(t, r, text); err == nil || !strings.Contains(err.Error(), "rntuple.Limits.ExpressionBytes") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestStages looks at the order in which conditions are evaluated: those first that leave least for what they read, none before one that can fail.
func TestStages(t *testing.T) {
	defer func(size int) { batchSize = size }(batchSize)
	batchSize = 100
	type entry struct {
		A, B, C int32
		V, W    []int32
	}
	r := fileOf(t, "stages", nil, func(w *rntuple.Writer[entry]) {
		for i := range int32(1000) {
			w.Write(&entry{i % 100, i % 100, i % 100, make([]int32, 20), make([]int32, 20)})
		}
	}, nil)
	for text, want := range map[string][]int{
		"A < 50 and B < 10 and C < 1":                    {2, 1, 0},
		"C < 1 and B < 10 and A < 50":                    {0, 1, 2},
		"A < 50 and B < 60":                              nil, // both leave too many
		"C + sum(V) < 1 and B < 2":                       {1, 0},
		"B < 10 and any(V + W, # == 0) and C < 1":        {0, 1, 2},
		"(A < 60 and B < 5) and (C < 1 and sum(V) == 0)": {2, 1, 0, 3},
	} {
		c := must(t, text).Condition().(*condition)
		if _, err := chosen(c, r, rntuple.EntryRange{End: 1000}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got := c.recent[0].stages.order.Load(); got == nil || !slices.Equal(*got, want) {
			t.Errorf("%s: order %v, want %v", text, got, want)
		}
	}
}
