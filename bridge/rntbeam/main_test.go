package rntbeam_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism" // and universal
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"

	"github.com/go-rntuple/go-rntuple/bridge/rntbeam"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/value"
)

// An event is what most tests read and write.
type event struct {
	ID int64
	X  float64
	V  []float32
	S  string
}

// eventOf returns the event of a number.
func eventOf(id int64) event {
	e := event{ID: id, X: float64(id%1000) / 8, S: fmt.Sprint("event ", id)}
	for i := range id % 4 {
		e.V = append(e.V, float32(id+i))
	}
	return e
}

func init() {
	rntbeam.Register[event]()
	for _, dofn := range []any{&keepRecordFn{}, &keepEventFn{}, &keepNumberedFn{}, &keepBatchFn{}, &failFn{}, &keyFn{},
		&recordFn{}, &addFn{}} {
		beam.RegisterDoFn(dofn)
	}
	beam.RegisterFunction(add)
}

func TestMain(m *testing.M) {
	flag.Parse()
	beamlog.LogLevel = "error"
	beam.Init() // in a worker, this does not return
	os.Exit(m.Run())
}

// flink is the job server on which the tests run, if it is set. Else they run on prism, in this
// process.
var flink = os.Getenv("RNTBEAM_FLINK")

// run runs a pipeline, and returns its metrics.
func run(t testing.TB, p *beam.Pipeline) (beam.PipelineResult, error) {
	t.Helper()
	if flink == "" {
		return beam.Run(context.Background(), "prism", p)
	}
	*jobopts.Endpoint, *jobopts.EnvironmentType, *jobopts.Parallelism = flink, "LOOPBACK", 2
	return beam.Run(context.Background(), "universal", p)
}

// mustRun runs a pipeline that must succeed, and returns its counters.
func mustRun(t testing.TB, p *beam.Pipeline) map[string]int64 {
	t.Helper()
	r, err := run(t, p)
	if err != nil {
		t.Fatal(err)
	}
	counters := map[string]int64{}
	for _, c := range r.Metrics().AllMetrics().Counters() {
		if c.Namespace() == "rntbeam" {
			counters[c.Name()] += c.Result()
		}
	}
	return counters
}

// kept is what the DoFns of a test have seen: they run in this process.
var kept = struct {
	sync.Mutex
	records map[string]map[int64]string // JSON by key
	events  map[string][]event
	numbers map[string]map[int64]event
	sums    map[string]float64
}{records: map[string]map[int64]string{}, events: map[string][]event{}, numbers: map[string]map[int64]event{},
	sums: map[string]float64{}}

type keepRecordFn struct{ Test string }

func (f *keepRecordFn) ProcessElement(k int64, r value.Record) error {
	kept.Lock()
	defer kept.Unlock()
	if kept.records[f.Test] == nil {
		kept.records[f.Test] = map[int64]string{}
	}
	if kept.records[f.Test][k] != "" {
		return fmt.Errorf("entry %d twice", k)
	}
	kept.records[f.Test][k] = string(value.AppendJSON(nil, r))
	return nil
}

type keepEventFn struct{ Test string }

func (f *keepEventFn) ProcessElement(e event) {
	kept.Lock()
	defer kept.Unlock()
	kept.events[f.Test] = append(kept.events[f.Test], e)
}

type keepNumberedFn struct{ Test string }

func (f *keepNumberedFn) ProcessElement(k int64, e event) error {
	kept.Lock()
	defer kept.Unlock()
	if kept.numbers[f.Test] == nil {
		kept.numbers[f.Test] = map[int64]event{}
	}
	if _, ok := kept.numbers[f.Test][k]; ok {
		return fmt.Errorf("entry %d twice", k)
	}
	kept.numbers[f.Test][k] = e
	return nil
}

type keepBatchFn struct{ Test string }

// ProcessElement adds up the IDs.
func (f *keepBatchFn) ProcessElement(ctx context.Context, b rntbeam.Batch) error {
	sum := 0.0
	for batch, err := range b.All(ctx) {
		if err != nil {
			return err
		}
		ids, err := columnar.Values[int64](batch.Column("ID"))
		if err != nil {
			return err
		}
		for _, id := range ids {
			sum += float64(id)
		}
	}
	kept.Lock()
	defer kept.Unlock()
	kept.sums[f.Test] += sum
	return nil
}

// writeFiles writes files of events with consecutive IDs, and returns a pattern of their paths.
func writeFiles(t testing.TB, files, entries, cluster int) (pattern string) {
	t.Helper()
	dir := t.TempDir()
	id := int64(0)
	for i := range files {
		w, err := rntuple.Create[event](filepath.Join(dir, fmt.Sprintf("%05d.root", i)), "Events",
			&rntuple.WriteOptions{File: rntuple.FileOptions{NoSync: true}})
		if err != nil {
			t.Fatal(err)
		}
		for j := range entries {
			e := eventOf(id)
			if w.Write(&e); j%cluster == cluster-1 {
				w.CommitCluster()
			}
			id++
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "*.root")
}

// equals makes a pipeline fail unless a collection of int64 has one element, which is want.
func equals(s beam.Scope, col beam.PCollection, want int64) { passert.Equals(s, col, want) }
