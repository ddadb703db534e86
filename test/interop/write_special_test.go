package interop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// A rootView is what ROOT reports about an RNTuple, see written_check.py.
type rootView struct {
	Entries          []map[string]any
	Columns          []string // "field type bits elements first representation"
	Clusters, Groups int
	Description      string
	Attributes       map[string][]attributeRange // by set
}

type attributeRange struct {
	Start, Len int64
	Data       map[string]any
}

// rootViews has ROOT read RNTuples, each "path:name", or only report their columns
// or attributes, if the first argument is "--columns" or "--attributes". ROOT must
// print no message, except that attributes are experimental.
func rootViews(t *testing.T, ntuples ...string) []rootView {
	t.Helper()
	out, stderr, err := run("written_check.py", ntuples...)
	if err != nil {
		t.Fatal(err)
	}
	stderr = experimental.ReplaceAll(stderr, nil)
	if len(stderr) > 0 {
		t.Errorf("ROOT says of %v:\n%s", ntuples, stderr)
	}
	var views []rootView
	for line := range bytes.Lines(out) {
		var v rootView
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		views = append(views, v)
	}
	wanted := len(ntuples)
	if strings.HasPrefix(ntuples[0], "--") {
		wanted--
	}
	if len(views) != wanted {
		t.Fatalf("ROOT has read %d RNTuples of %d", len(views), wanted)
	}
	return views
}

// experimental matches the message that ROOT prints whenever attributes are read.
var experimental = regexp.MustCompile(`(?m)^Warning in <[^\n]*RNTuple Attributes are experimental[^\n]*\n`)

// sameEntries compares the entries that ROOT has read with JSON.
func sameEntries(t *testing.T, name string, got rootView, want ...string) {
	t.Helper()
	if len(got.Entries) != len(want) {
		t.Errorf("%s: ROOT reads %d entries, want %d", name, len(got.Entries), len(want))
	}
	for i := range min(len(want), len(got.Entries)) {
		var w map[string]any
		if err := json.Unmarshal([]byte(want[i]), &w); err != nil {
			t.Fatalf("%s: %v", want[i], err)
		}
		if !reflect.DeepEqual(got.Entries[i], w) {
			have, _ := json.Marshal(got.Entries[i])
			t.Errorf("%s: ROOT reads entry %d as\n\t%.1000s\nwant\n\t%.1000s", name, i, have, want[i])
			return
		}
	}
}

// fieldOf returns a field of a type, after changes.
func fieldOf(t *testing.T, name, typ string, change ...func(*schema.FieldDocument)) *schema.FieldDocument {
	t.Helper()
	f, err := schema.FieldOf(name, typ)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(f)
	}
	return f
}

func viewOn(source string) func(*schema.FieldDocument) {
	return func(f *schema.FieldDocument) { f.Source = source }
}

// A recorder writes entries of dynamic values.
type recorder struct {
	t     *testing.T
	w     *rntuple.Writer[value.Record]
	names []string
}

func (r *recorder) put(values ...any) {
	r.t.Helper()
	r.check(r.w.Write(&value.Record{Names: r.names, Values: values}))
}

