package expression_test

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/value"
)

// TestParseField takes names, types and expressions apart.
func TestParseField(t *testing.T) {
	for _, test := range []struct{ text, name, typ, value string }{
		{"m=a", "m", "", "a"},
		{" m = a == b ", "m", "", "a == b"},
		{"m:float=a", "m", "float", "a"},
		{"n : std::optional<std::int8_t> = a ? b : 2", "n", "std::optional<std::int8_t>", "a ? b : 2"},
		{"m", "", "", `"m" is not NAME=EXPRESSION`},
		{"m == 2", "", "", "is not NAME=EXPRESSION"},
		{"=2", "", "", "is not NAME=EXPRESSION"},
		{":float=2", "", "", "is not NAME=EXPRESSION"},
		{"m=(2", "", "", "m: expression, character"},
	} {
		f, err := expression.ParseField(test.text)
		switch {
		case test.name == "" && (err == nil || !strings.Contains(err.Error(), test.value)):
			t.Errorf("%s: %v, want %s", test.text, err, test.value)
		case test.name != "" && (err != nil || f.Name != test.name || f.Type != test.typ || f.Value.String() != test.value):
			t.Errorf("%s: %+v, error %v", test.text, f, err)
		}
	}
	if _, err := expression.ParseFields("a=1", "b=2", "a=3"); err == nil ||
		!strings.Contains(err.Error(), `"a" is defined twice`) {
		t.Error(err)
	}
}

// defined is a field, with its value for an entry of the test data.
type defined struct {
	text, typ string
	value     func(event value.Record) any
}

func get[T any](r value.Record, name string) T { return r.Values[slices.Index(r.Names, name)].(T) }

// each returns a list of what f makes of each item of a list.
func each(r value.Record, name string, f func(pt float64) any) any {
	all := []any(nil)
	for _, x := range get[[]any](r, name) {
		all = append(all, f(float64(x.(float32))))
	}
	return all
}

var fields = []defined{
	{"n = nMuon + 1", "std::int64_t", func(e value.Record) any { return int64(get[uint64](e, "nMuon")) + 1 }},
	{"n8:std::uint8_t = n * 2", "std::uint8_t", func(e value.Record) any { return uint8(get[uint64](e, "nMuon")+1) * 2 }},
	{"hard = any(Muon_pt, # > 30)", "bool", func(e value.Record) any {
		return slices.ContainsFunc(get[[]any](e, "Muon_pt"), func(x any) bool { return x.(float32) > 30 })
	}},
	{"twice = Muon_pt * 2", "std::vector<double>",
		func(e value.Record) any { return each(e, "Muon_pt", func(pt float64) any { return pt * 2 }) }},
	{"root:ROOT::VecOps::RVec<float> = map(Muon_pt, sqrt(#))", "ROOT::VecOps::RVec<float>", func(e value.Record) any {
		return each(e, "Muon_pt", func(pt float64) any { return float32(math.Sqrt(pt)) })
	}},
	{"lead = Muon_pt[0]", "std::optional<double>", func(e value.Record) any {
		for _, x := range get[[]any](e, "Muon_pt") {
			return float64(x.(float32))
		}
		return nil
	}},
	{"third:float = Muon_pt[2] ?? -1.0", "float", func(e value.Record) any {
		if pt := get[[]any](e, "Muon_pt"); len(pt) > 2 {
			return pt[2]
		}
		return float32(-1)
	}},
	{`word = nMuon > 2 ? "many" : "few"`, "std::string", func(e value.Record) any {
		if get[uint64](e, "nMuon") > 2 {
			return "many"
		}
		return "few"
	}},
}

const dimuon = "../../testdata/dimuon.root"

