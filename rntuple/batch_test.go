package rntuple_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// dynamicOf returns value i of an Array in the form of package value.
func dynamicOf(t testing.TB, a *columnar.Array, i int) any {
	t.Helper()
	if i < 0 || i >= a.Len {
		t.Fatalf("%s: value %d of %d", a.Name, i, a.Len)
	}
	items := func(lo, hi int) []any {
		all := make([]any, 0, hi-lo)
		for j := lo; j < hi; j++ {
			all = append(all, dynamicOf(t, a.Children[0], j))
		}
		return all
	}
	switch a.Shape {
	case schema.String:
		return string(a.Bytes[a.Offsets[i]:a.Offsets[i+1]])
	case schema.Streamer:
		return a.Bytes[a.Offsets[i]:a.Offsets[i+1]]
	case schema.Bitset:
		return value.Bits(a.Values().([]bool)[i*a.Size : (i+1)*a.Size])
	case schema.Array:
		return items(i*a.Size, (i+1)*a.Size)
	case schema.Collection:
		lo, hi := int(a.Offsets[i]), int(a.Offsets[i+1])
		pair := a.Children[0]
		if !a.Field.IsMap() || pair.Field != a.Field.Children[0] {
			return items(lo, hi)
		}
		m := value.Map{StringKeys: pair.Children[0].Shape == schema.String}
		for j := lo; j < hi; j++ {
			m.Elements = append(m.Elements, value.KeyValue{Key: dynamicOf(t, pair.Children[0], j),
				Value: dynamicOf(t, pair.Children[1], j)})
		}
		return m
	case schema.Record:
		var r value.Record
		for _, c := range a.Children {
			r.Names, r.Values = append(r.Names, c.Name), append(r.Values, dynamicOf(t, c, i))
		}
		if a.Field.IsTuple() {
			return r.Values
		}
		return r
	case schema.Optional:
		if !a.Valid[i] {
			return nil
		}
		v := dynamicOf(t, a.Children[0], i)
		switch v.(type) {
		case nil, value.Some:
			return value.Some{Value: v}
		}
		return v
	case schema.Variant:
		if a.Tags[i] < 0 {
			return nil
		}
		tag := int(a.Tags[i])
		return value.Alternative{Index: tag, Value: dynamicOf(t, a.Children[tag], int(a.Index[i]))}
	}
	return reflect.ValueOf(a.Values()).Index(i).Interface()
}

// same reports whether two dynamic values are equal, floats bit by bit.
func same(a, b any) bool {
	list := func(a, b []any) bool {
		for i := range a {
			if i >= len(b) || !same(a[i], b[i]) {
				return false
			}
		}
		return len(a) == len(b)
	}
	switch a := a.(type) {
	case float32:
		b, ok := b.(float32)
		return ok && math.Float32bits(a) == math.Float32bits(b)
	case float64:
		b, ok := b.(float64)
		return ok && math.Float64bits(a) == math.Float64bits(b)
	case []any:
		b, ok := b.([]any)
		return ok && list(a, b)
	case value.Record:
		b, ok := b.(value.Record)
		return ok && fmt.Sprint(a.Names) == fmt.Sprint(b.Names) && list(a.Values, b.Values)
	case value.Alternative:
		b, ok := b.(value.Alternative)
		return ok && a.Index == b.Index && same(a.Value, b.Value)
	case value.Some:
		b, ok := b.(value.Some)
		return ok && same(a.Value, b.Value)
	case value.Map:
		b, ok := b.(value.Map)
		for i := range a.Elements {
			if !ok || i >= len(b.Elements) || !same(a.Elements[i].Key, b.Elements[i].Key) ||
				!same(a.Elements[i].Value, b.Elements[i].Value) {
				return false
			}
		}
		return ok && len(a.Elements) == len(b.Elements) && a.StringKeys == b.StringKeys
	case value.Bits:
		b, ok := b.(value.Bits)
		return ok && a.String() == b.String()
	case []byte:
		b, ok := b.([]byte)
		return ok && string(a) == string(b)
	}
	return a == b
}

