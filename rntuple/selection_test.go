package rntuple_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// these is the condition that holds for the entries that are set.
type these []bool

func (c these) Check(rntuple.Source) error { return nil }

func (c these) Select(_ rntuple.Source, r rntuple.EntryRange) iter.Seq2[rntuple.EntryRange, error] {
	return func(yield func(rntuple.EntryRange, error) bool) {
		for i := r.First; i < r.End; i++ {
			n := int64(0)
			if c[i] {
				n = 1
			}
			if !yield(rntuple.EntryRange{First: i, End: i + n}, nil) {
				return
			}
		}
	}
}

// patterns are selections of n entries, by name. Only entries at both ends are in them if n
// is large.
func patterns(n int, rng *rand.Rand) map[string]these {
	set := func(keep func(i int) bool) these {
		all := make(these, n)
		for i := range all {
			all[i] = (i < 1500 || i >= n-1500) && keep(i)
		}
		return all
	}
	one, in := rng.IntN(max(1, n)), false
	return map[string]these{
		"none":        set(func(int) bool { return false }),
		"all":         set(func(int) bool { return true }),
		"one":         set(func(i int) bool { return i == one }),
		"first":       set(func(i int) bool { return i == 0 }),
		"last":        set(func(i int) bool { return i == n-1 }),
		"alternating": set(func(i int) bool { return i%2 == 1 }),
		"random":      set(func(int) bool { return rng.IntN(3) == 0 }),
		"rare":        set(func(int) bool { return rng.IntN(100) == 0 }),
		"runs": set(func(int) bool {
			if rng.IntN(20) == 0 {
				in = !in
			}
			return in
		}),
	}
}

// checkSelection compares what is read of a selection with its entries, which are values of
// the fields of the source, filtered by hand.
func checkSelection(t *testing.T, s *rntuple.Selection, all []value.Record, keep these) {
	t.Helper()
	var want []value.Record
	for i, yes := range keep {
		if yes {
			if int64(len(want)) >= s.NumEntries() || s.Entry(int64(len(want))) != int64(i) {
				t.Fatalf("entry %d of %d is not entry %d of the source", len(want), s.NumEntries(), i)
			}
			want = append(want, all[i])
		}
	}
	if s.NumEntries() != int64(len(want)) {
		t.Fatalf("%d entries, want %d", s.NumEntries(), len(want))
	}
	end := int64(-1)
	left := slices.Clone(keep)
	for r := range s.Ranges() {
		if r.First <= end || r.Len() <= 0 || slices.Contains(left[r.First:r.End], false) {
			t.Fatalf("the range %v after entry %d", r, end)
		}
		clear(left[r.First:r.End])
		end = r.End
		if r.First > 10 && r.First < 20 {
			for range s.Ranges() {
				break
			}
		}
	}
	if slices.Contains(left, true) {
		t.Fatal("the ranges lack entries")
	}
	compare := func(how string, at int64, got value.Record) {
		if !same(got, want[at]) {
			t.Fatalf("%s: entry %d, which is %d of the source:\n%v, want\n%v", how, at, s.Entry(at), got, want[at])
		}
	}
	view, err := rntuple.RecordsOf(s)
	if err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	for i, r := range view.All() {
		if i != n {
			t.Fatalf("entry %d, want %d", i, n)
		}
		compare("All", i, r)
		n++
	}
	if err := view.Err(); err != nil || n != int64(len(want)) {
		t.Fatalf("%d entries, want %d: %v", n, len(want), err)
	}
	for i := int64(0); i < n; i += 1 + n/5 { // back and forth
		at := (i * 7) % n
		r, err := view.At(at)
		if err != nil {
			t.Fatal(err)
		}
		compare("At", at, r)
	}
	n = 0
	for e, err := range rntuple.EntriesIn[value.Record](s, rntuple.EntryRange{First: 1, End: int64(len(want)) - 1},
		&rntuple.EntriesOptions{Reuse: true}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		compare("Entries", n, *e)
	}
	if n != max(0, int64(len(want))-2) {
		t.Fatalf("%d entries", n)
	}
	n, err = rntuple.Fold(s, func(s rntuple.Source, r rntuple.EntryRange) (int64, error) {
		view, err := rntuple.RecordsOf(s)
		if err != nil {
			return 0, err
		}
		some := make([]value.Record, r.Len())
		if got, err := view.Read(some, r.First); err != nil || int64(got) != r.Len() {
			return 0, fmt.Errorf("%d of %d: %w", got, r.Len(), err)
		}
		for i := range some {
			if !same(some[i], want[r.First+int64(i)]) {
				return 0, fmt.Errorf("entry %d is wrong", r.First+int64(i))
			}
		}
		return r.Len(), nil
	}, func(a, b int64) int64 { return a + b }, nil)
	if err != nil && len(want) > 0 || n != int64(len(want)) {
		t.Fatalf("Fold: %d entries, want %d: %v", n, len(want), err)
	}
	for _, o := range []rntuple.BatchOptions{{}, {Size: 7, Fresh: true}} {
		at := 0
		var kept []*rntuple.Batch
		check := func(b *rntuple.Batch) {
			for j, a := range b.Columns {
				wellFormed(t, a)
				for i := range b.Len {
					if got, want := dynamicOf(t, a, i), want[int(b.First)+i].Values[j]; !same(got, want) {
						t.Fatalf("%+v: batch of %d from entry %d: %v: %v, want %v", o, b.Len, b.First, a.Field, got, want)
					}
				}
			}
		}
		for b, err := range rntuple.Batches(s, &o) {
			if err != nil {
				t.Fatal(err)
			}
			if b.First != int64(at) || b.Len < 1 {
				t.Fatalf("batch of %d from entry %d, want %d", b.Len, b.First, at)
			}
			at += b.Len
			if !o.Fresh {
				check(b)
			}
			kept = append(kept, b)
		}
		if at != len(want) {
			t.Fatalf("batches have %d entries, want %d", at, len(want))
		}
		if o.Fresh {
			for _, b := range kept {
				check(b)
			}
		}
	}
	for j, name := range rntuple.FieldNames(s) {
		f, err := rntuple.FieldOf(s, name)
		if err != nil || f.Shape != schema.Collection || f.IsMap() {
			continue
		}
		view, err := rntuple.JaggedOf[any](s, name)
		if err != nil {
			continue // a matched source
		}
		offsets := make([]int64, len(want)+3)
		items, n, err := view.Read(offsets, nil, 0)
		if err != nil && len(want) > 0 || n != len(want) {
			t.Fatalf("%s: %d entries, want %d: %v", name, n, len(want), err)
		}
		for i := range n {
			if got := items[offsets[i]:offsets[i+1]]; !same(append([]any{}, got...), want[i].Values[j]) {
				t.Fatalf("%s: entry %d: %v, want %v", name, i, got, want[i].Values[j])
			}
		}
	}
}

