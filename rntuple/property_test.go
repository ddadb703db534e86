package rntuple_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/test/golden"
	"github.com/go-rntuple/go-rntuple/internal/test/randtest"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// exact is the text of an entry. It tells apart all values but NaNs.
func exact(r value.Record) string { return fmt.Sprintf("%#v", r) }

// TestRandom writes random values of random types, with pages and clusters cut
// at random places, and fields added on the way, and reads them back.
func TestRandom(t *testing.T) {
	rounds := 400
	if testing.Short() {
		rounds = 60
	}
	for seed := range rounds {
		m := randtest.Maker{Rand: rand.New(rand.NewPCG(7, uint64(seed)))}
		var file memory
		settings := []compress.Settings{compress.None, 101, 404, 501}[m.IntN(4)]
		opts := &rntuple.WriteOptions{Compression: settings, MaxUnzippedPageSize: 1 + m.Int64N(200),
			ClusterSize: 1 + m.Int64N(3000), PageBufferBudget: 1 + m.Int64N(4000), Workers: 1 + m.IntN(3),
			NoSharing: !(m.IntN(4) > 0), NoChecksums: !(m.IntN(4) > 0)}
		if m.IntN(3) == 0 {
			opts.MaxKeySize = 200 + m.Int64N(2000)
		}
		out, err := rntuple.NewFile(&file, "random.root", fixed)
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		fields := func(n int) (all []*schema.FieldDocument) {
			for range n {
				typ := m.Type(3)
				f, err := schema.FieldOf(fmt.Sprint("f", count), typ)
				if err != nil {
					t.Fatalf("seed %d: %s: %v", seed, typ, err)
				}
				all = append(all, f)
				count++
			}
			return all
		}
		w, err := rntuple.NewRecordWriter(out, "random", &schema.Document{Name: "random", Fields: fields(1 + m.IntN(5))},
			opts)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var want, wantExact []string
		var written []value.Record
		for range m.IntN(60) {
			switch m.IntN(30) {
			case 0:
				w.CommitCluster()
			case 1:
				w.CommitClusterGroup()
			case 2:
				if err := w.Extend(fields(1)...); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			var r value.Record
			for _, f := range w.Schema().Fields {
				r.Names, r.Values = append(r.Names, f.Name), append(r.Values, m.Value(f))
			}
			if err := w.Write(&r); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			written = append(written, r)
		}
		for _, r := range written {
			entry := &schema.Field{Shape: schema.Record, Children: w.Schema().Fields}
			for _, f := range w.Schema().Fields[len(r.Names):] { // added later
				r.Names, r.Values = append(r.Names, f.Name), append(r.Values, randtest.Zero(f))
			}
			want, wantExact = append(want, string(golden.Append(nil, entry, r))), append(wantExact, exact(r))
		}
		if err := w.Close(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := out.Close(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		r, err := rntuple.NewReader(bytes.NewReader(file.b), int64(len(file.b)), "", nil)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got := judged(t, r, r.Schema().Fields)
		for i := range want {
			if i >= len(got) || got[i] != want[i] {
				t.Fatalf("seed %d: %d entries, want %d; entry %d is\n%s\nwant\n%s", seed, len(got), len(want), i,
					got[min(i, len(got)-1)], want[i])
			}
		}
		records, err := rntuple.RecordsOf(r)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i, record := range records.All() {
			if s := exact(record); s != wantExact[i] {
				t.Fatalf("seed %d: entry %d is\n%s\nwant\n%s", seed, i, s, wantExact[i])
			}
		}
		if records.Err() != nil {
			t.Fatalf("seed %d: %v", seed, records.Err())
		}
	}
}
