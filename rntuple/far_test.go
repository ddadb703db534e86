package rntuple_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A farFile is a file in memory that is read as one far away. It counts requests, and the bytes
// from the first to the last one of each piece of them.
type farFile struct {
	t               testing.TB
	data            []byte
	costs           remote.Costs
	requests, bytes atomic.Int64
	meta            atomic.Int64                                   // bytes read with ReadAt
	fail            func(ctx context.Context, request int64) error // nil: no request fails
	held, most      atomic.Int64                                   // bytes of requests under way
}

func openFar(t testing.TB, path string, costs remote.Costs) *farFile {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return &farFile{t: t, data: data, costs: costs}
}

func (f *farFile) Costs() remote.Costs { return f.costs }

func (f *farFile) ReadAt(p []byte, offset int64) (int, error) {
	f.meta.Add(int64(len(p)))
	if n := copy(p, f.data[min(offset, int64(len(f.data))):]); n < len(p) {
		return n, errors.New("read behind the end")
	}
	return len(p), nil
}

func (f *farFile) ReadRanges(ctx context.Context, ranges []remote.Range) error {
	n := f.requests.Add(1)
	if err := ctx.Err(); err != nil {
		return err
	}
	if f.fail != nil {
		if err := f.fail(ctx, n); err != nil {
			return err
		}
	}
	size := int64(0)
	for _, r := range ranges {
		size += int64(len(r.Data))
	}
	if held := f.held.Add(size); held > f.most.Load() {
		f.most.Store(held)
	}
	defer f.held.Add(-size)
	pieces, end := 0, int64(-1)
	for i, r := range ranges {
		if len(r.Data) == 0 || r.Offset < end || r.End() > int64(len(f.data)) {
			f.t.Errorf("range %d of %d: %d bytes at %d, the one before ends at %d", i, len(ranges), len(r.Data), r.Offset, end)
		}
		if end < 0 || r.Offset-end > f.costs.Gap {
			pieces++
			end = r.Offset
		}
		f.bytes.Add(r.End() - end)
		end = r.End()
		copy(r.Data, f.data[r.Offset:])
	}
	if pieces == 0 || pieces > max(1, f.costs.Ranges) {
		f.t.Errorf("a request of %d pieces, of %d ranges", pieces, len(ranges))
	}
	return nil
}

// farCosts are some costs of requests.
var farCosts = []remote.Costs{
	{Ranges: 1, Bytes: 1, Requests: 1},
	{Gap: 100, Ranges: 3, Bytes: 1000, Requests: 2},
	{Gap: 1 << 20, Ranges: 1, Bytes: 8 << 20, Requests: 8},
	{Gap: 0, Ranges: 1000, Bytes: 8 << 20, Requests: 4},
}

func farWays() (all []way) {
	for _, workers := range []int{1, 8} {
		for _, budget := range []int64{-1, 1, 5000, 64 << 20} {
			for _, c := range farCosts {
				name := fmt.Sprintf("%d workers, %d bytes ahead, far away with %+v", workers, budget, c)
				all = append(all, way{name, &rntuple.ReadOptions{Workers: workers, ReadAhead: budget}, &c})
			}
		}
	}
	return all
}

