package rntuple_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/value"
)

func add(a, b float64) float64 { return a + b }

// delay lets later ranges of a Fold end before earlier ones.
func delay(r rntuple.EntryRange) { time.Sleep(time.Duration(r.First%3) * time.Millisecond / 4) }

// openBytes opens the RNTuple of fileOf.
func openBytes(t testing.TB, file []byte, opts *rntuple.ReadOptions) *rntuple.Reader {
	t.Helper()
	r, err := rntuple.NewReader(bytes.NewReader(file), int64(len(file)), "set", opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFoldSums makes sure that sums of floats are those of a plain loop over the clusters,
// bit by bit, whatever the number of workers, and that progress is told of every cluster.
func TestFoldSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var files [][]byte
	for i := range 5 {
		all := hits(i*1000, 1000-i*i*50)
		for j := range all {
			all[j].Mass = math.Ldexp(rng.Float64()-0.5, rng.IntN(120)) // the order of additions shows
		}
		files = append(files, fileOf(t, all, 30+i))
	}
	made := openBytes(t, files[0], nil)
	join, err := rntuple.NewJoin(openBytes(t, files[1], nil), rntuple.Friend("f", openBytes(t, files[1], nil)))
	if err != nil {
		t.Fatal(err)
	}
	dimuon, err := rntuple.Open(sample, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dimuon.Close()
	type muons struct {
		Mass []float32 `rntuple:"Muon_pt"`
	}
	hitSum := func(s rntuple.Source, entries rntuple.EntryRange) (sum float64, err error) {
		delay(entries)
		for h, err := range rntuple.EntriesIn[hit](s, entries, &rntuple.EntriesOptions{Reuse: true}) {
			if err != nil {
				return 0, err
			}
			sum += h.Mass
		}
		return sum, nil
	}
	muonSum := func(s rntuple.Source, entries rntuple.EntryRange) (sum float64, err error) {
		for ev, err := range rntuple.EntriesIn[muons](s, entries, nil) {
			if err != nil {
				return 0, err
			}
			for _, m := range ev.Mass {
				sum += float64(m)
			}
		}
		return sum, nil
	}
	for _, test := range []struct {
		name  string
		src   rntuple.Source
		parts []*rntuple.Reader // whose clusters follow each other in the source
		sum   func(rntuple.Source, rntuple.EntryRange) (float64, error)
	}{
		{"ROOT's file", dimuon, []*rntuple.Reader{dimuon}, muonSum},
		{"made file", made, []*rntuple.Reader{made}, hitSum},
		{"join", join, []*rntuple.Reader{openBytes(t, files[1], nil)}, hitSum},
		{"chain", chainOf(t, new(shelf).inputs(files...), &rntuple.ReadOptions{MaxOpen: 2}), []*rntuple.Reader{
			openBytes(t, files[0], nil), openBytes(t, files[1], nil), openBytes(t, files[2], nil), openBytes(t, files[3], nil),
			openBytes(t, files[4], nil)}, hitSum},
	} {
		var want, total float64
		var clusters int
		for _, part := range test.parts {
			all, err := part.Clusters()
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range all {
				sum, err := test.sum(part, c)
				if err != nil {
					t.Fatal(err)
				}
				want += sum
				clusters++
			}
			total += float64(part.NumEntries())
		}
		if clusters < 10 {
			t.Fatalf("%s: %d clusters", test.name, clusters)
		}
		for workers := range 9 {
			calls, last, end := 0, int64(0), int64(0)
			progress := func(done, total int64) {
				if calls++; done <= last || done > total {
					t.Errorf("%s: progress of %d after %d, the total is %d", test.name, done, last, total)
				}
				last, end = done, total
			}
			opts := &rntuple.FoldOptions{Workers: workers, Progress: progress}
			got, err := rntuple.Fold(test.src, test.sum, add, opts)
			if err != nil || math.Float64bits(got) != math.Float64bits(want) {
				t.Errorf("%s, %d workers: %v, %v, want %v", test.name, workers, got, err, want)
			}
			if calls != clusters || last != end || float64(end) != total {
				t.Errorf("%s, %d workers: progress of %d of %d entries in %d calls, want %v in %d", test.name, workers, last, end,
					calls, total, clusters)
			}
		}
	}
}

// TestFoldGood makes sure that the entries of all ROOT's files arrive once and in order.
func TestFoldGood(t *testing.T) {
	names, err := filepath.Glob("../testdata/good/*.root")
	if err != nil || len(names) == 0 {
		t.Fatal("no files", err)
	}
	for _, name := range names {
		infos, err := rntuple.ListFile(context.Background(), name, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range infos {
			r, err := rntuple.Open(name, info.Path, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			text := func(s rntuple.Source, entries rntuple.EntryRange) (all []byte, err error) {
				v, err := rntuple.RecordsOf(s)
				if err != nil {
					return nil, err
				}
				for i, record := range v.Range(entries) {
					all = value.AppendJSON(fmt.Append(all, i, " "), record)
				}
				return all, v.Err()
			}
			want, err := text(r, rntuple.EntryRange{End: math.MaxInt64})
			if err != nil {
				t.Fatal(err)
			}
			got, err := rntuple.Fold(r, text, func(a, b []byte) []byte { return append(a, b...) },
				&rntuple.FoldOptions{Workers: 3})
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, %s: %d bytes of text, want %d, %v", name, info, len(got), len(want), err)
			}
		}
	}
}

// TestFoldRanges makes sure that ranges end where clusters do, do not depend on the number
// of workers, and are not too many; and that there is one for no entries.
func TestFoldRanges(t *testing.T) {
	many, few, none := fileOf(t, hits(0, 5000), 1), fileOf(t, hits(0, 100), 30), fileOf(t, hits(0, 0), 1)
	list := func(_ rntuple.Source, r rntuple.EntryRange) ([]rntuple.EntryRange, error) {
		if r.First < 200 {
			delay(r)
		}
		return []rntuple.EntryRange{r}, nil
	}
	for _, test := range []struct {
		name string
		src  rntuple.Source
		want []rntuple.EntryRange
	}{
		{"clusters", openBytes(t, few, nil), []rntuple.EntryRange{{0, 30}, {30, 60}, {60, 90}, {90, 100}}},
		{"many clusters", openBytes(t, many, nil), nil},
		{"no entries", openBytes(t, none, nil), []rntuple.EntryRange{{}}},
		{"chain", chainOf(t, new(shelf).inputs(none, few, none, none, few, none), nil), []rntuple.EntryRange{
			{0, 30}, {30, 60}, {60, 90}, {90, 100}, {100, 130}, {130, 160}, {160, 190}, {190, 200}}},
		{"chain of no entries", chainOf(t, new(shelf).inputs(none, none), nil), []rntuple.EntryRange{{}}},
	} {
		if test.want == nil { // clusters whose middles are in the same of 4096 equal parts
			for i, part := int64(0), int64(-1); i < 5000; i++ {
				if at := (2*i + 1) * 4096 / 10000; at != part {
					test.want, part = append(test.want, rntuple.EntryRange{First: i}), at
				}
				test.want[len(test.want)-1].End = i + 1
			}
		}
		for _, workers := range []int{1, 2, 5} {
			got, err := rntuple.Fold(test.src, list,
				func(a, b []rntuple.EntryRange) []rntuple.EntryRange {
					return append(a,
						b...)
				}, &rntuple.FoldOptions{Workers: workers})
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%s, %d workers: %.200v, %v", test.name, workers, fmt.Sprint(got), err)
			}
		}
	}
}

// TestFoldGrown makes sure that a chain keeps the entries that a file had.
func TestFoldGrown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.root")
	exampleFile(path, hits(0, 10)...)
	chain, err := rntuple.OpenChain("set", []string{path, path}, &rntuple.ReadOptions{MaxOpen: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer chain.Close()
	if n, err := chain.NumEntries(); n != 20 || err != nil {
		t.Fatal(n, err)
	}
	for from := 10; from < 30; from += 10 {
		w, err := rntuple.Append[hit](path, "set", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.WriteBatch(hits(from, 10)), w.Close()); err != nil {
			t.Fatal(err)
		}
	}
	n, err := rntuple.Fold(chain, func(_ rntuple.Source, r rntuple.EntryRange) (int64, error) { return r.Len(), nil },
		func(a, b int64) int64 { return a + b }, nil)
	if n != 20 || err != nil {
		t.Errorf("%d entries, %v", n, err)
	}
}

// TestFoldFails makes sure that Fold ends with the error or the panic of the earliest
// range that has one, and that no other ranges begin.
func TestFoldFails(t *testing.T) {
	src := openBytes(t, fileOf(t, hits(0, 1000), 10), nil)
	failure := errors.New("failure")
	for workers := 1; workers <= 8; workers++ {
		for _, panics := range []bool{false, true} {
			var after atomic.Int64
			fold := func() (n int64, panicked any, err error) {
				defer func() { panicked = recover() }()
				n, err = rntuple.Fold(src, func(_ rntuple.Source, r rntuple.EntryRange) (int64, error) {
					delay(r)
					if r.First < 500 {
						return 1, nil
					}
					after.Add(1)
					err := fmt.Errorf("range from %d on: %w", r.First, failure)
					if panics {
						panic(err)
					}
					return 1, err
				}, func(a, b int64) int64 { return a + b }, &rntuple.FoldOptions{Workers: workers})
				return n, nil, err
			}
			n, panicked, err := fold()
			if panics {
				err, _ = panicked.(error)
			}
			if n != 0 || !errors.Is(err, failure) || !strings.HasPrefix(err.Error(), "range from 500 on: failure") ||
				panics != (panicked != nil) {
				t.Errorf("%d workers, panic %v: %d, %v", workers, panics, n, err)
			}
			if panics && !strings.Contains(err.Error(), "fold_test.go") {
				t.Errorf("the stack is missing: %v", err)
			}
			if n := int(after.Load()); n > workers {
				t.Errorf("%d workers: %d ranges have begun after the first failure", workers, n)
			}
		}
	}

	// A panic of join, and a goroutine that ends.
	panicked := func() (v any) {
		defer func() { v = recover() }()
		rntuple.Fold(src, func(rntuple.Source, rntuple.EntryRange) (int, error) { return 1, nil },
			func(int, int) int { panic("no sum") }, &rntuple.FoldOptions{Workers: 3})
		return nil
	}()
	if err, ok := panicked.(error); !ok || !strings.HasPrefix(err.Error(), "no sum\n") || errors.Unwrap(err) != nil {
		t.Errorf("panic of join: %v", panicked)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		rntuple.Fold(src, func(_ rntuple.Source, r rntuple.EntryRange) (int, error) {
			if r.First == 100 {
				runtime.Goexit()
			}
			delay(r)
			return 1, nil
		}, func(a, b int) int { return a + b }, &rntuple.FoldOptions{Workers: 3})
		t.Error("Fold has returned without all results")
	})
	wg.Wait()
}

// TestFoldCancelled makes sure that a context ends a Fold, also one that does not read.
func TestFoldCancelled(t *testing.T) {
	file := fileOf(t, hits(0, 1000), 10)
	for _, test := range []struct {
		name string
		src  func(context.Context) rntuple.Source
	}{
		{"reader", func(ctx context.Context) rntuple.Source { return openBytes(t, file, nil).WithContext(ctx) }},
		{"chain", func(ctx context.Context) rntuple.Source {
			return chainOf(t, new(shelf).inputs(file, file), nil).WithContext(ctx)
		}},
	} {
		for _, workers := range []int{1, 2, 8} {
			for _, reads := range []bool{false, true} {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				cancelled := make(chan struct{}) // all contexts are, whereas ctx is before those that derive from it
				var begun atomic.Int64
				n, err := rntuple.Fold(test.src(ctx), func(s rntuple.Source, r rntuple.EntryRange) (n int, err error) {
					switch begun.Add(1); {
					case r.First == 300:
						cancel()
						close(cancelled)
					case r.First > 300:
						<-cancelled
					}
					if reads {
						for _, err := range rntuple.EntriesIn[hit](s, r, nil) {
							if err != nil {
								return 0, err
							}
							n++
						}
					}
					return n, nil
				}, func(a, b int) int { return a + b }, &rntuple.FoldOptions{Workers: workers})
				// 31 with one worker. Each other may be about to begin an earlier range when 300
				// is, or be in a later one.
				if n != 0 || !errors.Is(err, context.Canceled) || begun.Load() <= int64(31-workers) ||
					begun.Load() >= int64(31+workers) {
					t.Errorf("%s, %d workers, reads %v: %d entries, %v; %d ranges have begun", test.name, workers,
						reads, n, err, begun.Load())
				}
			}
		}
	}
}