// wellFormed checks what holds for every Array.
func wellFormed(t *testing.T, a *columnar.Array) {
	t.Helper()
	offsets := func(items int) {
		if len(a.Offsets) != a.Len+1 || a.Offsets[0] != 0 || a.Offsets[a.Len] != int64(items) {
			t.Fatalf("%s: %d values, offsets %.100v, %d items", a.Field, a.Len, a.Offsets, items)
		}
	}
	want := a.Len // of the children
	switch a.Shape {
	case schema.Collection:
		want = a.Children[0].Len
		offsets(want)
	case schema.String, schema.Streamer:
		offsets(len(a.Bytes))
	case schema.Array:
		want *= a.Size
	case schema.Optional:
		if len(a.Valid) != a.Len {
			t.Fatalf("%s: %d values, %d are valid or not", a.Field, a.Len, len(a.Valid))
		}
	case schema.Scalar, schema.Cardinality, schema.Bitset:
		if n := reflect.ValueOf(a.Values()).Len(); n != a.Len*max(1, a.Size) && a.Size != 0 {
			t.Fatalf("%s: %d values, %d numbers", a.Field, a.Len, n)
		}
	case schema.Wrapper:
		t.Fatalf("%s has the shape %v", a.Field, a.Shape)
	}
	for _, c := range a.Children {
		if a.Shape != schema.Variant && c.Len != want {
			t.Fatalf("%s: %d values, %d of %s", a.Field, a.Len, c.Len, c.Name)
		}
		wellFormed(t, c)
	}
}

// checkBatches compares batches of the entries from first to end with RecordsOf.
func checkBatches(t *testing.T, s rntuple.Source, first, end int64, o rntuple.BatchOptions) (batches []*rntuple.Batch) {
	t.Helper()
	v, err := rntuple.RecordsOf(s, o.Fields...)
	if err != nil {
		t.Fatal(err)
	}
	var want []value.Record
	for _, r := range v.Range(rntuple.EntryRange{First: first, End: end}) {
		want = append(want, r)
	}
	if v.Err() != nil {
		t.Fatal(v.Err())
	}
	check := func(b *rntuple.Batch) {
		for _, a := range b.Columns {
			wellFormed(t, a)
		}
		for i := range b.Len {
			w := want[b.First-first+int64(i)]
			if len(b.Columns) != len(w.Values) {
				t.Fatalf("%d columns, want %d", len(b.Columns), len(w.Values))
			}
			for j, a := range b.Columns {
				if a.Name != w.Names[j] || a.Len != b.Len {
					t.Fatalf("column %q with %d values, want %q with %d", a.Name, a.Len, w.Names[j], b.Len)
				}
				if got := dynamicOf(t, a, i); !same(got, w.Values[j]) {
					t.Fatalf("%+v: batch of %d from entry %d, entry %d, field %v:\n%#v, want\n%#v", o, b.Len, b.First,
						b.First+int64(i), a.Field, got, w.Values[j])
				}
			}
		}
	}
	at := first
	for b, err := range rntuple.BatchesIn(s, rntuple.EntryRange{First: first, End: end}, &o) {
		if err != nil {
			t.Fatal(err)
		}
		if b.First != at || b.Len < 1 || o.Size > 0 && b.Len > o.Size || at+int64(b.Len) > first+int64(len(want)) {
			t.Fatalf("batch of %d entries from entry %d, expected at most %d from %d", b.Len, b.First, o.Size, at)
		}
		if at += int64(b.Len); !o.Fresh {
			check(b)
		}
		batches = append(batches, b)
	}
	if at != first+int64(len(want)) {
		t.Fatalf("batches end at entry %d, expected %d", at, first+int64(len(want)))
	}
	if o.Fresh {
		for _, b := range batches {
			check(b)
		}
	}
	return batches
}

