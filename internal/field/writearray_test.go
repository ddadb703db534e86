package field_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/test/randtest"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// arrays returns Arrays with all entries of a source of one cluster.
func arrays(t *testing.T, src *pagesource.Source) []*columnar.Array {
	t.Helper()
	var chains [][]*schema.Field
	for _, f := range src.Schema.Fields {
		chains = append(chains, []*schema.Field{f})
	}
	plan, err := field.CompileBatches(src, chains, true, options)
	if err != nil {
		t.Fatal(err)
	}
	all, n, err := plan.Read(context.Background(), 0, src.Entries)
	if err != nil || n != src.Entries {
		t.Fatalf("%d of %d entries, error %v", n, src.Entries, err)
	}
	return all
}

// TestWriteArrays writes random values of random types as Go values, reads them into
// Arrays, and writes these in pieces: every column has the same elements again.
func TestWriteArrays(t *testing.T) {
	const entries = 20
	for seed := range 300 {
		m := randtest.Maker{Rand: rand.New(rand.NewPCG(77, uint64(seed)))}
		typ := m.Type(3)
		s := build(t, fieldOf(t, "f", typ))
		from, o := newSink(s)
		values := make([]any, entries)
		for i := range values {
			values[i] = m.Value(s.Fields[0])
		}
		if err := write(o, from, s.Fields[0], values); err != nil {
			t.Fatalf("%s: %v", typ, err)
		}
		src := from.source(t)
		a := arrays(t, src)[0]

		to, o := newSink(s)
		plan, err := o.CompileArray(s.Fields[0], a)
		if err != nil {
			t.Fatalf("%s: %v", typ, err)
		}
		for at := 0; at < entries; {
			n := m.IntN(entries - at + 1)
			if err := plan.Write(a, at, n); err != nil {
				t.Fatalf("%s: %v", typ, err)
			}
			at += n
		}
		to.EndEntries(entries)
		again := to.source(t)
		for _, c := range s.Columns {
			name := fmt.Sprintf("%s/%d", c.Owner.Path(), c.Index)
			if got, want := stored(t, again, name, 0), stored(t, src, name, 0); got != want {
				t.Errorf("%s: column %s has %s, want %s", typ, name, got, want)
			}
		}
	}
}

// TestWriteArrayTypes writes Arrays of numbers to fields of other types.
func TestWriteArrayTypes(t *testing.T) {
	s := build(t, fieldOf(t, "i", "std::vector<std::int64_t>"), fieldOf(t, "d", "double"), fieldOf(t, "s", "std::string"),
		record("r", fieldOf(t, "x", "float")), record("q", fieldOf(t, "y", "float")))
	src := source(t, s, cluster{2, columns{"i/0": of[uint64](1, 3), "i._0/0": of[int64](5, 300, -6), "d/0": of(0.1, 1e40),
		"s/0": of[uint64](1, 2), "s/1": of[int8]('a', 'b'),
		"r.x/0": of[float32](1, 2), "q.y/0": of[float32](3, 4)}})
	given := arrays(t, src)
	for _, test := range []struct {
		array int
		to    string
		want  string // elements, or part of an error
	}{
		{0, "std::vector<std::int16_t>", "[5 300 -6]"},
		{0, "std::set<std::int64_t>", "[5 300 -6]"},
		{0, "std::vector<std::int8_t>", "300 does not fit int8"},
		{0, "std::vector<std::uint64_t>", "-6 does not fit uint64"},
		{0, "std::vector<double>", `field "f._0" of type double does not take values of the Go type int64`},
		{0, "std::vector<bool>", "does not take"},
		{0, "std::int64_t", `field "f" of type std::int64_t does not take values of the shape collection, of the Go type int64`},
		{0, "std::optional<std::int64_t>", "does not take"},
		{1, "float", "1e+40 does not fit float32"},
		{1, "std::atomic<double>", "[0.1 1e+40]"},
		{1, "std::int64_t", "does not take"},
		{2, "double", "does not take values of the shape string"},
		{2, "std::vector<char>", "does not take"},
		{3, "", "does not take"}, // other members
	} {
		target := build(t, record("q", fieldOf(t, "y", "float")))
		if test.to != "" {
			target = build(t, fieldOf(t, "f", test.to))
		}
		to, o := newSink(target)
		a := given[test.array]
		plan, err := o.CompileArray(target.Fields[0], a)
		if err == nil {
			err = plan.Write(a, 0, a.Len)
		}
		if err != nil {
			if !strings.Contains(err.Error(), test.want) || strings.Contains(test.want, "fit ") &&
				!errors.Is(err, column.ErrRange) {
				t.Errorf("array %d to %s: error %v, want %s", test.array, test.to, err, test.want)
			}
			continue
		}
		to.EndEntries(int64(a.Len))
		leaf := target.Columns[len(target.Columns)-1]
		if got := stored(t, to.source(t), leaf.Owner.Path()+"/0", 0); got != test.want {
			t.Errorf("array %d to %s: %s, want %s", test.array, test.to, got, test.want)
		}
	}

	_, o := newSink(s)
	plan, err := o.CompileArray(s.Fields[0], given[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{plan.Write(given[1], 0, 1), plan.Write(given[0], 0, 3), plan.Write(given[0], -1, 1),
		plan.Write(given[0], 1, -1)} {
		if err == nil {
			t.Error("no error")
		}
	}
}

// TestWriteSlice writes a slice as values of a type with the same memory.
func TestWriteSlice(t *testing.T) {
	s := build(t, fieldOf(t, "x", "double"))
	to, o := newSink(s)
	plan, err := o.CompileEntries(s.Fields, reflect.TypeFor[struct {
		V float64 `rntuple:"x"`
	}]())
	if err != nil {
		t.Fatal(err)
	}
	if err := field.WriteSlice(plan, []float64{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	if err := field.WriteSlice(plan, []float32{1}); err == nil {
		t.Error("no error")
	}
	to.EndEntries(3)
	if got := stored(t, to.source(t), "x/0", 0); got != "[1 2 3]" {
		t.Error(got)
	}
}
