package zonemap_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

type hit struct {
	X float64
	Q int8
}

type event struct {
	N     int64 // in order
	Big   uint64
	F     float32
	OK    bool
	Half  float32 `rntuple:"Half,encoding=Real16"`
	Short float32 `rntuple:"Short,trunc=12"`
	Jets  []float32
	Hits  []hit
	Deep  [][]int32
	Name  string
	Opt   *int32
	Three [3]int16
	At    hit
}

// entry returns the i-th entry of the samples.
func entry(i int) *event {
	e := &event{N: int64(i) - 50, Big: math.MaxUint64 - uint64(i), F: float32(i%7) / 3, OK: i%40 > 20,
		Half: float32(i) / 3, Short: -float32(i) / 3}
	if i%30 == 4 {
		e.F = float32(math.NaN())
	}
	for k := range i % 4 {
		e.Jets, e.Hits = append(e.Jets, float32(i-k)), append(e.Hits, hit{float64(k * i), int8(-k)})
		e.Deep = append(e.Deep, []int32{int32(i), int32(-k)})
	}
	if i%3 == 0 {
		n := int32(i * i)
		e.Opt = &n
	}
	e.Name, e.Three, e.At = fmt.Sprint(i), [3]int16{int16(i), 7, int16(-i)}, hit{math.Inf(1 - i%2*2), 3}
	return e
}

// clusters are the entries of the clusters of the samples.
var clusters = []int{0, 10, 25, 26, 60, 100}