// TestSelection reads random selections of all files in every way, and selections of
// selections, with and without memory maps and workers.
func TestSelection(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../testdata/*.root", "../testdata/good/*.root", "../../shared/testdata/root/*.root",
		"../../shared/testdata/legacy/*.root"} {
		more, _ := filepath.Glob(pattern)
		files = append(files, more...)
	}
	for i, file := range files {
		if testing.Short() && i%8 != 0 {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, uint64(i)))
			infos, err := rntuple.ListFile(context.Background(), file, nil)
			if err != nil {
				t.Fatal(err)
			}
			names := []string{""} // of a bare file
			for i, info := range infos {
				names = append(names[:i], info.Path)
			}
			for _, name := range names {
				for _, workers := range []int{1, 3} {
					r, err := rntuple.Open(file, name, &rntuple.ReadOptions{Workers: workers, NoMap: !(rng.IntN(2) == 0)})
					if err != nil {
						t.Fatal(err)
					}
					defer r.Close()
					if n := r.NumEntries(); n > 1<<20 {
						t.Skipf("%d entries are too many to keep as dynamic values", n)
					}
					checkSelections(t, r, rng)
				}
			}
		})
	}
}

// checkSelections checks random selections of s.
func checkSelections(t *testing.T, s rntuple.Source, rng *rand.Rand) {
	t.Helper()
	view, err := rntuple.RecordsOf(s)
	if err != nil {
		t.Fatal(err)
	}
	var all []value.Record
	for _, r := range view.All() {
		all = append(all, r)
	}
	if view.Err() != nil {
		t.Fatal(view.Err())
	}
	for name, keep := range patterns(len(all), rng) {
		sel, err := rntuple.Where(s, keep, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checkSelection(t, sel, all, keep)
		if name != "runs" || sel.NumEntries() == 0 {
			continue
		}
		var some []value.Record
		for i, yes := range keep {
			if yes {
				some = append(some, all[i])
			}
		}
		keep = patterns(len(some), rng)["random"]
		if sel, err = rntuple.Where(sel, keep, nil); err != nil {
			t.Fatal(err)
		}
		checkSelection(t, sel, some, keep)
	}
}

// TestSelectionSources has selections of chains and joins, and chains and joins of selections.
func TestSelectionSources(t *testing.T) {
	want := hits(0, 1000)
	rng := rand.New(rand.NewPCG(3, 4))
	var s shelf
	chain := chainOf(t, s.inputs(fileOf(t, want[:301], 50), fileOf(t, want[301:303], 9), fileOf(t, want[303:], 77)),
		&rntuple.ReadOptions{MaxOpen: 1})
	events := readerOf(t, fileOf(t, lefts(1000, rng), 130), nil)
	table := chainOf(t, s.inputs(fileOf(t, rights(40, rng), 7), fileOf(t, rights(40, rng), 7)), nil)
	join, err := rntuple.NewJoin(events, rntuple.Friend("hit", chain), rntuple.Match("row", table, "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	odd := rntuple.WhereFunc(func(h *hit) bool { return h.ID%3 == 1 })
	selected, err := rntuple.Where(chain, odd, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := selected.NumEntries(); n == 0 || n == 1000 {
		t.Fatalf("%d entries", n)
	}
	twice := chainOf(t, []rntuple.Input{{Source: selected}, {Source: chain}, {Source: selected}}, nil)
	rows, err := rntuple.Where(table, rntuple.WhereFunc(func(r *right) bool { return r.B%2 == 0 }), nil)
	if err != nil {
		t.Fatal(err)
	}
	joined, err := rntuple.NewJoin(events, rntuple.Match("row", rows, "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]rntuple.Source{"chain": chain, "join": join, "chain of selections": twice,
		"join with a selection": joined} {
		t.Run(name, func(t *testing.T) { checkSelections(t, s, rng) })
	}
}

// TestWhereErrors has conditions that do not fit, fail, or select what is not there.
func TestWhereErrors(t *testing.T) {
	r := readerOf(t, fileOf(t, hits(0, 1000), 100), nil)
	wrong := errors.New("wrong")
	for want, c := range map[string]rntuple.Condition{
		`no field "Nothing"`: rntuple.WhereFunc(func(*struct{ Nothing int }) bool { return true }),
		"wrong":              failing{func(r rntuple.EntryRange) (rntuple.EntryRange, error) { return r, wrong }},
		"selects the entries from 0 up to 101": failing{func(r rntuple.EntryRange) (rntuple.EntryRange, error) {
			return rntuple.EntryRange{First: 0, End: 101}, nil
		}},
		"from -1 up to": failing{func(r rntuple.EntryRange) (rntuple.EntryRange, error) {
			return rntuple.EntryRange{First: -1, End: r.End}, nil
		}},
	} {
		if _, err := rntuple.Where(r, c, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	sel, err := rntuple.Where(r, rntuple.WhereFunc(func(*hit) bool { return true }), nil)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for _, err := range rntuple.Entries[hit](sel.WithContext(ctx)) {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// failing is a condition that selects a range and fails.
type failing struct {
	of func(r rntuple.EntryRange) (rntuple.EntryRange, error)
}

func (f failing) Check(rntuple.Source) error { return nil }

func (f failing) Select(_ rntuple.Source, r rntuple.EntryRange) iter.Seq2[rntuple.EntryRange, error] {
	return func(yield func(rntuple.EntryRange, error) bool) { yield(f.of(r)) }
}

// TestSelectionBesideOthers reads entries in a few batches whose neighbours are on a damaged page,
// or take more memory than a batch may have.
func TestSelectionBesideOthers(t *testing.T) {
	type entry struct{ Text string }
	const n = 20_000
	text := func(i int) string {
		switch {
		case i < 200:
			return strings.Repeat("x", 16<<10)
		case i > 16_200 && i < 17_000:
			return fmt.Sprintf("damaged %06d", i)
		}
		return fmt.Sprintf("text %06d", i)
	}
	var m memory
	f, err := rntuple.NewFile(&m, "beside.root", nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := rntuple.NewWriter[entry](f, "beside",
		&rntuple.WriteOptions{Compression: compress.None, MaxUnzippedPageSize: 1 << 10})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := w.Write(&entry{text(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	copy(m.b[bytes.Index(m.b, []byte("damaged 016300")):], "DAMAGED")
	path := filepath.Join(t.TempDir(), "beside.root")
	if err := os.WriteFile(path, m.b, 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.Open(path, "", &rntuple.ReadOptions{Limits: rntuple.Limits{EntryBytes: 64 << 10}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ranges := []rntuple.EntryRange{{First: 190, End: 191}, {First: 200, End: 210}, {First: 300, End: 301},
		{First: 15_000, End: 16_190}, {First: 16_195, End: 16_200}}
	s, err := rntuple.Select(r, ranges...)
	if err != nil {
		t.Fatal(err)
	}
	entries := slices.Collect(func(yield func(int) bool) {
		for _, r := range ranges {
			for i := r.First; i < r.End && yield(int(i)); i++ {
			}
		}
	})
	for b, err := range rntuple.Batches(s, nil) {
		if err != nil {
			t.Fatal(err)
		}
		texts := b.Columns[0]
		for i := range texts.Len {
			if got := string(texts.Bytes[texts.Offsets[i]:texts.Offsets[i+1]]); got != text(entries[i]) {
				t.Fatalf("entry %d is %.20q", entries[i], got)
			}
		}
		entries = entries[texts.Len:]
	}
	if len(entries) > 0 {
		t.Errorf("%d entries are left", len(entries))
	}
}
