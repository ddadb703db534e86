package oracle

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/syntax"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/value"
)

// entry is what the expressions of TestSentences are about.
var entry = func() Env {
	env := Env{map[string]Type{}, map[string]any{}}
	add := func(name string, t Type, v any) { env.Types[name], env.Values[name] = t, v }
	floats := func(v ...float64) any { return anys(v) }
	ints := func(v ...int64) any { return anys(v) }
	point := Type{Kind: Record, Names: []string{"x", "n"}, Members: []Type{float, integer}}
	at := func(x float64, n int64) any { return record("x", x, "n", n) }
	either := Type{Kind: Variant, Missing: true, Members: []Type{integer, str, float}}
	add("V", ArrayOf(float), floats(1.5, 2.5, -1))
	add("W", ArrayOf(float), floats(3, 1, 2))
	add("E", ArrayOf(float), floats())
	add("EI", ArrayOf(integer), ints())
	add("I", ArrayOf(integer), ints(3, 1, 2))
	add("Odd", ArrayOf(float), floats(3, math.NaN(), 1, math.NaN(), 2))
	add("T", ArrayOf(str), anys([]string{"b", "a", "é"}))
	add("M", ArrayOf(boolean), anys([]bool{true, false, true}))
	add("VI", ArrayOf(integer.optional(true)), []any{nil, int64(1), int64(2)})
	add("VM", ArrayOf(boolean.optional(true)), []any{nil, true, false})
	add("MV", ArrayOf(float).optional(true), nil)
	add("Deep", ArrayOf(ArrayOf(float)), []any{floats(1), floats(), floats(2, 3)})
	add("DeepO", ArrayOf(ArrayOf(float).optional(true)), []any{floats(1), nil})
	add("O", integer.optional(true), nil)
	add("OB", boolean.optional(true), nil)
	add("OS", str.optional(true), nil)
	add("N", integer, int64(2))
	add("D", float, 2.5)
	add("F", float, float64(float32(0.1)))
	add("S", str, "aéb")
	add("B", boolean, true)
	add("P", point, at(1, 2))
	add("H", ArrayOf(point), []any{at(3, 1), at(1, 2), at(2, 1)})
	add("OP", point.optional(true), nil)
	add("m", mapOf(str, float), []any{record("key", "a", "value", 1.0), record("key", "a", "value", 2.0)})
	add("number", ArrayOf(*mapOf(integer, float).Elem), []any{record("key", int64(7), "value", 1.0)})
	add("huge", integer, tooLarge(1<<63))
	add("huges", ArrayOf(integer), []any{int64(1), tooLarge(1 << 63)})
	add("HH", ArrayOf(Type{Kind: Record, Names: []string{"u", "v"}, Members: []Type{integer, integer}}),
		[]any{record("u", tooLarge(1<<63), "v", int64(1))})
	add("vi", either, int64(3))
	add("vs", either, "x")
	add("vn", either, nil)
	add("tuple", Type{Kind: Tuple, Members: []Type{integer, str}}, tuple{int64(1), "x"})
	add("a:b", integer, int64(5))
	return env
}()

func anys[T any](all []T) any {
	items := []any{}
	for _, v := range all {
		items = append(items, v)
	}
	return items
}

// show returns a value, or an error's kind, as a row of TestSentences has it.
func show(v any, err error) string {
	if e := (*TypeError)(nil); errors.As(err, &e) {
		return "type error"
	} else if err != nil {
		return "error"
	}
	switch v := v.(type) {
	case nil:
		return "missing"
	case float64:
		if text := fmt.Sprint(v); !strings.ContainsAny(text, ".eNI") {
			return text + ".0"
		}
	case string:
		return fmt.Sprintf("%q", v)
	case tuple:
		return show([]any(v), nil)
	case []any:
		var all []string
		for _, item := range v {
			all = append(all, show(item, nil))
		}
		return "[" + strings.Join(all, " ") + "]"
	case value.Record:
		var all []string
		for i, m := range v.Values {
			all = append(all, v.Names[i]+":"+show(m, nil))
		}
		return "{" + strings.Join(all, " ") + "}"
	}
	return fmt.Sprint(v)
}

// TestSentences has a row for each sentence of the documentation: expression = value.
func TestSentences(t *testing.T) {
	for line := range strings.Lines(sentences) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		text, want, _ := strings.Cut(line, " => ")
		n, err := syntax.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if v, err := Eval(n, entry); show(v, err) != want {
			t.Errorf("%s: %s (%v), not %s", text, show(v, err), err, want)
		}
	}
}

