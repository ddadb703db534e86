package rntuple_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/test/golden"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/cpp"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// memory is a file in memory.
type memory struct{ b []byte }

func (m *memory) WriteAt(p []byte, off int64) (int, error) {
	if n := int(off) + len(p); n > len(m.b) {
		m.b = append(m.b, make([]byte, n-len(m.b))...)
	}
	return copy(m.b[off:], p), nil
}

// fixed are the options that make two runs equal.
var fixed = &rntuple.FileOptions{Clock: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
	UUID: [16]byte{1, 2, 3}}

// rewrite writes all that r holds, with clusters of the given number of entries.
func rewrite(r *rntuple.Reader, cluster int64, opts *rntuple.WriteOptions) ([]byte, error) {
	var m memory
	f, err := rntuple.NewFile(&m, "copy.root", fixed)
	if err != nil {
		return nil, err
	}
	doc := r.Schema().Document()
	lossless(doc.Fields)
	w, err := rntuple.NewRecordWriter(f, r.Name(), doc, opts)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, field := range r.Schema().Fields {
		if field.Source == nil {
			names = append(names, field.Name)
		}
	}
	v, err := rntuple.RecordsOf(r, names...)
	if err != nil {
		return nil, err
	}
	for i, record := range v.All() {
		if err := w.Write(&record); err != nil {
			return nil, err
		}
		if (i+1)%cluster == 0 {
			w.CommitCluster()
		}
		if (i+1)%(3*cluster) == 0 {
			w.CommitClusterGroup()
		}
	}
	if v.Err() != nil {
		return nil, v.Err()
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return m.b, nil
}

// lossless takes the columns from fields that have several representations, or
// were added late: what one of them held, or the zeros from before, would not
// survive another one of low precision.
func lossless(fields []*schema.FieldDocument) {
	for _, f := range fields {
		if len(f.Columns) > 1 || f.Extended {
			f.Columns = nil
		}
		lossless(f.Fields)
	}
}

func judged(t *testing.T, r *rntuple.Reader, fields []*schema.Field) (all []string) {
	t.Helper()
	err := golden.Fields(r, fields, func(_ int64, line []byte) error {
		all = append(all, string(line))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// elements returns how many elements the columns have, by field and place, but
// for those that have the same number for every entry.
func elements(t *testing.T, r *rntuple.Reader) map[string]int64 {
	t.Helper()
	in, err := r.Inspect(nil)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int64{}
	for _, c := range in.Columns {
		if c.Column.PerEntry == 0 {
			all[fmt.Sprint(c.Column.Owner.Path(), " ", c.Column.Index)] += c.Elements
		}
	}
	return all
}

// TestRewrite writes all that ROOT has written anew, with every compression,
// and reads it back.
func TestRewrite(t *testing.T) {
	names, err := filepath.Glob("../testdata/good/*.root")
	if err != nil || len(names) == 0 {
		t.Fatal("no files", err)
	}
	for _, name := range names {
		infos, err := rntuple.ListFile(context.Background(), name, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, info := range infos {
			all := []compress.Settings{compress.None, 404, 101, 505}
			if testing.Short() { // zstd takes much memory, and time where that is watched
				all = all[i%2 : i%2+1]
			}
			for j, settings := range all {
				t.Run(fmt.Sprintf("%s:%s/%v", filepath.Base(name), info.Path, settings), func(t *testing.T) {
					t.Parallel()
					r, err := rntuple.Open(name, info.Path, nil)
					if err != nil {
						t.Fatal(err)
					}
					defer r.Close()
					opts := &rntuple.WriteOptions{Compression: settings, MaxUnzippedPageSize: int64(100 + 50*(i+j))}
					file, err := rewrite(r, int64(4+j), opts)
					if err != nil {
						t.Fatal(err)
					}
					again, err := rntuple.NewReader(bytes.NewReader(file), int64(len(file)), "", nil)
					if err != nil {
						t.Fatal(err)
					}
					if n := len(again.Schema().Fields); n != len(r.Schema().Fields) {
						t.Errorf("%d fields, want %d", n, len(r.Schema().Fields))
					}
					count := elements(t, again)
					for column, n := range elements(t, r) {
						if count[column] != n {
							t.Errorf("column %s has %d elements, want %d", column, count[column], n)
						}
					}
					// Projections come last in our file, even if the others were added later.
					want, got := judged(t, r, again.Schema().Fields), judged(t, again, again.Schema().Fields)
					for i := range want {
						if i >= len(got) || got[i] != want[i] {
							t.Fatalf("%d entries, want %d; entry %d is\n%.1000s\nwant\n%.1000s", len(got), len(want), i,
								got[min(i, len(got)-1)], want[i])
						}
					}
					// The bytes do not depend on who compresses.
					for _, workers := range []int{1, 8} {
						opts.Workers = workers
						same, err := rewrite(r, int64(4+j), opts)
						if err != nil || !bytes.Equal(same, file) {
							t.Errorf("%d workers write other bytes: %v", workers, err)
						}
					}
				})
			}
		}
	}
}

// Written types in the test below.
type (
	Point struct {
		X float32
		Y float64 `rntuple:"Y,encoding=SplitReal32"`
	}
	Event struct {
		Run     uint32 `rntuple:"run,desc=the run, as the detector counts"`
		OK      bool
		Name    string
		Pt      []float32 `rntuple:"pt,trunc=16"`
		Eta     float32   `rntuple:"eta,quant=20,min=-8,max=8"`
		Grid    [2][3]int16
		Opt     *int64
		Ptr     *string `rntuple:"ptr,type=std::unique_ptr<std::string>"`
		Map     map[string][]int32
		Keys    map[string]struct{}
		Points  []Point
		Vertex  Point    `rntuple:"vertex,class=Point"`
		Bits    [10]bool `rntuple:"bits,type=std::bitset<10>"`
		Var     any      `rntuple:"var,type=std::variant<std::int32_t,std::string>"`
		Char    int8     `rntuple:"char,type=char"`
		Byte    byte     `rntuple:"byte,type=std::byte"`
		Color   int32    `rntuple:"color,enum=Color"`
		Set     []int32  `rntuple:"set,type=std::set<std::int32_t>"`
		Nested  [][]string
		Tags    cpp.Set[string]
		Grade   cpp.Char
		Weight  cpp.Double32
		Result  cpp.Variant3[int32, string, []float32]
		Range   cpp.Pair[float32, []cpp.Byte]
		Tuple   cpp.Tuple3[bool, string, *int8]
		Atomic  cpp.Atomic[uint16]
		Unique  cpp.UniquePtr[float64]
		Multi   cpp.MultiMap[int32, string]
		Vec     cpp.RVec[cpp.RVec[float32]]
		Skipped int `rntuple:"-"`
	}
)

func event(i int) Event {
	e := Event{Run: uint32(i), OK: i%2 == 0, Name: fmt.Sprint("event ", i), Eta: 0.5, Char: int8(-i),
		Byte: byte(i), Color: int32(i % 3)}
	for k := range i % 4 {
		e.Pt = append(e.Pt, float32(k)+0.5)
		e.Points = append(e.Points, Point{float32(k), float64(k) / 2})
		e.Nested = append(e.Nested, []string{"a", fmt.Sprint(k)})
		e.Set = append(e.Set, int32(k))
	}
	e.Grid[1][2] = int16(i)
	if i%3 == 0 {
		n, s := int64(i), "set"
		e.Opt, e.Ptr = &n, &s
		e.Var = value.Alternative{Index: 0, Value: int32(i)}
	} else if i%3 == 1 {
		e.Var = value.Alternative{Index: 1, Value: "text"}
	}
	e.Map = map[string][]int32{"b": {int32(i)}, "a": nil}
	e.Keys = map[string]struct{}{"b": {}, "a": {}, "event " + fmt.Sprint(i): {}}
	e.Vertex = Point{1, 2.5}
	e.Tags, e.Grade, e.Weight = cpp.Set[string]{"a", "b"}, 'x', 0.25
	e.Result.Value = []any{nil, value.Alternative{Index: 0, Value: int32(i)},
		value.Alternative{Index: 1, Value: "text"}}[i%3]
	e.Range = cpp.Pair[float32, []cpp.Byte]{First: 1.5, Second: []cpp.Byte{1, 2}}
	e.Tuple = cpp.Tuple3[bool, string, *int8]{V0: true, V1: "t"}
	e.Atomic.Value = uint16(i)
	if i%2 == 0 {
		x := float64(i)
		e.Unique.Value = &x
	}
	e.Multi = cpp.MultiMap[int32, string]{{First: 1, Second: "a"}, {First: 1, Second: "b"}}
	e.Vec = cpp.RVec[cpp.RVec[float32]]{{1, 2}, {3}}
	e.Bits[i%10] = true
	return e
}

func TestTypedWriting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "typed.root")
	w, err := rntuple.Create[Event](path, "dir/Events",
		&rntuple.WriteOptions{File: *fixed, ClusterSize: 2000, Compression: 404, Description: "made up"})
	if err != nil {
		t.Fatal(err)
	}
	const n = 500
	for i := range n {
		e := event(i)
		if err := w.Write(&e); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is there before Close")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.Open(path, "dir/Events", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if c, err := r.Clusters(); err != nil || len(c) < 3 || r.Schema().Description != "made up" {
		t.Errorf("%d clusters, %v; description %q", len(c), err, r.Schema().Description)
	}
	i := 0
	for got, err := range rntuple.Entries[Event](r) {
		if err != nil {
			t.Fatal(err)
		}
		want := event(i)
		want.Eta = got.Eta // quantized, see below
		if d := float64(got.Eta) - 0.5; d > 16.0/(1<<20) || d < -16.0/(1<<20) {
			t.Errorf("entry %d: eta is %g", i, got.Eta)
		}
		if !reflect.DeepEqual(*got, want) {
			t.Fatalf("entry %d is\n%+v\nwant\n%+v", i, *got, want)
		}
		i++
	}
	if i != n {
		t.Errorf("%d entries", i)
	}
}

func TestColumnWriting(t *testing.T) {
	doc := &schema.Document{Name: "n"}
	for name, typ := range map[string]string{"x": "double"} {
		f, err := schema.FieldOf(name, typ)
		if err != nil {
			t.Fatal(err)
		}
		doc.Fields = append(doc.Fields, f)
	}
	v, err := schema.FieldOf("v", "std::vector<float>")
	if err != nil {
		t.Fatal(err)
	}
	doc.Fields = append(doc.Fields, v)
	path := filepath.Join(t.TempDir(), "columns.root")
	w, err := rntuple.CreateColumns(path, "n", doc, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := rntuple.Put(w, "x", []float64{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	if err := rntuple.PutJagged(w, "v", []int64{1, 1, 3, 4}, []float32{9, 10, 11, 12}); err != nil {
		t.Fatal(err)
	}
	if err := w.End(3); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.Open(path, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := lines(r)
	if s := fmt.Sprint(got); err != nil || s != `[{"x":1,"v":[]} {"x":2,"v":[10,11]} {"x":3,"v":[12]}]` {
		t.Errorf("read %s, %v", s, err)
	}
}

// TestAttributes writes attribute sets. Package interop has ROOT read them.
func TestAttributes(t *testing.T) {
	type quality struct {
		Good bool
		Note string
	}
	path := filepath.Join(t.TempDir(), "attributes.root")
	w, err := rntuple.Create[Point](path, "n", &rntuple.WriteOptions{File: *fixed})
	if err != nil {
		t.Fatal(err)
	}
	a, err := rntuple.NewAttributes[quality](w, "quality", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rntuple.NewAttributes[quality](w, "quality", nil); err == nil {
		t.Error("a second set of the same name")
	}
	if err := w.WriteBatch(make([]Point, 10)); err != nil {
		t.Fatal(err)
	}
	if err := a.Write(rntuple.EntryRange{First: 2, End: 7}, quality{true, "calm"}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.Open(path, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if sets := r.AttributeSets(); !reflect.DeepEqual(sets, []rntuple.AttributeSet{{Name: "quality", SchemaMajor: 1}}) {
		t.Errorf("attribute sets %v", sets)
	}
}

// TestProjectAndBase writes projected fields and a base class.
func TestProjectAndBase(t *testing.T) {
	type Base struct{ ID int32 }
	type Track struct {
		Base `rntuple:":_0,class=Base"`
		Pt   float32
	}
	type entry struct {
		Tracks []Track `rntuple:"tracks,class=Track"`
		Flat   []Point `rntuple:"flat"`
	}
	path := filepath.Join(t.TempDir(), "project.root")
	w, err := rntuple.Create[entry](path, "n", &rntuple.WriteOptions{File: *fixed, Projections: []rntuple.Projection{
		{Name: "pt", CppType: "std::vector<float>", Source: "tracks.Pt"},
		{Name: "n", CppType: "ROOT::RNTupleCardinality<std::uint32_t>", Source: "flat"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := entry{[]Track{{Base{7}, 1.5}, {Base{8}, 2.5}}, []Point{{1, 2}}}
	if err := w.Write(&want); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.Open(path, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := lines(r)
	if s := fmt.Sprint(got); err != nil || s != `[{"tracks":[{":_0":{"ID":7},"Pt":1.5},{":_0":{"ID":8},"Pt":2.5}],"flat":[{"X":1,"Y":2}],"pt":[1.5,2.5],"n":1}]` {
		t.Errorf("read %s, %v", s, err)
	}
	if f := r.Schema().Fields[0]; f.TypeName != "std::vector<Track>" || f.Children[0].Children[0].TypeName != "Base" {
		t.Errorf("types %q, %q", f.TypeName, f.Children[0].Children[0].TypeName)
	}
	v, err := rntuple.ViewOf[[]Track](r, "tracks")
	if err != nil {
		t.Fatal(err)
	}
	if back, err := v.At(0); err != nil || !reflect.DeepEqual(back, want.Tracks) {
		t.Errorf("tracks %v, %v", back, err)
	}
}

// TestWriteBatch writes entries of very different sizes one by one and in batches: the values are
// the same, and the clusters almost.
func TestWriteBatch(t *testing.T) {
	type event struct {
		ID     int64
		Values []float64
		Name   string
		Maybe  *int32
	}
	random := rand.New(rand.NewPCG(3, 4))
	entries := make([]event, 30_000)
	for i := range entries {
		e := &entries[i]
		e.ID = int64(i)
		for range random.IntN(6) {
			e.Values = append(e.Values, random.Float64())
		}
		e.Name = strings.Repeat("x", random.IntN(20))
		if i%3 == 0 {
			e.Maybe = new(int32(i))
		}
	}
	for _, opts := range []*rntuple.WriteOptions{
		nil,
		{ClusterSize: 50_000},
		{ClusterSize: 3_000, Compression: compress.None},
		{ClusterSize: 100_000, MaxUnzippedPageSize: 4096, PageBufferBudget: 20_000, Compression: compress.None},
	} {
		var clusters [2][]rntuple.EntryRange
		for i, write := range []func(w *rntuple.Writer[event]) error{
			func(w *rntuple.Writer[event]) error {
				for i := range entries {
					w.Write(&entries[i])
				}
				return nil
			},
			func(w *rntuple.Writer[event]) error {
				return errors.Join(w.WriteBatch(entries[:1]), w.WriteBatch(entries[1:777]), w.WriteBatch(entries[777:]))
			},
		} {
			path := filepath.Join(t.TempDir(), "batch.root")
			w, err := rntuple.Create[event](path, "events", opts)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(write(w), w.Close()); err != nil {
				t.Fatal(err)
			}
			r, err := rntuple.Open(path, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if clusters[i], err = r.Clusters(); err != nil {
				t.Fatal(err)
			}
			n := 0
			for e, err := range rntuple.Entries[event](r) {
				if err != nil || !reflect.DeepEqual(*e, entries[n]) {
					t.Fatalf("entry %d: %+v, %v", n, e, err)
				}
				n++
			}
			if n != len(entries) {
				t.Errorf("%d entries", n)
			}
		}
		// Columns grow in another order within a batch, so that pages are divided elsewhere. The
		// sizes of clusters depend on their sizes, with checksums.
		last := len(clusters[0]) - 1
		near := func(a, b rntuple.EntryRange) bool {
			return a.End == clusters[0][last].End || max(a.Len()-b.Len(), b.Len()-a.Len()) <= a.Len()/20
		}
		if !slices.EqualFunc(clusters[0], clusters[1], near) {
			t.Errorf("one by one %.200v, in batches %.200v", clusters[0], clusters[1])
		}
	}

	// The error names the entry.
	w, err := rntuple.Create[struct{ At time.Time }](filepath.Join(t.TempDir(), "times.root"), "times", nil)
	if err != nil {
		t.Fatal(err)
	}
	times := make([]struct{ At time.Time }, 500)
	for i := range times {
		times[i].At = time.Unix(int64(i), 0)
	}
	times[321].At = time.Date(5000, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := w.WriteBatch(times); err == nil || !strings.Contains(err.Error(), "entry 321: ") {
		t.Error(err)
	}
	w.Abort()
}
