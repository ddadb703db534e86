package rntbeam_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/go-rntuple/go-rntuple/bridge/rntbeam"
	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	_ "github.com/go-rntuple/go-rntuple/remote/https"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/workunits"
	"github.com/go-rntuple/go-rntuple/value"
)

func add(a, b int64) int64 { return a + b }

// addFn turns events into their IDs.
type addFn struct{}

func (f *addFn) ProcessElement(e event) int64 { return e.ID }

// TestFieldTypes reads all RNTuples of testdata as records, in one pipeline. They are those of
// RecordsOf.
func TestFieldTypes(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/good/*.root")
	if err != nil || len(paths) < 15 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	p, s := beam.NewPipelineWithRoot()
	want := map[string][]string{}
	for _, path := range paths {
		infos, err := rntuple.ListFile(context.Background(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range infos {
			name := path + ":" + info.Path
			r, err := rntuple.Open(path, info.Path, nil)
			if err != nil {
				t.Fatal(err)
			}
			v, err := rntuple.RecordsOf(r)
			if err != nil {
				t.Fatal(err)
			}
			want[name] = nil
			for _, record := range v.All() {
				want[name] = append(want[name], string(value.AppendJSON(nil, record)))
			}
			if v.Err() != nil {
				t.Fatal(v.Err())
			}
			r.Close()
			o := rntbeam.ReadOptions{Name: info.Path, Numbered: true, BlockBytes: 1}
			beam.ParDo0(s, &keepRecordFn{name}, rntbeam.Read[value.Record](s, path, &o))
		}
	}
	counters := mustRun(t, p)
	total := 0
	for name, want := range want {
		got := kept.records[name]
		for i, line := range want {
			if got[int64(i)] != line {
				t.Fatalf("%s: entry %d is %.500s\nwant %.500s", name, i, got[int64(i)], line)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d entries, want %d", name, len(got), len(want))
		}
		total += len(want)
	}
	if flink == "" && counters["entries_read"] != int64(total) || counters["files"] == 0 {
		t.Errorf("%d entries in %d RNTuples, but counters are %v", total, len(want), counters)
	}
	t.Logf("%d entries of %d RNTuples", total, len(want))
}

// TestWays reads the same entries in all ways.
func TestWays(t *testing.T) {
	const files, entries = 5, 1000
	pattern := writeFiles(t, files, entries, 70)
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := workunits.Make(t.Context(), paths, &workunits.Options{Name: "Events", Count: 17})
	if err != nil {
		t.Fatal(err)
	}
	served := httptest.NewServer(remotetest.Files(filepath.Dir(pattern)))
	defer served.Close()
	var urls []string
	for _, path := range paths {
		urls = append(urls, served.URL+"/"+filepath.Base(path))
	}
	where := func(e event) bool { return e.X > 60 && len(e.V) > 1 }
	const text = "X > 60 && len(V) > 1"

	p, s := beam.NewPipelineWithRoot()
	o := rntbeam.ReadOptions{BlockBytes: 500, SplitBytes: 3000}
	keep := func(name string, col beam.PCollection) { beam.ParDo0(s, &keepEventFn{t.Name() + name}, col) }
	keep("pattern", rntbeam.Read[event](s, pattern, &o))
	keep("urls", rntbeam.ReadAll[event](s, beam.CreateList(s, urls), &o))
	keep("plan", rntbeam.ReadPlan[event](s, plan, &o))
	number := o
	number.Numbered = true
	beam.ParDo0(s, &keepNumberedFn{t.Name()}, rntbeam.ReadPlan[event](s, plan, &number))
	chosen := o
	chosen.Where = text
	keep("where", rntbeam.Read[event](s, pattern, &chosen))
	chosen.Numbered = true
	beam.ParDo0(s, &keepNumberedFn{t.Name() + "where"}, rntbeam.ReadPlan[event](s, plan, &chosen))
	batches := rntbeam.ReadOptions{Fields: []string{"ID"}}
	beam.ParDo0(s, &keepBatchFn{t.Name()}, rntbeam.Read[rntbeam.Batch](s, pattern, &batches))
	batches.Where = text
	beam.ParDo0(s, &keepBatchFn{t.Name() + "where"}, rntbeam.Read[rntbeam.Batch](s, pattern, &batches))
	mustRun(t, p)

	var all, some []event
	sum, part := 0.0, 0.0
	for id := range int64(files * entries) {
		e := eventOf(id)
		all = append(all, e)
		sum += float64(id)
		if where(e) {
			some = append(some, e)
			part += float64(id)
		}
	}
	if len(some) < 100 || len(some) > 3000 {
		t.Fatalf("the condition chooses %d entries", len(some))
	}
	for name, want := range map[string][]event{"pattern": all, "urls": all, "plan": all, "where": some} {
		got := kept.events[t.Name()+name]
		slices.SortFunc(got, func(a, b event) int { return cmp.Compare(a.ID, b.ID) })
		if !slices.EqualFunc(got, want, same) {
			t.Errorf("%s: %d entries, want %d", name, len(got), len(want))
		}
	}
	for name, want := range map[string][]event{"": all, "where": some} {
		got := kept.numbers[t.Name()+name]
		for _, e := range want {
			if !same(got[e.ID], e) {
				t.Fatalf("%s: entry %d is %+v", name, e.ID, got[e.ID])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d numbered entries, want %d", name, len(got), len(want))
		}
	}
	if got := kept.sums[t.Name()]; got != sum {
		t.Errorf("batches add up to %g, want %g", got, sum)
	}
	if got := kept.sums[t.Name()+"where"]; got != part {
		t.Errorf("batches of some add up to %g, want %g", got, part)
	}
}

func same(a, b event) bool {
	return a.ID == b.ID && a.X == b.X && a.S == b.S && slices.Equal(a.V, b.V)
}

// slow is a format of RNTuples that take long.
func init() {
	rntbeam.RegisterFormat("slow", rntbeam.Format{
		Clusters: func(ctx context.Context, f rntbeam.Foreign) ([]workunits.Cluster, error) {
			r, err := rntuple.Open(f.Path, f.Name, nil)
			if err != nil {
				return nil, err
			}
			defer r.Close()
			_, clusters, err := workunits.Clusters(ctx, r, f.Path, nil)
			return clusters, err
		},
		Convert: func(ctx context.Context, f rntbeam.Foreign, to string, e rntuple.EntryRange) error {
			time.Sleep(150 * time.Millisecond)
			r, err := rntuple.Open(f.Path, f.Name, nil)
			if err != nil {
				return err
			}
			defer r.Close()
			w, err := rntuple.Create[event](to, "Events", nil)
			if err != nil {
				return err
			}
			for v, err := range rntuple.EntriesIn[event](r, e, nil) {
				if err != nil {
					return err
				}
				w.Write(v)
			}
			return w.Close()
		},
	})
}

// TestDynamicSplits reads a file so slowly that the runner splits it as it runs.
func TestDynamicSplits(t *testing.T) {
	const entries, cluster = 2000, 50
	pattern := writeFiles(t, 1, entries, cluster)
	p, s := beam.NewPipelineWithRoot()
	o := rntbeam.ReadOptions{Format: "slow", BlockBytes: 1, Numbered: true}
	beam.ParDo0(s, &keepNumberedFn{t.Name()}, rntbeam.Read[event](s, pattern, &o))
	start := time.Now()
	counters := mustRun(t, p)
	got := kept.numbers[t.Name()]
	for id := range int64(entries) {
		if !same(got[id], eventOf(id)) {
			t.Fatalf("entry %d is %+v", id, got[id])
		}
	}
	if len(got) != entries {
		t.Errorf("%d entries", len(got))
	}
	t.Logf("%d parts, in %v; the blocks alone take %v", counters["parts"], time.Since(start),
		entries/cluster*150*time.Millisecond)
	if flink == "" && counters["parts"] < 2 {
		t.Errorf("the file was read in %d parts, so it was not split", counters["parts"])
	}
}

// TestBadFiles reads many files of which one is damaged, is missing, or changes. There is one
// error, which names it.
func TestBadFiles(t *testing.T) {
	pattern := writeFiles(t, 30, 100, 40)
	dir := filepath.Dir(pattern)
	bad := filepath.Join(dir, "00017.root")
	whole, err := os.ReadFile(bad)
	if err != nil {
		t.Fatal(err)
	}
	paths, _ := filepath.Glob(pattern)
	plan, err := workunits.Make(t.Context(), paths, nil)
	if err != nil {
		t.Fatal(err)
	}
	damaged := slices.Clone(whole)
	at := bytes.Index(damaged, []byte("event 1701")) // in a page that is stored as it is, or else near the pages
	if at < 0 {
		at = 600
	}
	damaged[at] ^= 0x55
	contents := map[string][]byte{"cut short": whole[:len(whole)/2], "another format": []byte("PAR1"), "empty": {},
		"damaged page": damaged}
	if flink != "" { // where each job takes long
		contents = map[string][]byte{"damaged page": damaged}
	}
	for name, content := range contents {
		if err := os.WriteFile(bad, content, 0o666); err != nil {
			t.Fatal(err)
		}
		p, s := beam.NewPipelineWithRoot()
		beam.ParDo0(s, &keepEventFn{t.Name()}, rntbeam.Read[event](s, pattern, nil))
		_, err := run(t, p)
		oneError(t, name, err, bad, "")
	}
	if flink != "" {
		return
	}
	if err := os.WriteFile(bad, whole, 0o666); err != nil {
		t.Fatal(err)
	}
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo0(s, &keepEventFn{t.Name()}, rntbeam.ReadPlan[event](s, plan, nil))
	_, err = run(t, p)
	oneError(t, "planned", err, bad, workunits.ErrChanged.Error())

	for name, read := range map[string]func(s beam.Scope) beam.PCollection{
		"no such file": func(s beam.Scope) beam.PCollection {
			return rntbeam.Read[event](s, filepath.Join(dir, "none-*.root"), nil)
		},
		"no field": func(s beam.Scope) beam.PCollection {
			return rntbeam.Read[value.Record](s, bad, &rntbeam.ReadOptions{Fields: []string{"Y"}})
		},
		"Wrong": func(s beam.Scope) beam.PCollection {
			return rntbeam.Read[event](s, bad, &rntbeam.ReadOptions{Where: "Wrong > 1"})
		},
	} {
		p, s := beam.NewPipelineWithRoot()
		read(s)
		_, err := run(t, p)
		oneError(t, name, err, dir, name)
	}
}

// oneError checks that an error names a file, and has some text, and does not name it again and
// again.
func oneError(t *testing.T, name string, err error, path, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: %v, want an error about %s: %s", name, err, path, text)
		return
	}
	cause := rntbeam.Cause(err)
	if strings.Contains(cause, "\n") || strings.Count(cause, path) != 1 && text == "" || !strings.Contains(cause, path) ||
		!strings.Contains(cause, text) {
		t.Errorf("%s: the cause is given as %q", name, cause)
	}
	t.Logf("%s: %s", name, cause)
}

// TestMillionEntries reads a million small entries in ten thousand clusters.
func TestMillionEntries(t *testing.T) {
	const entries = 1_000_000
	pattern := writeFiles(t, 1, entries, 100)
	p, s := beam.NewPipelineWithRoot()
	ids := beam.ParDo(s, &addFn{}, rntbeam.Read[event](s, pattern, &rntbeam.ReadOptions{SplitBytes: 1 << 20}))
	equals(s, beam.Combine(s, add, ids), entries*(entries-1)/2)
	start := time.Now()
	counters := mustRun(t, p)
	t.Logf("%v, %v", time.Since(start), counters)
	if flink == "" && counters["entries_read"] != entries {
		t.Errorf("counters are %v", counters)
	}
}

// TestManyFiles reads 2,000 files.
func TestManyFiles(t *testing.T) {
	const files, entries = 2000, 5
	pattern := writeFiles(t, files, entries, 3)
	p, s := beam.NewPipelineWithRoot()
	col := rntbeam.Read[event](s, pattern, nil)
	equals(s, beam.Combine(s, add, beam.ParDo(s, &addFn{}, col)), files*entries*(files*entries-1)/2)
	beam.ParDo0(s, &keepEventFn{t.Name()}, col)
	counters := mustRun(t, p)
	if n := len(kept.events[t.Name()]); n != files*entries || flink == "" && counters["files"] != files {
		t.Errorf("%d entries, %v", n, counters)
	}
}

// TestWrongUse misuses the functions.
func TestWrongUse(t *testing.T) {
	type other struct{ ID int64 }
	for want, use := range map[string]func(s beam.Scope){
		"call rntbeam.Register[rntbeam_test.other]()": func(s beam.Scope) { rntbeam.Read[other](s, "x", nil) },
		"condition": func(s beam.Scope) { rntbeam.Read[event](s, "x", &rntbeam.ReadOptions{Where: "ID >"}) },
		"import the package": func(s beam.Scope) {
			rntbeam.Read[event](s, "x", &rntbeam.ReadOptions{Format: "csv"})
		},
		"cannot be numbered": func(s beam.Scope) {
			rntbeam.ReadAll[event](s, beam.CreateList(s, []string{"x"}), &rntbeam.ReadOptions{Numbered: true})
		},
		"plans are of RNTuples": func(s beam.Scope) {
			rntbeam.ReadPlan[event](s, &workunits.Plan{}, &rntbeam.ReadOptions{Format: "slow"})
		},
		"for records and batches": func(s beam.Scope) {
			rntbeam.Read[event](s, "x", &rntbeam.ReadOptions{Fields: []string{"ID"}})
		},
		"takes WriteOptions.TempDir": func(s beam.Scope) {
			rntbeam.Write[event](s, "https://example.org/x.root", beam.CreateList(s, []event{}), nil)
		},
		"Schema must be set": func(s beam.Scope) {
			rntbeam.Write[value.Record](s, "x.root", beam.CreateList(s, []value.Record{}), nil)
		},
		"gzip": func(s beam.Scope) {
			rntbeam.Write[event](s, "x.root", beam.CreateList(s, []event{}), &rntbeam.WriteOptions{Compression: "gzip"})
		},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("panic %q, want %q", got, want)
				}
			}()
			_, s := beam.NewPipelineWithRoot()
			use(s)
		}()
	}
}
