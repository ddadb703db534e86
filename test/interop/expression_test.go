package interop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/formula"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
	"github.com/go-rntuple/go-rntuple/schema"
)

// expressed is an entry of the RNTuple that expressions are about. The particles of an
// entry are far enough apart for ROOT's formula of masses to have its digits.
type expressed struct {
	N               int32
	U               uint8
	X, Y            float64
	F               float32
	OK              bool
	Name            string
	Pt, Eta, Phi, M []float64
	Q               []int32
	V, W            []float32
	Unit            []float64 // in [-1, 1]
	Nested          [][]float64
	Names           []string
	MET             struct{ Pt, Phi float64 }
	Hits            []struct{ X, Z float64 }
	Opt             *float64
	OptN            *int32
	Three           [3]float64
}

// expressedFile makes a file of random entries.
func expressedFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "expressed.root")
	w, err := rntuple.Create[expressed](path, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(14, 14))
	between := func(low, high float64) float64 { return low + (high-low)*r.Float64() }
	for i := range 3000 {
		e := expressed{N: int32(i - 1000), U: uint8(r.IntN(256)), X: between(-10, 10), Y: between(0, 3),
			F: float32(between(-5, 5)), OK: r.IntN(3) == 0}
		e.Name = []string{"muon", "electron", "", "jet"}[r.IntN(4)]
		n := r.IntN(5)
		for k := range n {
			e.Pt, e.Eta = append(e.Pt, between(20, 60)), append(e.Eta, between(-1, 1))
			e.Phi = append(e.Phi, math.Remainder(2*math.Pi*float64(k)/float64(n)+between(-0.3, 0.3), 2*math.Pi))
			e.M, e.Q = append(e.M, 0.105658), append(e.Q, int32(2*r.IntN(2)-1))
			e.Hits = append(e.Hits, struct{ X, Z float64 }{between(-1, 1), between(-9, 9)})
			e.Unit = append(e.Unit, between(-1, 1))
		}
		for range r.IntN(4) {
			e.V, e.W = append(e.V, float32(r.IntN(20))/4), append(e.W, float32(between(-3, 3)))
			e.Nested, e.Names = append(e.Nested, e.Pt), append(e.Names, e.Name)
		}
		e.MET.Pt, e.MET.Phi = between(0, 200), between(-math.Pi, math.Pi)
		if x, n := between(-1, 1), int32(r.IntN(100)); i%3 > 0 {
			e.Opt, e.OptN = &x, &n
		}
		e.Three = [3]float64{e.X, e.Y, float64(i)}
		w.Write(&e)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// A formulated is an expression, and the same in C++ for RDataFrame.
type formulated struct {
	ours, cpp string
	near      bool       // the digits may differ by rounding, up to 1e-12
	where     [2]string  // a condition, ours and in C++
	histogram [3]float64 // bins, low, high
}

// each is the C++ of a function of each number of an array.
func each(f, array string) string {
	return "check::each(" + array + ", [](double x) { return " + f + "(x); })"
}

// formulas are expressions of all kinds of fields; each function of the table is in one.
var formulas = []formulated{
	// Flat.
	{ours: "X + Y * N", cpp: "X + Y * N", histogram: [3]float64{50, -3000, 3000}},
	{ours: "X / Y", cpp: "X / Y", histogram: [3]float64{40, -20, 20}},
	{ours: "N / 2", cpp: "N / 2.0"},
	{ours: "N % 7", cpp: "std::int64_t(N % 7)", histogram: [3]float64{13, -6.5, 6.5}},
	{ours: "N % (U % 3)",
		cpp: "check::at(ROOT::VecOps::RVec<std::int64_t>{U % 3 ? N % (U % 3 ? U % 3 : 1) : 0}, U % 3 ? 0 : 1)"},
	{ours: "F * F - 1", cpp: "double(F) * F - 1"},
	{ours: "-N + U", cpp: "std::int64_t(-N + U)"},
	{ours: "X ** 2", cpp: "std::pow(X, 2)", near: true},
	{ours: "X > 1 && Y < 2 or not OK", cpp: "(X > 1 && Y < 2) || !OK"},
	{ours: `Name == "muon" || Name startsWith "el"`, cpp: `Name == "muon" || Name.rfind("el", 0) == 0`},
	{ours: "OK ? X : Y", cpp: "OK ? X : Y", histogram: [3]float64{30, -10, 10}},
	{ours: "Y", cpp: "Y", where: [2]string{"N > 100 && X > 0", "N > 100 && X > 0"}, histogram: [3]float64{30, 0, 3}},
	{ours: "Three[2] - Three[0]", cpp: "Three[2] - Three[0]"},
	{ours: "bitand(U, 12) != 0 && bitor(N, 1) == N", cpp: "(U & 12) != 0 && (N | 1) == N"},
	{ours: "bitxor(N, U) + bitnand(U, 5) + bitnot(N)", cpp: "std::int64_t(N ^ U) + (U & 250) + (-1 - N)"},
	// Optional.
	{ours: "Opt", cpp: "Opt_"},
	{ours: "Opt + OptN", cpp: "check::unless(!Opt_, Opt_.value_or(0) + OptN_.value_or(0))"},
	{ours: "Opt ?? -1", cpp: "Opt_.value_or(-1)", histogram: [3]float64{20, -1, 1}},
	{ours: "Opt > 0 || OptN < 50", cpp: "Opt_ && *Opt_ > 0 || OptN_ && *OptN_ < 50"},
	{ours: "Opt == nil", cpp: "!Opt_"},
	{ours: "X", cpp: "X", where: [2]string{"OptN > 50", "OptN_ && *OptN_ > 50"}, histogram: [3]float64{20, -10, 10}},
	// Jagged.
	{ours: "Pt[0] > 40", cpp: "Pt.size() > 0 && Pt[0] > 40"},
	{ours: "Pt[-1]", cpp: "check::at(Pt, -1)"},
	{ours: "Pt[1] + 1", cpp: "check::plus(check::at(Pt, 1), 1)"},
	{ours: "MET.Pt", cpp: "MET.Pt", where: [2]string{"Pt[0] > 40", "Pt.size() > 0 && Pt[0] > 40"},
		histogram: [3]float64{25, 0, 200}},
	{ours: "Pt", cpp: "Pt", histogram: [3]float64{30, 10, 70}},
	{ours: "V * W - 1", cpp: "check::wide(V) * check::wide(W) - 1.0", histogram: [3]float64{30, -10, 10}},
	{ours: "-W / 2", cpp: "-check::wide(W) / 2.0"},
	{ours: "Q * 2 + 1", cpp: "check::integers(Q * 2 + 1)", histogram: [3]float64{10, -5, 5}},
	{ours: "V > 2 && W < 1", cpp: "check::mask(V > 2 && W < 1)"},
	{ours: "Pt[Q > 0]", cpp: "Pt[Q > 0]", histogram: [3]float64{30, 10, 70}},
	{ours: "Pt[abs(Eta) < 0.5 and Pt > 30]", cpp: "Pt[abs(Eta) < 0.5 && Pt > 30]"},
	{ours: "sum(Pt > 30)", cpp: "std::int64_t(Sum(Pt > 30))"},
	{ours: "sum(Pt)", cpp: "Sum(Pt)", histogram: [3]float64{50, 0, 250}},
	{ours: "sum(Q)", cpp: "std::int64_t(Sum(Q))"},
	{ours: "max(Pt)", cpp: "check::unless(Pt.empty(), Pt.empty() ? 0 : Max(Pt))"},
	{ours: "min(Pt)", cpp: "check::unless(Pt.empty(), Pt.empty() ? 0 : Min(Pt))"},
	{ours: "mean(Pt)", cpp: "check::unless(Pt.empty(), Mean(Pt))"},
	{ours: "len(Pt)", cpp: "std::int64_t(Pt.size())"},
	{ours: "any(Pt, # > 50)", cpp: "bool(Any(Pt > 50))"},
	{ours: "all(Pt, # > 30)", cpp: "bool(All(Pt > 30))"},
	{ours: "count(Pt, # > 30)", cpp: "std::int64_t(Sum(Pt > 30))"},
	{ours: "filter(Pt, # > 30)", cpp: "Pt[Pt > 30]"},
	{ours: "map(Pt, # * 2)", cpp: "Pt * 2.0"},
	{ours: "Pt[1:3]", cpp: "Pt.size() < 2 ? Pt[Pt < 0] : Take(Pt, ROOT::VecOps::Range(std::size_t(1), std::min(Pt.size(), std::size_t(3))))"},
	// Nested, and records.
	{ours: "sum(Nested, sum(#))", cpp: "Sum(Map(Nested, [](const auto &v) { return Sum(v); }), 0.0)"},
	{ours: "Nested[0][1]",
		cpp: "Nested.size() ? check::at(check::Vec(Nested[0].begin(), Nested[0].end()), 1) : std::nullopt"},
	{ours: "map(Nested, len(#))", cpp: "check::integers(Map(Nested, [](const auto &v) { return v.size(); }))"},
	{ours: "map(Hits, .X + .Z)", cpp: "Hits.X + Hits.Z"},
	{ours: "MET.Pt * cos(MET.Phi)", cpp: "MET.Pt * std::cos(MET.Phi)", near: true},
	// Particles.
	{ours: "deltaPhi(Phi, MET.Phi)", cpp: "DeltaPhi(Phi, MET.Phi)", histogram: [3]float64{32, -4, 4}},
	{ours: "deltaR(Eta, Phi, 0.5, X)", cpp: "DeltaR(Eta, check::Vec(Eta.size(), 0.5), Phi, check::Vec(Eta.size(), X))"},
	{ours: "deltaR2(Eta, Phi, 0.5, X)", cpp: "DeltaR2(Eta, check::Vec(Eta.size(), 0.5), Phi, check::Vec(Eta.size(), X))"},
	{ours: "let c = combinations(Pt); mass(Pt[c[0]], Eta[c[0]], Phi[c[0]], M[c[0]], Pt[c[1]], Eta[c[1]], Phi[c[1]], M[c[1]])", near: true, histogram: [3]float64{40, 0, 120},
		cpp: "auto c = check::pairs(Pt); return InvariantMasses(Take(Pt, c[0]), Take(Eta, c[0]), Take(Phi, c[0]), Take(M, c[0]), Take(Pt, c[1]), Take(Eta, c[1]), Take(Phi, c[1]), Take(M, c[1]));"},
	{ours: "mass(Pt[0], Eta[0], Phi[0], M[0], Pt[1], Eta[1], Phi[1], M[1])", near: true,
		cpp: "check::at(Pt.size() < 2 ? check::Vec{} : InvariantMasses(Take(Pt, 1), Take(Eta, 1), Take(Phi, 1), Take(M, 1), check::Vec{Pt[1]}, check::Vec{Eta[1]}, check::Vec{Phi[1]}, check::Vec{M[1]}), 0)"},
	{ours: "mass(Pt, Eta, Phi, M)", cpp: "InvariantMass(Pt, Eta, Phi, M)", near: true,
		where: [2]string{"len(Pt) > 1", "Pt.size() > 1"}, histogram: [3]float64{40, 0, 240}},
	{ours: "restMass(X, Y, F, 20)", cpp: "ROOT::Math::PxPyPzEVector(X, Y, F, 20).mass()", near: true},
	{ours: "px(Pt, Phi)", cpp: "Pt * cos(Phi)", near: true},
	{ours: "py(Pt, Phi)", cpp: "Pt * sin(Phi)", near: true},
	{ours: "pz(Pt, Eta)", cpp: "Pt * sinh(Eta)", near: true},
	{ours: "energy(Pt, Eta, M)", cpp: "sqrt(Pt * Pt * cosh(Eta) * cosh(Eta) + M * M)", near: true},
	{ours: "pt(X, Y)", cpp: "ROOT::Math::PxPyPzEVector(X, Y, F, 20).pt()", near: true},
	{ours: "eta(X, Y, F)", cpp: "ROOT::Math::PxPyPzEVector(X, Y, F, 20).eta()", near: true},
	{ours: "phi(X, Y)", cpp: "ROOT::Math::PxPyPzEVector(X, Y, F, 20).phi()", near: true},
	// Arrays.
	{ours: "argmax(Pt)", cpp: "check::at(ROOT::VecOps::RVec<std::int64_t>(Pt.empty() ? 0 : 1, ArgMax(Pt)), 0)"},
	{ours: "argmin(V)", cpp: "check::at(ROOT::VecOps::RVec<std::int64_t>(V.empty() ? 0 : 1, ArgMin(V)), 0)"},
	{ours: "argsort(V)", cpp: "check::integers(StableArgsort(V))"},
	{ours: "Pt[argsort(-Pt)]", cpp: "Reverse(Sort(Pt))"},
	{ours: "take(Pt, reverse(argsort(Pt))[:2])", cpp: "Take(Reverse(Sort(Pt)), std::min(Pt.size(), std::size_t(2)))"},
	{ours: "combinations(Pt)", cpp: "auto c = check::pairs(Pt); return ROOT::VecOps::RVec<ROOT::VecOps::RVec<std::int64_t>>{check::integers(c[0]), check::integers(c[1])};"},
	{ours: "combinations(Pt, V)", cpp: "auto c = Combinations(Pt, V); return ROOT::VecOps::RVec<ROOT::VecOps::RVec<std::int64_t>>{check::integers(c[0]), check::integers(c[1])};"},
	{ours: "sort(Pt)", cpp: "Sort(Pt)"},
	{ours: "reverse(Pt)", cpp: "Reverse(Pt)"},
	// Order, groups and parts of arrays.
	{ours: "sortBy(Pt, abs(# - 40))", cpp: "Take(Pt, StableArgsort(abs(Pt - 40.0)))", histogram: [3]float64{30, 10, 70}},
	{ours: "map(sortBy(Hits, .Z), .X)", cpp: "Take(Hits.X, StableArgsort(Hits.Z))"},
	{ours: `map(sortBy(Hits, bitand(int(.Z), 1), "desc"), .Z)`,
		cpp: "auto odd = Map(Hits.Z, [](double z) { return -(int(z) & 1); }); return Take(Hits.Z, StableArgsort(odd));"},
	{ours: `sort(V, "desc")`, cpp: "check::wide(Sort(V, [](float x, float y) { return x > y; }))"},
	{ours: "sort(Names)", cpp: "Sort(Names)"},
	{ours: "reverse(Names)", cpp: "Reverse(Names)"},
	{ours: "uniq(V)", cpp: "check::wide(check::unique(V))"},
	{ours: "keys(groupBy(V, floor(#)))", cpp: "check::wide(check::unique(floor(V)))"},
	{ours: "map(groupBy(Q, #), len(.value))",
		cpp: "check::integers(Map(check::unique(Q), [&](int q) { return Sum(Q == q); }))"},
	{ours: "groupBy(Pt, # > 40)[true]",
		cpp: "auto v = Pt[Pt > 40]; return v.empty() ? std::nullopt : std::make_optional(v);"},
	{ours: "sum(groupBy(Pt, # > 40)[false] ?? [])", cpp: "Sum(Pt[Pt <= 40])"},
	{ours: "median(Pt)", cpp: "auto v = Sort(Pt); auto n = v.size(); return check::unless(n == 0, n == 0 ? 0 : n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2);"},
	{ours: "reduce(Pt, #acc - #)",
		cpp: "check::unless(Pt.empty(), Pt.empty() ? 0 : std::accumulate(Pt.begin() + 1, Pt.end(), Pt[0], std::minus<>()))"},
	{ours: "reduce(Pt, #acc * 0.5 + #, X)",
		cpp: "std::accumulate(Pt.begin(), Pt.end(), X, [](double acc, double pt) { return acc * 0.5 + pt; })"},
	{ours: "concat(Pt, Eta, [X])", cpp: "Concatenate(Concatenate(Pt, Eta), check::Vec{X})"},
	{ours: "flatten(Nested)", cpp: "check::Vec all; for (const auto &v : Nested) all = Concatenate(all, check::Vec(v.begin(), v.end())); return all;"},
	{ours: "take(Pt, 2)", cpp: "Take(Pt, std::min(2, int(Pt.size())))"},
	{ours: "take(Pt, [0])",
		cpp: "Pt.empty() ? std::nullopt : std::make_optional(Take(Pt, ROOT::VecOps::RVec<std::size_t>{0}))"},
	{ours: "find(Pt, # > 40)", cpp: "check::at(check::Vec(Pt[Pt > 40]), 0)"},
	{ours: "findLast(Pt, # > 40)", cpp: "check::at(check::Vec(Pt[Pt > 40]), -1)"},
	{ours: "findIndex(Pt, # > 40)", cpp: "check::at(check::integers(Nonzero(Pt > 40)), 0)"},
	{ours: "findLastIndex(Pt, # > 40)", cpp: "check::at(check::integers(Nonzero(Pt > 40)), -1)"},
	{ours: "one(Pt, # > 40) or none(Pt, # > 50)", cpp: "Sum(Pt > 40) == 1 || !Any(Pt > 50)"},
	{ours: "[first(Pt), last(Pt)]", cpp: "ROOT::VecOps::RVec<std::optional<double>>{check::at(Pt, 0), check::at(Pt, -1)}"},
	{ours: "max(X, Y, Pt)", cpp: "Max(Concatenate(check::Vec{X, Y}, Pt))", histogram: [3]float64{30, -10, 70}},
	{ours: "N in -5..5 or U in [3, 4, 200]", cpp: "(N >= -5 && N <= 5) || U == 3 || U == 4 || U == 200"},
	{ours: "sum(0..U)", cpp: "std::int64_t(U) * (U + 1) / 2"},
	// Strings.
	{ours: "upper(Name)", cpp: "TString s(Name); s.ToUpper(); return std::string(s);"},
	{ours: `replace(Name, "e", "xx")`, cpp: `TString s(Name); s.ReplaceAll("e", "xx"); return std::string(s);`},
	{ours: `trim(" " + Name + "  ")`, cpp: `std::string(TString(TString(" " + Name + "  ").Strip(TString::kBoth)))`},
	{ours: `Name endsWith "on" or Name contains "et"`,
		cpp: `TString(Name).EndsWith("on") || TString(Name).Contains("et")`},
	{ours: `Name matches "^(mu|el)[a-z]*n$"`,
		cpp: `TString(Name).Contains(TRegexp("^mu[a-z]*n$")) || TString(Name).Contains(TRegexp("^el[a-z]*n$"))`},
	{ours: `indexOf(Name, "e")`, cpp: `std::int64_t(TString(Name).Index("e"))`},
	{ours: `lastIndexOf(Name, "e")`, cpp: `std::int64_t(TString(Name).Last('e'))`},
	{ours: `split(Name, "e")`,
		cpp: `auto parts = ROOT::Split(Name, "e"); return ROOT::VecOps::RVec<std::string>(parts.begin(), parts.end());`},
	{ours: `join(Names, "-")`, cpp: `ROOT::Join("-", std::vector<std::string>(Names.begin(), Names.end()))`},
	{ours: `Name[1:3] + Name[-2:]`,
		cpp: `std::string(TString(Name)(1, 2)) + std::string(TString(Name)(std::max(0, int(Name.size()) - 2), 2))`},
	{ours: `len(Name) + int(string(N))`, cpp: "std::int64_t(Name.size()) + std::stol(std::to_string(N))"},
	{ours: "Name < Names[0]", cpp: "!Names.empty() && Name < Names[0]"},
	// Elementary functions.
	{ours: "abs(N)", cpp: "std::int64_t(std::abs(N))"},
	{ours: "abs(W) + float(N)", cpp: "abs(check::wide(W)) + double(N)"},
	{ours: "sign(W)", cpp: each("check::sign", "check::wide(W)")},
	{ours: "int(X)", cpp: "std::int64_t(X)"},
	{ours: "floor(W) + 10 * ceil(W) + 100 * round(V) + 1000 * trunc(W)",
		cpp: "floor(check::wide(W)) + 10.0 * ceil(check::wide(W)) + 100.0 * round(check::wide(V)) + 1000.0 * trunc(check::wide(W))"},
	{ours: "fmod(X, Y)", cpp: "std::fmod(X, Y)"},
	{ours: "fmin(V, W)", cpp: "check::each(check::wide(V), check::wide(W), [](double x, double y) { return std::fmin(x, y); })"},
	{ours: "fmax(V, W)", cpp: "check::each(check::wide(V), check::wide(W), [](double x, double y) { return std::fmax(x, y); })"},
	{ours: "sqrt(V)", cpp: "sqrt(check::wide(V))"},
	{ours: "hypot(V, W)", cpp: "hypot(check::wide(V), check::wide(W))", near: true},
	{ours: "pow(V, W)", cpp: "pow(check::wide(V), check::wide(W))", near: true},
	{ours: "atan2(V, W)", cpp: "atan2(check::wide(V), check::wide(W))", near: true},
	{ours: "gamma(V)", cpp: "tgamma(check::wide(V))", near: true},
	{ours: "[isnan(X / 0 * 0), isinf(X / 0), isfinite(X)]",
		cpp: "ROOT::VecOps::RVec<bool>{std::isnan(X / 0 * 0), std::isinf(X / 0), std::isfinite(X)}"},
}

// The other elementary functions have the same names in C++.
func init() {
	for array, names := range map[string]string{
		"Unit": "cbrt exp exp2 expm1 sin cos tan asin acos atan sinh cosh tanh asinh atanh erf erfc",
		"Pt":   "log log2 log10 log1p acosh lgamma",
	} {
		for _, name := range strings.Fields(names) {
			formulas = append(formulas, formulated{ours: name + "(" + array + ")", cpp: each("std::"+name, array), near: true})
		}
	}
}

// textOf returns value i of an Array in the form of the script.
func textOf(a *columnar.Array, i int64) string {
	switch a.Shape {
	case schema.Optional:
		if !a.Valid[i] {
			return "-"
		}
		return textOf(a.Children[0], i)
	case schema.String:
		return string(a.Bytes[a.Offsets[i]:a.Offsets[i+1]])
	case schema.Collection:
		var items []string
		for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
			items = append(items, textOf(a.Children[0], k))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	switch v := reflect.ValueOf(a.Values()).Index(int(i)).Interface().(type) {
	case float64:
		return strconv.FormatFloat(v, 'x', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}

// isBracket reports whether a letter belongs to an array rather than to its items.
func isBracket(r rune) bool { return strings.ContainsRune("[],", r) }

// sameText reports whether two texts are equal, numbers up to a relative difference.
func sameText(a, b string, most float64) bool {
	shape := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return !isBracket(r) })
	}
	x, y := strings.FieldsFunc(a, isBracket), strings.FieldsFunc(b, isBracket)
	if len(x) != len(y) || !slices.Equal(shape(a), shape(b)) {
		return false
	}
	for i := range x {
		f, err1 := strconv.ParseFloat(x[i], 64)
		g, err2 := strconv.ParseFloat(y[i], 64)
		switch {
		case x[i] == y[i]:
		case err1 != nil || err2 != nil:
			return false
		case f == g || math.IsNaN(f) && math.IsNaN(g): // spelt in another way
		case !(math.Abs(f-g) <= most*math.Max(math.Abs(f), math.Abs(g))):
			return false
		}
	}
	return true
}

// fill counts the numbers of a text in the bins of a histogram, as ROOT's TAxis does.
func fill(bins []float64, low, high float64, text string) {
	n := float64(len(bins) - 2)
	for _, s := range strings.FieldsFunc(text, isBracket) {
		x, err := strconv.ParseFloat(s, 64)
		switch {
		case err != nil:
		case x < low:
			bins[0]++
		case !(x < high):
			bins[len(bins)-1]++
		default:
			bins[1+int(n*(x-low)/(high-low))]++
		}
	}
}

// TestExpressions compares expressions with ROOT's RDataFrame: their values in each entry,
// and histograms of them.
func TestExpressions(t *testing.T) {
	needed(t)
	path := expressedFile(t)
	type request struct {
		CPP   string  `json:"cpp"`
		Where string  `json:"where"`
		Bins  int     `json:"bins"`
		Low   float64 `json:"low"`
		High  float64 `json:"high"`
	}
	var requests []request
	for _, f := range formulas {
		requests = append(requests, request{f.cpp, f.where[1], int(f.histogram[0]), f.histogram[1], f.histogram[2]})
	}
	input, err := json.Marshal(requests)
	if err != nil {
		t.Fatal(err)
	}
	var want []struct {
		Values []string
		Bins   []float64
	}
	if err := json.Unmarshal(scriptWith(t, input, "expression_check.py", path, "n"), &want); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.Open(path, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i, f := range formulas {
		values, err := expressedValues(r, f)
		if err != nil {
			t.Errorf("%s: %v", f.ours, err)
			continue
		}
		if len(values) != len(want[i].Values) {
			t.Errorf("%s where %q: %d entries, ROOT has %d", f.ours, f.where[0], len(values), len(want[i].Values))
			continue
		}
		most := 0.0
		if f.near {
			most = 1e-12
		}
		bins, different := make([]float64, len(want[i].Bins)), 0
		for k, v := range values {
			if !sameText(v, want[i].Values[k], most) {
				if different++; different <= 3 {
					t.Errorf("%s, value %d: %s, ROOT has %s", f.ours, k, v, want[i].Values[k])
				}
			}
			if len(bins) > 0 {
				fill(bins, f.histogram[1], f.histogram[2], v)
			}
		}
		if different > 3 {
			t.Errorf("%s: %d of %d values differ", f.ours, different, len(values))
		}
		if !reflect.DeepEqual(bins, want[i].Bins) && len(bins) > 0 {
			t.Errorf("%s: bins %v, ROOT has %v", f.ours, bins, want[i].Bins)
		}
	}
}

// expressedValues returns the values of an expression in the entries for which its
// condition holds.
func expressedValues(r *rntuple.Reader, f formulated) (all []string, err error) {
	texts := []string{f.ours, "true"}
	if f.where[0] != "" {
		texts[1] = f.where[0]
	}
	var parsed []*expression.Expression
	for _, text := range texts {
		e, err := expression.Parse(text)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, e)
	}
	program, err := expression.Compile(r, parsed...)
	if err != nil {
		return nil, err
	}
	for b, err := range program.In(r, rntuple.EntryRange{End: r.NumEntries()}) {
		if err != nil {
			return nil, err
		}
		for i := range int64(b.Len) {
			if textOf(b.Values[1], i) == "true" {
				all = append(all, textOf(b.Values[0], i))
			}
		}
	}
	return all, nil
}

// TestFormulas makes sure that the expressions above have all functions of numbers.
func TestFormulas(t *testing.T) {
	for _, f := range formula.Table {
		called := f.F == nil
		for _, e := range formulas {
			called = called || strings.Contains(" "+e.ours, f.Name+"(")
		}
		if !called {
			t.Errorf("%s is not compared with ROOT", f)
		}
	}
	path := expressedFile(t)
	r, err := rntuple.Open(path, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, f := range formulas {
		if _, err := expressedValues(r, f); err != nil {
			t.Errorf("%s: %v", f.ours, err)
		}
	}
}

// scriptWith runs a script as script does, with input.
func scriptWith(t *testing.T, input []byte, name string, args ...string) []byte {
	t.Helper()
	out, _, err := runWith(bytes.NewReader(input), name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
