package surgery

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/schema"
)

// TestStep copies so many entries at a time that they make a 32nd of a cluster, but at most 8 MiB.
func TestStep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in")
	type entry struct{ V [16]int64 } // 128 bytes
	writeAs(t, path, 10, func(int) entry { return entry{} }, nil)
	r, err := ntuple.Open(location.Parse(path), "n", ntuple.NewReadOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	clusters, err := r.Source.Clusters(t.Context())
	if err != nil || len(clusters) != 1 {
		t.Fatal(clusters, err)
	}
	for zipped, want := range map[int64]int64{1: 1, 32 * 128: 1, 32 * 1280: 10, 256 << 20: 8 << 20 / 128,
		1 << 30: 8 << 20 / 128} {
		sink := pagesink.NewSink(t.Context(), &pagesink.Output{}, pagesink.Settings{ZippedCluster: zipped}, 0)
		m := &mapping{sources: []*source{{Reader: r}}, out: &output{Writer: &ntuple.Writer{Sink: sink}}}
		if got := m.step(clusters); got != want {
			t.Errorf("clusters of %d bytes: %d entries, want %d", zipped, got, want)
		}
	}
}

// TestShifts puts two clusters of a collection behind each other: the offsets rise by the items of the
// first one, and must fit 32 bits.
func TestShifts(t *testing.T) {
	for _, test := range []struct {
		items [2]uint64 // of the clusters
		ok    bool
	}{{[2]uint64{3, 5}, true}, {[2]uint64{1 << 31, 1<<31 - 1}, true}, {[2]uint64{1 << 31, 1 << 31}, false}} {
		doc := &schema.Document{Name: "n", Fields: []*schema.FieldDocument{{Name: "v", Type: "std::vector<std::int8_t>"}}}
		described, err := doc.Describe(true)
		if err != nil {
			t.Fatal(err)
		}
		o := ntuple.NewWriteOptions()
		o.Derive()
		path := filepath.Join(t.TempDir(), "in")
		f, err := ntuple.CreateFile(path, o)
		if err != nil {
			t.Fatal(err)
		}
		w, err := f.Create("n", &envelope.Header{Name: "n", Schema: *described}, o)
		if err != nil {
			t.Fatal(err)
		}
		ends, err := pagesink.NewBuffer[uint64](w.Sink, w.Schema.Columns[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range test.items { // the items themselves are missing
			ends.Add(n)
			if err := errors.Join(w.Sink.EndEntries(1), w.Sink.CommitCluster()); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(w.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
		r, err := ntuple.Open(location.Parse(path), "n", ntuple.NewReadOptions())
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		clusters, err := r.Source.Clusters(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		from := origin{src: &source{Reader: r}, field: r.Source.Schema.Fields[0]}
		shifts, ok, err := from.shifts(t.Context(), clusters)
		if err != nil || ok != test.ok || ok && !slices.Equal(shifts, []uint64{0, test.items[0]}) {
			t.Errorf("%d items: shifts %v, %v, error %v", test.items, shifts, ok, err)
		}
	}
}
