package field_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// far makes a file of a source one that is far away.
type far struct{ io.ReaderAt }

func (f far) Costs() remote.Costs {
	return remote.Costs{Gap: 100, Ranges: 4, Bytes: 1 << 16, Requests: 2}
}

func (f far) ReadRanges(_ context.Context, ranges []remote.Range) error {
	for _, r := range ranges {
		if _, err := f.ReadAt(r.Data, r.Offset); err != nil {
			return err
		}
	}
	return nil
}

// numbered is an entry of which all values are its number.
type numbered struct {
	X int32   `rntuple:"x"`
	V []int32 `rntuple:"v"`
}

// numberedEntry returns an entry: a number, and a collection of that number, 0 to 2 times.
func numberedEntry(i int64) numbered {
	return numbered{int32(i), slices.Repeat([]int32{int32(i)}, int(i%3))}
}

// numberedSource returns a source with clusters of so many numbered entries.
func numberedSource(t *testing.T, sizes ...int) *pagesource.Source {
	t.Helper()
	var clusters []cluster
	first := int64(0)
	for _, n := range sizes {
		var x, v []int32
		var ends []uint64
		for i := range int64(n) {
			e := numberedEntry(first + i)
			x, v = append(x, e.X), append(v, e.V...)
			ends = append(ends, uint64(len(v)))
		}
		clusters = append(clusters, cluster{n, columns{"x/0": of(x...), "v/0": of(ends...), "v._0/0": of(v...)}})
		first += int64(n)
	}
	s := build(t, fieldOf(t, "x", "std::int32_t"), fieldOf(t, "v", "std::vector<std::int32_t>"))
	return source(t, s, clusters...)
}

// without returns the spans without their first n entries.
func without(spans []columnar.Span, n int64) []columnar.Span {
	for n > 0 {
		some := min(n, spans[0].N)
		spans, n = slices.Concat([]columnar.Span{{First: spans[0].First + some, N: spans[0].N - some}}, spans[1:]), n-some
		if spans[0].N == 0 {
			spans = spans[1:]
		}
	}
	return spans
}

// numbersOf returns the entries of two Arrays, and checks that these agree about their number.
func numbersOf(t *testing.T, arrays []*columnar.Array) []numbered {
	t.Helper()
	x, items := columnar.Elements[int32](arrays[0]), columnar.Elements[int32](arrays[1].Children[0])
	all, ends := make([]numbered, len(x)), arrays[1].Offsets
	if len(ends) != len(x)+1 || arrays[0].Len != len(x) || arrays[1].Len != len(x) || int(ends[len(x)]) != len(items) {
		t.Fatalf("%d numbers, arrays of %d and %d values, offsets %v", len(x), arrays[0].Len, arrays[1].Len, ends)
	}
	for i := range all {
		all[i] = numbered{x[i], items[ends[i]:ends[i+1]]}
	}
	return all
}

// TestReadSpans reads some entries, as Go values, as the items of a collection, and as Arrays in
// batches, near and far away, with much memory and with little.
func TestReadSpans(t *testing.T) {
	random := func(seed uint64, gap, length, end int64) (spans []columnar.Span) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		for at := rnd.Int64N(gap + 1); at < end; {
			n := min(1+rnd.Int64N(length), end-at)
			spans = append(spans, columnar.Span{First: at, N: n})
			at += n + 1 + rnd.Int64N(gap)
		}
		return spans
	}
	const first, second = 700, 5700 // entries of the clusters
	near, distant := numberedSource(t, first, second), numberedSource(t, first, second)
	distant.R = far{distant.R}
	for name, spans := range map[string][]columnar.Span{
		"one":          {{First: 5, N: 9}},
		"all":          {{First: 0, N: first}, {First: first, N: second}},
		"neighbours":   {{First: 0, N: 3}, {First: 3, N: 1}, {First: 4, N: 2}},
		"over the end": {{First: first - 4, N: 3}, {First: first - 1, N: 2}, {First: first + 5, N: 1}},
		"at the ends": {{First: 0, N: 1}, {First: first - 1, N: 1}, {First: first, N: 1},
			{First: first + second - 1, N: 1}},
		"gaps":            {{First: 100, N: 1}, {First: 357, N: 1}, {First: 358 + 257, N: 1}, {First: 690, N: 10}},
		"a long one":      {{First: first + 2, N: 1}, {First: first + 9, N: 5000}, {First: first + 5010, N: 7}},
		"short":           random(1, 3, 4, first+second),
		"far apart":       random(2, 700, 4, first+second),
		"long":            random(3, 20, 900, first+second),
		"long, far apart": random(4, 600, 900, first+second),
	} {
		var want []numbered
		var items []int32
		var ends []int64
		for _, s := range spans {
			for i := range s.N {
				e := numberedEntry(s.First + i)
				want, items = append(want, e), append(items, e.V...)
				ends = append(ends, int64(len(items)))
			}
		}
		for place, src := range map[string]*pagesource.Source{"near": near, "far": distant} {
			for _, opts := range []field.Options{options, {Budget: 3000}} {
				what := fmt.Sprintf("%s, %s, %d bytes", name, place, opts.Budget)
				checkSpans(t, what, src, opts, spans, want)
				j, err := field.CompileJagged(src, lookup(t, src.Schema, "v"), reflect.TypeFor[int32](), options)
				if err != nil {
					t.Fatal(err)
				}
				gotItems, gotEnds := make([]int32, len(items)+1), make([]int64, len(ends))
				err = j.ReadSpans(t.Context(), spans, gotEnds, func(lo, hi int64) unsafe.Pointer {
					return unsafe.Pointer(unsafe.SliceData(gotItems[lo:hi]))
				})
				j.Stop()
				if err != nil || !slices.Equal(gotItems[:len(items)], items) || !slices.Equal(gotEnds, ends) {
					t.Errorf("%s, items: error %v, %d instead of %d", what, err, gotEnds[len(ends)-1], len(items))
				}
			}
		}
	}
}

