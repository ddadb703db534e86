package ttree_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"go-hep.org/x/hep/groot"
	"go-hep.org/x/hep/groot/rtree"

	"github.com/go-rntuple/go-rntuple/bridge/rntbeam"
	_ "github.com/go-rntuple/go-rntuple/bridge/rntbeam/ttree"
	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	_ "github.com/go-rntuple/go-rntuple/remote/https"
)

type event struct {
	Run  int32     `rntuple:"run"`
	Pt   []float32 `rntuple:"pt"`
	Name string    `rntuple:"name"`
}

func init() {
	rntbeam.Register[event]()
	beam.RegisterDoFn(&keepFn{})
}

var (
	mu   sync.Mutex
	kept = map[string]map[int64][]event{}
)

type keepFn struct{ Test string }

func (f *keepFn) ProcessElement(k int64, e event) {
	mu.Lock()
	defer mu.Unlock()
	if kept[f.Test] == nil {
		kept[f.Test] = map[int64][]event{}
	}
	kept[f.Test][k] = append(kept[f.Test][k], e)
}

func eventOf(i int) (e event) {
	e = event{Run: int32(i), Name: fmt.Sprint("event ", i)}
	for k := range i % 4 {
		e.Pt = append(e.Pt, float32(i)+float32(k)/4)
	}
	return e
}

// writeTree has groot write a TTree, which also has a branch that no field can have.
func writeTree(t *testing.T, path string, entries int) {
	t.Helper()
	f, err := groot.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	row := struct {
		Run   int32      `groot:"run"`
		N     int32      `groot:"n"`
		Pt    []float32  `groot:"pt[n]"`
		Name  string     `groot:"name"`
		Other [8]float64 `groot:"other"`
	}{}
	w, err := rtree.NewWriter(f, "events", rtree.WriteVarsFromStruct(&row))
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		e := eventOf(i)
		row.Run, row.N, row.Pt, row.Name = e.Run, int32(len(e.Pt)), e.Pt, e.Name
		if _, err := w.Write(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestRead reads TTrees that groot has written, from disk and over HTTP, all entries and some.
func TestRead(t *testing.T) {
	const entries = 5000
	dir := t.TempDir()
	path := filepath.Join(dir, "tree.root")
	writeTree(t, path, entries)
	served := httptest.NewServer(remotetest.Files(dir))
	defer served.Close()
	o := rntbeam.ReadOptions{Format: "ttree", Numbered: true}
	some := o
	some.Where = "len(pt) == 3 && n == 3 && run > 100"
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo0(s, &keepFn{"all"}, rntbeam.Read[event](s, path, &o))
	beam.ParDo0(s, &keepFn{"far"}, rntbeam.Read[event](s, served.URL+"/tree.root", &o))
	beam.ParDo0(s, &keepFn{"some"}, rntbeam.Read[event](s, path, &some))
	if _, err := beam.Run(context.Background(), "prism", p); err != nil {
		t.Fatal(err)
	}
	chosen := 0
	for i := range entries {
		want := eventOf(i)
		is := func(way string) bool {
			got := kept[way][int64(i)]
			return len(got) == 1 && got[0].Run == want.Run && got[0].Name == want.Name && slices.Equal(got[0].Pt, want.Pt)
		}
		meets := len(want.Pt) == 3 && want.Run > 100
		if meets {
			chosen++
		}
		if !is("all") || !is("far") || is("some") != meets {
			t.Fatalf("entry %d is %+v, %+v, %+v", i, kept["all"][int64(i)], kept["far"][int64(i)], kept["some"][int64(i)])
		}
	}
	if len(kept["all"]) != entries || len(kept["far"]) != entries || len(kept["some"]) != chosen {
		t.Errorf("%d, %d and %d entries, %d are chosen", len(kept["all"]), len(kept["far"]), len(kept["some"]), chosen)
	}
	p, s = beam.NewPipelineWithRoot()
	o.Name = "nope"
	rntbeam.Read[event](s, path, &o)
	if _, err := beam.Run(context.Background(), "prism", p); err == nil || !strings.Contains(rntbeam.Cause(err), path) {
		t.Errorf("a tree that is missing: %v", err)
	}
}