// TestDefineColumns adds fields to the whole of a file, and to a part of it, from fields that
// are dropped. They have what arithmetic on the dynamic values of the input gives.
func TestDefineColumns(t *testing.T) {
	var texts []string
	for _, f := range fields {
		texts = append(texts, f.text)
	}
	columns, err := expression.ParseFields(texts...)
	if err != nil {
		t.Fatal(err)
	}
	condition, err := expression.Parse("n8 > 6 || lead > 40")
	if err != nil {
		t.Fatal(err)
	}
	in, out := surgery.Input{Path: dimuon}, filepath.Join(t.TempDir(), "out.root")
	var all []value.Record
	eachRecord(t, dimuon, []string{"run", "nMuon", "Muon_pt"}, func(e value.Record) { all = append(all, e) })
	check := func(what string, err error, keep func(value.Record) bool) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		names := []string{"run"}
		for _, f := range columns {
			names = append(names, f.Name)
		}
		next := 0
		eachRecord(t, out, names, func(got value.Record) {
			for next < len(all) && !keep(all[next]) {
				next++
			}
			if next == len(all) {
				t.Fatalf("%s: there are too many entries", what)
			}
			want := []any{get[uint32](all[next], "run")}
			for _, f := range fields {
				want = append(want, f.value(all[next]))
			}
			if !reflect.DeepEqual(got.Values, want) {
				t.Fatalf("%s, entry %d of the input: %v, want %v", what, next, got.Values, want)
			}
			next++
		})
		for ; next < len(all); next++ {
			if keep(all[next]) {
				t.Fatalf("%s: entry %d is missing", what, next)
			}
		}
	}
	report, err := surgery.Slim(t.Context(), out, in,
		&surgery.SlimOptions{Options: surgery.Options{AtMost: new(surgery.Copy)}, Keep: []string{"run"},
			Define: []surgery.Definition{surgery.DefineColumns(columns)}})
	check("slim", err, func(value.Record) bool { return true })
	if report.Levels[surgery.Copy].Pages == 0 {
		t.Error(report)
	}
	r, err := rntuple.Open(out, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range r.Schema().Fields[1:] {
		if want := columns[i].Value.String(); f.CppType() != fields[i].typ || f.Description != want {
			t.Errorf("field %v of type %s, %q; want %s, %q", f, f.CppType(), f.Description, fields[i].typ, want)
		}
	}
	r.Close()

	_, err = surgery.Skim(t.Context(), out, []surgery.Input{in, in}, condition.With(columns.Definitions()...).Condition(),
		&surgery.SkimOptions{Keep: []string{"run"}, Define: []surgery.Definition{surgery.DefineColumns(columns)}})
	all = append(all, all...)
	check("skim", err, func(e value.Record) bool {
		pt := get[[]any](e, "Muon_pt")
		return len(pt) > 2 || len(pt) > 0 && pt[0].(float32) > 40
	})
}

