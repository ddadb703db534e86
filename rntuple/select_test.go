package rntuple_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestSelect chooses entries by number, and chains ranges of files: the values are those of the
// same entries of the files.
func TestSelect(t *testing.T) {
	const n = 3000
	data := manifoldFile(t, n)
	path := filepath.Join(t.TempDir(), "set.root")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	open := func() *rntuple.Reader {
		r, err := rntuple.NewReader(bytes.NewReader(data), int64(len(data)), "", nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	ids := func(s rntuple.Source) (all []int64) {
		for e, err := range rntuple.Entries[manifold](s) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, e.ID)
		}
		var batches []int64
		for b, err := range rntuple.Batches(s, &rntuple.BatchOptions{Fields: []string{"ID", "V"}}) {
			if err != nil {
				t.Fatal(err)
			}
			batches = append(batches, b.Columns[0].Values().([]int64)...)
		}
		if !slices.Equal(all, batches) {
			t.Errorf("batches have %d entries, a loop %d", len(batches), len(all))
		}
		return all
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var ranges []rntuple.EntryRange
		var inputs []rntuple.Input
		var want []int64
		for at := int64(0); at < n; {
			r := rntuple.EntryRange{First: at + random.Int64N(500)}
			r.End = min(n, r.First+random.Int64N(800))
			if r.Len() <= 0 {
				break
			}
			ranges = append(ranges, r)
			inputs = append(inputs, rntuple.Input{Path: path, Entries: r})
			for i := r.First; i < r.End; i++ {
				want = append(want, i)
			}
			at = r.End
		}
		if len(ranges) == 0 {
			continue
		}
		s, err := rntuple.Select(open(), ranges...)
		if err != nil {
			t.Fatal(err)
		}
		if got := ids(s); !slices.Equal(got, want) {
			t.Errorf("%v: %d entries, want %d", ranges, len(got), len(want))
		}
		c, err := rntuple.NewChain(inputs, &rntuple.ReadOptions{MaxOpen: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := ids(c); !slices.Equal(got, want) {
			t.Errorf("chain of %v: %d entries, want %d", ranges, len(got), len(want))
		}
		c.Close()
	}
	for _, ranges := range [][]rntuple.EntryRange{{{First: -1, End: 2}}, {{First: 3, End: 2}}, {{First: 0, End: n + 1}},
		{{First: 5, End: 9}, {First: 8, End: 10}}} {
		if _, err := rntuple.Select(open(), ranges...); err == nil {
			t.Errorf("%v are selected", ranges)
		}
	}
	refused := errors.New("not this file")
	for want, in := range map[string]rntuple.Input{
		"not this file":                 {Path: path, Check: func(*rntuple.Reader) error { return refused }},
		"no entries from 10 up to 3001": {Path: path, Entries: rntuple.EntryRange{First: 10, End: n + 1}},
	} {
		if _, err := rntuple.NewChain([]rntuple.Input{in}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
