package surgery

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
)

// somes returns random ranges of entries in order, some of them empty or adjacent, and which
// entries they have.
func somes(m *rand.Rand, entries int64) (ranges []rntuple.EntryRange, has []bool) {
	has = make([]bool, entries)
	for at := int64(0); ; {
		first := at + m.Int64N(4)
		end := first + m.Int64N(4)
		if end > entries {
			return ranges, has
		}
		ranges = append(ranges, rntuple.EntryRange{First: first, End: end})
		for at = first; at < end; at++ {
			has[at] = true
		}
	}
}

// TestSelections joins adjacent ranges of entries.
func TestSelections(t *testing.T) {
	yield := func(ranges []rntuple.EntryRange, last error) iter.Seq2[rntuple.EntryRange, error] {
		return func(yield func(rntuple.EntryRange, error) bool) {
			for _, r := range ranges {
				if !yield(r, nil) {
					return
				}
			}
			if last != nil {
				yield(rntuple.EntryRange{}, last)
			}
		}
	}
	for seed := range uint64(200) {
		m := rand.New(rand.NewPCG(41, seed))
		entries := m.Int64N(40)
		ranges, has := somes(m, entries)
		var want, got []rntuple.EntryRange
		for i, yes := range has {
			switch n := len(want); {
			case !yes:
			case i > 0 && has[i-1]:
				want[n-1].End++
			default:
				want = append(want, rntuple.EntryRange{First: int64(i), End: int64(i) + 1})
			}
		}
		for r, err := range (selection{ranges: yield(ranges, nil)}).all(entries) {
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			got = append(got, r)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v of %v, want %v", seed, got, ranges, want)
		}
		for range (selection{ranges: yield(ranges, nil)}).all(entries) {
			break // nothing is yielded after it, which would panic
		}
	}
	fails := errors.New("fails")
	for _, c := range []struct {
		ranges []rntuple.EntryRange
		err    error
		what   string // empty: no error
	}{
		{[]rntuple.EntryRange{{First: 0, End: 5}, {First: 5, End: 10}}, nil, ""},
		{[]rntuple.EntryRange{{First: 3, End: 5}, {First: 4, End: 6}}, nil, "entries 4 to 6 cannot come after entry 5 of 10"},
		{[]rntuple.EntryRange{{First: 3, End: 2}}, nil, "entries 3 to 2 cannot"},
		{[]rntuple.EntryRange{{First: 3, End: 11}}, nil, "entries 3 to 11 cannot"},
		{[]rntuple.EntryRange{{First: 12, End: 12}}, nil, ""},
		{[]rntuple.EntryRange{{First: 3, End: 5}}, fails, "fails"},
	} {
		var last error
		for _, err := range (selection{ranges: yield(c.ranges, c.err)}).all(10) {
			last = err
		}
		if text := fmt.Sprint(last); (c.what == "") != (last == nil) || c.what != "" && !strings.Contains(text, c.what) {
			t.Errorf("%v: %v, want %q", c.ranges, last, c.what)
		}
	}
}

// TestTaken finds where entries are among those that are taken, and cuts these, as a list of
// all of them says.
func TestTaken(t *testing.T) {
	for seed := range uint64(200) {
		m := rand.New(rand.NewPCG(42, seed))
		entries := m.Int64N(40)
		ranges, has := somes(m, entries)
		first := m.Int64N(5)
		place, want := placeIn(ranges, first), first
		var list []int64
		for i := range entries {
			if got := place(i); got != want {
				t.Fatalf("seed %d: entry %d of %v is at %d, want %d", seed, i, ranges, got, want)
			}
			if has[i] {
				want++
				list = append(list, i)
			}
		}
		if got := place(entries); got != want {
			t.Fatalf("seed %d: the end is at %d, want %d", seed, got, want)
		}

		var spans []columnar.Span
		for _, r := range ranges {
			if r.Len() > 0 {
				spans = append(spans, columnar.Span{First: r.First, N: r.Len()})
			}
		}
		listed := func(spans []columnar.Span) (all []int64) {
			for _, s := range spans {
				for i := range s.N {
					all = append(all, s.First+i)
				}
			}
			return all
		}
		end, most := m.Int64N(entries+1), m.Int64N(entries+1)
		k := 0
		for k < len(list) && list[k] < end && int64(k) < most {
			k++
		}
		some, rest, n := cut(spans, end, most)
		if n != int64(k) || !slices.Equal(listed(some), list[:k]) || !slices.Equal(listed(rest), list[k:]) {
			t.Fatalf("seed %d: %d of %v before %d: %d, %v and %v", seed, most, spans, end, n, some, rest)
		}

		f := foresight{spans: spans}
		from, to := m.Int64N(entries+1), m.Int64N(entries+1)
		in := slices.DeleteFunc(slices.Clone(list), func(i int64) bool { return i < from || i >= to })
		if got := listed(f.Spans(from, to)); !slices.Equal(got, in) {
			t.Fatalf("seed %d: %v from %d to %d: %v", seed, spans, from, to, got)
		}
		next, ok := f.Next(from)
		i := slices.IndexFunc(list, func(i int64) bool { return i >= from })
		if ok != (i >= 0) || ok && next != list[i] {
			t.Fatalf("seed %d: the next of %v from %d on is %d, %v", seed, spans, from, next, ok)
		}
	}
}

// TestEvaluated evaluates a condition in a cluster of more entries than are taken at a time.
func TestEvaluated(t *testing.T) {
	const n = maxEvaluated + 5
	path := filepath.Join(t.TempDir(), "in")
	type entry struct{ N int8 }
	w, err := rntuple.Create[entry](path, "n", unsynced(nil))
	if err != nil {
		t.Fatal(err)
	}
	w.WriteBatch(make([]entry, n))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	o := ntuple.NewReadOptions()
	o.Workers = 2
	r, err := ntuple.Open(location.Parse(path), "n", o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	all := rntuple.WhereFunc(func(e *entry) bool { return e.N == 0 })
	next := int64(0)
	for e, err := range evaluated(r, rntuple.EntryRange{First: 0, End: n}, all) {
		if err != nil {
			t.Fatal(err)
		}
		if e.First != next {
			t.Errorf("entries %d to %d after %d", e.First, e.End, next)
		}
		next = e.End
	}
	if next != n || r.Source.Entries != n {
		t.Errorf("%d of %d entries", next, r.Source.Entries)
	}
}
