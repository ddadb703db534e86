package expression

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
)

// A counter counts the bytes that are read.
type counter struct {
	io.ReaderAt
	bytes atomic.Int64
}

func (c *counter) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, off)
	c.bytes.Add(int64(n))
	return n, err
}

// TestFetched reads the entries of a file that one value of a sorted field has: with a zone map,
// less than 2 % of the file is fetched, of which 0.5 % are the entries. None of the sorted field is
// fetched to choose the entries of clusters for which the zone map decides.
func TestFetched(t *testing.T) {
	type event struct {
		Run    int32
		Values [16]float64
	}
	const clusters, size = 200, 400
	path := filepath.Join(t.TempDir(), "sorted.root")
	w, err := rntuple.Create[event](path, "events",
		&rntuple.WriteOptions{ZoneMap: []string{"Run"}, Compression: compress.None})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range clusters * size {
		if i%size == 0 {
			if err := w.CommitCluster(); err != nil {
				t.Fatal(err)
			}
		}
		e := event{Run: int32(i / size)}
		for k := range e.Values {
			e.Values[k] = random.Float64()
		}
		w.Write(&e)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	opened := func() (*counter, *rntuple.Reader) {
		c := &counter{ReaderAt: bytes.NewReader(file)}
		r, err := rntuple.NewReader(c, int64(len(file)), "events", nil)
		if err != nil {
			t.Fatal(err)
		}
		return c, r
	}
	c, r := opened()
	for range rntuple.Possible(r, rntuple.EntryRange{End: r.NumEntries()}, nil,
		func(func(string) (zonemap.Zone, bool)) bool { return true }) {
	}
	zoneMap := c.bytes.Load()
	for text, want := range map[string]int{"Run < 77": 77, "Run >= 77": clusters - 77, "Run != 77 and 5 > 4": clusters - 1,
		"Run in 10..20 or Run < 0": 11} {
		c, r := opened()
		if got, err := chosen(must(t, text).Condition(), r, rntuple.EntryRange{End: r.NumEntries()}); err != nil ||
			len(got) != want*size {
			t.Errorf("%s: %d entries, error %v", text, len(got), err)
		}
		if n := c.bytes.Load(); n != zoneMap {
			t.Errorf("%s: %d bytes are fetched, the zone map has %d", text, n, zoneMap)
		}
	}
	fetched := func(z *rntuple.ZoneUse) float64 {
		c, r := opened()
		e, err := Parse("Run == 77")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for part, err := range e.ConditionUsing(z).Select(r, rntuple.EntryRange{End: r.NumEntries()}) {
			if err != nil {
				t.Fatal(err)
			}
			for entry, err := range rntuple.EntriesIn[event](r, part, nil) {
				if err != nil || entry.Run != 77 {
					t.Fatal(entry, err)
				}
				n++
			}
		}
		if n != size {
			t.Errorf("%d entries", n)
		}
		return float64(c.bytes.Load()) / float64(len(file))
	}
	z := &rntuple.ZoneUse{}
	with, without := fetched(z), fetched(&rntuple.ZoneUse{Off: true})
	if all, passed := z.Clusters(); all != clusters || passed != clusters-1 {
		t.Errorf("passed over %d of %d clusters", passed, all)
	}
	t.Logf("fetched %.2f %% of the file, without the zone map %.2f %%", 100*with, 100*without)
	if with > 0.02 || without < 0.03 {
		t.Errorf("fetched %.2f %% of the file, without the zone map %.2f %%", 100*with, 100*without)
	}
}
