package rntuple_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/test/sampletest"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/value"
)

// A way is a choice of the options that change how pages come to their reader.
type way struct {
	name string
	opts *rntuple.ReadOptions
	far  *remote.Costs // nil: on disk
}

func (w way) open(t *testing.T, path, name string) *rntuple.Reader {
	t.Helper()
	open := func() (*rntuple.Reader, error) { return rntuple.Open(path, name, w.opts) }
	if w.far != nil {
		open = func() (*rntuple.Reader, error) {
			f := openFar(t, path, *w.far)
			return rntuple.NewReader(f, int64(len(f.data)), name, w.opts)
		}
	}
	r, err := open()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func ways() (all []way) {
	for _, workers := range []int{1, 2, 8} {
		for _, budget := range []int64{-1, 1, 5000, 64 << 20} {
			for _, mapped := range []bool{true, false} {
				name := fmt.Sprintf("%d workers, %d bytes ahead, mapped %t", workers, budget, mapped)
				all = append(all, way{name, &rntuple.ReadOptions{Workers: workers, ReadAhead: budget, NoMap: !mapped}, nil})
			}
		}
	}
	return append(all, farWays()...)
}

// plain reads page by page.
var plain = &rntuple.ReadOptions{Workers: 1, ReadAhead: -1, NoMap: true}

// However pages are fetched, all values are those that reading page by page has:
// in order, in pieces of any size, and at random.
func TestWaysOfReading(t *testing.T) {
	files, err := filepath.Glob("../testdata/good/*.root")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	rnd := sampletest.Rand(t)
	for _, path := range append(files, "../testdata/dimuon.root") {
		infos, err := rntuple.ListFile(context.Background(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := rntuple.Open(path, infos[0].Path, plain)
		if err != nil {
			t.Fatal(err)
		}
		want, err := lines(r)
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		all := ways()
		wanted := len(all) / 8
		if testing.Short() || r.NumEntries() > 1e4 {
			wanted = 1
		}
		for _, i := range sampletest.Cases(rnd, len(all), wanted) {
			way, name := all[i], all[i].name
			r := way.open(t, path, infos[0].Path)
			got, err := lines(r)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s, %s: other values, %v", path, name, err)
			}
			inPieces(t, path+", "+name, r, want)
			r.Close()
		}
	}
}

func inPieces(t *testing.T, name string, r *rntuple.Reader, want []string) {
	t.Helper()
	v, err := rntuple.RecordsOf(r)
	if err != nil {
		t.Fatal(err)
	}
	check := func(first, end int64) {
		t.Helper()
		at := first
		for i, record := range v.Range(rntuple.EntryRange{First: first, End: end}) {
			if got := string(value.AppendJSON(nil, record)); i != at || got != want[i] {
				t.Fatalf("%s: entry %d of %d to %d is %s, want %s", name, i, first, end, got, want[i])
			}
			at++
		}
		if err := v.Err(); err != nil || at != end {
			t.Fatalf("%s: entries from %d to %d end before %d: %v", name, first, end, at, err)
		}
	}
	rnd := rand.New(rand.NewPCG(7, 7))
	for at, n := int64(0), r.NumEntries(); at < n && n < 1e4; {
		end := min(n, at+1+rnd.Int64N(max(1, n/5)))
		check(at, end)
		at = end
	}
	for range 20 {
		if r.NumEntries() > 0 {
			at := rnd.Int64N(r.NumEntries())
			check(at, min(r.NumEntries(), at+1+rnd.Int64N(3)))
		}
	}
}

// A page that is damaged gives an error where its entries begin, and no other
// entries are lost, however far the read-ahead was.
func TestDamageAhead(t *testing.T) {
	type entry struct {
		A int64
		B []float32
	}
	path := filepath.Join(t.TempDir(), "damaged.root")
	w, err := rntuple.Create[entry](path, "n", &rntuple.WriteOptions{MaxUnzippedPageSize: 800, NoSharing: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5000 {
		if err := w.Write(&entry{int64(i) * 1234567, []float32{float32(i), 2, 3}[:i%4%3]}); err != nil {
			t.Fatal(err)
		}
		if i%500 == 499 {
			if err := w.CommitCluster(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(3, 3))
	for range 20 {
		b := bytes.Clone(good)
		b[len(b)/10+rnd.IntN(len(b)*7/10)] ^= 0x10
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		read := func(opts *rntuple.ReadOptions) (n int, err error) {
			r, err := rntuple.Open(path, "n", opts)
			if err != nil {
				return 0, err
			}
			defer r.Close()
			for _, err := range rntuple.Entries[entry](r) {
				if err != nil {
					return n, err
				}
				n++
			}
			return n, nil
		}
		n, want := read(plain)
		for _, way := range ways() {
			m, err := read(way.opts)
			if m != n || fmt.Sprint(err) != fmt.Sprint(want) || want != nil && !errors.Is(err, rntuple.ErrChecksum) &&
				!errors.Is(err, rntuple.ErrCorrupt) {
				t.Errorf("%s: %d entries, then %v; want %d, then %v", way.name, m, err, n, want)
			}
		}
	}
}

// A file that is cut short while it is read gives an error, also where it is
// mapped.
func TestCutShort(t *testing.T) {
	content, err := os.ReadFile("../testdata/dimuon.root")
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range ways() {
		path := filepath.Join(t.TempDir(), "short.root")
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := rntuple.Open(path, "", way.opts)
		if err != nil {
			t.Fatal(err)
		}
		v, err := rntuple.ViewOf[[]float32](r, "Muon_pt")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for i := range v.All() {
			if i == 10 {
				if err := os.Truncate(path, int64(len(content)/2)); err != nil {
					t.Fatal(err)
				}
			}
			n++
		}
		if v.Err() == nil || n == int(r.NumEntries()) {
			t.Errorf("%s: %d entries, %v", way.name, n, v.Err())
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
