package surgery

import (
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

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/test/golden"
	"github.com/go-rntuple/go-rntuple/internal/test/randtest"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

func newRandom(round, seed int) random {
	m := random{randtest.Maker{Rand: rand.New(rand.NewPCG(uint64(round), uint64(seed)))}, map[string]string{}}
	for i := range 2 + m.IntN(5) {
		m.types[fmt.Sprint("f", i)] = m.Type(3)
	}
	return m
}

// names returns the names of the fields, in any order.
func (m random) names() (names []string) {
	for i := range m.types {
		names = append(names, i)
	}
	slices.Sort(names)
	m.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names
}

// writeEntries writes that many entries with the given fields, of which the last
// ones are added later.
func (m random) writeEntries(t *testing.T, path string, names []string, late, n int) (entries []map[string]any) {
	t.Helper()
	opts := m.options()
	w, err := rntuple.CreateRecords(path, "n", &schema.Document{Name: "n", Fields: m.fields(t, names[:len(names)-late])},
		&opts)
	if err != nil {
		t.Fatal(err)
	}
	entries = m.add(t, w, n, names[len(names)-late:])
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return entries
}

// add writes n entries, and adds fields in between.
func (m random) add(t *testing.T, w *rntuple.Writer[value.Record], n int, late []string) (entries []map[string]any) {
	t.Helper()
	for i := range n {
		if len(late) > 0 && (m.IntN(15) == 0 || i == n-1) {
			if err := w.Extend(m.fields(t, late)...); err != nil {
				t.Fatal(err)
			}
			late = nil
		}
		if m.IntN(30) == 0 {
			w.CommitCluster()
		}
		var r value.Record
		entry := map[string]any{}
		for _, f := range w.Schema().Fields {
			entry[f.Name] = m.Value(f)
			r.Names, r.Values = append(r.Names, f.Name), append(r.Values, entry[f.Name])
		}
		if err := w.Write(&r); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry)
	}
	return entries
}

// TestRepackRandom stores random RNTuples in random ways.
func TestRepackRandom(t *testing.T) {
	for seed := range rounds(100) {
		dir := t.TempDir()
		m := newRandom(21, seed)
		in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
		names := m.names()
		m.writeEntries(t, in, names, m.IntN(len(names)), 1+m.IntN(80))
		least := Level(m.IntN(5))
		opts := RepackOptions{Options: Options{AtLeast: least, Write: m.options(),
			Read: rntuple.ReadOptions{NoMap: m.IntN(2) != 0}}}
		opts.Write.Compression = 0
		all := []Encoding{"", DefaultEncoding, UnsplitEncoding}[m.IntN(3)]
		opts.EncodeAll = all
		what := fmt.Sprintf("seed %d, level %v, encoding %q", seed, least, all)
		report, err := Repack(t.Context(), out, Input{Path: in}, &opts)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for l, work := range report.Levels {
			if Level(l) < least && work.Pages > 0 || Level(l) > max(least, Copy) && all == "" && work.Pages > 0 {
				t.Errorf("%s: %d pages at level %v", what, work.Pages, Level(l))
			}
		}
		compareLines(t, what, lines(t, out, ""), lines(t, in, ""))
		r := openReader(t, out, "")
		for _, c := range r.Schema().Columns {
			split := strings.HasPrefix(c.Type.String(), "Split")
			if all == UnsplitEncoding && split || all == DefaultEncoding && !split && c.Type.IsIndex() {
				t.Errorf("%s: field %q is encoded as %v", what, c.Owner.Path(), c.Type)
			}
		}
		if t.Failed() {
			return
		}
	}
}