// TestReadSpansDamaged has an entry that cannot be read: it is an error only if it is wanted, or lies
// between some that are.
func TestReadSpansDamaged(t *testing.T) {
	s := build(t, fieldOf(t, "x", "std::int32_t"), fieldOf(t, "v", "std::vector<std::int32_t>"))
	for _, test := range []struct {
		spans []columnar.Span
		want  string // the items, or "" for an error
	}{
		{[]columnar.Span{{First: 0, N: 1}, {First: 2, N: 1}}, "[0 2]"},
		{[]columnar.Span{{First: 0, N: 1}, {First: 2, N: 3}, {First: 5, N: 2}}, ""},
		{[]columnar.Span{{First: 6, N: 1}, {First: 8, N: 1}}, "[6 8]"},
		{[]columnar.Span{{First: 1, N: 4}}, ""},
	} {
		// The collection of entry 4 ends before it begins.
		src := source(t, s, cluster{10, columns{"x/0": of[int32](0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
			"v/0": of[uint64](1, 2, 3, 4, 3, 6, 7, 8, 9, 10), "v._0/0": of[int32](0, 1, 2, 3, 4, 5, 6, 7, 8, 9)}})
		count := columnar.Sum(test.spans)
		check := func(how string, items []int32, err error) {
			t.Helper()
			if test.want == "" && !errors.Is(err, frame.ErrCorrupt) ||
				test.want != "" && (err != nil || fmt.Sprint(items) != test.want) {
				t.Errorf("%v, %s: %v, error %v, want %q", test.spans, how, items, err, test.want)
			}
		}
		plan, err := field.Compile(src, lookup(t, s, "v"), reflect.TypeFor[[]int32](), options)
		if err != nil {
			t.Fatal(err)
		}
		values := make([][]int32, count)
		err = plan.ReadSpans(t.Context(), nil, test.spans, unsafe.Pointer(unsafe.SliceData(values)))
		check("values", slices.Concat(values...), err)

		j, err := field.CompileJagged(src, lookup(t, s, "v"), reflect.TypeFor[int32](), options)
		if err != nil {
			t.Fatal(err)
		}
		items := make([]int32, count)
		err = j.ReadSpans(t.Context(), test.spans, make([]int64, count), func(lo, hi int64) unsafe.Pointer {
			return unsafe.Pointer(unsafe.SliceData(items[lo:hi]))
		})
		check("items", items, err)

		b, err := field.CompileBatches(src, [][]*schema.Field{lookup(t, s, "v")}, false, options)
		if err != nil {
			t.Fatal(err)
		}
		items = nil
		for left := test.spans; len(left) > 0 && err == nil; {
			var all []*columnar.Array
			var n int64
			if all, n, err = b.ReadSpans(t.Context(), left); err == nil {
				items = append(items, columnar.Elements[int32](all[0].Children[0])...)
				left = without(left, n)
			}
		}
		check("batches", items, err)
	}
}

// clusterEnd returns the end of the cluster of an entry.
func clusterEnd(src *pagesource.Source, entry int64) int64 {
	c, err := src.Find(context.Background(), entry)
	if err != nil {
		return -1
	}
	return c.End
}

// checkSpans reads entries as Go values and as Arrays.
func checkSpans(t *testing.T, what string, src *pagesource.Source, opts field.Options, spans []columnar.Span,
	want []numbered) {
	t.Helper()
	same := func(a, b numbered) bool { return a.X == b.X && slices.Equal(a.V, b.V) }
	plan, err := field.Compile(src, nil, reflect.TypeFor[numbered](), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Stop()
	plan.InOrder(spans[0].First, src.Entries)
	got := make([]numbered, len(want))
	err = plan.ReadSpans(t.Context(), nil, spans, unsafe.Pointer(unsafe.SliceData(got)))
	if err != nil || !slices.EqualFunc(got, want, same) {
		t.Errorf("%s, values: error %v, or others", what, err)
	}
	for _, fresh := range []bool{false, true} {
		b, err := field.CompileBatches(src, [][]*schema.Field{lookup(t, src.Schema, "x"), lookup(t, src.Schema, "v")}, fresh,
			opts)
		if err != nil {
			t.Fatal(err)
		}
		b.InOrder(spans[0].First, src.Entries)
		var arrays [][]*columnar.Array
		have := 0
		for left := spans; len(left) > 0; {
			all, n, err := b.ReadSpans(t.Context(), left)
			if err != nil || n <= 0 || n > int64(len(want)-have) || all[0].Len != int(n) {
				t.Errorf("%s, after %d entries: %d, error %v", what, have, n, err)
				break
			}
			first := left[0]
			whole := len(left) == 1 || first.N >= 4096 || first.First+first.N >= clusterEnd(src, first.First)
			if !fresh && (all[0] == b.Arrays()[0]) != whole {
				t.Errorf("%s, after %d entries: copied %v", what, have, !whole)
			}
			if !slices.EqualFunc(numbersOf(t, all), want[have:have+int(n)], same) {
				t.Errorf("%s, after %d entries: others", what, have)
				break
			}
			left, have, arrays = without(left, n), have+int(n), append(arrays, all)
		}
		b.Stop()
		if !fresh {
			continue
		}
		have = 0
		for _, all := range arrays { // later reads have left them alone
			if !slices.EqualFunc(numbersOf(t, all), want[have:have+all[0].Len], same) {
				t.Errorf("%s: fresh memory was overwritten", what)
			}
			have += all[0].Len
		}
	}
}
