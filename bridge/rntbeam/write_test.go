package rntbeam_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/go-rntuple/go-rntuple/bridge/rntbeam"
	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/workunits"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// keyFn gives events their IDs as keys.
type keyFn struct{}

func (f *keyFn) ProcessElement(e event) (int64, event) { return e.ID, e }

// recordFn makes records of events.
type recordFn struct{}

func (f *recordFn) ProcessElement(e event) value.Record {
	return value.Record{Names: []string{"id", "name"}, Values: []any{e.ID, e.S}}
}

// failFn fails at an event.
type failFn struct{ At int64 }

func (f *failFn) ProcessElement(e event) (event, error) {
	if e.ID == f.At {
		return e, fmt.Errorf("event %d is refused", e.ID)
	}
	return e, nil
}

// ids returns the IDs in files, in order.
func ids(t *testing.T, paths []string) (all []int64) {
	t.Helper()
	for _, path := range paths {
		r, err := rntuple.Open(path, "Events", nil)
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range rntuple.Entries[event](r) {
			if err != nil || !same(*e, eventOf(e.ID)) {
				t.Fatalf("%s: %+v, %v", path, e, err)
			}
			all = append(all, e.ID)
		}
		r.Close()
	}
	return all
}

// upTo returns the numbers from 0 to n, n excluded.
func upTo(n int) (all []int64) {
	for i := range int64(n) {
		all = append(all, i)
	}
	return all
}

// written returns the files in a folder, which must be those of outputs alone.
func written(t *testing.T, dir string) (paths []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if strings.HasPrefix(f.Name(), ".") {
			t.Errorf("%s is left", f.Name())
			continue
		}
		paths = append(paths, filepath.Join(dir, f.Name()))
	}
	return paths
}