// TestBatches compares batches of all sizes with dynamic values, for all fields of all
// files.
func TestBatches(t *testing.T) {
	shapes := map[schema.Shape]bool{}
	var note func(a *columnar.Array)
	note = func(a *columnar.Array) {
		shapes[a.Shape] = true
		for _, c := range a.Children {
			note(c)
		}
	}
	var files []string
	for _, pattern := range []string{"../testdata/*.root", "../testdata/good/*.root", "../../shared/testdata/root/*.root",
		"../../shared/testdata/legacy/*.root"} {
		more, _ := filepath.Glob(pattern)
		files = append(files, more...)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			infos, err := rntuple.ListFile(context.Background(), file, nil)
			if err != nil {
				t.Fatal(err)
			}
			names := []string{""} // of a bare file
			for i, info := range infos {
				names = append(names[:i], info.Path)
			}
			for _, name := range names {
				// Two workers read the next batch while one is checked.
				r, err := rntuple.Open(file, name, &rntuple.ReadOptions{Workers: 2})
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				one, err := rntuple.Open(file, name, &rntuple.ReadOptions{Workers: 1})
				if err != nil {
					t.Fatal(err)
				}
				defer one.Close()
				n := r.NumEntries()
				for b, err := range rntuple.BatchesIn(r, rntuple.EntryRange{End: min(n, 10)}, nil) {
					if err != nil {
						t.Fatal(err)
					}
					for _, a := range b.Columns {
						note(a)
					}
				}
				whole := min(n, 3000)
				checkBatches(t, r, 0, whole, rntuple.BatchOptions{Size: math.MaxInt32})
				checkBatches(t, r, 0, min(n, 100), rntuple.BatchOptions{Size: 1})
				checkBatches(t, r, n/3, min(n*2/3, n/3+1000), rntuple.BatchOptions{Size: 7, Fresh: true})
				for _, r := range []*rntuple.Reader{one, r} {
					checkBatches(t, r, max(0, n-500), n+10, rntuple.BatchOptions{Size: 100})
				}
				checkBatches(t, r, n/2, n/2, rntuple.BatchOptions{})
				clusters, err := r.Clusters()
				if err != nil {
					t.Fatal(err)
				}
				if len(clusters) > 1 { // around the end of a cluster
					end := clusters[len(clusters)/2].First
					checkBatches(t, r, max(0, end-20), min(n, end+20), rntuple.BatchOptions{})
				}
			}
		})
	}
	for s := schema.Scalar; s <= schema.Streamer; s++ {
		if !shapes[s] && s != schema.Wrapper {
			t.Errorf("no file has a field of shape %v", s)
		}
	}
}

