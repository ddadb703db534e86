package workunits_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	_ "github.com/go-rntuple/go-rntuple/remote/https"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/workunits"
)

type event struct {
	ID int64
	X  float64
	V  []float32
	S  string
}

// dataSet writes files with clusters of random sizes, some empty, and returns their paths and how
// many entries there are.
func dataSet(t testing.TB, random *rand.Rand, files int) (paths []string, total int64) {
	t.Helper()
	dir := t.TempDir()
	for i := range files {
		path := filepath.Join(dir, fmt.Sprintf("%03d.root", i))
		w, err := rntuple.Create[event](path, "Events", nil)
		if err != nil {
			t.Fatal(err)
		}
		for range random.IntN(6) {
			for range random.IntN(300) {
				if err := w.Write(&event{total, float64(random.IntN(1<<20)) / 1024,
					[]float32{0.5, 7, 1 << 20, 0.25}[:random.IntN(5)], "text"[:random.IntN(5)]}); err != nil {
					t.Fatal(err)
				}
				total++
			}
			w.CommitCluster()
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths, total
}

// TestPlans cuts random data sets in many ways. The units have each entry once, in order, cost what
// Inspect says, and differ by no more than a cluster from what was asked for. Sums over units have
// the bits of those over the whole.
func TestPlans(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 12 {
		paths, total := dataSet(t, random, 1+random.IntN(8))
		fields := [][]string{nil, {"X"}, {"V", "S"}}[round%3]
		chain, err := rntuple.OpenChain("Events", paths, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer chain.Close()
		all := sum(t, chain)
		want, clusters := cost(t, paths, fields)
		single, err := workunits.Make(t.Context(), paths, &workunits.Options{Fields: fields, Count: 1 << 30})
		if err != nil || len(single.Units) != clusters {
			t.Fatalf("%d units of one cluster each, want %d, %v", len(single.Units), clusters, err)
		}
		most := int64(0) // that a cluster costs
		for _, u := range single.Units {
			most = max(most, u.Cost)
		}
		for _, o := range []workunits.Options{
			{}, {Count: 1}, {Count: 2}, {Count: 7}, {Count: 1000}, {Target: 1}, {Target: 3000},
			{Target: 20_000}, {Target: 1 << 40},
		} {
			o.Name, o.Fields, o.Workers = "Events", fields, 1+random.IntN(4)
			p, err := workunits.Make(t.Context(), paths, &o)
			if err != nil {
				t.Fatal(err)
			}
			var text bytes.Buffer
			if err := p.Write(&text); err != nil {
				t.Fatal(err)
			}
			again, err := workunits.Read(bytes.NewReader(text.Bytes()))
			if err != nil || again.ID() != p.ID() {
				t.Fatalf("%v\n%s", err, text.String())
			}
			next, got := int64(0), int64(0)
			var parts sums
			for i, u := range again.Units {
				got += u.Cost
				s, err := again.Open(i, nil)
				if err != nil {
					t.Fatal(err)
				}
				n := int64(0)
				for e, err := range rntuple.Entries[event](s) {
					if err != nil || e.ID != next {
						t.Fatalf("entry %d is %+v, %v", next, e, err)
					}
					next, n = next+1, n+1
				}
				if n != u.Entries {
					t.Errorf("unit %s has %d entries, not %d", u.Name, n, u.Entries)
				}
				parts = parts.add(sum(t, s))
				s.Close()
				if o.Count > 0 && u.Cost > want/int64(o.Count)+most || o.Target > 1 && u.Cost > o.Target+most {
					t.Errorf("%+v: unit %s costs %d of %d", o, u.Name, u.Cost, want)
				}
			}
			if next != total || got != want || o.Count > 0 && len(p.Units) > o.Count || o.Target > 0 &&
				int64(len(p.Units)) > (want+o.Target-1)/o.Target {
				t.Errorf("%+v: %d of %d entries, %d of %d bytes, %d units", o, next, total, got, want, len(p.Units))
			}
			if parts != all {
				t.Errorf("%+v: sums %+v, want %+v", o, parts, all)
			}
		}
	}
}

// sums are those of the fields of events. No addition rounds, so that each order gives the same
// bits.
type sums struct {
	id   int64
	x, v float64
	text int
}

func (a sums) add(b sums) sums { return sums{a.id + b.id, a.x + b.x, a.v + b.v, a.text + b.text} }

// sum returns the sums of a source.
func sum(t *testing.T, s rntuple.Source) sums {
	t.Helper()
	all, err := rntuple.Fold(s, func(s rntuple.Source, r rntuple.EntryRange) (a sums, err error) {
		for e, err := range rntuple.EntriesIn[event](s, r, nil) {
			if err != nil {
				return a, err
			}
			a = a.add(sums{id: e.ID, x: e.X, text: len(e.S)})
			for i, v := range e.V {
				a.v += float64(v) * float64(i+1)
			}
		}
		return a, nil
	}, sums.add, &rntuple.FoldOptions{Workers: 3})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// cost returns the bytes of the pages of fields with their checksums, as Inspect has them, and the
// number of clusters that have entries.
func cost(t *testing.T, paths, fields []string) (total int64, clusters int) {
	t.Helper()
	for _, path := range paths {
		r, err := rntuple.Open(path, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		all, err := r.Inspect(nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range r.Schema().Columns {
			if top, _, _ := strings.Cut(c.Owner.Path(), "."); fields == nil || slices.Contains(fields, top) {
				total += all.Columns[i].Disk + all.Columns[i].Pages*8
			}
		}
		ranges, err := r.Clusters()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range ranges {
			if c.Len() > 0 {
				clusters++
			}
		}
		r.Close()
	}
	return total, clusters
}

// TestChanged changes files of a plan.
func TestChanged(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	paths, total := dataSet(t, random, 5)
	served := httptest.NewServer(remotetest.Files(filepath.Dir(paths[0])))
	defer served.Close()
	urls := slices.Clone(paths)
	for i := range urls {
		urls[i] = served.URL + "/" + filepath.Base(paths[i])
	}
	for _, names := range [][]string{paths, urls} {
		p, err := workunits.Make(t.Context(), names, &workunits.Options{Count: 1})
		if err != nil {
			t.Fatal(err)
		}
		read := func() error {
			s, err := p.Open(0, nil)
			if err != nil {
				return err
			}
			defer s.Close()
			n := int64(0)
			for _, err := range rntuple.Entries[event](s) {
				if err != nil {
					return err
				}
				n++
			}
			if n != total {
				t.Errorf("%d of %d entries", n, total)
			}
			return nil
		}
		if err := read(); err != nil {
			t.Fatal(err)
		}
		for i := range paths {
			if p.Files[i].Entries == 0 {
				continue // no unit opens it
			}
			before, err := os.ReadFile(paths[i])
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(paths[i])
			if err != nil {
				t.Fatal(err)
			}
			restore := func() {
				if err := errors.Join(os.WriteFile(paths[i], before, 0o600),
					os.Chtimes(paths[i], info.ModTime(), info.ModTime())); err != nil {
					t.Fatal(err)
				}
			}
			for name, change := range map[string]func() error{
				"touched": func() error { return os.Chtimes(paths[i], time.Now(), time.Now().Add(time.Hour)) },
				"longer": func() error {
					return errors.Join(os.WriteFile(paths[i], append(slices.Clone(before), 0), 0o600),
						os.Chtimes(paths[i], info.ModTime(), info.ModTime()))
				},
				"another": func() error {
					b, err := os.ReadFile(paths[(i+1)%len(paths)])
					return errors.Join(err, os.WriteFile(paths[i], b, 0o600), os.Chtimes(paths[i], info.ModTime(), info.ModTime()))
				},
				"appended": func() error { return grow(paths[i], info.ModTime()) },
			} {
				if err := change(); err != nil {
					t.Fatal(err)
				}
				var in *rntuple.InputError
				if err := read(); !errors.Is(err, workunits.ErrChanged) || !errors.As(err, &in) || in.Path != names[i] {
					t.Errorf("%s, %s: %v", names[i], name, err)
				}
				restore()
			}
		}
		if err := read(); err != nil {
			t.Errorf("as it was: %v", err)
		}
	}
}

// grow adds an entry to a file, and gives it its old time.
func grow(path string, mod time.Time) error {
	w, err := rntuple.Append[event](path, "Events", nil)
	if err != nil {
		return err
	}
	return errors.Join(w.Write(&event{}), w.Close(), os.Chtimes(path, mod, mod))
}

// TestBadPlans reads plans that are none.
func TestBadPlans(t *testing.T) {
	const files = `"files":[{"path":"a","entries":5,"size":1,"content":""},{"path":"b","entries":0,"size":1,"content":""},{"path":"c","entries":2,"size":1,"content":""}]`
	for text, want := range map[string]string{
		``: "not a plan", `[]`: "not a plan", `{"format":2}`: "format 2", `{"format":1,"extra":1}`: "not a plan",
		`{"format":1,` + files + `}`: "no unit has the entries of file 0 from 0 on",
		`{"format":1,` + files + `,"units":[{"name":"0","entries":5,"parts":[{"file":0,"first":0,"end":5}]}]}`:                                                                    "no unit has the entries of file 2",
		`{"format":1,` + files + `,"units":[{"name":"0","entries":4,"parts":[{"file":0,"first":0,"end":4}]},{"name":"1","entries":2,"parts":[{"file":2,"first":0,"end":2}]}]}`:    "do not follow",
		`{"format":1,` + files + `,"units":[{"name":"0","entries":5,"parts":[{"file":0,"first":0,"end":5}]},{"name":"0","entries":2,"parts":[{"file":2,"first":0,"end":2}]}]}`:    "another unit has the name",
		`{"format":1,` + files + `,"units":[{"name":"0","entries":5,"parts":[{"file":0,"first":0,"end":5}]},{"name":"../1","entries":2,"parts":[{"file":2,"first":0,"end":2}]}]}`: "not of so many digits",
		`{"format":1,` + files + `,"units":[{"name":"0","entries":6,"parts":[{"file":0,"first":0,"end":5}]},{"name":"1","entries":2,"parts":[{"file":2,"first":0,"end":2}]}]}`:    "5 entries, and not 6",
		`{"format":1,` + files + `,"units":[{"name":"0","entries":7,"parts":[{"file":0,"first":0,"end":5},{"file":2,"first":0,"end":2}]},{"name":"1","entries":0,"parts":[]}]}`:   "0 entries",
		`{"format":1,` + files + `,"units":[{"name":"0","entries":7,"parts":[{"file":0,"first":0,"end":5},{"file":2,"first":0,"end":2},{"file":3,"first":0,"end":0}]}]}`:          "do not follow",
		`{"format":1,` + files + `,"units":[{"name":"0","entries":7,"parts":[{"file":0,"first":0,"end":5},{"file":2,"first":0,"end":9223372036854775807}]}]}`:                     "do not follow",
		`{"format":1,` + files + `,"units":[{"name":"0","entries":7,"parts":[{"file":0,"first":0,"end":5},{"file":2,"first":0,"end":2}]}]}`:                                       "",
	} {
		_, err := workunits.Read(strings.NewReader(text))
		if err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	paths, _ := dataSet(t, rand.New(rand.NewPCG(5, 6)), 2)
	for want, o := range map[string]workunits.Options{
		"one of them may be set": {Count: 1, Target: 1}, "must not be negative": {Count: -1},
		`no field matches "q*"`: {Fields: []string{"q*"}}, `no field "Y"`: {Fields: []string{"Y"}},
		"pattern": {Fields: []string{"["}}, `"nope": not found`: {Name: "nope"},
	} {
		if _, err := workunits.Make(t.Context(), paths, &o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
	if _, err := workunits.Make(t.Context(), nil, nil); err == nil {
		t.Error("a plan of no files")
	}
	var in *rntuple.InputError
	if _, err := workunits.Make(t.Context(), append(paths, "none.root"), nil); !errors.As(err, &in) || in.Index != 2 {
		t.Errorf("a file that is missing: %v", err)
	}
}
