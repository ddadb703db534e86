package rntuple_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
)

// zoned makes a file of 100 entries in clusters that end at 10, 20, 40, 60 and 100. N is a quarter
// of an entry's number.
func zoned(t *testing.T, opts *rntuple.WriteOptions) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "zoned.root")
	w, err := rntuple.Create[struct{ N, F int64 }](path, "n", opts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(100) {
		if slices.Contains([]int64{10, 20, 40, 60}, i) {
			if err := w.CommitCluster(); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Write(&struct{ N, F int64 }{i / 4, i}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPossible asks for entries of files, chains and joins.
func TestPossible(t *testing.T) {
	a, b := zoned(t, &rntuple.WriteOptions{ZoneMap: []string{"N"}}), zoned(t, nil) // only the first has a zone map
	chain, err := rntuple.OpenChain("n", []string{a, b, a}, &rntuple.ReadOptions{MaxOpen: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer chain.Close()
	open := func(path string) *rntuple.Reader {
		r, err := rntuple.Open(path, "n", nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		return r
	}
	r, other := open(a), open(b)
	join, err := rntuple.NewJoin(r, rntuple.Friend("f", other))
	if err != nil {
		t.Fatal(err)
	}
	over := func(path string, n int64) func(func(string) (zonemap.Zone, bool)) bool {
		return func(zone func(string) (zonemap.Zone, bool)) bool {
			z, ok := zone(path)
			_, greatest := z.IntBounds()
			return !ok || greatest > n
		}
	}
	type ranges = []rntuple.EntryRange
	for _, c := range []struct {
		source      rntuple.Source
		first, end  int64
		path        string
		use         *rntuple.ZoneUse
		want        ranges
		all, passed int64
	}{
		{r, 0, 100, "N", &rntuple.ZoneUse{}, ranges{{First: 60, End: 100}}, 5, 4},
		{r, 0, 100, "N", &rntuple.ZoneUse{Off: true}, ranges{{First: 0, End: 100}}, 0, 0},
		{r, 0, 100, "N", nil, ranges{{First: 60, End: 100}}, 0, 0},
		{r, 5, 70, "N", &rntuple.ZoneUse{}, ranges{{First: 60, End: 70}}, 5, 4},
		{r, 5, 200, "F", &rntuple.ZoneUse{}, ranges{{First: 5, End: 100}}, 5, 0},
		{r, 5, 5, "N", &rntuple.ZoneUse{}, nil, 0, 0},
		{chain, 0, 300, "N", &rntuple.ZoneUse{},
			ranges{{First: 60, End: 100}, {First: 100, End: 200}, {First: 260, End: 300}}, 10, 8},
		{chain, 210, 400, "N", &rntuple.ZoneUse{}, ranges{{First: 260, End: 300}, {First: 300, End: 400}}, 4, 3},
		{join, 0, 100, "N", &rntuple.ZoneUse{}, ranges{{First: 60, End: 100}}, 5, 4},
		{join, 0, 100, "f.N", &rntuple.ZoneUse{}, ranges{{First: 0, End: 100}}, 5, 0},
	} {
		var got ranges
		for e, err := range rntuple.Possible(c.source, rntuple.EntryRange{First: c.first, End: c.end},
			c.use, over(c.path, 15)) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e)
			if _, err := rntuple.ViewOf[int64](c.source, "N"); err != nil { // other inputs can be opened meanwhile
				t.Fatal(err)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%T, entries %d to %d: %v, want %v", c.source, c.first, c.end, got, c.want)
		}
		if c.use == nil {
			continue
		}
		if all, passed := c.use.Clusters(); all != c.all || passed != c.passed || len(c.use.Problems()) > 0 {
			t.Errorf("%T, entries %d to %d: %d of %d clusters passed over, want %d of %d; %v", c.source, c.first, c.end, passed,
				all, c.passed, c.all, c.use.Problems())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range rntuple.Possible(chain.WithContext(ctx), rntuple.EntryRange{End: 300}, nil, over("N", 15)) {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// TestZoneMap reads the zone map of a Reader, under its context.
func TestZoneMap(t *testing.T) {
	r, err := rntuple.Open(zoned(t, &rntuple.WriteOptions{ZoneMap: []string{"N"}}), "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.WithContext(ctx).ZoneMap(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	m, err := r.ZoneMap()
	if err != nil {
		t.Fatal(err)
	}
	fields, clusters := m.Fields()
	if z, ok := m.Zone("N", 2); !ok || z.String() != "int [5, 9]" ||
		!slices.Equal(fields, []string{"N"}) || clusters[0] != 5 {
		t.Error(z, fields, clusters)
	}
}