// TestFarRequests reads parts of a file far away in several ways: each needs few requests, and few
// bytes beside those of the pages that hold what is asked for.
func TestFarRequests(t *testing.T) {
	const n = 100_000
	data := manifoldFile(t, n)
	type some struct {
		X float64
		V []float32
	}
	paths := []string{"X", "V", "V._0"}
	read := func(s rntuple.Source, r rntuple.EntryRange) error {
		for _, err := range rntuple.EntriesIn[some](s, r, nil) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	for _, test := range []struct {
		name    string
		paths   []string // nil: all
		entries []rntuple.EntryRange
		most    int64 // requests, if one may have many ranges
		pieces  int64 // if it has one range: requests of each cluster
		do      func(r *rntuple.Reader) error
	}{
		{"loop", paths, nil, 4, 3, func(r *rntuple.Reader) error { return read(r, rntuple.EntryRange{End: n}) }},
		{"part", paths, []rntuple.EntryRange{{First: 30_000, End: 41_000}}, 3, 4,
			func(r *rntuple.Reader) error { return read(r, rntuple.EntryRange{First: 30_000, End: 41_000}) }},
		{"head", paths, []rntuple.EntryRange{{First: 0, End: 5}}, 2, 4,
			func(r *rntuple.Reader) error { return read(r, rntuple.EntryRange{End: 5}) }},
		{"one entry", paths, []rntuple.EntryRange{{First: 77_777, End: 77_778}}, 2, 4, func(r *rntuple.Reader) error {
			v, err := rntuple.ViewOf[some](r, "")
			if err != nil {
				return err
			}
			_, err = v.At(77_777)
			return err
		}},
		{"whole columns", []string{"X"}, nil, 4, 1, func(r *rntuple.Reader) error {
			v, err := rntuple.ViewOf[float64](r, "X")
			if err != nil {
				return err
			}
			_, err = v.Read(make([]float64, n), 0)
			return err
		}},
		{"batches", paths, nil, 4, 3, func(r *rntuple.Reader) error {
			for _, err := range rntuple.Batches(r, &rntuple.BatchOptions{Fields: []string{"X", "V"}}) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{"all", nil, nil, 4, 2, func(r *rntuple.Reader) error {
			for _, err := range rntuple.Entries[manifold](r) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
	} {
		for _, costs := range []remote.Costs{{Gap: 256, Ranges: 1000, Bytes: 8 << 20, Requests: 4},
			{Gap: 1 << 20, Ranges: 1, Bytes: 8 << 20, Requests: 4}} {
			f := &farFile{t: t, data: data, costs: costs}
			r, err := rntuple.NewReader(f, int64(len(data)), "", nil)
			if err != nil {
				t.Fatal(err)
			}
			clusters, err := r.Unwrapped().Source.Clusters(context.Background())
			if err != nil || len(clusters) < 4 {
				t.Fatal(len(clusters), err)
			}
			entries := test.entries
			if entries == nil {
				entries = []rntuple.EntryRange{{First: 0, End: n}}
			}
			want, in, seen := int64(0), map[int]bool{}, map[uint64]bool{} // some share their pages
			for _, col := range r.Schema().Columns {
				if path := col.Owner.Path(); test.paths != nil && !slices.Contains(test.paths, path) {
					continue
				}
				for _, cluster := range clusters {
					at := int64(0)
					for _, p := range cluster.Columns()[col.ID].Pages {
						begin := at
						at += int64(p.NumElements)
						k := int64(1)
						if all, ok := manifoldElements[col.Owner.Path()]; ok {
							k = all[col.Index]
						}
						if slices.ContainsFunc(entries, func(e rntuple.EntryRange) bool {
							return begin < (e.End-cluster.First)*k && (e.First-cluster.First)*k < at
						}) {
							if !seen[p.Locator.Offset] {
								want += int64(p.StoredSize())
							}
							in[cluster.ID], seen[p.Locator.Offset] = true, true
						}
					}
				}
			}
			if err := test.do(r); err != nil {
				t.Fatal(test.name, err)
			}
			most := test.most
			if costs.Ranges == 1 {
				most = max(most, test.pieces*int64(len(in)))
			}
			requests, bytes := f.requests.Load(), f.bytes.Load()
			t.Logf("%s, %d ranges: %d requests in %d clusters, %d of %d bytes", test.name, costs.Ranges,
				requests, len(in), bytes, want)
			if requests > most || bytes > want+want/10 || bytes < want {
				t.Errorf("%s, %d ranges: %d requests, %d bytes; want at most %d, and %d bytes", test.name, costs.Ranges,
					requests, bytes, most, want)
			}
		}
	}
}

// TestFarMatches joins entries in no order with a file far away, whose clusters all have some of
// them: there are few requests, and the values are right.
func TestFarMatches(t *testing.T) {
	const n = 100_000
	data := manifoldFile(t, n)
	near, err := rntuple.NewReader(bytes.NewReader(data), int64(len(data)), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := rntuple.ViewOf[float64](near, "X")
	if err != nil {
		t.Fatal(err)
	}
	xs := make([]float64, n)
	if _, err := all.Read(xs, 0); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "keys.root")
	type key struct{ ID int64 }
	w, err := rntuple.Create[key](path, "keys", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(3000) {
		w.Write(&key{i * 7919 % n})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	keys, err := rntuple.Open(path, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer keys.Close()
	for _, costs := range []remote.Costs{{Gap: 256, Ranges: 1000, Bytes: 8 << 20, Requests: 4},
		{Gap: 1 << 20, Ranges: 1, Bytes: 8 << 20, Requests: 4}} {
		for _, batches := range []bool{false, true} {
			f := &farFile{t: t, data: data, costs: costs}
			r, err := rntuple.NewReader(f, int64(len(data)), "", nil)
			if err != nil {
				t.Fatal(err)
			}
			join, err := rntuple.NewJoin(keys, rntuple.Match("far", r, "ID"))
			if err != nil {
				t.Fatal(err)
			}
			done := int64(0)
			check := func(id int64, x float64) {
				if want := done * 7919 % n; id != want || x != xs[want] {
					t.Fatalf("entry %d: %d, %v", done, id, x)
				}
				done++
			}
			if batches {
				for b, err := range rntuple.Batches(join, &rntuple.BatchOptions{Fields: []string{"ID", "far.X", "far.V"}}) {
					if err != nil {
						t.Fatal(err)
					}
					for i, id := range b.Columns[0].Values().([]int64) {
						check(id, b.Columns[1].Children[0].Values().([]float64)[i])
					}
				}
			} else {
				type both struct {
					ID int64
					X  *float64   `rntuple:"far.X"`
					V  *[]float32 `rntuple:"far.V"`
				}
				for e, err := range rntuple.Entries[both](join) {
					if err != nil {
						t.Fatal(err)
					}
					check(e.ID, *e.X)
				}
			}
			t.Logf("%d ranges, batches %v: %d requests", costs.Ranges, batches, f.requests.Load())
			if done != 3000 || f.requests.Load() > 100 { // one by one, there would be thousands
				t.Errorf("%d ranges, batches %v: %d entries, %d requests", costs.Ranges, batches, done, f.requests.Load())
			}
		}
	}
}

// TestFarFaults has each request fail in turn, and has each wait until its context is done: reading
// ends with that error, or with the right values, and no goroutine stays.
func TestFarFaults(t *testing.T) {
	data := manifoldFile(t, 20_000)
	before := runtime.NumGoroutine()
	broken := errors.New("the line is cut")
	for _, costs := range []remote.Costs{{Gap: 256, Ranges: 1000, Bytes: 1 << 18, Requests: 4},
		{Gap: 1 << 16, Ranges: 1, Bytes: 1 << 18, Requests: 2}} {
		for _, ahead := range []int64{-1, 1 << 20, 64 << 20} {
			for at := int64(1); ; at++ {
				f := &farFile{t: t, data: data, costs: costs}
				ctx, cancel := context.WithCancel(context.Background())
				cut := at%2 == 0
				f.fail = func(ctx context.Context, request int64) error {
					if request != at {
						return nil
					}
					if cut {
						return broken
					}
					cancel()
					<-ctx.Done()
					return ctx.Err()
				}
				r, err := rntuple.NewReader(f, int64(len(data)), "",
					&rntuple.ReadOptions{Context: ctx, ReadAhead: ahead, Workers: 3})
				if err != nil {
					t.Fatal(err)
				}
				next := int64(0)
				for e, loopErr := range rntuple.Entries[manifold](r) {
					if err = loopErr; err != nil {
						break
					}
					if e.ID != next || len(e.W) != 2 || len(e.Name) != 6 {
						t.Fatalf("entry %d is %+v", next, e)
					}
					next++
				}
				cancel()
				if err == nil && next != r.NumEntries() || err != nil && !errors.Is(err, broken) &&
					!errors.Is(err, context.Canceled) {
					t.Errorf("request %d fails: %d entries, %v", at, next, err)
				}
				if most := max(ahead, 3<<20); f.most.Load() > most {
					t.Errorf("%d bytes under way, want at most %d", f.most.Load(), most)
				}
				if f.requests.Load() < at {
					break
				}
				if at > 40 && ahead == 0 {
					break
				}
			}
		}
	}
	for wait := time.Millisecond; runtime.NumGoroutine() > before; wait *= 2 {
		if wait > time.Minute {
			t.Fatalf("%d goroutines are left of %d", runtime.NumGoroutine(), before)
		}
		time.Sleep(wait)
	}
}