// zoo returns an RNTuple of random entries, and its fields.
func zoo(t *testing.T) (*rntuple.Reader, *Fields) {
	path := filepath.Join(t.TempDir(), "zoo.root")
	if err := WriteZoo(path, 12, 1, nil); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.Open(path, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	f, err := FieldsOf(r)
	if err != nil {
		t.Fatal(err)
	}
	return r, f
}

// plain returns the value that a Go value has in expressions, but for unifying.
func plain(v reflect.Value) any {
	name := v.Type().Name()
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return plain(v.Elem())
	case reflect.Struct:
		var r value.Record
		for i := range v.NumField() {
			r.Names, r.Values = append(r.Names, v.Type().Field(i).Name), append(r.Values, plain(v.Field(i)))
		}
		switch {
		case strings.HasPrefix(name, "Pair["), strings.HasPrefix(name, "Tuple"):
			return r.Values
		case len(r.Names) == 1:
			return r.Values[0]
		}
		return r
	case reflect.Slice, reflect.Array:
		items := []any{}
		for i := range v.Len() {
			item := plain(v.Index(i))
			if strings.HasPrefix(name, "MultiMap[") {
				item = record("key", item.([]any)[0], "value", item.([]any)[1])
			}
			items = append(items, item)
		}
		return items
	case reflect.Map:
		items := []any{}
		for k, x := range v.Seq2() {
			items = append(items, record("key", plain(k), "value", plain(x)))
		}
		slices.SortFunc(items, func(a, b any) int {
			return strings.Compare(fmt.Sprint(a.(value.Record).Values[0]), fmt.Sprint(b.(value.Record).Values[0]))
		})
		return items
	case reflect.Interface:
		if v.IsNil() {
			return nil
		}
		if a, ok := v.Interface().(value.Alternative); ok {
			return plain(reflect.ValueOf(a.Value))
		}
		return plain(v.Elem())
	}
	switch {
	case v.CanUint() && v.Uint() > math.MaxInt64:
		return tooLarge(v.Uint())
	case v.CanUint():
		return int64(v.Uint())
	case v.CanInt():
		return v.Int()
	case v.CanFloat():
		return v.Float()
	}
	return v.Interface()
}

// TestFields compares FieldsOf with entries that are read into a struct.
func TestFields(t *testing.T) {
	r, f := zoo(t)
	entry := int64(0)
	for e, err := range rntuple.Entries[Zoo](r) {
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Entry(entry)
		if err != nil {
			t.Fatal(err)
		}
		all := reflect.ValueOf(e).Elem()
		for i := range all.NumField() {
			name := strings.Replace(all.Type().Field(i).Name, "Colon", "a:b", 1)
			typ := f.Types[name]
			if want := show(coerce(plain(all.Field(i)), typ), nil); show(got[name], nil) != want {
				t.Errorf("entry %d: %s %s: %s, not %s", entry, name, typ, show(got[name], nil), want)
			}
		}
		entry++
	}
	if entry != 12 {
		t.Error(entry, "entries")
	}
	for name, want := range map[string]string{"VarN": "float", "VarS": "variant(int, string, float)",
		"Tuple": "tuple(int, float, int)", "Pair": "[float]", "Mixed": "tuple(int, string)", "OV": "[float]",
		"ByName": "map{key: string, value: float}", "ByNumber": "[{key: int, value: float}]", "Bits": "[bool]", "E": "int",
		"Deepest": "[[[float]]]"} {
		if got := f.Types[name].String(); got != want {
			t.Errorf("%s: %s, not %s", name, got, want)
		}
	}
}

// TestJoin evaluates expressions about the sources of a Join.
func TestJoin(t *testing.T) {
	r, alone := zoo(t)
	join, err := rntuple.NewJoin(r, rntuple.Friend("twin", r), rntuple.Match("row", r, "I64"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := FieldsOf(join)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.NumEntries() {
		values, err := f.Entry(i)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"twin.S == S and twin.N == N and len(twin.H) == len(H)",
			"row.I64 == I64", `"S" in row`} {
			n, err := syntax.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := Eval(n, Env{f.Types, values}); v != true {
				t.Errorf("entry %d: %s: %v, %v", i, text, v, err)
			}
		}
	}
	if m, _ := f.Types["row"].member("S"); !m.Missing || alone.Types["S"].Missing {
		t.Error("row.S must be one that may be missing, and S not")
	}
}

// TestGenerator checks that random expressions can be parsed and, unless they are mistyped on
// purpose, checked, and that most have a value in most entries.
func TestGenerator(t *testing.T) {
	r, f := zoo(t)
	var entries []map[string]any
	for i := range r.NumEntries() {
		e, err := f.Entry(i)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	seed := rand.Uint64()
	t.Log("seed", seed)
	g := NewGenerator(rand.New(rand.NewPCG(seed, 2)), f.Types)
	all := 400 // and as many that are mistyped
	if n, _ := strconv.Atoi(os.Getenv("RNTUPLE_CAMPAIGN")); n > 0 {
		all = 50_000
	}
	mistyped, failed, missing := 0, 0, 0
	for i := range 2 * all {
		g.Mistypes = 0
		if i >= all {
			g.Mistypes = 0.05
		}
		text := g.Expression(1 + i%4)
		if i%3 == 0 {
			text = g.Condition(1 + i%4)
		}
		n, err := syntax.Parse(text)
		if err != nil && i < all {
			t.Fatalf("%s: %v", text, err)
		} else if err != nil {
			continue
		}
		p, err := Check(n, f.Types)
		if err != nil && i < all {
			mistyped++
		}
		if err != nil {
			continue
		}
		for _, e := range entries {
			switch v, err := p.Eval(e); {
			case i >= all:
			case err != nil:
				failed++
			case v == nil:
				missing++
			}
		}
	}
	t.Logf("of %d expressions %d are mistyped; of %d values %d are errors and %d are missing", all, mistyped,
		all*len(entries), failed, missing)
	if mistyped > all/50 || failed == 0 || failed > all*len(entries)/5 || missing > all*len(entries)/2 {
		t.Error("the expressions are of little use")
	}
}