func openReader(t *testing.T, path, name string) *rntuple.Reader {
	t.Helper()
	r, err := rntuple.Open(path, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// TestRepackFiles stores files that ROOT wrote in other ways.
func TestRepackFiles(t *testing.T) {
	for _, in := range goodFiles(t) {
		want := lines(t, in.Path, in.Name)
		for _, opts := range []*RepackOptions{
			nil, {Options: compressed(404)}, {EncodeAll: DefaultEncoding},
			{EncodeAll: UnsplitEncoding, Options: compressed(compress.None)}, {Options: Options{AtLeast: Rewrite}},
		} {
			out := filepath.Join(t.TempDir(), "out")
			report, err := Repack(t.Context(), out, in, opts)
			if err != nil && errors.Is(err, rntuple.ErrRange) && strings.Contains(in.Path, "late") {
				continue // zeros from before a field was added lie outside of its range
			}
			if err != nil {
				t.Errorf("%v: %v", in, err)
				continue
			}
			if opts == nil && !strings.Contains(in.Path, "legacy") && report.Levels[Copy].Pages != sum(report).Pages {
				t.Errorf("%v: %v", in, report.Levels)
			}
			compareLines(t, in.String(), lines(t, out, ""), want)
		}
	}
}

func compressed(s compress.Settings) Options {
	return Options{Write: rntuple.WriteOptions{Compression: s}}
}

func sum(r *Report) (all Work) {
	for _, w := range r.Levels {
		all.Pages, all.Bytes = all.Pages+w.Pages, all.Bytes+w.Bytes
	}
	return all
}

type measured struct {
	Pt   []float32
	Name string
	E    float64
	N    int64
}

// TestEncode narrows and widens columns. What a column cannot hold is an error.
func TestEncode(t *testing.T) {
	dir := t.TempDir()
	in, narrow, out := filepath.Join(dir, "in"), filepath.Join(dir, "narrow"), filepath.Join(dir, "out")
	write(t, in, measured{[]float32{0.5, 1 + 0x1p-20}, "x", 0.25, 1}, measured{nil, "", 1e6, 1 << 40})
	_, err := Repack(t.Context(), narrow, Input{Path: in},
		&RepackOptions{Encode: []FieldEncoding{{"Pt", schema.ColumnDocument{Type: "Real16"}},
			{"E", schema.ColumnDocument{Type: "Real32Trunc", Bits: 16}}, {"Name", schema.ColumnDocument{Type: "Index32"}}}})
	if err != nil {
		t.Fatal(err)
	}
	check := func(path string, want ...string) {
		t.Helper()
		var got []string
		for _, c := range openReader(t, path, "").Schema().Columns {
			got = append(got, c.Owner.Path()+" "+c.Type.String())
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("columns %q, want %q", got, want)
		}
	}
	check(narrow, "Pt SplitIndex64", "Pt._0 Real16", "Name Index32", "Name Char", "E Real32Trunc", "N SplitInt64")
	got := []measured{}
	for e, err := range rntuple.Entries[measured](openReader(t, narrow, "")) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, *e)
	}
	// 1e6 with 7 bits behind the point
	want := []measured{{[]float32{0.5, 1}, "x", 0.25, 1}, {got[1].Pt, "", 999424, 1 << 40}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if _, err := Repack(t.Context(), out, Input{Path: narrow}, &RepackOptions{EncodeAll: UnsplitEncoding}); err != nil {
		t.Fatal(err)
	}
	check(out, "Pt Index64", "Pt._0 Real16", "Name Index64", "Name Char", "E Real32Trunc", "N Int64")
	compareLines(t, "unsplit", lines(t, out, ""), lines(t, narrow, ""))
	if _, err := Repack(t.Context(), out, Input{Path: narrow},
		&RepackOptions{Encode: []FieldEncoding{{"Pt", schema.ColumnDocument{Type: "SplitReal32"}}}}); err != nil {
		t.Fatal(err)
	}
	compareLines(t, "wide", lines(t, out, ""), lines(t, narrow, ""))

	for _, bad := range []struct {
		opts RepackOptions
		what string
	}{
		{RepackOptions{Encode: []FieldEncoding{{"Nope", schema.ColumnDocument{Type: "Real16"}}}}, `"Nope"`},
		{RepackOptions{Encode: []FieldEncoding{{"Pt", schema.ColumnDocument{Type: "Int64"}}}}, "Int64"},
		{RepackOptions{Encode: []FieldEncoding{{"Pt",
			schema.ColumnDocument{Type: "Real32Quant", Bits: 10, Range: &[2]float64{0, 1}}}}}, "Pt"},
		{RepackOptions{EncodeAll: "all"}, `"all"`},
	} {
		none := filepath.Join(t.TempDir(), "none")
		if _, err := Repack(t.Context(), none, Input{Path: in}, &bad.opts); err == nil ||
			!strings.Contains(err.Error(), bad.what) {
			t.Errorf("%s: %v", bad.what, err)
		}
		noFile(t, none)
	}
}

// TestHMergeRandom cuts random RNTuples into others with some of the fields each,
// and puts them together again.
func TestHMergeRandom(t *testing.T) {
	levels, joined := [Rewrite + 1]int64{}, int64(0)
	for seed := range rounds(150) {
		dir := t.TempDir()
		m := newRandom(31, seed)
		entries := m.IntN(80)
		all := make([]map[string]any, entries)
		for i := range all {
			all[i] = map[string]any{}
		}
		var inputs []Input
		names := m.names()
		for left := names; len(left) > 0; {
			n := 1 + m.IntN(len(left))
			path := filepath.Join(dir, fmt.Sprint("in", len(inputs)))
			for i, e := range m.writeEntries(t, path, left[:n], min(entries, m.IntN(n)), entries) {
				for name, v := range e {
					all[i][name] = v
				}
			}
			inputs, left = append(inputs, Input{Path: path}), left[n:]
		}
		least := Level(m.IntN(5))
		opts := HMergeOptions{Options: Options{AtLeast: least, Write: m.options()}}
		opts.Write.Compression = 0
		what := fmt.Sprintf("seed %d, level %v", seed, least)
		out := filepath.Join(dir, "out")
		report, err := HMerge(t.Context(), out, inputs, &opts)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for l, work := range report.Levels {
			levels[l] += work.Pages
		}
		if least <= Copy && report.Levels[Reseal].Pages > 0 {
			joined++
		}
		got := openReader(t, out, "").Schema()
		var have []string
		for _, f := range got.Fields {
			have = append(have, f.Name)
		}
		compareLines(t, what, lines(t, out, ""), m.lines(t, have, all))
		if len(have) != len(names) && entries > 0 {
			t.Errorf("%s: fields %q", what, have)
		}
		if t.Failed() {
			return
		}
	}
	for l := Copy; l <= Rewrite; l++ {
		if levels[l] == 0 {
			t.Errorf("no pages at level %v", l)
		}
	}
	if joined == 0 && !testing.Short() {
		t.Error("no clusters joined")
	}
}

// TestHMerge tests what HMerge refuses, and attribute sets.
func TestHMerge(t *testing.T) {
	type left struct{ A, B int32 }
	type right struct {
		B float32
		C []int16
	}
	dir := t.TempDir()
	make := func(name string, write func(f *rntuple.File) interface{ Close() error }) Input {
		path := filepath.Join(dir, name)
		f, err := rntuple.CreateFile(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := write(f).Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		return Input{Path: path}
	}
	set := func(w rntuple.Attributed, what string) {
		a, err := rntuple.NewAttributes[struct{ S string }](w, "set", nil)
		if err != nil {
			t.Fatal(err)
		}
		a.Write(rntuple.EntryRange{First: 1, End: 3}, struct{ S string }{what})
	}
	writeLeft := func(n int32) func(f *rntuple.File) interface{ Close() error } {
		return func(f *rntuple.File) interface{ Close() error } {
			w, err := rntuple.NewWriter[left](f, "left", nil)
			if err != nil {
				t.Fatal(err)
			}
			set(w, "l")
			for i := range n {
				w.Write(&left{i, -i})
			}
			return w
		}
	}
	a, long := make("a", writeLeft(100)), make("long", writeLeft(101))
	b := make("b", func(f *rntuple.File) interface{ Close() error } {
		w, err := rntuple.NewWriter[right](f, "right", nil)
		if err != nil {
			t.Fatal(err)
		}
		set(w, "r")
		for i := range 100 {
			w.Write(&right{float32(i) / 2, []int16{1, 2, 3}[:i%4]})
			if i%10 == 9 {
				w.CommitCluster()
			}
		}
		return w
	})
	_, err := HMerge(t.Context(), filepath.Join(t.TempDir(), "out"), []Input{a, b, long}, nil)
	var all *IncompatibleError
	if !errors.As(err, &all) {
		t.Fatal(err)
	}
	want := []Problem{
		{Input: b.Path, Field: "B", What: a.Path + " already has one with this name", Clashes: true},
		{Input: b.Path, What: `attribute set "set": ` + a.Path + " already has one with this name", Clashes: true},
		{Input: long.Path, What: "has 101 entries, the first input 100"},
		{Input: long.Path, Field: "A", What: a.Path + " already has one with this name", Clashes: true},
		{Input: long.Path, Field: "B", What: a.Path + " already has one with this name", Clashes: true},
		{Input: long.Path, What: `attribute set "set": ` + a.Path + " already has one with this name", Clashes: true},
	}
	if !reflect.DeepEqual(all.Problems, want) {
		t.Errorf("%q, want %q", all.Problems, want)
	}
	out := filepath.Join(dir, "out")
	report, err := HMerge(t.Context(), out, []Input{a, b}, &HMergeOptions{Prefix: []string{"", "r_"}, Name: "both"})
	if err != nil {
		t.Fatal(err)
	}
	// Ten clusters of b become one, like that of a: of the offsets, all but the
	// first page are encoded anew. The attribute sets have a cluster of four pages.
	if l := report.Levels; report.Clusters != 1+2 || l[Reseal].Pages != 9 || l[Rewrite].Pages != 0 ||
		l[Copy].Pages != 2+1+10+10+2*4 {
		t.Errorf("%+v", report)
	}
	type merged struct {
		A, B int32
		RB   float32 `rntuple:"r_B"`
		RC   []int16 `rntuple:"r_C"`
	}
	r := openReader(t, out, "both")
	i := int32(0)
	for e, err := range rntuple.Entries[merged](r) {
		if err != nil {
			t.Fatal(err)
		}
		if want := (merged{i, -i, float32(i) / 2, []int16{1, 2, 3}[:i%4]}); e.A != want.A || e.B != want.B ||
			e.RB != want.RB || !slices.Equal(e.RC, want.RC) {
			t.Fatalf("%v, want %v", *e, want)
		}
		i++
	}
	for _, name := range []string{"set", "r_set"} {
		if set, err := r.OpenAttributes(name); err != nil || set.Len() != 1 {
			t.Error(name, err)
		}
	}
	if _, err := HMerge(t.Context(), out, []Input{a, b},
		&HMergeOptions{Options: Options{AtMost: new(Copy)}, Prefix: []string{"", "r_"}}); err == nil {
		t.Error("offsets have been copied")
	}
}

// TestHMergeRepresentations joins clusters of which the second one has more precise values than the
// first one, in another representation: they keep their precision.
func TestHMergeRepresentations(t *testing.T) {
	dir := t.TempDir()
	long, in := Input{Path: filepath.Join(dir, "long")}, Input{Path: filepath.Join(dir, "in")}
	points(t, long.Path, 0, 4, nil)
	doc := &schema.Document{Name: "n", Fields: []*schema.FieldDocument{{Name: "f", Type: "float",
		Columns: [][]schema.ColumnDocument{{{Type: "Real16", Bits: 16}}, {{Type: "Real32", Bits: 32}}}}}}
	w, err := rntuple.CreateRecords(in.Path, "n", doc, unsynced(nil))
	if err != nil {
		t.Fatal(err)
	}
	want := []float32{0.5, 0.25, 1. / 3, 1. / 7}
	for i, v := range want {
		if err := w.Use("f", i/2); err != nil {
			t.Fatal(err)
		}
		if err := w.Write(&value.Record{Names: []string{"f"}, Values: []any{v}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	if _, err := HMerge(t.Context(), out, []Input{long, in}, nil); err != nil {
		t.Fatal(err)
	}
	v, err := rntuple.ViewOf[float32](openReader(t, out, ""), "f")
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float32, len(want))
	if n, err := v.Read(got, 0); n != len(want) || err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, want %v, error %v", got, want, err)
	}
}

// TestHMergeFiles merges every file that ROOT wrote side by side with itself.
func TestHMergeFiles(t *testing.T) {
	for _, in := range goodFiles(t) {
		want := lines(t, in.Path, in.Name)
		for _, least := range []Level{Copy, Rewrite} {
			out := filepath.Join(t.TempDir(), "out")
			_, err := HMerge(t.Context(), out, []Input{in, in},
				&HMergeOptions{Options: Options{AtLeast: least}, Prefix: []string{"", "2nd "}})
			if err != nil && errors.Is(err, rntuple.ErrRange) && strings.Contains(in.Path, "late") {
				continue // zeros from before a field was added lie outside of its range
			}
			if err != nil {
				t.Errorf("%v: %v", in, err)
				continue
			}
			r := openReader(t, out, "")
			for _, prefix := range []string{"", "2nd "} {
				var fields []*schema.Field
				for _, f := range openReader(t, in.Path, in.Name).Schema().Fields {
					chain, err := r.Schema().Lookup(prefix + f.Name)
					if err != nil {
						t.Fatal(err)
					}
					fields = append(fields, chain[0])
				}
				slices.SortFunc(fields, func(a, b *schema.Field) int { return strings.Compare(a.Name, b.Name) })
				var got []string
				if err := golden.Fields(r, fields, func(_ int64, line []byte) error {
					got = append(got, strings.ReplaceAll(string(line), `"2nd `, `"`))
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				compareLines(t, in.String(), got, want)
			}
		}
	}
}

// TestOperationsFail damages inputs, and cancels operations: no output is left.
func TestOperationsFail(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good"), filepath.Join(dir, "bad")
	points(t, good, 0, 3000, &rntuple.WriteOptions{ClusterSize: 4000, Compression: compress.None})
	damaged, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	damaged[len(damaged)/2] ^= 1 // a page: they are most of the file
	if err := os.WriteFile(bad, damaged, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, operation := range map[string]func(ctx context.Context, out string, in Input, o Options) error{
		"repack": func(ctx context.Context, out string, in Input, o Options) error {
			_, err := Repack(ctx, out, in, &RepackOptions{Options: o, EncodeAll: DefaultEncoding})
			return err
		},
		"rename": func(ctx context.Context, out string, in Input, o Options) error {
			_, err := Rename(ctx, out, in, Renaming{Name: "new"}, &o)
			return err
		},
		"hmerge": func(ctx context.Context, out string, in Input, o Options) error {
			_, err := HMerge(ctx, out, []Input{{Path: good}, in},
				&HMergeOptions{Options: o, Prefix: []string{"", "second_"}})
			return err
		},
	} {
		for _, least := range []Level{Copy, Recompress, Rewrite} {
			out := filepath.Join(t.TempDir(), "out")
			if err := operation(t.Context(), out, Input{Path: bad}, Options{AtLeast: least}); !errors.Is(err,
				rntuple.ErrChecksum) || !strings.Contains(err.Error(), bad) {
				t.Errorf("%s, level %v: %v", name, least, err)
			}
			noFile(t, out)
			ctx, cancel := context.WithCancel(t.Context())
			err := operation(ctx, out, Input{Path: good}, Options{AtLeast: least, Progress: func(done, total int64) {
				if done > total/2 {
					cancel()
				}
			}})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s, level %v: %v", name, least, err)
			}
			noFile(t, out)
			cancel()
		}
		if err := operation(t.Context(), good, Input{Path: good}, Options{}); err == nil {
			t.Errorf("%s: the input has been overwritten", name)
		}
	}
}

// TestIndexInterrupted stops indexing at every write.
func TestIndexInterrupted(t *testing.T) {
	dir := t.TempDir()
	old, path := filepath.Join(dir, "old"), filepath.Join(dir, "new")
	points(t, old, 0, 300, nil)
	for calls := 0; ; calls++ {
		copyFile(t, old, path)
		disk, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = index(t.Context(), updateDying(disk, calls), Input{Path: path}, nil)
		disk.Close()
		sets := openReader(t, path, "n").AttributeSets()
		checkPoints(t, path, 300)
		if err == nil {
			if calls < 4 || len(sets) != 1 {
				t.Errorf("done after %d writes: %v", calls, sets)
			}
			break
		}
		if !errors.Is(err, errDead) || len(sets) > 1 {
			t.Fatalf("stopped at write %d: %v, %v", calls, err, sets)
		}
	}
}