// TestBatchPaths reads subfields, and the same fields twice.
func TestBatchPaths(t *testing.T) {
	r := openFile(t, sample)
	fields := []string{"_collection0.Muon_charge", "Muon_pt", "run", "Muon_pt", "_collection0"}
	checkBatches(t, r, 0, 2000, rntuple.BatchOptions{Fields: fields, Size: 300})
	for b, err := range rntuple.Batches(r, &rntuple.BatchOptions{Fields: fields}) {
		if err != nil {
			t.Fatal(err)
		}
		pt, err := columnar.Values[float32](b.Column("Muon_pt").Children[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range b.Column("_collection0").Children[0].Children {
			if again, err := columnar.Values[float32](c); c.Name == "Muon_pt" && (err != nil || &again[0] != &pt[0]) {
				t.Errorf("%v: a projected field is no view of its source", err)
			}
		}
		if &b.Column("Muon_pt").Offsets[0] != &b.Column("_collection0").Offsets[0] {
			t.Error("the offsets of a projected field are not those of its source")
		}
		if b.Column("other") != nil {
			t.Error("there is a column that was not asked for")
		}
		var wrong *schema.MismatchError
		if _, err := columnar.Values[float64](b.Column("run")); !errors.As(err, &wrong) ||
			wrong.Mismatches[0].Path != "run" || wrong.Mismatches[0].Fits != "[]uint32" {
			t.Error(err)
		}
		break
	}
}

// TestBatchSubfields reads every subfield that a path leads to, in one batch with the field
// that it is part of.
func TestBatchSubfields(t *testing.T) {
	files, err := filepath.Glob("../testdata/good/types_*.root")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	r := openFile(t, files[0])
	paths := 0
	var below func(f *schema.Field, top string)
	below = func(f *schema.Field, top string) {
		paths++
		if f.Parent == nil || !f.Parent.IsMap() { // an Array of a map and one of its pairs are the same
			checkBatches(t, r, 0, min(r.NumEntries(), 40), rntuple.BatchOptions{Fields: []string{top, f.Path()}, Size: 16})
		}
		if f.Shape != schema.Variant {
			for _, c := range f.Children {
				below(c, top)
			}
			return
		}
		for _, err := range rntuple.Batches(r, &rntuple.BatchOptions{Fields: []string{f.Children[0].Path()}}) {
			if err == nil || !strings.Contains(err.Error(), "paths do not lead through a variant") {
				t.Error(err)
			}
		}
	}
	for _, f := range r.Schema().Fields {
		below(f, f.Name)
	}
	if paths < 300 {
		t.Errorf("only %d paths", paths)
	}
}

// TestBatchErrors makes sure that errors come before data, and say what would be right.
func TestBatchErrors(t *testing.T) {
	r := openFile(t, sample)
	for _, c := range []struct {
		first int64
		o     rntuple.BatchOptions
		want  string
	}{
		{0, rntuple.BatchOptions{Fields: []string{"Muon_tp", "rum"}}, `did you mean "Muon_pt"?`},
		{0, rntuple.BatchOptions{Size: -1}, "must not be negative"},
		{-1, rntuple.BatchOptions{}, "negative"},
	} {
		n := 0
		for b, err := range rntuple.BatchesIn(r, rntuple.EntryRange{First: c.first, End: 10}, &c.o) {
			if n++; b != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: %v, %v", c.o, b, err)
			} else if c.o.Fields != nil && (!errors.Is(err, rntuple.ErrNoField) ||
				len(err.(*schema.MismatchError).Mismatches) != 2) {
				t.Errorf("%+v: %v", c.o, err)
			}
		}
		if n != 1 {
			t.Errorf("%+v: %d errors", c.o, n)
		}
	}
}

// TestBatchSources reads batches of chains and joins.
func TestBatchSources(t *testing.T) {
	want := hits(0, 1000)
	var s shelf
	chain := chainOf(t, s.inputs(fileOf(t, want[:301], 50), fileOf(t, want[301:303], 9), fileOf(t, want[303:], 77)),
		&rntuple.ReadOptions{MaxOpen: 1})
	random := rand.New(rand.NewPCG(3, 4))
	events := readerOf(t, fileOf(t, lefts(1000, random), 130), nil)
	table := chainOf(t, s.inputs(fileOf(t, rights(40, random), 7), fileOf(t, rights(40, random), 7)), nil)
	join, err := rntuple.NewJoin(events, rntuple.Friend("hit", chain), rntuple.Match("row", table, "a", "b"),
		rntuple.Match("none", table, "n"))
	if err != nil {
		t.Fatal(err)
	}
	nested, err := rntuple.NewJoin(chain, rntuple.Friend("j", join))
	if err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]rntuple.Source{"chain": chain, "join": join, "nested": nested} {
		t.Run(name, func(t *testing.T) {
			for _, o := range []rntuple.BatchOptions{{}, {Size: 1}, {Size: 33, Fresh: true}, {Size: math.MaxInt}} {
				checkBatches(t, source, 0, math.MaxInt64, o)
				checkBatches(t, source, 290, 710, o)
			}
		})
	}
	checkBatches(t, join, 0, 1000, rntuple.BatchOptions{Fields: []string{"hit.adc", "row.p", "row.s"}, Size: 300})
	checkBatches(t, join, 0, 1000, rntuple.BatchOptions{Fields: []string{"row.s"}, Size: 300})

	zeros, err := rntuple.NewJoin(events, rntuple.Match("row", table, "a", "b").ZeroValues())
	if err != nil {
		t.Fatal(err)
	}
	plain := rntuple.Batches(zeros, &rntuple.BatchOptions{Fields: []string{"row.n", "row.s"}})
	for b, err := range rntuple.Batches(join, &rntuple.BatchOptions{Fields: []string{"row.n", "row.s"}, Fresh: true}) {
		if err != nil {
			t.Fatal(err)
		}
		for z, err := range plain {
			if err != nil {
				t.Fatal(err)
			}
			for i := range z.Len {
				at := int(z.First-b.First) + i
				if at < 0 || at >= b.Len {
					break
				}
				n, s := any(int64(0)), any("")
				if b.Columns[0].Valid[at] {
					n, s = dynamicOf(t, b.Columns[0].Children[0], at), dynamicOf(t, b.Columns[1].Children[0], at)
				}
				if dynamicOf(t, z.Columns[0], i) != n || dynamicOf(t, z.Columns[1], i) != s {
					t.Fatalf("entry %d is not %v, %v", z.First+int64(i), n, s)
				}
			}
		}
	}
}

