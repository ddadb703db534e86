package formula

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// sample has variables of every kind, whose types are those of sampleTypes.
var sample = map[string]any{
	"b": true, "i": int64(7), "f": 2.5, "s": "text", "none": nil, "no": nil, "some": 4.0, "maybe": int64(3), "nobody": nil,
	"v": []float64{3, -1, 2}, "w": []int64{5, 6, 7}, "e": []float64{}, "two": []float64{1, 2}, "names": []string{"b", "a"}, "flags": []bool{true, false, true},
	"vv":    []any{[]float64{1, 2}, []float64{}, []float64{4}},
	"p":     map[string]any{"x": 1.5, "n": int64(2), "q": map[string]any{"t": []float64{9}}},
	"hits":  []any{map[string]any{"x": 1.0, "t": []float64{5}}, map[string]any{"x": -2.0, "t": []float64{}}},
	"m":     map[string]any{"one": 1.0},
	"novec": nil, "odd name": int64(1), "dyn": 1.5,
	"pt": []float64{40, 30, 20}, "eta": []float64{0.5, -1, 2}, "phi": []float64{3, -3, 0}, "mass": []float64{0.1, 0.1, 0.1},
}

func sampleType(name string) (Type, error) {
	float, integer := Type{Kind: Float}, Type{Kind: Int}
	t, ok := map[string]Type{
		"b": {Kind: Bool}, "i": integer, "f": float, "s": {Kind: String}, "none": float.Optional(), "no": Type{Kind: Bool}.Optional(), "some": float.Optional(), "maybe": integer.Optional(), "nobody": Type{Kind: String}.Optional(),
		"v": {Kind: Array, Elem: &float, Name: "std::vector<float>"}, "w": ArrayOf(integer), "e": ArrayOf(float), "two": ArrayOf(float), "names": ArrayOf(Type{Kind: String}), "flags": ArrayOf(Type{Kind: Bool}),
		"vv":    ArrayOf(ArrayOf(float)),
		"p":     {Kind: Record, Members: map[string]Type{"x": float, "n": integer, "q": {Kind: Record, Members: map[string]Type{"t": ArrayOf(float)}}}},
		"hits":  ArrayOf(Type{Kind: Record, Members: map[string]Type{"x": float, "t": ArrayOf(float)}}),
		"m":     {Kind: Map, Elem: &float},
		"novec": ArrayOf(float).Optional(), "odd name": integer, "dyn": {},
		"pt": ArrayOf(float), "eta": ArrayOf(float), "phi": ArrayOf(float), "mass": ArrayOf(float),
	}[name]
	if !ok {
		return t, fmt.Errorf("unknown name %s", name)
	}
	return t, nil
}

// run evaluates an expression of the sample.
func run(text string) (v any, t Type, err error) {
	tree, err := parser.Parse(text)
	if err != nil {
		return nil, t, err
	}
	program, t, err := Compile(tree, sampleType, new(Budget))
	if err != nil {
		return nil, t, err
	}
	v, err = new(vm.VM).Run(program, sample)
	return v, t, err
}