func eachRecord(t *testing.T, path string, names []string, f func(value.Record)) {
	t.Helper()
	r, err := rntuple.Open(path, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	view, err := rntuple.RecordsOf(r, names...)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range view.All() {
		f(e)
	}
	if view.Err() != nil {
		t.Fatal(view.Err())
	}
}

// TestColumnErrors has fields that do not go with the data.
func TestColumnErrors(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.root")
	for text, want := range map[string]string{
		"n:std::uint8_t = event":                `entry 0: field "n": value out of range: 1112 does not fit uint8`,
		"n = nMuonn + 1":                        `did you mean "nMuon"?`,
		"m = m + 1":                             `no field "m"`,
		"run = 1":                               `there is a field "run" already; to replace it, drop it`,
		"b:bool = nMuon":                        `the field "b" of type bool does not take int: nMuon; write b:std::int64_t=...`,
		"f:float = event * 1000001":             `entry 0: expression: value out of range: the field "f" of type float cannot hold 1112001112 exactly`,
		"i:std::int32_t = Muon_pt[0] ?? 1.0":    `does not take float: Muon_pt[0] ?? 1.0; write i:double=..., or convert: int(...)`,
		"s:std::int8_t = 'a'":                   `does not take string`,
		"f:float = Muon_pt[0]":                  `the field "f" of type float does not take float, may be missing: Muon_pt[0]; write f:std::optional<float>=..., or give a default: (...) ?? -1.0`,
		"f:std::vector<float> = [Muon_pt[0]]":   `; write f:std::vector<std::optional<float>>=...`,
		"f:std::set<float> = Muon_pt":           `the field "f" of type std::set<float> does not take array of float: Muon_pt; write f:std::vector<double>=...`,
		"f:std::array<float,2> = Muon_pt[:9]":   `the field "f" of type std::array<float,2> does not take an array of length `,
		"f:vector<bool> = [[nMuon]]":            `; write f:std::vector<std::vector<std::int64_t>>=...`,
		"f:ROOT::RVec<float> = [[Muon_pt[0]]]":  `; write f:ROOT::VecOps::RVec<std::vector<std::optional<float>>>=...`,
		"f:std::array<int,1> = [nMuon / 2]":     `; write f:std::array<double,1>=...`,
		"f:optional<optional<int>> = nMuon":     `; write f:std::optional<std::int32_t>=...`,
		"f = nil":                               `nil has no values of one type`,
		"f = {a: 1}":                            `has no values of one type`,
		"f:std::vector<float> = []":             `has no values of one type`,
		"f:std::vector<std::int32_t> = Muon_pt": `does not take array of float`,
		"f:Foo = 1":                             `"Foo" is neither a fundamental type`,
		"a b = 1":                               `has the character ' '`,
	} {
		f, err := expression.ParseFields(text)
		if err == nil {
			_, err = surgery.Slim(t.Context(), out, surgery.Input{Path: dimuon},
				&surgery.SlimOptions{Define: []surgery.Definition{surgery.DefineColumns(f)}})
		}
		if err == nil || !strings.Contains(err.Error(), want) ||
			errors.Is(err, rntuple.ErrRange) != strings.Contains(want, "range") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// few makes a file of three entries with fields of several types.
func few(t *testing.T) (path string) {
	t.Helper()
	type entry struct {
		N int64
		U []uint64
		X []float32
		Y [][]float64
		O *float64
		S string
	}
	path = filepath.Join(t.TempDir(), "few.root")
	w, err := rntuple.Create[entry](path, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(&entry{N: -1, Y: [][]float64{{}}, S: "a"})
	w.Write(&entry{N: 1 << 24, U: []uint64{7}, X: []float32{1.5}, Y: [][]float64{{1}, {2, 3}}, O: new(0.5)})
	w.Write(&entry{N: -1 << 63, U: []uint64{1, 2}, X: []float32{1.5, 2.5}, S: "bc"})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFieldTypes writes values as fields of types that take all of them.
func TestFieldTypes(t *testing.T) {
	in, out := few(t), filepath.Join(t.TempDir(), "out.root")
	for _, test := range []struct{ text, typ, want string }{
		{"f = N", "std::int64_t", "-1 16777216 -9223372036854775808"},
		{"f:double = N", "double", "-1 1.6777216e+07 -9.223372036854776e+18"},
		{"f:float = N", "float", "-1 1.6777216e+07 -9.223372e+18"},
		{"f:double = N - 1", "double", "-2 1.6777215e+07 !cannot hold 9223372036854775807 exactly"},
		{"f:float = N + 1", "float", "0 !cannot hold 16777217 exactly"},
		{"f:optional<float> = N > 0 ? N + 1 : nil", "std::optional<float>", "<nil> !cannot hold 16777217 exactly"},
		{"f:vector<float> = U", "std::vector<float>", "[] [7] [1 2]"},
		{"f:std::int16_t = len(X)", "std::int16_t", "0 1 2"},
		{"f:optional<int> = len(X)", "std::optional<std::int32_t>", "0 1 2"},
		{"f:unique_ptr<float> = O", "std::unique_ptr<float>", "<nil> 0.5 <nil>"},
		{"f:optional<bool> = O == nil", "std::optional<bool>", "true false true"},
		{"f:optional<string> = S", "std::optional<std::string>", "a  bc"},
		{"f:vector<optional<float>> = X", "std::vector<std::optional<float>>", "[] [1.5] [1.5 2.5]"},
		{"f = [O, 1.0]", "std::vector<std::optional<double>>", "[<nil> 1] [0.5 1] [<nil> 1]"},
		{"f:ROOT::VecOps::RVec<ROOT::VecOps::RVec<float>> = Y", "ROOT::VecOps::RVec<ROOT::VecOps::RVec<float>>",
			"[[]] [[1] [2 3]] []"},
		{"f:vector<vector<optional<std::int8_t>>> = [U]", "std::vector<std::vector<std::optional<std::int8_t>>>",
			"[[]] [[7]] [[1 2]]"},
		{"f = map(Y, len(#) > 1 ? # : nil)", "std::vector<std::optional<std::vector<double>>>", "[<nil>] [<nil> [2 3]] []"},
		{"f = Y[0]", "std::optional<std::vector<double>>", "[] [1] <nil>"},
		{"f:array<float,2> = [len(X), 1]", "std::array<float,2>", "[0 1] [1 1] [2 1]"},
		{"f:array<float,0> = X[9:]", "", "!does not take array of float: X[9:]; write f:std::vector<double>=..."},
		{"f:std::string[1] = [S]", "std::array<std::string,1>", "[a] [] [bc]"},
		{"f:array<float,1> = X", "std::array<float,1>", "!does not take an array of length 0"},
		{"f:optional<array<float,1>> = Y[0]", "std::optional<std::array<float,1>>", "!does not take an array of length 0"},
		{"f:optional<array<float,1>> = O == nil ? nil : X", "std::optional<std::array<float,1>>", "<nil> [1.5] <nil>"},
		{"f:optional<array<string,2>> = len(X) > 1 ? [S, 'x'] : nil",
			"std::optional<std::array<std::string,2>>", "<nil> <nil> [bc x]"},
		{"f:vector<optional<array<float,2>>> = map(Y, len(#) > 1 ? # : nil)",
			"std::vector<std::optional<std::array<float,2>>>", "[<nil>] [<nil> [2 3]] []"},
		{"f:array<array<int,2>,2> = [[1, N > 0 ? 2 : 3], [4, len(X)]]", "std::array<std::array<std::int32_t,2>,2>",
			"[[1 3] [4 0]] [[1 2] [4 1]] [[1 3] [4 2]]"},
		{"f:vector<array<float,1>> = Y", "std::vector<std::array<float,1>>", "!does not take an array of length 0"},
	} {
		f, err := expression.ParseFields(test.text)
		if err != nil {
			t.Fatal(err)
		}
		values, failure, failed := strings.Cut(test.want, "!")
		_, err = surgery.Slim(t.Context(), out, surgery.Input{Path: in},
			&surgery.SlimOptions{Keep: []string{"N"}, Define: []surgery.Definition{surgery.DefineColumns(f)}})
		if failed {
			at := fmt.Sprintf("entry %d: ", len(strings.Fields(values)))
			if err == nil || !strings.Contains(err.Error(), failure) || test.typ != "" && !strings.Contains(err.Error(), at) {
				t.Errorf("%s: error %v, want %s", test.text, err, test.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		var got []string
		eachRecord(t, out, []string{"f"}, func(r value.Record) { got = append(got, fmt.Sprint(r.Values[0])) })
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%s: %s, want %s", test.text, text, test.want)
		}
		r, err := rntuple.Open(out, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if typ := r.Schema().Fields[1].CppType(); typ != test.typ {
			t.Errorf("%s: the type is %s, want %s", test.text, typ, test.typ)
		}
		r.Close()
	}
}

// Fields are computed by expressions, and one of them by what the others are.
func ExampleFields() {
	fields, err := expression.ParseFields("lead:float = max(Muon_pt) ?? 0.0", "hard = lead > 50")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range fields {
		fmt.Printf("%s %q %s\n", f.Name, f.Type, f.Value)
	}
	// They are for surgery.DefineColumns(fields).

	// Output:
	// lead "float" max(Muon_pt) ?? 0.0
	// hard "" lead > 50
}
