package interop

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/value"
)

// defined are fields that this library and ROOT define, with the same values.
var defined = []struct{ field, root string }{
	{"n = len(Muon_pt)", "(std::int64_t)Muon_pt.size()"},
	{"n8:std::uint8_t = 3 * nMuon", "(std::uint8_t)(3 * Muon_pt.size())"},
	{"lead:float = Muon_pt[0] ?? -1.0", "Muon_pt.size() > 0 ? Muon_pt[0] : -1.f"},
	{"total = sum(Muon_pt)", "Sum(ROOT::VecOps::RVec<double>(Muon_pt))"},
	{"twice = Muon_pt * 2", "2. * ROOT::VecOps::RVec<double>(Muon_pt)"},
	{"near:std::vector<float> = filter(Muon_eta, abs(#) < 1)", "Muon_eta[abs(Muon_eta) < 1]"},
	{"positive = map(Muon_charge, # > 0)", "ROOT::VecOps::RVec<bool>(Muon_charge > 0)"},
	{"hard = any(Muon_pt, # > 30)", "Any(Muon_pt > 30)"},
	{"pair = sqrt(2 * Muon_pt[0] * Muon_pt[1] * (cosh(Muon_eta[0] - Muon_eta[1]) - cos(Muon_phi[0] - Muon_phi[1]))) ?? 0.0",
		"Muon_pt.size() < 2 ? 0. : std::sqrt(2. * Muon_pt[0] * Muon_pt[1] * (std::cosh((double)Muon_eta[0] - Muon_eta[1]) - std::cos((double)Muon_phi[0] - Muon_phi[1])))"},
	{"wide:double = nMuon", "(double)Muon_pt.size()"},
	{"charges:std::vector<float> = Muon_charge", "ROOT::VecOps::RVec<float>(Muon_charge)"},
	{"rvec:ROOT::RVec<std::int8_t> = reverse(Muon_charge)", "ROOT::VecOps::RVec<std::int8_t>(Reverse(Muon_charge))"},
	{"fixed:array<float,2> = [Muon_pt[0] ?? -1.0, Muon_pt[-1] ?? -1.0]",
		"std::array<float, 2>{Muon_pt.size() > 0 ? Muon_pt[0] : -1.f, Muon_pt.size() > 0 ? Muon_pt[Muon_pt.size() - 1] : -1.f}"},
	{"nested:vector<vector<float>> = [Muon_pt, Muon_eta]",
		"std::vector<std::vector<float>>{std::vector<float>(Muon_pt.begin(), Muon_pt.end()), std::vector<float>(Muon_eta.begin(), Muon_eta.end())}"},
	{`word = nMuon > 2 ? "many" : "few"`, `std::string(Muon_pt.size() > 2 ? "many" : "few")`},
}

// TestDefine compares skims with defined fields, entry by entry, with what RDataFrame's Define,
// Filter and Snapshot write, and with what ROOT reads of them.
func TestDefine(t *testing.T) {
	needed(t)
	dir := t.TempDir()
	ours, theirs := filepath.Join(dir, "ours.root"), filepath.Join(dir, "theirs.root")
	const in = "../../testdata/dimuon.root"
	plan := map[string]any{"in": in, "filter": "n8 > 6 || Muon_pt.size() == 2 && Muon_charge[0] == Muon_charge[1]",
		"keep": []string{"run", "event"}, "out": theirs, "ours": ours}
	var texts []string
	var define [][2]string
	for _, d := range defined {
		f, err := expression.ParseField(d.field)
		if err != nil {
			t.Fatal(err)
		}
		texts, define = append(texts, d.field), append(define, [2]string{f.Name, d.root})
	}
	plan["define"] = define
	fields, err := expression.ParseFields(texts...)
	if err != nil {
		t.Fatal(err)
	}
	condition, err := expression.Parse("n8 > 6 || Muon_charge[0] == Muon_charge[1] && nMuon == 2")
	if err != nil {
		t.Fatal(err)
	}
	report, err := surgery.Skim(t.Context(), ours, []surgery.Input{{Path: in}},
		condition.With(fields.Definitions()...).Condition(),
		&surgery.SkimOptions{Keep: []string{"run", "event"}, Define: []surgery.Definition{surgery.DefineColumns(fields)}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(plan)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "plan.json"), b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Entries int64
		Columns map[string][]any
	}
	if err := json.Unmarshal(script(t, "define.py", filepath.Join(dir, "plan.json")), &read); err != nil {
		t.Fatal(err)
	}
	mine, root := recordsIn(t, ours), recordsIn(t, theirs)
	if int64(len(mine)) != report.Entries || len(root) != len(mine) || read.Entries != report.Entries || len(mine) < 1000 {
		t.Fatalf("%d entries, ROOT writes %d, and reads %d", len(mine), len(root), read.Entries)
	}
	for i, r := range mine {
		for k, name := range r.Names {
			if !nearly(root[i], name, r.Values[k]) {
				t.Fatalf("entry %d: %s is %v, ROOT writes %v", i, name, r.Values[k], root[i])
			}
			if got, want := fmt.Sprint(inJSON(read.Columns[name][i])), fmt.Sprint(inJSON(r.Values[k])); got != want {
				t.Fatalf("entry %d: ROOT reads %s as %s, expected %s", i, name, got, want)
			}
		}
	}
}