// TestWrite writes files in all ways. They have each entry once, in order if asked, and no other
// file is left.
func TestWrite(t *testing.T) {
	const files, entries = 4, 3000
	pattern := writeFiles(t, files, entries, 500)
	paths, _ := filepath.Glob(pattern)
	plan, err := workunits.Make(t.Context(), paths, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, s := beam.NewPipelineWithRoot()
	small := rntbeam.ReadOptions{BlockBytes: 1, SplitBytes: 1}
	events := rntbeam.ReadAll[event](s, beam.Reshuffle(s, beam.CreateList(s, paths)), &small)
	dirs := map[string]string{}
	dir := func(name string) string {
		dirs[name] = filepath.Join(t.TempDir(), name)
		return filepath.Join(dirs[name], "out.root")
	}
	rntbeam.Write[event](s, dir("bundles"), events, nil)
	rntbeam.Write[event](s, dir("elsewhere"), events, &rntbeam.WriteOptions{TempDir: t.TempDir()})
	rntbeam.Write[event](s, dir("one"), events,
		&rntbeam.WriteOptions{Shards: 1, Compression: "lz4:4", JoinClusters: 1 << 20})
	rntbeam.Write[event](s, dir("three"), events, &rntbeam.WriteOptions{Shards: 3})
	rntbeam.Write[event](s, dir("empty"), beam.CreateList(s, []event{}), &rntbeam.WriteOptions{Shards: 1})
	rntbeam.Write[event](s, dir("none"), beam.CreateList(s, []event{}), nil)
	numbered := small
	numbered.Numbered = true
	rntbeam.WriteOrdered[event](s, dir("ordered"), rntbeam.ReadPlan[event](s, plan, &numbered), nil)
	keyed := beam.ParDo(s, &keyFn{}, beam.Reshuffle(s, events))
	rntbeam.WriteOrdered[event](s, dir("keyed"), keyed, &rntbeam.WriteOptions{Shards: 5})
	doc, err := schema.ParseDocument(strings.NewReader(`{"name": "Events", "fields": [
		{"name": "id", "type": "std::int64_t", "role": "plain"}, {"name": "name", "type": "std::string", "role": "plain"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	records := beam.ParDo(s, &recordFn{}, events)
	rntbeam.Write[value.Record](s, dir("records"), records, &rntbeam.WriteOptions{Shards: 1, Schema: doc})
	counters := mustRun(t, p)

	for name, dir := range dirs {
		paths := written(t, dir)
		if name == "records" {
			r, err := rntuple.Open(paths[0], "Events", nil)
			if err != nil || r.NumEntries() != files*entries {
				t.Fatalf("%v, %v", paths, err)
			}
			r.Close()
			continue
		}
		got := ids(t, paths)
		want := map[string][]int64{"empty": nil, "none": nil}
		if _, ok := want[name]; !ok {
			want[name] = upTo(files * entries)
		}
		sorted := name == "ordered" || name == "keyed"
		if !sorted {
			slices.Sort(got)
		}
		if !slices.Equal(got, want[name]) {
			t.Errorf("%s: %d entries, want %d, sorted %v", name, len(got), len(want[name]), sorted)
		}
		single := map[string]bool{"one": true, "empty": true, "ordered": true}[name]
		if single != (len(paths) == 1 && filepath.Base(paths[0]) == "out.root") {
			t.Errorf("%s: files %v", name, paths)
		}
		if n := len(paths); name == "three" && n != 3 || name == "keyed" && n != 5 || name == "none" && n != 1 {
			t.Errorf("%s: %d files", name, n)
		}
		t.Logf("%s: %d entries in %d files", name, len(got), len(paths))
	}
	if flink == "" && counters["entries_written"] != files*entries*7 {
		t.Errorf("counters: %v", counters)
	}
}

// TestCopied writes many files, in which the entries are in order, to one. Pages are copied.
func TestCopied(t *testing.T) {
	const entries = 5000
	pattern := writeFiles(t, 5, entries/5, 500)
	p, s := beam.NewPipelineWithRoot()
	events := rntbeam.Read[event](s, pattern, &rntbeam.ReadOptions{Numbered: true, BlockBytes: 1, SplitBytes: 1})
	dir := t.TempDir()
	rntbeam.WriteOrdered[event](s, filepath.Join(dir, "out.root"), events, nil)
	counters := mustRun(t, p)
	if got := ids(t, written(t, dir)); !slices.Equal(got, upTo(entries)) {
		t.Errorf("%d entries", len(got))
	}
	// runs of a few entries are not copied
	if flink == "" && (counters["pages_copied"] == 0 || counters["pages_rewritten"] > 0) {
		t.Errorf("counters: %v", counters)
	}
}

// TestFailingPipeline fails in the middle. No file of that name appears.
func TestFailingPipeline(t *testing.T) {
	pattern := writeFiles(t, 3, 1000, 100)
	out := t.TempDir()
	p, s := beam.NewPipelineWithRoot()
	col := beam.ParDo(s, &failFn{2500}, rntbeam.Read[event](s, pattern, nil))
	rntbeam.Write[event](s, filepath.Join(out, "out.root"), col, nil)
	if _, err := run(t, p); err == nil || !strings.Contains(err.Error(), "event 2500 is refused") {
		t.Errorf("%v", err)
	}
	if paths, _ := filepath.Glob(filepath.Join(out, "*.root")); len(paths) > 0 {
		t.Errorf("%v appeared", paths)
	}
}

// TestWriteFar uploads files by HTTP.
func TestWriteFar(t *testing.T) {
	pattern := writeFiles(t, 2, 500, 100)
	dir := t.TempDir()
	files := remotetest.Files(dir)
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut {
			files.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(r.URL.Path)), body, 0o666)
		}
		if err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusCreated)
	}))
	defer served.Close()
	temporary := t.TempDir()
	p, s := beam.NewPipelineWithRoot()
	events := rntbeam.Read[event](s, pattern, nil)
	for name, shards := range map[string]int{"one": 1, "two": 2, "all": 0} {
		rntbeam.Write[event](s, served.URL+"/"+name+".root", events,
			&rntbeam.WriteOptions{Shards: shards, TempDir: temporary})
	}
	mustRun(t, p)
	for pattern, n := range map[string]int{"one.root": 1, "two-*-of-00002.root": 2, "all-*.root": 1} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(paths) != n {
			t.Fatalf("%s: %v, %v", pattern, paths, err)
		}
		got := ids(t, paths)
		slices.Sort(got)
		if !slices.Equal(got, upTo(1000)) {
			t.Errorf("%s: %d entries", pattern, len(got))
		}
	}
	if paths := written(t, temporary); len(paths) > 0 {
		t.Errorf("%v are left", paths)
	}
}