// TestBatchChainDifferences reads batches of chains whose inputs differ.
func TestBatchChainDifferences(t *testing.T) {
	type (
		without struct {
			ID int32 `rntuple:"id"`
		}
		other struct {
			ID  int32   `rntuple:"id"`
			ADC []int32 `rntuple:"adc"`
		}
	)
	ids := make([]without, 20)
	for i := range ids {
		ids[i].ID = int32(100 + i)
	}
	var s shelf
	files := s.inputs(fileOf(t, hits(0, 30), 8), fileOf(t, ids, 9), fileOf(t, hits(30, 5), 8))
	chain := chainOf(t, files, &rntuple.ReadOptions{AllowMissing: true})
	got := 0
	for b, err := range rntuple.Batches(chain, &rntuple.BatchOptions{Fields: []string{"adc", "id", "tag"}}) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len {
			entry := int(b.First) + i
			id := int32(entry)
			switch {
			case entry >= 50:
				id -= 20
			case entry >= 30:
				id += 70
			}
			n := int64(id % 4) // items, see hits
			if entry >= 30 && entry < 50 {
				n = 0
			}
			wellFormed(t, b.Columns[0])
			if dynamicOf(t, b.Columns[1], i) != id || b.Columns[0].Offsets[i+1]-b.Columns[0].Offsets[i] != n ||
				(b.Columns[2].Offsets[i+1] > b.Columns[2].Offsets[i]) != (entry < 30 || entry >= 50) {
				t.Fatalf("entry %d: %v, %v, %v", entry, dynamicOf(t, b.Columns[0], i), dynamicOf(t, b.Columns[1], i),
					dynamicOf(t, b.Columns[2], i))
			}
			got++
		}
	}
	if got != 55 {
		t.Errorf("%d entries, want 55", got)
	}
	for _, c := range []struct {
		inputs []rntuple.Input
		want   string
	}{
		{files, `there is no field "adc" of type std::vector<std::int16_t>`},
		{s.inputs(fileOf(t, hits(0, 30), 8), fileOf(t, []other{{1, nil}}, 1)),
			`field "adc" is std::vector<std::int32_t>, not std::vector<std::int16_t>`},
	} {
		var last error
		n := 0
		for b, err := range rntuple.Batches(chainOf(t, c.inputs, nil), &rntuple.BatchOptions{Fields: []string{"adc"}}) {
			if last = err; err == nil {
				n += b.Len
			}
		}
		var differs *rntuple.SchemaError
		var input *rntuple.InputError
		if n != 30 || !errors.As(last, &differs) || !errors.As(last, &input) || input.Index != 1 ||
			!strings.Contains(last.Error(), c.want) {
			t.Errorf("after %d entries: %v", n, last)
		}
	}
}

// TestBatchLimits makes sure that batches need no more memory than an entry may, and that
// the memory is used again.
func TestBatchLimits(t *testing.T) {
	small := func(bytes int64, workers int) *rntuple.Reader {
		r, err := rntuple.Open(sample, "", &rntuple.ReadOptions{Limits: rntuple.Limits{EntryBytes: bytes}, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		return r
	}
	r := small(10<<10, 0)
	for _, b := range checkBatches(t, r, 0, 3000, rntuple.BatchOptions{Fresh: true}) {
		size := 0
		for _, a := range b.Columns {
			size += 8 * len(a.Offsets)
			for _, c := range a.Children {
				size += 4 * c.Len
			}
		}
		if size == 0 || size > 10<<10 {
			t.Fatalf("%d entries have %d bytes", b.Len, size)
		}
	}
	n := 0
	for _, err := range rntuple.Batches(small(8, 0), nil) {
		var limit *frame.LimitError
		if n++; !errors.As(err, &limit) || limit.Limit != "EntryBytes" || limit.Have != 8 || limit.Need <= 8 {
			t.Error(err)
		}
	}
	if n != 1 {
		t.Errorf("%d errors", n)
	}
	for _, workers := range []int{1, 2} {
		at := map[*int64]bool{}
		n := 0
		for b, err := range rntuple.Batches(small(10<<10, workers),
			&rntuple.BatchOptions{Fields: []string{"Muon_pt"}, Size: 100}) {
			if err != nil {
				t.Fatal(err)
			}
			at[&b.Columns[0].Offsets[0]] = true
			n++
		}
		if len(at) != 1 || n < 800 {
			t.Errorf("%d workers: %d batches have offsets in %d places", workers, n, len(at))
		}
	}
}
