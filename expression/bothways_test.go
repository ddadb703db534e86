package expression

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

type hit struct {
	X float64
	K int16
	L []float32
	S string
}

// A zoo is an entry with fields of many types.
type zoo struct {
	B        bool
	N        int32
	U        uint64
	F        float32
	D        float64
	S        string
	V, W     []float32 // of the same length
	X        []float64
	I        []int8
	T        []string
	M        []bool
	H        []hit
	Deep     [][]float64
	O        *int32
	OF       *float64
	OS       *string
	A        [3]float64
	P        struct{ X, Y float64 }
	ByName   map[string]float64
	ByNumber map[int32]float32
}

// zooFile makes a file of random entries.
func zooFile(t testing.TB, entries int, seed uint64, opts ...rntuple.WriteOption) *rntuple.Reader {
	t.Helper()
	return fileOf(t, "zoo", opts, func(w *rntuple.Writer[zoo]) {
		random := rand.New(rand.NewPCG(seed, 1))
		float := func() float64 {
			switch random.IntN(12) {
			case 0:
				return math.NaN()
			case 1:
				return math.Inf(1 - 2*random.IntN(2))
			case 2:
				return math.Copysign(0, -1)
			case 3, 4, 5:
				return float64(random.IntN(5) - 2)
			}
			return random.NormFloat64() * 3
		}
		integer := func() int32 { return int32(random.IntN(7) - 3) }
		name := func() string { return []string{"", "a", "b", "ab", "é", "abc"}[random.IntN(6)] }
		for i := range entries {
			e := zoo{B: random.IntN(2) == 0, N: integer(), U: uint64(random.IntN(5)), F: float32(float()), D: float(), S: name()}
			for range random.IntN(4) {
				e.V, e.W = append(e.V, float32(float())), append(e.W, float32(float()))
			}
			for range random.IntN(4) {
				e.X, e.I, e.T = append(e.X, float()), append(e.I, int8(integer())), append(e.T, name())
			}
			for range random.IntN(3) {
				e.M, e.H = append(e.M, random.IntN(2) == 0), append(e.H, hit{float(), int16(integer()), e.V, name()})
				e.Deep = append(e.Deep, e.X)
			}
			n, x, s := integer(), float(), name()
			if random.IntN(2) == 0 {
				e.O, e.OF, e.OS = &n, &x, &s
			}
			e.A, e.P.X, e.P.Y = [3]float64{float(), float(), float()}, float(), float()
			e.ByName, e.ByNumber = map[string]float64{name(): float()}, map[int32]float32{n: float32(x)}
			w.Write(&e)
			if i == entries/2 {
				if err := w.CommitCluster(); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// fileOf makes a file of the entries that fill writes, and opens it.
func fileOf[T any](t testing.TB, name string, opts []rntuple.WriteOption, fill func(w *rntuple.Writer[T]), read ...rntuple.Option) *rntuple.Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".root")
	w, err := rntuple.Create[T](path, name, opts...)
	if err != nil {
		t.Fatal(err)
	}
	fill(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.Open(path, "", read...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// at returns value i of an Array as Go values, of which floats are bits.
func at(a *rntuple.Array, i int) any {
	switch a.Shape {
	case schema.Optional:
		if !a.Valid[i] {
			return nil
		}
		return at(a.Children[0], i)
	case schema.String:
		return string(a.Bytes[a.Offsets[i]:a.Offsets[i+1]])
	case schema.Collection:
		items := []any{}
		for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
			items = append(items, at(a.Children[0], int(k)))
		}
		return items
	}
	v := reflect.ValueOf(a.Values()).Index(i).Interface()
	if x, ok := v.(float64); ok && math.IsNaN(x) {
		return "NaN" // operations need not keep its bits
	} else if ok {
		return fmt.Sprintf("%b", x)
	}
	return v
}

// evaluated returns the values of an expression in the entries before the first error.
func evaluated(s rntuple.Source, p *Program, r rntuple.EntryRange) (all []any, err error) {
	for b, err := range p.In(s, r) {
		if err != nil {
			return all, err
		}
		for i := range b.Len {
			all = append(all, at(b.Values[0], i))
		}
	}
	return all, nil
}

// entryOfError returns what an error begins with: if an entry has several errors, the message
// may be about any of them.
func entryOfError(err error) string {
	entry, _, _ := strings.Cut(fmt.Sprint(err), ":")
	return entry
}

// bothWays evaluates an expression column by column and in the virtual machine, and reports
// whether it could be.
func bothWays(t *testing.T, s rntuple.Source, r rntuple.EntryRange, text string) (done, columns bool) {
	t.Helper()
	e, err := Parse(text)
	if err != nil {
		return false, false
	}
	p, err := compile(s, []*Expression{e}, false)
	q, err2 := compile(s, []*Expression{e}, true)
	if (err == nil) != (err2 == nil) {
		t.Errorf("%s: %v, in the virtual machine %v", text, err, err2)
	}
	if err != nil || err2 != nil {
		return false, false
	}
	if p.types[0].Kind == Other {
		return false, false
	}
	got, err := evaluated(s, p, r)
	want, err2 := evaluated(s, q, r)
	if entryOfError(err) != entryOfError(err2) {
		t.Errorf("%s: %v, in the virtual machine %v", text, err, err2)
		return false, false
	}
	for i := range want {
		if i >= len(got) || !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("entry %d: %s: %v, in the virtual machine %v\n%s", i, text, got[i], want[i], p.Explain())
			break
		}
	}
	return true, len(p.parts[0]) == 0
}

// A writer writes random expressions.
type writer struct {
	*rand.Rand
	items []string            // the types of # in the predicates around
	names map[string][]string // expressions of a type, besides those of a zoo
}

func (w *writer) one(of ...string) string { return of[w.IntN(len(of))] }

// write returns an expression of a type: b, i, f, s; or [b], [i], [f] of arrays.
func (w *writer) write(typ string, depth int) string {
	if depth <= 0 {
		return w.leaf(typ)
	}
	d := depth - 1
	sub := func(typ string) string { return w.write(typ, d) }
	number := func() string { return sub(w.one("i", "f", "f")) }
	array := func() string { return w.one("[f]", "[i]") }
	over := func(name, typ string, body string) string {
		list := sub("[" + typ + "]")
		w.items = append(w.items, typ)
		defer func() { w.items = w.items[:len(w.items)-1] }()
		return fmt.Sprintf("%s(%s, %s)", name, list, w.write(body, d))
	}
	item := func() string { return w.one("f", "i", "f", "b", "h") }
	switch typ {
	case "b":
		return []func() string{
			func() string {
				return fmt.Sprintf("(%s %s %s)", number(), w.one("<", "<=", ">", ">=", "==", "!="), number())
			},
			func() string {
				return fmt.Sprintf("(%s %s %s)", sub("b"), w.one("and", "or", "&&", "||", "==", "!="), sub("b"))
			},
			func() string { return fmt.Sprintf("(not %s)", sub("b")) },
			func() string {
				return fmt.Sprintf("(%s %s %s)", sub("s"), w.one("==", "!=", "<", "contains", "startsWith", "endsWith"), sub("s"))
			},
			func() string { return fmt.Sprintf(`(%s matches "^a.?")`, sub("s")) },
			func() string { return over(w.one("any", "all", "none", "one"), item(), "b") },
			func() string { return fmt.Sprintf("(%s %s nil)", sub(w.one("i", "f", "s")), w.one("==", "!=")) },
			func() string { return fmt.Sprintf("(%s in %s)", number(), sub(array())) },
			func() string { return fmt.Sprintf("(%s in [1, 2, -2])", number()) },
			func() string {
				return fmt.Sprintf("(%s in %s..%s)", number(), w.one("-1", sub("i")), w.one("2", sub("i")))
			},
			func() string { return fmt.Sprintf("(%s in [%s, %s])", number(), number(), number()) },
			func() string { return fmt.Sprintf("(%s in T)", sub("s")) },
			func() string { return fmt.Sprintf("(%s ?? %s)", sub("b"), sub("b")) },
			func() string { return fmt.Sprintf("(%s ? %s : %s)", sub("b"), sub("b"), sub("b")) },
			func() string { return fmt.Sprintf("isnan(%s)", number()) },
			func() string { return fmt.Sprintf("%s[%s]", sub("[b]"), sub("i")) },
		}[w.IntN(16)]()
	case "i":
		return []func() string{
			func() string { return fmt.Sprintf("(%s %s %s)", sub("i"), w.one("+", "-", "*", "%"), sub("i")) },
			func() string { return fmt.Sprintf("(-%s)", sub("i")) },
			func() string { return fmt.Sprintf("len(%s)", sub(w.one("[f]", "[i]", "[b]", "[h]", "s"))) },
			func() string { return over("count", item(), "b") },
			func() string { return fmt.Sprintf("%s[%s]", sub("[i]"), sub("i")) },
			func() string { return fmt.Sprintf("%s(%s)", w.one("sum", "min", "max"), sub("[i]")) },
			func() string { return fmt.Sprintf("(%s ?? %s)", sub("i"), sub("i")) },
			func() string { return fmt.Sprintf("(%s ? %s : %s)", sub("b"), sub("i"), sub("i")) },
			func() string { return fmt.Sprintf("int(%s)", number()) },
			func() string { return fmt.Sprintf("%s(%s)", w.one("argmax", "argmin"), sub(array())) },
			func() string { return over("sum", item(), "i") },
			func() string { return fmt.Sprintf("abs(%s)", sub("i")) },
			func() string { return fmt.Sprintf("%s(%s, %s)", w.one("min", "max"), sub("i"), sub("i")) },
			func() string { return fmt.Sprintf("count(%s)", sub("[b]")) },
		}[w.IntN(14)]()
	case "f":
		return []func() string{
			func() string { return fmt.Sprintf("(%s %s %s)", sub("f"), w.one("+", "-", "*", "/"), number()) },
			func() string { return fmt.Sprintf("(%s %s %s)", number(), w.one("/", "**"), number()) },
			func() string { return fmt.Sprintf("(-%s)", sub("f")) },
			func() string { return fmt.Sprintf("%s[%s]", sub("[f]"), sub("i")) },
			func() string { return fmt.Sprintf("%s(%s)", w.one("sum", "min", "max", "mean"), sub("[f]")) },
			func() string { return fmt.Sprintf("mean(%s)", sub("[i]")) },
			func() string { return fmt.Sprintf("(%s ?? %s)", sub("f"), number()) },
			func() string { return fmt.Sprintf("(%s ?? %s)", sub("i"), sub("f")) },
			func() string { return fmt.Sprintf("(%s ? %s : %s)", sub("b"), sub("f"), number()) },
			func() string { return fmt.Sprintf("%s(%s)", w.one("sqrt", "floor", "sin", "abs", "round"), sub("f")) },
			func() string {
				return fmt.Sprintf("%s(%s, %s)", w.one("hypot", "deltaPhi", "atan2"), number(), number())
			},
			func() string { return fmt.Sprintf("deltaR(%s, %s, %s, %s)", number(), number(), number(), number()) },
			func() string { return over("sum", item(), "f") },
			func() string { return fmt.Sprintf("%s(%s, %s)", w.one("min", "max"), sub("f"), number()) },
			func() string { return "mass(V, W, V, W)" },
			func() string { return "mass(1, 2, V[0], 4, X[0], 3, 2, 1)" },
			func() string { return fmt.Sprintf("H[%s].X", sub("i")) },
			func() string { return over(w.one("find", "findLast"), "f", "b") },
			func() string { return fmt.Sprintf("%s(%s)", w.one("first", "last"), sub("[f]")) },
			func() string {
				return fmt.Sprintf("(let c = combinations(V); %s(V[c[0]] %s W[c[1]]))", w.one("sum", "max"), w.one("+", "*"))
			},
			func() string { return fmt.Sprintf("(let y = %s; y + %s)", sub("f"), "y") },
			func() string { return fmt.Sprintf("sum(map(%s, # * 2))", sub("[f]")) },
		}[w.IntN(22)]()
	case "s":
		return []func() string{
			func() string { return fmt.Sprintf("(%s + %s)", sub("s"), sub("s")) },
			func() string { return fmt.Sprintf("T[%s]", sub("i")) },
			func() string { return fmt.Sprintf("(%s ? %s : %s)", sub("b"), sub("s"), sub("s")) },
			func() string { return fmt.Sprintf("(%s ?? %s)", sub("s"), sub("s")) },
			func() string { return fmt.Sprintf("upper(%s)", sub("s")) },
			func() string { return fmt.Sprintf("string(%s)", sub("i")) },
		}[w.IntN(6)]()
	case "[h]":
		switch w.IntN(3) {
		case 0:
			return over("filter", "h", "b")
		case 1:
			return fmt.Sprintf("H[%s:%s]", sub("i"), sub("i"))
		}
		return "H"
	case "[b]":
		switch w.IntN(5) {
		case 0:
			return fmt.Sprintf("(%s %s %s)", sub(array()), w.one("<", ">", "==", "!="), number())
		case 1:
			return fmt.Sprintf("(%s %s %s)", sub("[b]"), w.one("and", "or"), sub("[b]"))
		case 2:
			return over("map", item(), "b")
		case 3:
			return fmt.Sprintf("(not %s)", sub("[b]"))
		}
		return over("filter", "b", "b")
	}
	one := strings.Trim(typ, "[]")
	return []func() string{
		func() string { return over("filter", one, "b") },
		func() string { return over("map", item(), one) },
		func() string { return fmt.Sprintf("%s[%s:%s]", sub(typ), sub("i"), sub("i")) },
		func() string { return fmt.Sprintf("%s[%s:]", sub(typ), w.one("1", "-2", "N")) },
		func() string { return fmt.Sprintf("(%s %s %s)", sub(typ), w.one("+", "-", "*"), sub(one)) },
		func() string { return fmt.Sprintf("(%s %s %s)", sub(one), w.one("+", "-", "*"), sub(typ)) },
		func() string { return fmt.Sprintf("(%s %s %s)", sub(typ), w.one("+", "-", "*"), sub(typ)) },
		func() string { return fmt.Sprintf("(-%s)", sub(typ)) },
		func() string { return fmt.Sprintf("abs(%s)", sub(typ)) },
		func() string { return fmt.Sprintf("%s[%s]", sub(typ), sub("[b]")) },
		func() string { return fmt.Sprintf("%s[argsort(%s)]", sub(typ), sub(typ)) },
		func() string { return fmt.Sprintf("[%s, %s]", sub(one), sub(one)) },
		func() string { return fmt.Sprintf("(let z = %s; [z])", sub(one)) },
		func() string { return "let c = combinations(" + sub(typ) + "); map(c[0], # + " + sub(one) + ")" },
	}[w.IntN(14)]()
}

func (w *writer) leaf(typ string) string {
	if n := len(w.items); n > 0 && w.IntN(2) == 0 {
		if typ == "i" && w.IntN(3) == 0 {
			return "#index"
		}
		switch item := w.items[n-1]; {
		case item == typ:
			return "#"
		case item == "h" && typ == "f":
			return w.one("#.X", ".X", "len(.L) / 2")
		case item == "h" && typ == "i":
			return ".K"
		case item == "h" && typ == "s":
			return ".S"
		case item == "h" && typ == "[f]":
			return ".L"
		}
	}
	if some := w.names[typ]; some != nil && w.IntN(4) > 0 {
		return w.one(some...)
	}
	switch typ {
	case "b":
		return w.one("B", "true", "false", "M[0]")
	case "i":
		return w.one("N", "U", "O", "0", "1", "-2", "I[0]", "len(V)")
	case "f":
		return w.one("F", "D", "OF", "P.X", "1.5", "0.0", "A[1]", "V[-1]", `ByName["a"]`)
	case "s":
		return w.one("S", `"a"`, `"b"`, "OS", "T[1]")
	case "[b]":
		return w.one("M", "V > W", "X < 1")
	case "[i]":
		return w.one("I", "map(H, .K)", "argsort(V)")
	case "[f]":
		return w.one("V", "W", "X", "V", "A", "map(H, .X)", "map(Deep, sum(#))")
	}
	return "H"
}

// TestBothWays compares columns with the virtual machine, on random expressions.
func TestBothWays(t *testing.T) {
	r := zooFile(t, 60, 1)
	all := rntuple.EntryRange{End: r.NumEntries()}
	w := &writer{Rand: rand.New(rand.NewPCG(3, 4))}
	done, columns := 0, 0
	for i := range 1000 {
		text := w.write(w.one("b", "i", "f", "s", "[b]", "[i]", "[f]"), 1+i%4)
		ok, c := bothWays(t, r, all, text)
		if ok {
			done++
		}
		if c {
			columns++
		}
	}
	t.Logf("%d expressions, %d of them column by column", done, columns)
	if done < 700 || columns < done/2 {
		t.Errorf("only %d expressions, %d of them column by column", done, columns)
	}
}

// TestMembership compares "in" with the comparisons that it stands for, each evaluated column by
// column where that is possible, and in the virtual machine.
func TestMembership(t *testing.T) {
	r := zooFile(t, 60, 1)
	all := rntuple.EntryRange{End: r.NumEntries()}
	seed := rand.Uint64()
	t.Log("seed", seed)
	w := &writer{Rand: rand.New(rand.NewPCG(seed, 4))}
	leaf := func() string {
		return w.one(w.leaf("i"), w.leaf("f"), "(O ?? F)", "I[0] ?? 0.5", "5000000", "V[0]", "-9007199254740993", "9007199254740992.0")
	}
	for range 150 {
		x, a, b := "("+leaf()+")", "("+leaf()+")", "("+leaf()+")"
		integers := fmt.Sprintf("let a = (%s); let b = (%s); let x = %s;", w.one("O", "N", "-1", "I[0]", "9007199254740993"), w.one("O", "2", "N", "5000000"), x)
		for in, means := range map[string]string{
			fmt.Sprintf("%s in [%s, %s]", x, a, b):     fmt.Sprintf("%s == %s or %s == %s", x, a, x, b),
			fmt.Sprintf("%s not in [%s, %s]", x, a, b): fmt.Sprintf("not (%s == %s or %s == %s)", x, a, x, b),
			integers + "x in a..b":                     integers + "a <= x and x <= b and a <= b and trunc(x) == x",
		} {
			var want []any
			for i, text := range []string{means, in} {
				for _, whole := range []bool{false, true} {
					p, err := compile(r, []*Expression{must(t, text)}, whole)
					if err != nil {
						t.Fatalf("%s: %v", text, err)
					}
					got, err := evaluated(r, p, all)
					if err != nil {
						t.Fatalf("%s: %v", text, err)
					}
					if i == 0 && !whole {
						want = got
					} else if !slices.Equal(got, want) {
						t.Fatalf("%s is not %s:\n%v\n%v", text, means, got, want)
					}
				}
			}
		}
	}
}

// FuzzBothWays compares columns with the virtual machine: the expression of a text, or a random
// one if there is none.
func FuzzBothWays(f *testing.F) {
	f.Add(uint64(1), "")
	f.Add(uint64(2), "any(H, .X > 1 and N < 2) ? sum(V * W) : mean(X) ?? 3")
	f.Add(uint64(3), `OS contains "a" or len(filter(T, # in ["a", "b"])) > 1`)
	for _, text := range []string{ // which were not the same once
		"map(map(filter(V > W, #), V > W[O]), min(W[#index], (0.0 ** 1.5)))[1:]",
		"map(H, argmin(map(H, .K) * .K))",
		"(findLast(W, M[0]) ?? 1) + 1",
		"map(V, let x = #; count(V, # < x))",
		"I[X < 1]",
		"sum((M or V > W), -O)",
		"let c = combinations(V); c",
		"(O ?? F) in [1.5, N]",
		"[O ?? F, 1.5]",
		"string(O ?? F)",
		"[I[0] ?? 0.5]",
		"let z = O ?? F; [z]",
		"sum(map(W[argsort(X)], # * 2)) <= V[argsort(map(H, .K)[X < 1])][0]",
	} {
		f.Add(uint64(0), text)
	}
	r := zooFile(f, 40, 2)
	f.Fuzz(func(t *testing.T, seed uint64, text string) {
		if len(text) > 300 || strings.Contains(text, "repeat") || strings.Contains(text, "now") {
			return
		}
		if text == "" {
			w := &writer{Rand: rand.New(rand.NewPCG(seed, 5))}
			text = w.write(w.one("b", "i", "f", "s", "[b]", "[i]", "[f]"), 4)
		}
		bothWays(t, r, rntuple.EntryRange{End: r.NumEntries()}, text)
	})
}