func (r *recorder) check(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func record(t *testing.T, path, name string, names string, doc []*schema.FieldDocument,
	opts *rntuple.WriteOptions) *recorder {
	t.Helper()
	w, err := rntuple.CreateRecords(path, name,
		&schema.Document{Name: name[strings.LastIndexByte(name, '/')+1:], Fields: doc}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return &recorder{t, w, strings.Fields(names)}
}

// TestWriteLate adds fields, plain and projected, while writing.
func TestWriteLate(t *testing.T) {
	needed(t)
	for _, setting := range []compress.Settings{505, compress.None} {
		path := filepath.Join(t.TempDir(), "late.root")
		r := record(t, path, "late", "x v", []*schema.FieldDocument{fieldOf(t, "x", "std::int32_t"),
			fieldOf(t, "v", "std::vector<std::int32_t>")}, &rntuple.WriteOptions{Compression: setting})
		r.put(int32(1), []any{})
		r.check(r.w.CommitCluster())
		r.put(int32(2), []any{int32(7)})
		r.put(int32(3), []any{})
		r.check(r.w.Extend(
			fieldOf(t, "a", "std::array<std::int32_t,2>"), fieldOf(t, "f", "std::vector<float>"), fieldOf(t, "s", "std::string"),
			fieldOf(t, "o", "std::optional<std::int32_t>"), fieldOf(t, "b", "std::bitset<3>"),
			fieldOf(t, "x2", "std::int32_t", viewOn("x")),
			fieldOf(t, "n", "ROOT::RNTupleCardinality<std::uint32_t>", viewOn("v"))))
		r.names = append(r.names, "a", "f", "s", "o", "b")
		r.put(int32(4), []any{int32(8), int32(9)}, []any{int32(5), int32(6)}, []any{float32(1.5)}, "late", int32(42),
			value.Bits{true, false, true})
		r.check(r.w.CommitClusterGroup())
		r.put(int32(5), []any{}, []any{int32(7), int32(8)}, []any{}, "", nil, value.Bits{false, false, true})
		r.check(r.w.Extend(fieldOf(t, "last", "double"),
			fieldOf(t, "k", "ROOT::RNTupleCardinality<std::uint64_t>", viewOn("f"))))
		r.names = append(r.names, "last")
		r.put(int32(6), []any{int32(1)}, []any{int32(9), int32(10)}, []any{float32(2.5), float32(3.5)}, "end", nil,
			value.Bits{true, true, true}, 0.25)
		r.check(r.w.Close())

		v := rootViews(t, path+":late")[0]
		sameEntries(t, "late", v,
			`{"x":1,"v":[],"a":[0,0],"f":[],"s":"","o":null,"b":"000","x2":1,"n":0,"last":0,"k":0}`,
			`{"x":2,"v":[7],"a":[0,0],"f":[],"s":"","o":null,"b":"000","x2":2,"n":1,"last":0,"k":0}`,
			`{"x":3,"v":[],"a":[0,0],"f":[],"s":"","o":null,"b":"000","x2":3,"n":0,"last":0,"k":0}`,
			`{"x":4,"v":[8,9],"a":[5,6],"f":[1.5],"s":"late","o":42,"b":"101","x2":4,"n":2,"last":0,"k":1}`,
			`{"x":5,"v":[],"a":[7,8],"f":[],"s":"","o":null,"b":"100","x2":5,"n":0,"last":0,"k":0}`,
			`{"x":6,"v":[1],"a":[9,10],"f":[2.5,3.5],"s":"end","o":null,"b":"111","x2":6,"n":1,"last":0.25,"k":2}`)
		if v.Clusters != 3 || v.Groups != 2 {
			t.Errorf("ROOT finds %d clusters in %d groups", v.Clusters, v.Groups)
		}
	}
}

// TestWriteRepresentations writes a field in several representations.
func TestWriteRepresentations(t *testing.T) {
	needed(t)
	path := filepath.Join(t.TempDir(), "multi.root")
	columns := func(all ...[]schema.ColumnDocument) func(*schema.FieldDocument) {
		return func(f *schema.FieldDocument) { f.Columns = all }
	}
	column := func(name string, bits int) []schema.ColumnDocument {
		var c schema.ColumnDocument
		if err := json.Unmarshal(fmt.Appendf(nil, `{"type":%q,"bits":%d}`, name, bits), &c); err != nil {
			t.Fatal(err)
		}
		return []schema.ColumnDocument{c}
	}
	r := record(t, path, "multi", "x v s", []*schema.FieldDocument{
		fieldOf(t, "x", "double", columns(column("Real32Trunc", 12), column("SplitReal64", 64), column("Real16", 16))),
		fieldOf(t, "v", "std::vector<std::int32_t>", columns(column("SplitIndex64", 64), column("Index32", 32))),
		fieldOf(t, "s", "std::string"),
	}, nil)
	// Real32Trunc comes first: ROOT takes the number of bits of all representations
	// from the first one.
	r.put(0.5, []any{int32(1)}, "one")
	r.put(2.0, []any{}, "two")
	r.check(r.w.Use("x", 1))
	r.put(0.1, []any{int32(2), int32(3)}, "three")
	r.check(r.w.Use("v", 1))
	r.check(r.w.Use("x", 2))
	r.put(4.5, []any{int32(4)}, "four")
	r.put(5.5, []any{}, "five")
	r.check(r.w.Use("x", 0))
	r.put(0.25, []any{int32(5), int32(6)}, "six")
	r.check(r.w.Close())
	v := rootViews(t, path+":multi")[0]
	sameEntries(t, "multi", v, `{"x":0.5,"v":[1],"s":"one"}`, `{"x":2,"v":[],"s":"two"}`,
		`{"x":0.1,"v":[2,3],"s":"three"}`,
		`{"x":4.5,"v":[4],"s":"four"}`, `{"x":5.5,"v":[],"s":"five"}`, `{"x":0.25,"v":[5,6],"s":"six"}`)
}

// TestWriteChunks writes keys so small that pages and envelopes need several. (ROOT
// crashes if the list of chunks does not fit into the first one.)
func TestWriteChunks(t *testing.T) {
	needed(t)
	dir := t.TempDir()
	var ntuples []string
	var want [][]string
	for setting, size := range map[int]int64{0: 900, 505: 600, 404: 700} {
		doc := []*schema.FieldDocument{fieldOf(t, "b", "std::vector<std::uint8_t>")}
		for i := range 12 {
			doc = append(doc, fieldOf(t, fmt.Sprint("a_rather_long_field_name_which_makes_the_header_larger_", i), "double"))
		}
		var names []string
		for _, f := range doc {
			names = append(names, f.Name)
		}
		path := filepath.Join(dir, fmt.Sprintf("chunks_%d.root", setting))
		r := record(t, path, "chunks", strings.Join(names, " "), doc,
			&rntuple.WriteOptions{Compression: settingOf(setting), MaxKeySize: size, MaxUnzippedPageSize: 8192})
		var lines []string
		state := uint32(setting)
		for i := range 60 {
			// stored sizes around the limit and multiples of it
			n := size - 30 + int64(i)
			if i >= 55 {
				n = size*int64(i-53) + int64(i)
			}
			bytes := make([]any, n)
			for k := range bytes {
				state = state*1664525 + 1013904223
				bytes[k] = byte(state >> 24) // incompressible
			}
			values := []any{bytes}
			for k := range 12 {
				values = append(values, float64(i*k)/4)
			}
			r.put(values...)
			if i%3 == 0 {
				r.check(r.w.CommitCluster())
			}
			line, err := json.Marshal(entryOf(names, values))
			r.check(err)
			lines = append(lines, string(line))
		}
		r.check(r.w.Close())
		ntuples, want = append(ntuples, path+":chunks"), append(want, lines)
	}
	for i, v := range rootViews(t, ntuples...) {
		sameEntries(t, ntuples[i], v, want[i]...)
	}
}

func entryOf(names []string, values []any) map[string]any {
	m := map[string]any{}
	for i, name := range names {
		m[name] = values[i]
	}
	return m
}

// TestWriteSeveral writes RNTuples at the same time and one after the other, in
// directories, and one name twice.
func TestWriteSeveral(t *testing.T) {
	needed(t)
	path := filepath.Join(t.TempDir(), "several.root")
	f, err := rntuple.CreateFile(path, nil)
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(err)
	type entry struct{ X int32 }
	begin := func(name string, opts *rntuple.WriteOptions) *rntuple.Writer[entry] {
		w, err := rntuple.NewWriter[entry](f, name, opts)
		check(err)
		return w
	}
	one, two := begin("a/b/one", nil), begin("two", &rntuple.WriteOptions{Compression: compress.None})
	for i := range int32(5) {
		check(one.Write(&entry{i}))
		check(two.Write(&entry{10 * i}))
		if i == 2 {
			check(one.CommitCluster())
		}
	}
	check(one.Close())
	three := begin("a/three", &rntuple.WriteOptions{Compression: 404, NoChecksums: true})
	check(three.Write(&entry{33}))
	check(two.Close())
	check(three.Close())
	again := begin("two", &rntuple.WriteOptions{Description: "the second of its name"})
	check(again.Write(&entry{77}))
	check(again.Close())
	check(f.Close())
	views := rootViews(t, path+":a/b/one", path+":two;1", path+":a/three", path+":two;2", path+":two")
	sameEntries(t, "one", views[0], `{"X":0}`, `{"X":1}`, `{"X":2}`, `{"X":3}`, `{"X":4}`)
	sameEntries(t, "two;1", views[1], `{"X":0}`, `{"X":10}`, `{"X":20}`, `{"X":30}`, `{"X":40}`)
	sameEntries(t, "three", views[2], `{"X":33}`)
	sameEntries(t, "two;2", views[3], `{"X":77}`)
	sameEntries(t, "two", views[4], `{"X":77}`)
	if views[4].Description != "the second of its name" || views[0].Clusters != 2 {
		t.Errorf("ROOT finds the description %q and %d clusters", views[4].Description, views[0].Clusters)
	}
}

// TestWriteCheckpoints has ROOT read files after a checkpoint.
func TestWriteCheckpoints(t *testing.T) {
	needed(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "checkpoints.root")
	type entry struct {
		X int32
		S string
	}
	w, err := rntuple.Create[entry](path, "sub/n", nil)
	if err != nil {
		t.Fatal(err)
	}
	var ntuples, lines []string
	for i := range 4 {
		for k := range 3 {
			e := entry{int32(10*i + k), fmt.Sprint("s", k)}
			if err := w.Write(&e); err != nil {
				t.Fatal(err)
			}
			line, _ := json.Marshal(e)
			lines = append(lines, string(line))
		}
		if i == 3 {
			err = w.Close()
		} else {
			err = w.Checkpoint()
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		saved := filepath.Join(dir, fmt.Sprintf("checkpoint_%d.root", i))
		if err := os.WriteFile(saved, b, 0o666); err != nil {
			t.Fatal(err)
		}
		ntuples = append(ntuples, saved+":sub/n")
	}
	for i, v := range rootViews(t, ntuples...) {
		sameEntries(t, ntuples[i], v, lines[:3*(i+1)]...)
	}
}

// TestWriteStructs has ROOT read entries of a Go type, with tags of all kinds.
func TestWriteStructs(t *testing.T) {
	needed(t)
	type point struct {
		X float32
		Y float64 `rntuple:"Y,encoding=SplitReal32"`
	}
	type entry struct {
		Run    uint32 `rntuple:"run,desc=the run"`
		OK     bool
		Name   string
		Pt     []float32 `rntuple:"pt,trunc=16"`
		Eta    float32   `rntuple:"eta,quant=8,min=0,max=255"`
		Grid   [2][3]int16
		Opt    *int64
		Ptr    *string `rntuple:"ptr,type=std::unique_ptr<std::string>"`
		Map    map[string]int32
		Points []point
		Vertex point    `rntuple:"vertex,class=WrittenPoint"`
		Bits   [10]bool `rntuple:"bits,type=std::bitset<10>"`
		Var    any      `rntuple:"var,type=std::variant<std::int32_t,std::string>"`
		Char   int8     `rntuple:"char,type=char"`
		Byte   byte     `rntuple:"byte,type=std::byte"`
		Color  int32    `rntuple:"color,enum=WrittenColor"`
		Nested [][]string
	}
	path := filepath.Join(t.TempDir(), "structs.root")
	w, err := rntuple.Create[entry](path, "n", &rntuple.WriteOptions{Description: "structs"})
	if err != nil {
		t.Fatal(err)
	}
	n, s := int64(-5), "pointed to"
	for _, e := range []entry{
		{Run: 7, OK: true, Name: "a name, é", Pt: []float32{0.5, 1.5}, Eta: 17,
			Grid: [2][3]int16{{1, 2, 3}, {4, 5, 6}}, Opt: &n, Ptr: &s,
			Map: map[string]int32{"b": 1, "a": 0}, Points: []point{{1, 2}, {3, 4}}, Vertex: point{5, 6},
			Bits: [10]bool{0: true, 9: true}, Var: "text",
			Char: 'c', Byte: 200, Color: -3, Nested: [][]string{{"x"}, {}, {"y", "z"}}},
		{Var: int32(9)},
	} {
		if err := w.Write(&e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	v := rootViews(t, path+":n")[0]
	// ROOT does not print variants; it reads them in TestWriteTypes.
	sameEntries(t, "structs", v,
		`{"run":7,"OK":true,"Name":"a name, é","pt":[0.5,1.5],"eta":17,"Grid":[[1,2,3],[4,5,6]],"Opt":-5,"ptr":"pointed to",
		"Map":[{"_0":"a","_1":0},{"_0":"b","_1":1}],"Points":[{"X":1,"Y":2},{"X":3,"Y":4}],"vertex":{"X":5,"Y":6},"bits":"1000000001","var":"<unsupported type: std::variant<std::int32_t,std::string>>",
		"char":"c","byte":"0xc8","color":-3,"Nested":[["x"],[],["y","z"]]}`,
		`{"run":0,"OK":false,"Name":"","pt":[],"eta":0,"Grid":[[0,0,0],[0,0,0]],"Opt":null,"ptr":null,
		"Map":[],"Points":[],"vertex":{"X":0,"Y":0},"bits":"0000000000","var":"<unsupported type: std::variant<std::int32_t,std::string>>",
		"char":"\u0000","byte":"0x00","color":0,"Nested":[]}`)
}

// TestWriteAttributes writes attribute sets.
func TestWriteAttributes(t *testing.T) {
	needed(t)
	type entry struct{ X int32 }
	type first struct {
		Name string    `rntuple:"name"`
		Vec  []float32 `rntuple:"vec"`
	}
	type second struct {
		Num int64 `rntuple:"num"`
	}
	path := filepath.Join(t.TempDir(), "attributes.root")
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w, err := rntuple.Create[entry](path, "main", nil)
	check(err)
	a, err := rntuple.NewAttributes[first](w, "first", nil)
	check(err)
	b, err := rntuple.NewAttributes[second](w, "second", nil)
	check(err)
	for i := range int32(10) {
		check(w.Write(&entry{i}))
		if i == 5 {
			check(w.CommitCluster())
		}
	}
	check(a.Write(rntuple.EntryRange{End: 3}, first{"zero to two", []float32{1, 2.5}}))
	check(a.Write(rntuple.EntryRange{First: 5, End: 7}, first{"five and six é", nil}))
	check(a.Write(rntuple.EntryRange{First: 3, End: 7}, first{"three to six", []float32{-1}}))
	check(a.Write(rntuple.EntryRange{First: 7, End: 7}, first{"empty range", nil}))
	check(b.Write(rntuple.EntryRange{End: 10}, second{-42}))
	check(w.Close())
	got := rootViews(t, "--attributes", path+":main")[0].Attributes
	want := map[string][]attributeRange{
		"first": {
			{0, 3, map[string]any{"name": "zero to two", "vec": []any{1., 2.5}}},
			{5, 2, map[string]any{"name": "five and six é", "vec": []any{}}},
			{3, 4, map[string]any{"name": "three to six", "vec": []any{-1.}}},
			{7, 0, map[string]any{"name": "empty range", "vec": []any{}}},
		},
		"second": {{0, 10, map[string]any{"num": -42.}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("ROOT reads the attributes\n\t%v\nwant\n\t%v", got, want)
	}
}
