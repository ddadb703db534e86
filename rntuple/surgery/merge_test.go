package surgery

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
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

var all = context.Background()

// lines returns the entries of an RNTuple as text, the fields by name.
func lines(t testing.TB, path, name string) []string {
	t.Helper()
	r, err := rntuple.Open(path, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	fields := slices.Clone(r.Schema().Fields)
	slices.SortFunc(fields, func(a, b *schema.Field) int { return compareNames(a.Name, b.Name) })
	var all []string
	if err := golden.Fields(r, fields, func(_ int64, line []byte) error {
		all = append(all, string(line))
		return nil
	}); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return all
}

func compareNames(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// random is a random input: an RNTuple with some of the given fields.
type random struct {
	randtest.Maker
	types map[string]string // by field name
}

func (m random) options() rntuple.WriteOptions {
	settings := []compress.Settings{compress.None, 101, 404, 501}[m.IntN(4)]
	opts := rntuple.WriteOptions{
		Compression: settings, MaxUnzippedPageSize: 1 + m.Int64N(200), ClusterSize: 1 + m.Int64N(3000),
		PageBufferBudget: 1 + m.Int64N(4000),
		Workers:          1 + m.IntN(3), NoSharing: m.IntN(4) == 0, NoChecksums: m.IntN(4) == 0,
		File: rntuple.FileOptions{NoSync: true},
	}
	if m.IntN(3) == 0 {
		opts.MaxKeySize = 1000 + m.Int64N(2000)
	}
	return opts
}

func (m random) fields(t *testing.T, names []string) (all []*schema.FieldDocument) {
	for _, name := range names {
		f, err := schema.FieldOf(name, m.types[name])
		if err != nil {
			t.Fatalf("%s: %v", m.types[name], err)
		}
		all = append(all, f)
	}
	return all
}

// write writes an input with the given fields, of which the last ones are added
// later, and returns its entries.
func (m random) write(t *testing.T, path string, names []string, late int) (entries []map[string]any) {
	opts := m.options()
	w, err := rntuple.CreateRecords(path, "n", &schema.Document{Name: "n", Fields: m.fields(t, names[:len(names)-late])},
		&opts)
	if err != nil {
		t.Fatal(err)
	}
	left := names[len(names)-late:]
	for range m.IntN(60) * m.IntN(5) / 2 {
		switch m.IntN(30) {
		case 0:
			w.CommitCluster()
		case 1:
			w.CommitClusterGroup()
		}
		if len(left) > 0 && m.IntN(15) == 0 {
			if err := w.Extend(m.fields(t, left[:1])...); err != nil {
				t.Fatal(err)
			}
			left = left[1:]
		}
		var r value.Record
		entry := map[string]any{}
		for _, f := range w.Schema().Fields {
			v := m.Value(f)
			entry[f.Name] = v
			r.Names, r.Values = append(r.Names, f.Name), append(r.Values, v)
		}
		if err := w.Write(&r); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry)
	}
	if len(left) > 0 {
		if err := w.Extend(m.fields(t, left)...); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return entries
}

// rounds returns how often a random test is done: n times, or less with -short.
func rounds(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// TestRandom merges random RNTuples in all modes and levels: the output has the
// entries of the inputs, with zeros for the fields that an input lacks.
func TestRandom(t *testing.T) {
	levels := [Rewrite + 1]int64{}
	for seed := range rounds(300) {
		dir := t.TempDir()
		m := random{randtest.Maker{Rand: rand.New(rand.NewPCG(11, uint64(seed)))}, map[string]string{}}
		var names []string
		for i := range 2 + m.IntN(5) {
			names = append(names, fmt.Sprint("f", i))
			m.types[names[i]] = m.Type(3)
		}
		mode := Mode(m.IntN(3))
		first := names[:1+m.IntN(len(names))]
		var inputs []Input
		var entries []map[string]any
		union := slices.Clone(first)
		for n := range 1 + m.IntN(4) {
			mine := slices.Clone(first)
			if n > 0 && mode == Filter {
				mine = append(mine, names[len(first):][:m.IntN(len(names)-len(first)+1)]...)
			}
			if n > 0 && mode == Union {
				mine = slices.DeleteFunc(slices.Clone(names), func(string) bool { return m.IntN(3) == 0 })
				if len(mine) == 0 {
					mine = names[:1]
				}
				for _, name := range mine {
					if !slices.Contains(union, name) {
						union = append(union, name)
					}
				}
			}
			m.Shuffle(len(mine), func(i, j int) { mine[i], mine[j] = mine[j], mine[i] })
			path := filepath.Join(dir, fmt.Sprintf("in%d.root", n))
			entries = append(entries, m.write(t, path, mine, m.IntN(len(mine)))...)
			inputs = append(inputs, Input{Path: path})
		}
		least := Level(m.IntN(5))
		opts := MergeOptions{Mode: mode, Options: Options{AtLeast: least, Write: m.options(),
			Read: rntuple.ReadOptions{NoMap: m.IntN(2) != 0}}}
		opts.Write.Compression = 0
		opts.KeepCompression = m.IntN(2) == 0
		if m.IntN(3) == 0 {
			opts.Write.Compression = []compress.Settings{compress.None, 101, 404, 501}[m.IntN(4)]
		}
		if m.IntN(3) == 0 {
			opts.JoinClusters = m.Int64N(2000)
		}
		what := fmt.Sprintf("seed %d, mode %v, level %v", seed, mode, least)
		out := filepath.Join(dir, "out.root")
		into := filepath.Join(dir, "into.root")
		copyFile(t, inputs[0].Path, into)
		report, err := Merge(all, out, inputs, &opts)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for l, work := range report.Levels {
			levels[l] += work.Pages
			if Level(l) < least && work.Pages > 0 {
				t.Errorf("%s: %d pages at level %v", what, work.Pages, Level(l))
			}
		}
		if report.Entries != int64(len(entries)) {
			t.Errorf("%s: %d entries, want %d", what, report.Entries, len(entries))
		}
		want := m.lines(t, union, entries)
		compareLines(t, what, lines(t, out, ""), want)
		if len(inputs) > 1 {
			if _, err := MergeInto(all, Input{Path: into}, inputs[1:], &opts); err != nil {
				t.Fatalf("%s, in place: %v", what, err)
			}
			compareLines(t, what+", in place", lines(t, into, ""), want)
			compareLines(t, what+", before", lines(t, into, "n;1"), lines(t, inputs[0].Path, ""))
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
}

// lines returns entries as text, with zeros where they lack a field.
func (m random) lines(t *testing.T, names []string, entries []map[string]any) (want []string) {
	names = slices.Sorted(slices.Values(names))
	doc := &schema.Document{Name: "n", Fields: m.fields(t, names)}
	path := filepath.Join(t.TempDir(), "want.root")
	w, err := rntuple.CreateRecords(path, "n", doc, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	fields := &schema.Field{Shape: schema.Record, Children: w.Schema().Fields}
	for _, e := range entries {
		r := value.Record{Names: names}
		for _, f := range fields.Children {
			v, ok := e[f.Name]
			if !ok {
				v = randtest.Zero(f)
			}
			r.Values = append(r.Values, v)
		}
		want = append(want, string(golden.Append(nil, fields, r)))
	}
	return want
}

func compareLines(t *testing.T, what string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) {
			t.Errorf("%s: %d entries, want %d", what, len(got), len(want))
			return
		}
		if got[i] != want[i] {
			t.Errorf("%s: entry %d is\n%s\nwant\n%s", what, i, got[i], want[i])
			return
		}
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestKeepWhereThere keeps and drops fields that only the first input has: what the others lack of
// them is missing, or zero in the mode Union, also where they have none of those that are kept.
func TestKeepWhereThere(t *testing.T) {
	type first struct {
		A, B int32
		X    float32
	}
	type second struct{ B, C int32 }
	dir := t.TempDir()
	a, b, out := Input{Path: filepath.Join(dir, "a")}, Input{Path: filepath.Join(dir, "b")}, filepath.Join(dir, "out")
	write(t, a.Path, first{1, 2, 0.5})
	write(t, b.Path, second{3, 4})
	for _, c := range []struct {
		opts MergeOptions
		want string // the entries, or what is missing
	}{
		{MergeOptions{Keep: []string{"B"}}, "[{\"B\":2} {\"B\":3}]"},
		{MergeOptions{Keep: []string{"B", "[XC]"}, Drop: []string{"X"}}, "[{\"B\":2} {\"B\":3}]"},
		{MergeOptions{Drop: []string{"X", "A"}}, "[{\"B\":2} {\"B\":3}]"},
		{MergeOptions{Keep: []string{"X"}}, `field "X": is missing, but the first input has it`},
		{MergeOptions{Keep: []string{"[AX]"}}, `field "A": is missing, but the first input has it`},
		{MergeOptions{Keep: []string{"X"}, Mode: Union}, "[{\"X\":\"0x3f000000\"} {\"X\":\"0x00000000\"}]"},
		{MergeOptions{Keep: []string{"X", "[BC]"}, Mode: Union},
			"[{\"B\":2,\"C\":0,\"X\":\"0x3f000000\"} {\"B\":3,\"C\":4,\"X\":\"0x00000000\"}]"},
		{MergeOptions{Drop: []string{"C"}}, "no field"}, // a pattern must match a field of the first input
	} {
		_, err := Merge(t.Context(), out, []Input{a, b}, &c.opts)
		if c.want[0] != '[' {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
			continue
		}
		if got := fmt.Sprint(lines(t, out, "")); err != nil || got != c.want {
			t.Errorf("%s, %v, want %s", got, err, c.want)
		}
	}
}

// TestUnionProjections merges inputs that have projected fields, and their sources, which the first
// one lacks.
func TestUnionProjections(t *testing.T) {
	dir := t.TempDir()
	first, second, out := filepath.Join(dir, "first"), filepath.Join(dir, "second"), filepath.Join(dir, "out")
	write(t, first, struct{ Y int32 }{1})
	doc := &schema.Document{Name: "n", Fields: []*schema.FieldDocument{
		{Name: "P", Type: "std::int32_t", Source: "X"}, {Name: "X", Type: "std::int32_t"}}}
	w, err := rntuple.CreateRecords(second, "n", doc, unsynced(nil))
	if err != nil {
		t.Fatal(err)
	}
	err = w.Write(&value.Record{Names: []string{"X"}, Values: []any{int32(5)}})
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	for least := Copy; least <= Rewrite; least++ {
		_, err := Merge(t.Context(), out, []Input{{Path: first}, {Path: second}},
			&MergeOptions{Mode: Union, Options: Options{AtLeast: least}})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{`{"P":0,"X":0,"Y":1}`, `{"P":5,"X":5,"Y":0}`}
		compareLines(t, fmt.Sprint("level ", least), lines(t, out, ""), want)
		if p := openReader(t, out, "").Schema().Fields; p[len(p)-1].Source == nil {
			t.Errorf("level %v: field %q is not projected", least, p[len(p)-1].Name)
		}
	}
}