// TestDefineMissing has ROOT read defined fields of types that RDataFrame cannot read, with what is
// missing in them.
func TestDefineMissing(t *testing.T) {
	needed(t)
	in, out := filepath.Join(t.TempDir(), "in.root"), filepath.Join(t.TempDir(), "out.root")
	w, err := rntuple.Create[struct {
		N int32
		V [][]float32
	}](in, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	for n, v := range [][][]float32{{}, {{1.5}, {2.5, 3.5}}, {{}}} {
		w.Write(&struct {
			N int32
			V [][]float32
		}{int32(n), v})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	fields, err := expression.ParseFields("o:optional<float> = V[0][0]", "v = V[1]",
		"w:vector<optional<array<float,2>>> = map(V, len(#) == 2 ? # : nil)",
		"u:unique_ptr<std::int8_t> = N > 0 ? N : nil", "s = N < 2 ? string(N) : nil",
		"a:optional<array<bool,2>> = N == 1 ? [true, N > 1] : nil",
		"i:ROOT::RVec<optional<int>> = [N, len(V[0])]")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := surgery.Slim(t.Context(), out, surgery.Input{Path: in},
		&surgery.SlimOptions{Drop: []string{"V"}, Define: []surgery.Definition{surgery.DefineColumns(fields)}}); err != nil {
		t.Fatal(err)
	}
	sameEntries(t, "out", rootViews(t, out+":n")[0],
		`{"N":0,"o":null,"v":null,"w":[],"u":null,"s":"0","a":null,"i":[0,null]}`,
		`{"N":1,"o":1.5,"v":[2.5,3.5],"w":[null,[2.5,3.5]],"u":1,"s":"1","a":[true,false],"i":[1,1]}`,
		`{"N":2,"o":null,"v":null,"w":[null],"u":2,"s":null,"a":null,"i":[2,0]}`)
}

func recordsIn(t *testing.T, path string) (all []value.Record) {
	t.Helper()
	r, err := rntuple.Open(path, "Events", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	view, err := rntuple.RecordsOf(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range view.All() {
		all = append(all, e)
	}
	if view.Err() != nil {
		t.Fatal(view.Err())
	}
	return all
}

// nearly reports whether the member of a record is equal to a value. Of doubles, the last bits
// may differ, because the elementary functions of two libraries do; where two muons are close,
// the difference of two such values leaves few bits of the square of their mass.
func nearly(r value.Record, name string, v any) bool {
	for i, n := range r.Names {
		if n != name {
			continue
		}
		if x, ok := v.(float64); ok {
			y, ok := r.Values[i].(float64)
			return ok && math.Abs(x*x-y*y) <= 1e-10*max(1, x*x)
		}
		return reflect.DeepEqual(r.Values[i], v)
	}
	return false
}

// inJSON returns a value as define.py prints it, with floats as numbers.
func inJSON(v any) any {
	switch v := v.(type) {
	case []any:
		all := []any{}
		for _, item := range v {
			all = append(all, inJSON(item))
		}
		return all
	case float32:
		return float64(v)
	case string:
		if x, err := strconv.ParseFloat(v, 64); err == nil {
			return x
		}
	case float64:
		return v
	case int32, uint32, uint64, int64, uint8:
		return reflect.ValueOf(v).Convert(reflect.TypeFor[float64]()).Interface()
	}
	return v
}