// write makes a sample.
func write(t testing.TB, opts *rntuple.WriteOptions) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "sample.root")
	w, err := rntuple.Create[event](path, "sample", opts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if slices.Contains(clusters, i) {
			if err := w.CommitCluster(); err != nil {
				t.Fatal(err)
			}
		}
		w.Write(entry(i))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// open opens the RNTuple of a file, and its zone map.
func open(t testing.TB, path string) (*rntuple.Reader, *zonemap.Map) {
	t.Helper()
	r, err := rntuple.Open(path, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	m, err := r.ZoneMap()
	if err != nil {
		t.Fatal(err)
	}
	return r, m
}

// numbers has, by path, the numbers that the zone of a field is about in an entry.
var numbers = map[string]func(e *event) []float64{
	"N":     func(e *event) []float64 { return []float64{float64(e.N)} },
	"F":     func(e *event) []float64 { return []float64{float64(e.F)} },
	"OK":    func(e *event) []float64 { return []float64{map[bool]float64{true: 1}[e.OK]} },
	"Half":  func(e *event) []float64 { return []float64{float64(e.Half)} },
	"Short": func(e *event) []float64 { return []float64{float64(e.Short)} },
	"Jets":  func(e *event) []float64 { return []float64{float64(len(e.Jets))} },
	"Hits":  func(e *event) []float64 { return []float64{float64(len(e.Hits))} },
	"Deep":  func(e *event) []float64 { return []float64{float64(len(e.Deep))} },
	"Three": func(e *event) []float64 { return []float64{3} },
	"At.X":  func(e *event) []float64 { return []float64{e.At.X} },
	"At.Q":  func(e *event) []float64 { return []float64{float64(e.At.Q)} },
	"Jets._0": func(e *event) (all []float64) {
		for _, j := range e.Jets {
			all = append(all, float64(j))
		}
		return all
	},
	"Hits.X": func(e *event) (all []float64) {
		for _, h := range e.Hits {
			all = append(all, h.X)
		}
		return all
	},
	"Hits._0.Q": func(e *event) (all []float64) {
		for _, h := range e.Hits {
			all = append(all, float64(h.Q))
		}
		return all
	},
	"Deep._0._0": func(e *event) (all []float64) {
		for _, d := range e.Deep {
			all = append(all, float64(d[0]), float64(d[1]))
		}
		return all
	},
	"Opt": func(e *event) []float64 {
		if e.Opt == nil {
			return nil
		}
		return []float64{float64(*e.Opt)}
	},
	"Three._0": func(e *event) []float64 {
		return []float64{float64(e.Three[0]), float64(e.Three[1]), float64(e.Three[2])}
	},
}

// limits returns the bounds of a zone as floats.
func limits(z zonemap.Zone) (least, greatest float64) {
	switch z.Kind {
	case zonemap.Int:
		a, b := z.IntBounds()
		return float64(a), float64(b)
	case zonemap.Float:
		return z.FloatBounds()
	}
	return float64(z.Least), float64(z.Greatest)
}

// check compares the zones that a map has of the clusters of entries, which are read again,
// with what they should be.
func check(t *testing.T, r *rntuple.Reader, m *zonemap.Map, paths ...string) {
	t.Helper()
	if len(m.Problems) > 0 {
		t.Errorf("problems: %q", m.Problems)
	}
	view, err := rntuple.ViewOf[event](r, "")
	if err != nil {
		t.Fatal(err)
	}
	ranges, err := r.Clusters()
	if err != nil {
		t.Fatal(err)
	}
	for path, of := range numbers {
		for i, entries := range ranges {
			z, ok := m.Zone(path, i)
			if wanted := len(paths) == 0 || slices.Contains(paths, path); ok != wanted && path != "Three" {
				t.Errorf("zone of %s in cluster %d: %v, want %v", path, i, ok, wanted)
			}
			if !ok {
				continue
			}
			least, greatest, nan, empty := math.Inf(1), math.Inf(-1), false, true
			for _, e := range view.Range(entries) {
				for _, x := range of(&e) {
					if nan = nan || x != x; x == x {
						least, greatest, empty = min(least, x), max(greatest, x), false
					}
				}
			}
			if empty {
				least, greatest = 0, 0
			}
			a, b := limits(z)
			if a != least || b != greatest || z.NaN != nan || z.Empty != empty || z.Missing != (path == "Opt") {
				t.Errorf("zone of %s in cluster %d: %+v, want [%v, %v], NaN %v, empty %v", path, i, z, least, greatest, nan, empty)
			}
		}
	}
	if z, ok := m.Zone("Big", 0); ok {
		first, _ := view.At(ranges[0].First)
		last, _ := view.At(ranges[0].End - 1)
		if z.Kind != zonemap.Uint || z.Greatest != first.Big || z.Least != last.Big {
			t.Errorf("zone of Big in cluster 0: %+v", z)
		}
	}
	for _, path := range []string{"Name", "Nothing", "At"} {
		if z, ok := m.Zone(path, 0); ok {
			t.Errorf("zone of %s: %v", path, z)
		}
	}
	if z, ok := m.Zone("N", len(ranges)); ok {
		t.Errorf("zone of a cluster that is not there: %v", z)
	}
}

// TestIndex makes a zone map of a file, and replaces and removes it.
func TestIndex(t *testing.T) {
	path := write(t, nil)
	if _, m := open(t, path); len(m.Problems) > 0 {
		t.Error(m.Problems)
	} else if paths, _ := m.Fields(); len(paths) > 0 {
		t.Error(paths)
	}
	in, ctx := surgery.Input{Path: path}, context.Background()
	for _, keep := range [][]string{nil, {"N", "Jets"}, {"*"}} {
		report, err := surgery.Index(ctx, in, &surgery.IndexOptions{Keep: keep, Drop: []string{"At"}})
		if err != nil {
			t.Fatal(err)
		}
		r, m := open(t, path)
		paths, counts := m.Fields()
		if !slices.Equal(paths, report.Fields) || report.Clusters != len(clusters)-1 ||
			slices.Min(counts) != report.Clusters || slices.Max(counts) != report.Clusters {
			t.Errorf("report %v, map of %v, %v", report, paths, counts)
		}
		wanted := []string{"N", "Jets", "Jets._0"}
		if len(keep) != 2 {
			wanted = slices.DeleteFunc(slices.Collect(maps.Keys(numbers)),
				func(p string) bool { return strings.HasPrefix(p, "At") })
		}
		check(t, r, m, wanted...)
		infos, err := rntuple.ListFile(context.Background(), path, nil)
		if err != nil || len(infos) != 1 || !reflect.DeepEqual(r.AttributeSets(),
			[]rntuple.AttributeSet{{Name: zonemap.SetName, SchemaMajor: 1}}) {
			t.Error(infos, err, r.AttributeSets())
		}
	}
	for _, pattern := range []string{"M", "X*", "Name", "["} {
		if _, err := surgery.Index(ctx, in, &surgery.IndexOptions{Keep: []string{pattern}}); err == nil {
			t.Errorf("%s: no error", pattern)
		}
	}
	if err := surgery.RemoveIndex(ctx, in, nil); err != nil {
		t.Fatal(err)
	}
	if r, _ := open(t, path); len(r.AttributeSets()) > 0 {
		t.Error(r.AttributeSets())
	}
}

// TestWrite writes zone maps with RNTuples, at several checkpoints, and adds entries.
func TestWrite(t *testing.T) {
	for _, workers := range []int{1, 3} {
		path := filepath.Join(t.TempDir(), "sample.root")
		opts := &rntuple.WriteOptions{ZoneMap: []string{"*"}, Workers: workers, MaxUnzippedPageSize: 64}
		w, err := rntuple.Create[event](path, "sample", opts)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			switch i {
			case 30:
				err = w.CommitCluster()
			case 10, 70:
				err = w.Checkpoint()
			}
			if err != nil {
				t.Fatal(err)
			}
			w.Write(entry(i))
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, m := open(t, path)
		check(t, r, m)

		w, err = rntuple.Append[event](path, "sample", opts)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			w.Write(entry(3 * i))
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, m = open(t, path)
		check(t, r, m)
		if r.NumEntries() != 110 {
			t.Error(r.NumEntries())
		}

		w, err = rntuple.Append[event](path, "sample", nil)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(entry(7))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		_, m = open(t, path)
		if _, ok := m.Zone("N", 5); ok || len(m.Problems) > 0 {
			t.Errorf("a cluster without zones has one: %v", m.Problems)
		}
		if z, ok := m.Zone("N", 4); !ok || z.String() != "int [-50, -23]" {
			t.Errorf("zone of a cluster that was added: %v", z)
		}
	}
	if _, err := rntuple.Create[event](filepath.Join(t.TempDir(), "x.root"), "x",
		&rntuple.WriteOptions{ZoneMap: []string{"nothing"}}); err == nil {
		t.Error("no error of a field that is not there")
	}
}

// TestFill has several goroutines write clusters.
func TestFill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sample.root")
	w, err := rntuple.Create[event](path, "sample",
		&rntuple.WriteOptions{ZoneMap: []string{"*"}, Workers: 3, MaxUnzippedPageSize: 64})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		w.Write(entry(i))
	}
	err = w.Fill(8, func(part int, f *rntuple.Filler[event]) error {
		for i := range 10 {
			if err := f.Write(entry(20 + 10*part + i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	r, m := open(t, path)
	if clusters, err := r.Clusters(); err != nil || len(clusters) != 9 {
		t.Errorf("%d clusters, %v", len(clusters), err)
	}
	check(t, r, m)
}

// TestExtend adds a field to an RNTuple with a zone map.
func TestExtend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "extended.root")
	doc := &schema.Document{Name: "x", Fields: []*schema.FieldDocument{{Name: "N", Type: "std::int32_t"}}}
	w, err := rntuple.CreateRecords(path, "x", doc, &rntuple.WriteOptions{ZoneMap: []string{"*"}})
	if err != nil {
		t.Fatal(err)
	}
	record := func(names []string, values ...any) {
		t.Helper()
		if err := w.Write(&value.Record{Names: names, Values: values}); err != nil {
			t.Fatal(err)
		}
	}
	record([]string{"N"}, int32(5))
	if err := w.CommitCluster(); err != nil {
		t.Fatal(err)
	}
	record([]string{"N"}, int32(6))
	if err := w.Extend(&schema.FieldDocument{Name: "M", Type: "float"}); err != nil {
		t.Fatal(err)
	}
	record([]string{"N", "M"}, int32(7), float32(2))
	if err := w.CommitCluster(); err != nil {
		t.Fatal(err)
	}
	record([]string{"N", "M"}, int32(8), float32(3))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, m := open(t, path)
	for i, want := range map[int]string{1: "float [0, 2]", 2: "float [3, 3]"} {
		if z, ok := m.Zone("M", i); !ok || z.String() != want || len(m.Problems) > 0 {
			t.Errorf("cluster %d: %v, want %v; %v", i, z, want, m.Problems)
		}
	}
	if _, err := surgery.Index(context.Background(), surgery.Input{Path: path}, nil); err != nil {
		t.Fatal(err)
	}
	_, m = open(t, path)
	for i, want := range []string{"float [0, 0]", "float [0, 2]", "float [3, 3]"} {
		if z, _ := m.Zone("M", i); z.String() != want {
			t.Errorf("cluster %d: %v, want %v; %v", i, z, want, m.Problems)
		}
	}
}
