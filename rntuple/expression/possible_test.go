package expression_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
)

// A numbered is an entry of a file with ten entries in each of ten clusters.
type numbered struct{ N int32 }

// numberedFrom makes a file of the numbers from a first one on.
func numberedFrom(t *testing.T, first int32) *rntuple.Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "numbers.root")
	w, err := rntuple.Create[numbered](path, "numbers", &rntuple.WriteOptions{ZoneMap: []string{"*"}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range int32(100) {
		if w.Write(&numbered{first + i}); i%10 == 9 {
			if err := w.CommitCluster(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.Open(path, "numbers", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// TestSources counts the clusters that a condition passes over in all kinds of sources.
func TestSources(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	a, b := numberedFrom(t, 0), numberedFrom(t, 100)
	some := func(s rntuple.Source, ranges ...rntuple.EntryRange) rntuple.Source {
		t.Helper()
		selection, err := rntuple.Select(s, ranges...)
		must(err)
		return selection
	}
	chain := func(all ...rntuple.Source) rntuple.Source {
		t.Helper()
		inputs := make([]rntuple.Input, len(all))
		for i, s := range all {
			inputs[i].Source = s
		}
		c, err := rntuple.NewChain(inputs, nil)
		must(err)
		t.Cleanup(func() { c.Close() })
		return c
	}
	join := func(primary, friend rntuple.Source) rntuple.Source {
		t.Helper()
		j, err := rntuple.NewJoin(primary, rntuple.Friend("other", friend))
		must(err)
		return j
	}
	odd, err := rntuple.Where(a, rntuple.WhereFunc(func(e *numbered) bool { return e.N%2 == 1 }), nil)
	must(err)
	gaps := []rntuple.EntryRange{{First: 5, End: 12}, {First: 31, End: 58}, {First: 95, End: 100}}
	for name, c := range map[string]struct {
		s      rntuple.Source
		chosen []int64 // entries with N from 33 to 35, or other.N
		read   int64   // clusters
	}{
		"file":       {a, []int64{33, 34, 35}, 1},
		"range":      {some(a, rntuple.EntryRange{First: 20, End: 60}), []int64{13, 14, 15}, 1},
		"ranges":     {some(a, gaps...), []int64{9, 10, 11}, 1},
		"no entries": {some(a), nil, 0},
		"condition":  {odd, []int64{16, 17}, 1},
		"selection of a selection": {some(some(a, gaps...), rntuple.EntryRange{First: 2, End: 10},
			rntuple.EntryRange{First: 11, End: 20}), []int64{7, 8}, 1},
		"chain":               {chain(b, a), []int64{133, 134, 135}, 1},
		"chain of selections": {chain(some(a, gaps...), b, odd), []int64{9, 10, 11, 155, 156}, 2},
		"selection of a chain": {some(chain(b, a), rntuple.EntryRange{First: 50, End: 60},
			rntuple.EntryRange{First: 130, End: 134}), []int64{13}, 1},
		"join":                {join(a, b), []int64{33, 34, 35}, 1},
		"join of a selection": {join(some(a, gaps...), some(b, gaps...)), []int64{9, 10, 11}, 1},
		"selection of a join": {some(join(a, b), gaps...), []int64{9, 10, 11}, 1},
	} {
		e, err := expression.Parse("N in 33..35 and sqrt(N) > 1")
		must(err)
		z := new(rntuple.ZoneUse)
		selection, err := rntuple.Where(c.s, e.ConditionUsing(z), nil)
		must(err)
		var chosen []int64
		for i := range selection.NumEntries() {
			chosen = append(chosen, selection.Entry(i))
		}
		if all, passed := z.Clusters(); !slices.Equal(chosen, c.chosen) || all-passed != c.read {
			t.Errorf("%s: entries %v, of %d clusters %d passed over; want %v, all but %d", name, chosen, all,
				passed, c.chosen, c.read)
		}
	}
}