// expressions have their values and static types.
var expressions = []struct {
	text string
	want any
	typ  string
}{
	{"i + 1", int64(8), "integer"},
	{"i + f", 9.5, "float"},
	{"i / 2", 3.5, "float"},
	{"i % 2", int64(1), "integer"},
	{"i % (i - 7)", nil, "integer that may be missing"},
	{"f ** 2", 6.25, "float"},
	{"-i", int64(-7), "integer"},
	{"1 / 0 > 1e308", true, "bool"},
	{"v[0]", 3.0, "float that may be missing"},
	{"v[-1]", 2.0, "float that may be missing"},
	{"v[3]", nil, "float that may be missing"},
	{"v[-4] + 1", nil, "float that may be missing"},
	{"v[3] > 1", false, "bool"},
	{"v[3] < 1", false, "bool"},
	{"v[3] != 1", false, "bool"},
	{"v[3] == nil", true, "bool"},
	{"v[0] != nil", true, "bool"},
	{"not (v[3] > 1)", true, "bool"},
	{"v[3] ?? 1", 1.0, "float"},
	{"v[3] ?? none", nil, "float that may be missing"},
	{"none > 1 || b", true, "bool"},
	{"no || b", true, "bool"},
	{"no && b", false, "bool"},
	{"!no", true, "bool"},
	{"no ? 1 : 2.5", 2.5, "float"},
	{"b ? 1 : 2.5", 1.0, "float"},
	{"some + maybe", 7.0, "float that may be missing"},
	{"sqrt(v[3])", nil, "float that may be missing"},
	{"sqrt(4)", 2.0, "float"},
	{"abs(-i)", int64(7), "integer"},
	{"abs(v)", []float64{3, 1, 2}, "array of floats"},
	{"v + 1", []float64{4, 0, 3}, "array of floats"},
	{"v * w", []float64{15, -6, 14}, "array of floats"},
	{"w + 1", []int64{6, 7, 8}, "array of integers"},
	{"w / 2", []float64{2.5, 3, 3.5}, "array of floats"},
	{"w % 0", []any{nil, nil, nil}, "array of integers that may be missing"},
	{"-v", []float64{-3, 1, -2}, "array of floats"},
	{"v > 0", []bool{true, false, true}, "array of bools"},
	{"v[v > 0]", []float64{3, 2}, "array of floats"},
	{"v[v > 0 && w > 5]", []float64{2}, "array of floats"},
	{"v[not (v > 0)]", []float64{-1}, "array of floats"},
	{"v[[2, 0]]", []float64{2, 3}, "array of floats that may be missing"},
	{"v[[2, 3]]", nil, "array of floats that may be missing"},
	{"w == 6", []bool{false, true, false}, "array of bools"},
	{"names == \"a\"", []bool{false, true}, "array of bools"},
	{"sum(v > 0)", int64(2), "integer"},
	{"count(v > 0)", int64(2), "integer"},
	{"any(v > 2, #)", true, "bool"},
	{"all(v, # > 0)", false, "bool"},
	{"e + 1", []float64{}, "array of floats"},
	{"novec + 1", nil, "array of floats that may be missing"},
	{"sum(novec)", nil, "float that may be missing"},
	{"sum(novec, # * 2)", nil, "float that may be missing"},
	{"any(novec, # > 1)", nil, "bool that may be missing"},
	{"len(novec) > 0", false, "bool"},
	{"sum(v)", 4.0, "float"},
	{"sum(e)", 0.0, "float"},
	{"sum(w)", int64(18), "integer"},
	{"sum(v, # * 2)", 8.0, "float"},
	{"sum(w, # > 5 ? 1 : 0)", int64(2), "integer"},
	{"max(v)", 3.0, "float that may be missing"},
	{"max(e)", nil, "float that may be missing"},
	{"max(e, 1)", 1.0, "float"},
	{"min(i, 3)", int64(3), "integer"},
	{"min(v, i)", -1.0, "float"},
	{"mean(w)", 6.0, "float that may be missing"},
	{"mean(e)", nil, "float that may be missing"},
	{"median(v)", 2.0, "float that may be missing"},
	{"len(filter(v, # > 0))", int64(2), "integer"},
	{"filter(w, # > 5)", []int64{6, 7}, "array of integers"},
	{"map(v, # + 1)", []float64{4, 0, 3}, "array of floats"},
	{"map(v, #index)", []int64{0, 1, 2}, "array of integers"},
	{"map(vv, #[1])", []any{2.0, nil, nil}, "array of floats that may be missing"},
	{"map(vv, #[1] > 1)", []bool{true, false, false}, "array of bools"},
	{"map(vv, len(#))", []int64{2, 0, 1}, "array of integers"},
	{"map(vv, max(#) ?? 0)", []float64{2, 0, 4}, "array of floats"},
	{"vv[0][1]", 2.0, "float that may be missing"},
	{"vv[7][1]", nil, "float that may be missing"},
	{"vv * 2", []any{[]float64{2, 4}, []any{}, []float64{8}}, "array of arrays of floats"},
	{"sum(map(vv, sum(#)))", 7.0, "float"},
	{"p.x + p.n", 3.5, "float"},
	{"p.q.t[0]", 9.0, "float that may be missing"},
	{"$env[\"odd name\"] + 1", int64(2), "integer"},
	{"hits[0].x", 1.0, "float that may be missing"},
	{"hits[2].x > 0", false, "bool"},
	{"hits[0].t[0]", 5.0, "float that may be missing"},
	{"sum(hits, .x)", -1.0, "float"},
	{"map(filter(hits, .x > 0), .x)", []float64{1}, "array of floats"},
	{"count(hits, .t[0] > 1)", int64(1), "integer"},
	{"map(hits, .x)[0]", 1.0, "float that may be missing"},
	{"sortBy(hits, .x)[0].x", -2.0, "float that may be missing"},
	{"find(v, # < 0)", -1.0, "float that may be missing"},
	{"find(v, # < -5)", nil, "float that may be missing"},
	{"findIndex(v, # < 0)", int64(1), "integer that may be missing"},
	{"m[\"one\"]", 1.0, "float that may be missing"},
	{"m[\"two\"] > 1", false, "bool"},
	{"\"one\" in m", true, "bool"},
	{"2 in v", true, "bool"},
	{"none in v", false, "bool"},
	{"s startsWith \"te\" && s matches \"x\"", true, "bool"},
	{"nobody startsWith \"te\"", false, "bool"},
	{"upper(nobody)", nil, "string that may be missing"},
	{"upper(s) + \"!\"", "TEXT!", "string"},
	{"len(s)", int64(4), "integer"},
	{"v[1:]", []float64{-1, 2}, "array of floats"},
	{"v[:1]", []float64{3}, "array of floats"},
	{"v[maybe - 2:]", []float64{-1, 2}, "array of floats that may be missing"},
	{"1..3", []int64{1, 2, 3}, "array of integers"},
	{"first(v)", 3.0, "float that may be missing"},
	{"last(e)", nil, "float that may be missing"},
	{"take(v, 2)", []float64{3, -1}, "array of floats"},
	{"take(v, [0, 2])", []float64{3, 2}, "array of floats that may be missing"},
	{"sort(v)", []float64{-1, 2, 3}, "array of floats"},
	{"sort(w, \"desc\")", []int64{7, 6, 5}, "array of integers"},
	{`{(s): 1, (s + s): none + 1, "c": sum(map(hits, .x))}["c"]`, -1.0, "value that may be missing"},
	{`{(s): none + 1}["text"]`, nil, "value that may be missing"},
	{"reverse(names)", []string{"a", "b"}, "array of strings"},
	{"argmax(v)", int64(0), "integer that may be missing"},
	{"argmax(e)", nil, "integer that may be missing"},
	{"v[argmax(e)]", nil, "float that may be missing"},
	{"argsort(v)", []int64{1, 2, 0}, "array of integers"},
	{"reverse(argsort(v))", []int64{0, 2, 1}, "array of integers"},
	{"w[argsort(v)]", []int64{6, 7, 5}, "array of integers"},
	{"combinations(v)", []any{[]int64{0, 0, 1}, []int64{1, 2, 2}}, "array of arrays of integers"},
	{"let c = combinations(v); v[c[0]] + v[c[1]]", []float64{2, 5, 1}, "array of floats"},
	{"take(w, reverse(argsort(v))[:2])", []int64{5, 7}, "array of integers"},
	{"combinations(two, names)[1]", []int64{0, 1, 0, 1}, "array of integers"},
	{"let x = v[0]; x > 1 ? x : 0", 3.0, "float that may be missing"},
	{"hypot(v, 4)", []float64{5, 4.123105625617661, 4.47213595499958}, "array of floats"},
	{"isnan(0 / 0)", true, "bool"},
	{"isnan(v)", []bool{false, false, false}, "array of bools"},
	{"int(f)", int64(2), "integer"},
	{"int(\"12\") + 1", int64(13), "integer"},
	{"float(i)", 7.0, "float"},
	{"int(v)", []int64{3, -1, 2}, "array of integers"},
	{"bitand(i, 3)", int64(3), "integer"},
	{"bitshl(i, 1)", int64(14), "integer"},
	{"dyn + 1", 2.5, "value that may be missing"},
	{"dyn > 1", true, "bool"},
	{"dyn > 1 && b", true, "bool"},
	{"sqrt(dyn) > 1", true, "bool"},
	{"float(dyn)", 1.5, "float that may be missing"},
	{"reduce(v, #acc + #)", 4.0, "float that may be missing"},
	{"reduce(e, #acc + #)", nil, "float that may be missing"},
	{"reduce(v, #acc + #, 1.0)", 5.0, "float"},
	{"reduce(w, #acc + #, 1)", int64(19), "integer"},
	{"[i, f][0]", 7.0, "float"},
	{"[i, f][-2] + [i, f][2]", nil, "float that may be missing"},
	{"uniq([1, 2, 1])", []int64{1, 2}, "array of integers"},
	{"concat(v, w)", []float64{3, -1, 2, 5, 6, 7}, "array of floats"},
	{"[i, f]", []float64{7, 2.5}, "array of floats"},
	{"{\"a\": i}.a", int64(7), "integer"},
	{"mass(pt[0], eta[0], phi[0], mass[0], pt[3], eta[3], phi[3], mass[3])", nil, "float that may be missing"},
	{"deltaPhi(3, -3)", math.Mod(-6, 2*math.Pi) + 2*math.Pi, "float"},
}

