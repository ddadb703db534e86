package compare

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/test/randtest"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

func open(t *testing.T, path, name string) *rntuple.Reader {
	t.Helper()
	r, err := rntuple.Open(path, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// write writes entries to a new file and opens it.
func write[T any](t *testing.T, entries []T, opts *rntuple.WriteOptions) *rntuple.Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.root")
	w, err := rntuple.Create[T](path, "n", opts)
	if err == nil {
		err = w.WriteBatch(entries)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return open(t, path, "n")
}

type jet struct {
	Pt  float32
	N   int64
	Tag bool
}

type event struct {
	Run    uint64
	E      float64
	Jets   []jet
	Hits   [][]int16
	Best   *float32
	Name   string
	Scale  map[string]float64
	Vertex struct{ X, Y float32 }
	Three  [3]uint8
}

func events(n int) []event {
	all := make([]event, n)
	for i := range all {
		e := &all[i]
		e.Run, e.E, e.Name = uint64(i), float64(i)+0.5, fmt.Sprint("name", i%7)
		e.Jets = slices.Repeat([]jet{{1, -5, true}}, i%4)
		e.Hits = [][]int16{{1, 2}, {3}}[:i%3]
		if i%2 == 0 {
			f := float32(i)
			e.Best = &f
		}
		e.Scale = map[string]float64{"a": 1, "b": float64(i)}
		e.Vertex.X = 1
	}
	return all
}

// TestEdits makes known changes to some entries, and compares with what they were,
// in equal and in other clusters.
func TestEdits(t *testing.T) {
	const n = 2000
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		what string
		edit func(e []event)
		want []Field
		opts *Options
	}{
		{"nothing", func(e []event) {}, nil, nil},
		{"large integers", func(e []event) { e[3].Run, e[7].Run = 1<<63, 1<<63+2 }, []Field{
			{"Run", 2, 3, 2, 1<<63 - 3, (1<<63 - 3) / 0x1p63},
		}, &Options{Tolerance: Tolerance{Abs: inf, Rel: 1}}}, // for floats only
		{"floats", func(e []event) { e[1].E, e[2].E, e[3].E = 1.75, 2, 3.5+0x1p-20 }, []Field{
			{"E", 3, 1, 3, 0.5, 0.2},
		}, nil},
		{"floats within", func(e []event) { e[1].E, e[2].E, e[3].E = 1.75, 2, 3.5+0x1p-20 }, []Field{
			{"E", 1, 2, 1, 0.5, 0.2},
		}, &Options{Tolerance: Tolerance{Abs: 0.25, Rel: 0}}},
		{"floats nearly", func(e []event) { e[1].E, e[2].E, e[3].E = 1.75, 2, 3.5+0x1p-20 }, []Field{
			{"E", 0, -1, 0, 0.5, 0.2},
		}, &Options{Tolerance: Tolerance{Abs: 0, Rel: 0.2}}},
		{"a field", func(e []event) { e[1].E, e[2].Vertex.X, e[2].Vertex.Y = 1.75, 1.125, 0.125 }, []Field{
			{"E", 1, 1, 1, 0.25, 0.25 / 1.75},
			{"Vertex.X", 0, -1, 0, 0.125, 0.125 / 1.125},
			{"Vertex.Y", 1, 2, 1, 0.125, 1},
		}, &Options{Fields: map[string]Tolerance{"Vertex.X": {Abs: 0.125, Rel: 0}, "Vertex": {Abs: 0.1, Rel: 0}}}},
		{"no numbers", func(e []event) { e[1].E, e[5].E, e[6].E = nan, inf, -inf }, []Field{
			{"E", 3, 1, 3, inf, inf},
		}, &Options{Tolerance: Tolerance{Abs: 1e300, Rel: 1}}},
		{"items", func(e []event) { e[7].Jets[1].Pt, e[7].Jets[2].Pt, e[11].Jets[0].N, e[11].Jets[0].Tag = 2, 4, 5, false },
			[]Field{
				{"Jets._0.Pt", 1, 7, 2, 3, 0.75},
				{"Jets._0.N", 1, 11, 1, 10, 2},
				{"Jets._0.Tag", 1, 11, 1, 1, 1},
			}, nil},
		{"sizes", func(e []event) { e[7].Jets, e[9].Jets = e[7].Jets[:1], nil; e[8].Hits[0] = nil; e[10].Hits = nil },
			[]Field{
				{"Jets", 2, 7, 2, 0, 0},
				{"Hits", 1, 10, 1, 0, 0},
				{"Hits._0", 1, 8, 1, 0, 0},
			}, nil},
		{"the rest", func(e []event) {
			e[1].Best, *e[2].Best, e[4].Best = new(float32), 3, nil
			e[5].Name = "x"
			e[6].Scale["b"], e[8].Scale["c"] = 9, 1
			e[9].Three[1], e[9].Three[2] = 4, 5
		}, []Field{
			{"Best", 2, 1, 2, 0, 0},
			{"Best._0", 1, 2, 1, 1, 1. / 3},
			{"Name", 1, 5, 1, 0, 0},
			{"Scale", 1, 8, 1, 0, 0},
			{"Scale._0._1", 1, 6, 1, 3, 1. / 3},
			{"Three._0", 1, 9, 2, 5, 1},
		}, nil},
	} {
		a, e := write(t, events(n), nil), events(n)
		c.edit(e)
		for _, opts := range []*rntuple.WriteOptions{nil, {ClusterSize: 5000, Compression: compress.None}} {
			b := write(t, e, opts)
			result, err := Values(t.Context(), a, b, c.opts)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(result.Fields, c.want) {
				t.Errorf("%s: %+v, want %+v", c.what, result.Fields, c.want)
			}
			equal := !slices.ContainsFunc(c.want, func(f Field) bool { return f.Entries > 0 })
			if result.Equal() != equal || result.Entries != [2]int64{n, n} || (result.Identical > 0) != (opts == nil) {
				t.Errorf("%s: %+v", c.what, result)
			}
		}
	}
}

// TestTypes compares fields of other types, and in another order.
func TestTypes(t *testing.T) {
	type first struct {
		A    int32
		B    float32
		C    []int16
		D    [2]int8
		E    struct{ X, Y int32 }
		F, G string
		H    uint64
	}
	type second struct {
		H int8
		F []int8
		E struct{ Y, Z int64 }
		D []int8
		C []uint64
		B float64
		A uint64
	}
	a := write(t, []first{{-1, 0.1, []int16{1, -1}, [2]int8{1, 2}, struct{ X, Y int32 }{1, 2}, "", "", 1}, {}}, nil)
	b := write(t, []second{{1, nil, struct{ Y, Z int64 }{2, 3}, []int8{1, 2}, []uint64{1, 1}, 0.1, 1},
		{D: make([]int8, 3)}, {}}, nil)
	result, err := Values(t.Context(), a, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	off := 0.1 - float64(float32(0.1))
	want := []Field{
		{"A", 1, 0, 1, 2, 2},
		{"B", 1, 0, 1, math.Abs(off), math.Abs(off) / max(0.1, float64(float32(0.1)))},
		{"C._0", 1, 0, 1, 2, 2},
		{"D", 1, 1, 1, 0, 0},
	}
	if !reflect.DeepEqual(result.Fields, want) {
		t.Errorf("%+v, want %+v", result.Fields, want)
	}
	var got []string
	for _, d := range result.Schema {
		got = append(got, d.String())
	}
	wantSchema := []string{
		`A: type: "std::int32_t", "std::uint64_t"`, `B: type: "float", "double"`,
		`C: type: "std::vector<std::int16_t>", "std::vector<std::uint64_t>"`, `C._0: type: "std::int16_t", "std::uint64_t"`,
		`D: type: "std::array<std::int8_t,2>", "std::vector<std::int8_t>"`, `D: structure: "array", "collection"`,
		`D: array size: "2", "0"`,
		`E.X: field: "std::int32_t", ""`, `E.Y: type: "std::int32_t", "std::int64_t"`, `E.Z: field: "", "std::int64_t"`,
		`F: type: "std::string", "std::vector<std::int8_t>"`, `F: structure: "string", "collection"`,
		`G: field: "std::string", ""`, `H: type: "std::uint64_t", "std::int8_t"`,
	}
	if !reflect.DeepEqual(got, wantSchema) {
		t.Errorf("%q, want %q", got, wantSchema)
	}
	if result.Equal() || result.Entries != [2]int64{2, 3} {
		t.Errorf("%+v", result)
	}
}

// TestUnordered compares sets and maps that were written in different orders.
func TestUnordered(t *testing.T) {
	doc := &schema.Document{Name: "n"}
	for _, m := range [][2]string{{"s", "std::unordered_set<int>"},
		{"m", "std::unordered_map<std::string,std::vector<float>>"}} {
		f, err := schema.FieldOf(m[0], m[1])
		if err != nil {
			t.Fatal(err)
		}
		doc.Fields = append(doc.Fields, f)
	}
	make := func(s []any, m ...value.KeyValue) *rntuple.Reader {
		path := filepath.Join(t.TempDir(), "f")
		w, err := rntuple.CreateRecords(path, "n", doc, nil)
		if err == nil {
			w.Write(&value.Record{Names: []string{"s", "m"}, Values: []any{s, value.Map{StringKeys: true, Elements: m}}})
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return open(t, path, "n")
	}
	x, y, z := value.KeyValue{Key: "x", Value: []any{float32(1)}}, value.KeyValue{Key: "y", Value: []any{float32(2)}},
		value.KeyValue{Key: "y", Value: []any{float32(3)}}
	a := make([]any{int32(1), int32(2)}, x, y)
	if result, err := Values(t.Context(), a, make([]any{int32(2), int32(1)}, y, x), nil); err != nil || !result.Equal() {
		t.Errorf("%+v, %v", result, err)
	}
	result, err := Values(t.Context(), a, make([]any{int32(2), int32(3)}, z, x), nil)
	if err != nil || len(result.Fields) != 2 || result.Fields[0].Entries+result.Fields[1].Entries != 2 {
		t.Errorf("%+v, %v", result, err)
	}
}

// TestRandom changes one value of one entry of random RNTuples.
func TestRandom(t *testing.T) {
	for seed := range 150 {
		m := randtest.Maker{Rand: rand.New(rand.NewPCG(5, uint64(seed)))}
		doc := &schema.Document{Name: "n"}
		for i := range 1 + m.IntN(4) {
			f, err := schema.FieldOf(fmt.Sprint("f", i), m.Type(3))
			if err != nil {
				t.Fatal(err)
			}
			doc.Fields = append(doc.Fields, f)
		}
		n := 1 + m.IntN(60)
		at, which := m.IntN(n), m.IntN(len(doc.Fields))
		var paths [2]string
		var writers [2]*rntuple.Writer[value.Record]
		for i := range writers {
			paths[i] = filepath.Join(t.TempDir(), "f")
			var err error
			writers[i], err = rntuple.CreateRecords(paths[i], "n", doc,
				&rntuple.WriteOptions{Compression: 404, ClusterSize: 1 + m.Int64N(2000), MaxUnzippedPageSize: 16 + m.Int64N(500)})
			if err != nil {
				t.Fatal(err)
			}
		}
		differ := false
		for entry := range n {
			var r value.Record
			for _, f := range writers[0].Schema().Fields {
				r.Names, r.Values = append(r.Names, f.Name), append(r.Values, m.Value(f))
			}
			if err := writers[0].Write(&r); err != nil {
				t.Fatal(err)
			}
			if entry == at {
				old := fmt.Sprintf("%#v", r.Values[which])
				r.Values[which] = m.Value(writers[0].Schema().Fields[which])
				differ = old != fmt.Sprintf("%#v", r.Values[which])
			}
			if err := writers[1].Write(&r); err != nil {
				t.Fatal(err)
			}
		}
		for _, w := range writers {
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		result, err := Values(t.Context(), open(t, paths[0], ""), open(t, paths[1], ""), nil)
		if err != nil {
			t.Fatal(err)
		}
		if result.Equal() == differ {
			t.Errorf("seed %d: %+v, differ: %v", seed, result, differ)
		}
		for _, f := range result.Fields {
			if name, _, _ := strings.Cut(f.Path, "."); name != doc.Fields[which].Name || f.Entries != 1 || f.First != int64(at) {
				t.Errorf("seed %d: %+v, want entry %d of %q", seed, f, at, doc.Fields[which].Name)
			}
		}
	}
}

// TestFiles compares every file of ROOT's with itself, with and without looking at
// the bytes first.
func TestFiles(t *testing.T) {
	files, err := filepath.Glob("../../testdata/good/*.root")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		infos, err := rntuple.ListFile(context.Background(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range infos {
			r, err := rntuple.Open(path, info.Path, nil)
			if err != nil {
				continue
			}
			defer r.Close()
			if len(r.Schema().Hidden) > 0 {
				continue
			}
			result, err := Values(t.Context(), r, r, nil)
			if err != nil || !result.Equal() || len(result.Fields) > 0 {
				t.Errorf("%s: %+v, %v", path, result, err)
			}
			c := &comparison{Options: &Options{}, a: r, b: r, entries: r.NumEntries()}
			for _, p := range c.pair(nil, r.Schema().Fields, r.Schema().Fields) {
				values, err := c.comparer(p)
				if err == nil {
					err = values.compare(0, r.NumEntries())
				}
				var found []Field
				if p.collect(&found); err != nil || len(found) > 0 {
					t.Errorf("%s: %+v, %v", path, found, err)
				}
			}
			if layout, err := Layout(r, r, nil); err != nil || len(layout) > 0 {
				t.Errorf("%s: %v, %v", path, layout, err)
			}
		}
	}
}

func TestLayout(t *testing.T) {
	type narrow struct {
		E    float32 `rntuple:"E,encoding=Real16"`
		Same int64
	}
	type wide struct {
		E    float32
		Same int64
	}
	n := 1000
	a := write(t, make([]narrow, n), &rntuple.WriteOptions{Compression: compress.None})
	b := write(t, make([]wide, n), &rntuple.WriteOptions{Compression: compress.None, ClusterSize: 4000,
		PageBufferBudget: 1 << 20})
	all, err := Layout(a, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]Difference{}
	for _, d := range all {
		found[d.Path+" "+d.What] = d
	}
	if d := found["E encoding"]; d.A != "Real16 (16)" || d.B != "Real32 (32)" {
		t.Error(d)
	}
	if d := found["E bytes"]; d.A != "2000" || d.B == "2000" {
		t.Error(d)
	}
	if d := found[" clusters"]; d.A != "1" || d.B == "1" {
		t.Error(d)
	}
	if d := found[" end of cluster 0"]; d.A != "1000" {
		t.Error(d)
	}
	if d, ok := found["Same encoding"]; ok {
		t.Error(d)
	}
}

// TestFailures compares damaged files, and is interrupted.
func TestFailures(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	w, err := rntuple.Create[event](path, "n", &rntuple.WriteOptions{Compression: compress.None})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteBatch(events(1000)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Values(ctx, open(t, path, ""), open(t, path, ""), nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := Values(t.Context(), open(t, path, ""), open(t, path, ""),
		&Options{Fields: map[string]Tolerance{"Nope": {Abs: 1, Rel: 1}}}); !errors.Is(err, schema.ErrNoField) {
		t.Error(err)
	}
	for _, bad := range []*Options{{Tolerance: Tolerance{Abs: -1}}, {Tolerance: Tolerance{Rel: math.NaN()}},
		{Fields: map[string]Tolerance{"X": {Rel: -1}}}} {
		if _, err := Values(t.Context(), open(t, path, ""), open(t, path, ""), bad); err == nil ||
			!strings.Contains(err.Error(), "must not be negative") {
			t.Errorf("a tolerance that is none: %v", err)
		}
	}
	whole[len(whole)/2] ^= 1 // a page: they are most of the file
	if err := os.WriteFile(path+"bad", whole, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{path, path + "bad"} {
		if _, err := Values(t.Context(), open(t, other, ""), open(t, path+"bad", ""),
			nil); !errors.Is(err, rntuple.ErrChecksum) {
			t.Errorf("%s: %v", other, err)
		}
	}
}
