package show

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"
)

func TestCat(t *testing.T) {
	// The values are uproot's.
	const (
		fields = "--fields=run,event,HLT_IsoMu24,nMuon,Muon_pt,Muon_charge"
		first  = `{"run":194050,"event":1112,"HLT_IsoMu24":false,"nMuon":2,"Muon_pt":[7.1396484,3.3745117],"Muon_charge":[1,-1]}
{"run":194050,"event":1496,"HLT_IsoMu24":false,"nMuon":2,"Muon_pt":[6.098633,5.236328],"Muon_charge":[1,-1]}
`
		last = `{"run":194125,"event":598313,"HLT_IsoMu24":false,"nMuon":2,"Muon_pt":[11.486328,8.275391],"Muon_charge":[1,-1]}
{"run":194125,"event":598905,"HLT_IsoMu24":false,"nMuon":2,"Muon_pt":[42.96875,42.070312],"Muon_charge":[1,-1]}
`
	)
	clitest.Compare(t, tool.RNT(t, "cat", dimuon, fields, "--count", "2"), first)
	clitest.Compare(t, tool.RNT(t, "head", dimuon, "Events", fields, "-n", "2"), first)
	clitest.Compare(t, tool.RNT(t, "cat", dimuon, fields, "--first", "79998"), last)
	clitest.Compare(t, tool.RNT(t, "cat", dimuon, fields, "--first", "79998", "--count", "99999999999"), last)
	for _, none := range [][]string{{"--first", "80000"}, {"--count", "0"}} {
		clitest.Compare(t, tool.RNT(t, append([]string{"cat", dimuon}, none...)...), "")
	}
	if n := strings.Count(tool.RNT(t, "head", dimuon), "\n"); n != 10 {
		t.Errorf("head prints %d lines", n)
	}
	if n := strings.Count(tool.RNT(t, "cat", dimuon, "--fields", "run"), "\n"); n != 80000 {
		t.Errorf("cat prints %d lines", n)
	}
	// Members are named by the paths that were asked for.
	clitest.Compare(t, tool.RNT(t, "cat", dimuon, "--first=79999", "-f", "_collection0.Muon_charge,run"),
		`{"_collection0.Muon_charge":[1,-1],"run":194125}`+"\n")
}

// However the entries are cut into batches, it is the same text.
func TestCatParts(t *testing.T) {
	lines := strings.SplitAfter(tool.RNT(t, "cat", dimuon, "-f", "event,Muon_eta"), "\n")
	for _, part := range [][2]int{{0, 8001}, {7990, 20}, {23999, 2}, {70000, 10000}} {
		first, n := part[0], part[1]
		got := tool.RNT(t, "cat", dimuon, "-f", "event,Muon_eta", "--first", strconv.Itoa(first), "--count", strconv.Itoa(n))
		if want := strings.Join(lines[first:first+n], ""); got != want {
			t.Errorf("%d entries from %d on: got %d bytes, want %d", n, first, len(got), len(want))
		}
	}
}

func TestCatShared(t *testing.T) {
	const name = "test_stl_containers_rntuple_v1-0-0-0.root"
	clitest.Compare(t, tool.RNT(t, "head", clitest.Shared(t, shared, name), "-n2"), `{"string":"one","vector_int32":[1],"array_float":[1,1,1],"vector_vector_int32":[[1]],"vector_string":["one"],"vector_vector_string":[["one"]],"variant_int32_string":1,"vector_variant_int64_string":["one"],"tuple_int32_string":[1,"one"],"pair_int32_string":[1,"one"],"vector_tuple_int32_string":[[1,"one"]],"lorentz_vector":{"pt":1,"eta":1,"phi":1,"mass":1},"array_lv":[{"pt":1,"eta":1,"phi":1,"mass":1},{"pt":1,"eta":1,"phi":1,"mass":1},{"pt":1,"eta":1,"phi":1,"mass":1}]}
{"string":"two","vector_int32":[1,2],"array_float":[2,2,2],"vector_vector_int32":[[1],[2]],"vector_string":["one","two"],"vector_vector_string":[["one"],["two"]],"variant_int32_string":"two","vector_variant_int64_string":["one",2],"tuple_int32_string":[2,"two"],"pair_int32_string":[2,"two"],"vector_tuple_int32_string":[[1,"one"],[2,"two"]],"lorentz_vector":{"pt":2,"eta":2,"phi":2,"mass":2},"array_lv":[{"pt":2,"eta":2,"phi":2,"mass":2},{"pt":2,"eta":2,"phi":2,"mass":2},{"pt":2,"eta":2,"phi":2,"mass":2}]}
`)
	clitest.Compare(t, tool.RNT(t, "cat", clitest.Shared(t, shared, "test_emptystruct_invalidvar_rntuple_v1-0-0-0.root")),
		""+
			`{"empty_struct":{},"variant":1}`+"\n"+`{"empty_struct":{},"variant":null}`+"\n"+`{"empty_struct":{},"variant":{"i":2}}`+"\n")
	clitest.Compare(t, tool.RNT(t, "cat", clitest.Shared(t, shared, "test_int_multicluster_rntuple_v1-0-0-0.root"),
		"--first", "99999999"), `{"one_integers":1}`+"\n")
}

func TestCatDirectories(t *testing.T) {
	for name, entries := range map[string]int{"top": 9, "top;1": 5, "top;2": 9, "dir/sub/ntuple": 7,
		"dir/other": 3, "dir/top": 2} {
		if n := strings.Count(tool.RNT(t, "cat", special+"dirs.root", name), "\n"); n != entries {
			t.Errorf("%s: %d lines, want %d", name, n, entries)
		}
	}
	if n := strings.Count(tool.RNT(t, "cat", special+"dirs.root"), "\n"); n != 9 { // the one at the top level
		t.Errorf("%d lines, want 9", n)
	}
}

// Negative zero has its sign and a point wherever it occurs, because readers of JSON
// take -0 for an integer; create keeps the sign, also that of -0.
func TestCatNegativeZero(t *testing.T) {
	fields := `{"name": "half", "type": "float", "columns": [[{"type": "Real16"}]]}`
	in, want := `{"half":-0`, `{"half":-0.0`
	for i, f := range []struct{ of, in, want string }{
		{"float", "-0", "-0.0"}, {"double", "-0.0", "-0.0"}, {"Double32_t", "-0e0", "-0.0"},
		{"std::vector<float>", "[0,-0,1]", "[0,-0.0,1]"}, {"std::array<double,2>", "[-0,0]", "[-0.0,0]"},
		{"std::optional<double>", "-0", "-0.0"}, {"std::variant<std::int32_t,float>", "-0", "-0.0"},
		{"std::pair<float,std::int8_t>", "[-0,-0]", "[-0.0,0]"}, {"std::map<std::string,double>", `{"k":-0}`, `{"k":-0.0}`},
	} {
		name := string(rune('a' + i))
		fields += fmt.Sprintf(`, {"name": %q, "type": %q}`, name, f.of)
		in, want = fmt.Sprintf("%s,%q:%s", in, name, f.in), fmt.Sprintf("%s,%q:%s", want, name, f.want)
	}
	for range 2 {
		file := clitest.Made(t, "zeros", fields, in+"}\n")
		got := tool.RNT(t, "cat", file)
		clitest.Compare(t, got, want+"}\n")
		in = strings.TrimSuffix(got, "}\n")
	}
}