// TestSemantics compares the values and types of expressions.
func TestSemantics(t *testing.T) {
	for _, test := range expressions {
		got, typ, err := run(test.text)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		if fmt.Sprintf("%T %v", got, got) != fmt.Sprintf("%T %v", test.want, test.want) || typ.String() != test.typ {
			t.Errorf("%s: %T %v, %s; want %T %v, %s", test.text, got, got, typ, test.want, test.want, test.typ)
		}
	}
}

// TestErrors has what is wrong with expressions, and what it says, before they are
// evaluated and after.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"unknown + 1":                  "unknown name unknown (1:1)",
		"i +\n sqroot(4)":              "unknown function sqroot; did you mean \"sqrt\"? (2:2)",
		"sqr(4)":                       `unknown function sqr; did you mean "sqrt"?`,
		"v + s":                        "invalid operation: + (v is std::vector<float>, s is a string) (1:3)",
		"s * 2":                        "invalid operation: * (s is a string, 2 is an integer)",
		"f % 2":                        "invalid operation: % (f is a float, 2 is an integer)",
		"-s":                           "invalid operation: - (s is a string)",
		"not i":                        "invalid operation: not (i is an integer)",
		"b + 1":                        "invalid operation: + (b is a bool, 1 is an integer)",
		"i == s":                       "invalid operation: == (i is an integer, s is a string)",
		"v == s":                       "invalid operation: == (v is std::vector<float>, s is a string)",
		"hits > 1":                     "invalid operation: > (hits is an array of records, 1 is an integer)",
		"i and b":                      "invalid operation: and (i is an integer, b is a bool)",
		"v && b":                       "invalid operation: && (v is std::vector<float>, b is a bool)",
		"s in v":                       "invalid operation: in (s is a string, v is std::vector<float>)",
		"i contains s":                 "invalid operation: contains (i is an integer, s is a string)",
		"f..2":                         "invalid operation: .. (f is a float, 2 is an integer)",
		"any(v, #)":                    "# is a float, not true or false",
		"filter(vv, # > 1)":            "# > 1 is an array of bools, not true or false; use any(..., #), all(..., #) or count(...)",
		"any(i, # > 1)":                "any takes an array: i is an integer",
		"i > 1 ? v : s":                "",
		"v > 1 ? 1 : 2":                "v > 1 is an array of bools, not true or false; use any(..., #)",
		"v.x":                          "v is std::vector<float>; write map(v, .x) for the members of its items",
		"v[f]":                         "f is a float, but an index is an integer",
		"v[f:]":                        "f is a float, but the bounds of a slice are integers",
		"i[0]":                         "i is an integer, and has no members or items",
		"p.y":                          `p has no member "y"`,
		"p.q.s":                        `p.q has no member "s"`,
		"$env[s]":                      `$env can only be used as $env["name"]`,
		"$env.oddname":                 "unknown name oddname",
		"sqrt(s)":                      "s is a string, but argument 1 of sqrt(x) is a number or an array of numbers",
		"sqrt(1, 2)":                   "sqrt has other arguments: sqrt(x)",
		"mass(1, 2)":                   "mass has other arguments: mass(pt1, eta1, phi1, m1, pt2, eta2, phi2, m2) or mass(pt, eta, phi, m)",
		"mass(1, 2, 3, 4)":             "1 is an integer, but argument 1 of mass(pt, eta, phi, m) is an array of numbers",
		"bitand(f, 1)":                 "f is a float, but argument 1 of bitand(m, n) is an integer or an array of integers",
		"argmax(names)":                "names is an array of strings, but argument 1 of argmax(v) is an array of numbers",
		"take(i, [1])":                 "i is an integer, but argument 1 of take(v, indices) is an array",
		"sum(v > 1 ? w : e)[0] + s":    "sum(",
		"(v + 1)[0] + s":               "invalid operation: + ((v + 1)[0] is a float that may be missing, s is a string)",
		"any(novec, # > 1) + 1":        "invalid operation: + (any(novec, # > 1) is a bool that may be missing, 1 is an integer)",
		"sum(names)":                   "sum takes numbers or bools",
		"max(s)":                       "max takes numbers and arrays of numbers: s is a string",
		"count(v)":                     "count takes an array of bools, or what to count: v is std::vector<float>",
		"sort(hits)":                   "sort takes an array of numbers or strings: hits is an array of records; use sortBy",
		"sortBy(hits, .t[0])":          "may be missing, but sortBy needs a value; give a default with ??",
		"reduce(v, #acc + #, 0)":       "reduce begins with an integer, but goes on with a float",
		"reduce(vv, #acc + #[0], 0.0)": "reduce begins with a float, but goes on with a float that may be missing",
		"len(i)":                       "i is an integer, and has no length",
		"let i = 1; i":                 "cannot redeclare i",
		"upper(i)":                     "upper takes other arguments",
		"# + 1":                        `unexpected token Operator("#")`,
		"v(1)":                         "unknown function v",
		"p.x(1)":                       "p.x cannot be called",
		// From here on, for what is there.
		"v + two":               "+: arrays of 3 and 2 items (1:3)",
		"v > two":               ">: arrays of 3 and 2 items",
		"v[two > 1]":            "an array of 3 items has an index of 2 bools",
		"deltaPhi(v, two)":      "deltaPhi: arrays of 3 and 2 items",
		"mass(v, two, v, v)":    "mass: arrays of 3 and 2 items",
		"two[argsort(v)]":       "[1 2 0] are indices of a longer array than one of 2 items",
		"(maybe - 2)..2000000":  "1..2000000 has more than a million items",
		"combinations(1..2000)": "combinations: too many combinations of [2000] items",
		"dyn[0]":                "a float has no members or items",
		"dyn + \"a\"":           "invalid operation: + (a float, a string)",
		"dyn and b":             "the condition is a float, not true or false",
	} {
		_, _, err := run(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// FuzzCompile makes sure that programs yield values of the types that Compile says.
func FuzzCompile(f *testing.F) {
	for _, e := range expressions {
		f.Add(e.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, typ, err := run(text)
		if err != nil || typ.Kind == Nil {
			return
		}
		if v == nil && !typ.Missing && typ.Kind != Nil && typ.Kind != Any {
			t.Errorf("%s is missing, but its type is %s", text, typ)
		}
		stored, err := store(v, typ.Optional())
		if err != nil || fmt.Sprintf("%T %v", stored, stored) != fmt.Sprintf("%T %v", v, v) {
			t.Errorf("%s is %T %v, but its type is %s (%v)", text, v, v, typ, err)
		}
		if kind := map[Kind]bool{Bool: true, Int: true, Float: true, String: true, Array: true}[typ.Kind]; kind && v != nil && !strings.HasSuffix(noun(v), " "+kindNames[typ.Kind]) {
			t.Errorf("%s is %s, but its type is %s", text, noun(v), typ)
		}
	})
}
