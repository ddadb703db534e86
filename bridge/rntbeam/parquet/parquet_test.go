package parquet_test

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow/rntparquet"
	"github.com/go-rntuple/go-rntuple/bridge/rntbeam"
	_ "github.com/go-rntuple/go-rntuple/bridge/rntbeam/parquet"
	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	_ "github.com/go-rntuple/go-rntuple/remote/https"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/value"
)

type muons struct {
	N      uint32    `rntuple:"nMuon"`
	Pt     []float32 `rntuple:"Muon_pt"`
	Charge []int32   `rntuple:"Muon_charge"`
}

func init() {
	rntbeam.Register[muons]()
	beam.RegisterDoFn(&keepFn{})
	beam.RegisterDoFn(&keepRecordFn{})
}

var (
	mu   sync.Mutex
	kept = map[string]map[int64]string{}
)

func keep(test string, k int64, v value.Record) {
	mu.Lock()
	defer mu.Unlock()
	if kept[test] == nil {
		kept[test] = map[int64]string{}
	}
	kept[test][k] += string(value.AppendJSON(nil, v)) // twice would be too long
}

func record(m muons) value.Record {
	var pt, charge []any
	for i := range m.Pt {
		pt, charge = append(pt, m.Pt[i]), append(charge, m.Charge[i])
	}
	return value.Record{Names: []string{"nMuon", "Muon_pt", "Muon_charge"}, Values: []any{m.N, pt, charge}}
}

type keepFn struct{ Test string }

func (f *keepFn) ProcessElement(k int64, m muons) { keep(f.Test, k, record(m)) }

type keepRecordFn struct{ Test string }

func (f *keepRecordFn) ProcessElement(k int64, r value.Record) { keep(f.Test, k, r) }

// TestRead reads a Parquet file with many row groups, from disk and over HTTP, as structs and as
// records, all entries and some. They are those of the RNTuple that it was made of.
func TestRead(t *testing.T) {
	const sample = "../../../testdata/dimuon.root"
	dir := t.TempDir()
	small := filepath.Join(dir, "small.root") // clusters become row groups
	if _, err := surgery.Slim(t.Context(), small, surgery.Input{Path: sample, Name: "Events"},
		&surgery.SlimOptions{Options: surgery.Options{AtLeast: surgery.Rewrite,
			Write: rntuple.WriteOptions{ClusterSize: 200_000}}}); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.Open(small, "Events", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	path := filepath.Join(dir, "small.parquet")
	to, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rntparquet.Write(to, r, nil); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	clusters, err := r.Clusters()
	if err != nil || len(clusters) < 5 {
		t.Fatalf("%d clusters, %v", len(clusters), err)
	}
	served := httptest.NewServer(remotetest.Files(dir))
	defer served.Close()

	o := rntbeam.ReadOptions{Format: "parquet", Numbered: true, BlockBytes: 1, SplitBytes: 1}
	some := o
	some.Where = "nMuon == 2 && Muon_pt[0] > 20"
	records := some
	records.Fields = []string{"nMuon", "Muon_pt", "Muon_charge"}
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo0(s, &keepFn{"all"}, rntbeam.Read[muons](s, path, &o))
	beam.ParDo0(s, &keepFn{"far"}, rntbeam.Read[muons](s, served.URL+"/small.parquet", &o))
	beam.ParDo0(s, &keepFn{"some"}, rntbeam.Read[muons](s, path, &some))
	beam.ParDo0(s, &keepRecordFn{"records"}, rntbeam.Read[value.Record](s, path, &records))
	if _, err := beam.Run(context.Background(), "prism", p); err != nil {
		t.Fatal(err)
	}
	all, chosen, at := 0, 0, int64(0)
	for e, err := range rntuple.Entries[muons](r) {
		if err != nil {
			t.Fatal(err)
		}
		want := string(value.AppendJSON(nil, record(*e)))
		for _, way := range []string{"all", "far"} {
			if kept[way][at] != want {
				t.Fatalf("%s: entry %d is %s, want %s", way, at, kept[way][at], want)
			}
		}
		all++
		is := ""
		if e.N == 2 && e.Pt[0] > 20 {
			is = want
			chosen++
		}
		for _, way := range []string{"some", "records"} {
			if kept[way][at] != is {
				t.Fatalf("%s: entry %d is %s, want %s", way, at, kept[way][at], is)
			}
		}
		at++
	}
	if len(kept["all"]) != all || len(kept["far"]) != all || len(kept["some"]) != chosen ||
		len(kept["records"]) != chosen || chosen < 100 {
		t.Errorf("%d entries, %d are chosen: %d, %d, %d, %d", all, chosen, len(kept["all"]), len(kept["far"]),
			len(kept["some"]), len(kept["records"]))
	}
	t.Logf("%d entries in %d row groups", all, len(clusters))

	if err := os.Truncate(path, 5000); err != nil {
		t.Fatal(err)
	}
	p, s = beam.NewPipelineWithRoot()
	rntbeam.Read[muons](s, path, &o)
	if _, err := beam.Run(context.Background(), "prism", p); err == nil || !strings.Contains(rntbeam.Cause(err), path) {
		t.Errorf("a file that is cut short: %v", err)
	}
}
