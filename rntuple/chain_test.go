package rntuple_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/value"
)

// hit is an entry of the data sets that tests combine.
type hit struct {
	ID   int32   `rntuple:"id"`
	Mass float64 `rntuple:"mass"`
	Tag  string  `rntuple:"tag"`
	ADC  []int16 `rntuple:"adc"`
}

// hits returns n different entries, of which the first has the number first.
func hits(first, n int) []hit {
	all := make([]hit, n)
	for i := range all {
		id := first + i
		all[i] = hit{ID: int32(id), Mass: float64(id) / 8, Tag: strings.Repeat("x", id%3) + fmt.Sprint(id)}
		for j := range id % 4 {
			all[i].ADC = append(all[i].ADC, int16(id*j))
		}
	}
	return all
}

// fileOf returns a ROOT file with the entries, in clusters of the given number.
func fileOf[T any](t testing.TB, entries []T, cluster int) []byte {
	t.Helper()
	var m memory
	f, err := rntuple.NewFile(&m, "set.root", fixed)
	if err != nil {
		t.Fatal(err)
	}
	w, err := rntuple.NewWriter[T](f, "set", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		if i > 0 && i%cluster == 0 {
			w.CommitCluster()
		}
		if err := w.Write(&entries[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return m.b
}

// A shelf opens files in memory for chains and counts them.
type shelf struct{ open, most, total atomic.Int64 }

type shelved struct {
	*bytes.Reader
	shelf  *shelf
	closed atomic.Bool
}

func (s *shelf) inputs(files ...[]byte) (all []rntuple.Input) {
	for i, file := range files {
		all = append(all, rntuple.Input{Path: fmt.Sprintf("file%d", i),
			Open: func(context.Context) (io.ReaderAt, int64, error) {
				s.total.Add(1)
				for n := s.open.Add(1); ; {
					if most := s.most.Load(); n <= most || s.most.CompareAndSwap(most, n) {
						return &shelved{Reader: bytes.NewReader(file), shelf: s}, int64(len(file)), nil
					}
				}
			}})
	}
	return all
}

func (s *shelved) ReadAt(p []byte, off int64) (int, error) {
	if s.closed.Load() {
		return 0, os.ErrClosed
	}
	return s.Reader.ReadAt(p, off)
}

func (s *shelved) Close() error {
	if s.closed.Swap(true) {
		return os.ErrClosed
	}
	s.shelf.open.Add(-1)
	return nil
}

func chainOf(t testing.TB, inputs []rntuple.Input, opts *rntuple.ReadOptions) *rntuple.Chain {
	t.Helper()
	c, err := rntuple.NewChain(inputs, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func readerOf(t testing.TB, file []byte, opts *rntuple.ReadOptions) *rntuple.Reader {
	t.Helper()
	r, err := rntuple.NewReader(bytes.NewReader(file), int64(len(file)), "", opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// collect returns all entries of a source.
func collect[T any](s rntuple.Source) (all []T, err error) {
	for entry, err := range rntuple.Entries[T](s) {
		if err != nil {
			return all, err
		}
		all = append(all, *entry)
	}
	return all, nil
}

// sameHits reads a source in every way there is and compares it with want.
func sameHits(t *testing.T, s rntuple.Source, want []hit, random *rand.Rand) {
	t.Helper()
	same := func(what string, got, want any, err error) {
		t.Helper()
		if g, w := reflect.ValueOf(got), reflect.ValueOf(want); err != nil || (g.Len() > 0 || w.Len() > 0) &&
			!reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %v, %v\nwant %v", what, got, err, want)
		}
	}
	all, err := collect[hit](s)
	same("entries", all, want, err)

	hits, err1 := rntuple.ViewOf[hit](s, "")
	masses, err2 := rntuple.ViewOf[float64](s, "mass")
	jagged, err3 := rntuple.JaggedOf[int16](s, "adc")
	records, err4 := rntuple.RecordsOf(s, "tag", "id")
	whole, err5 := rntuple.RecordsOf(s)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	n := len(want)
	for range 12 {
		first := random.IntN(n + 1)
		end := min(n, first+random.IntN(1+random.IntN(n+1)))
		part := want[first:end]

		buf := slices.Repeat([]hit{{ID: -1, Tag: "old", ADC: []int16{-1}}}, len(part))
		got, err := hits.Read(buf, int64(first))
		same("view", buf[:got], part, err)

		var mass []float64
		for at, m := range masses.Range(rntuple.EntryRange{First: int64(first), End: int64(end)}) {
			if m != want[at].Mass {
				t.Fatalf("mass of entry %d is %v, want %v", at, m, want[at].Mass)
			}
			mass = append(mass, m)
		}
		if len(mass) != len(part) || masses.Err() != nil {
			t.Fatalf("%d masses (%v), want %d", len(mass), masses.Err(), len(part))
		}

		offsets := make([]int64, len(part)+1)
		items, got, err := jagged.Read(offsets, nil, int64(first))
		if err != nil && (err != io.EOF || len(part) > 0) || got != len(part) {
			t.Fatalf("%d entries of %d, %v", got, len(part), err)
		}
		for i, h := range part {
			same("jagged", items[offsets[i]:offsets[i+1]], append([]int16{}, h.ADC...), nil)
		}

		for at, r := range records.Range(rntuple.EntryRange{First: int64(first), End: int64(end)}) {
			if h := want[at]; !reflect.DeepEqual(r, value.Record{Names: []string{"tag", "id"}, Values: []any{h.Tag, h.ID}}) {
				t.Fatalf("record %d is %v, want %v", at, r, h)
			}
		}
		if n > 0 {
			at := random.IntN(n)
			r, err := whole.At(int64(at))
			if h := want[at]; err != nil || r.Get("mass") != h.Mass || len(r.Get("adc").([]any)) != len(h.ADC) {
				t.Fatalf("record %d is %v, %v, want %v", at, r, err, want[at])
			}
		}
		if err := errors.Join(records.Err(), whole.Err()); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := hits.Read(make([]hit, 2), int64(n)); n != 0 || err != io.EOF {
		t.Errorf("%d entries after the last one, %v", n, err)
	}
	if _, err := hits.At(-1); err == nil || err == io.EOF {
		t.Errorf("entry -1: %v", err)
	}
}

// TestChain compares chains of files with the entries they were made of: few and
// many, empty ones, odd borders of clusters, few files open at a time, chains of
// chains.
func TestChain(t *testing.T) {
	for _, sizes := range [][]int{{0}, {5}, {0, 0, 0}, {0, 3, 0, 0, 7, 1, 0}, {1, 1, 1, 1, 1, 1, 1},
		{700, 1, 1301, 0, 29}} {
		var want []hit
		var files [][]byte
		for i, n := range sizes {
			files = append(files, fileOf(t, hits(len(want), n), 1+(i*37+n/3)%101))
			want = append(want, hits(len(want), n)...)
		}
		for _, most := range []int{1, 2, 16} {
			for _, workers := range []int{1, 3} {
				t.Run(fmt.Sprint(sizes, most, workers), func(t *testing.T) {
					var s shelf
					c := chainOf(t, s.inputs(files...), &rntuple.ReadOptions{MaxOpen: most, Workers: workers})
					if n := s.total.Load(); n != 1 {
						t.Errorf("%d files were opened for the schema", n)
					}
					random := rand.New(rand.NewPCG(1, 2))
					sameHits(t, c, want, random)
					if n, err := c.NumEntries(); err != nil || n != int64(len(want)) {
						t.Errorf("%d entries, %v, want %d", n, err, len(want))
					}
					ranges, err := c.Entries()
					first := int64(0)
					for i, n := range sizes {
						if err != nil || ranges[i].First != first || ranges[i].Len() != int64(n) {
							t.Fatalf("entries %v, %v", ranges, err)
						}
						first += int64(n)
					}
					if n := s.most.Load(); n > int64(most) {
						t.Errorf("%d files were open at a time, at most %d are wanted", n, most)
					}

					nested := chainOf(t, []rntuple.Input{{Source: c}, {Source: readerOf(t, files[0], nil)}, {Source: c}}, nil)
					sameHits(t, nested, slices.Concat(want, hits(0, sizes[0]), want), random)
					if err := c.Close(); err != nil || s.open.Load() != 0 {
						t.Errorf("%d files are open after Close, %v", s.open.Load(), err)
					}
					var input *rntuple.InputError
					if _, err := collect[hit](c); !errors.Is(err, os.ErrClosed) || !errors.As(err, &input) {
						t.Errorf("after Close: %v", err)
					}
				})
			}
		}
	}
}

// TestChainThousands makes sure that neither memory nor open files grow with the
// inputs that have been read.
func TestChainThousands(t *testing.T) {
	const inputs, each = 4000, 10
	var files [][]byte
	file := fileOf(t, hits(0, each), 3)
	for range inputs {
		files = append(files, file)
	}
	var s shelf
	c := chainOf(t, s.inputs(files...), &rntuple.ReadOptions{MaxOpen: 4})
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var early uint64
	n := 0
	for h, err := range rntuple.Entries[hit](c) {
		if err != nil {
			t.Fatal(err)
		}
		if h.ID != int32(n%each) {
			t.Fatalf("entry %d is %v", n, h)
		}
		if n++; n == inputs*each/4 {
			early = heap()
		}
	}
	if late := heap(); n != inputs*each || late > early+1<<20 {
		t.Errorf("%d entries; %d bytes in use after a quarter of them, %d at the end", n, early, late)
	}
	if s.most.Load() > 4 || s.total.Load() != inputs {
		t.Errorf("%d files open at a time, %d opened in all", s.most.Load(), s.total.Load())
	}
}

// TestChainDifferences reads chains whose inputs have other schemas.
func TestChainDifferences(t *testing.T) {
	type (
		base struct {
			A int32  `rntuple:"a"`
			B string `rntuple:"b"`
		}
		wide struct { // another type, which fits as well, and another order
			B string `rntuple:"b"`
			A int64  `rntuple:"a"`
			C bool   `rntuple:"c"`
		}
		poor struct {
			A int32 `rntuple:"a"`
		}
		other struct {
			A int32   `rntuple:"a"`
			B []int32 `rntuple:"b"`
		}
	)
	bases := fileOf(t, []base{{1, "one"}, {2, "two"}}, 1)
	wides := fileOf(t, []wide{{"three", 3, true}}, 1)
	poors := fileOf(t, []poor{{4}}, 1)
	others := fileOf(t, []other{{5, []int32{5}}}, 1)
	dynamic := func(s rntuple.Source) (any, error) {
		v, err := rntuple.RecordsOf(s, "a", "b")
		if err != nil {
			return nil, err
		}
		var all []string
		for _, r := range v.All() {
			all = append(all, string(value.AppendJSON(nil, r)))
		}
		return all, v.Err()
	}
	static := func(s rntuple.Source) (any, error) { return collect[base](s) }
	for _, test := range []struct {
		name    string
		files   [][]byte
		missing bool // AllowMissing is set
		read    func(rntuple.Source) (any, error)
		want    any
		err     string
	}{
		{"another type that fits", [][]byte{bases, wides}, false, static, []base{{1, "one"}, {2, "two"}, {3, "three"}}, ""},
		{"another dynamic type", [][]byte{bases, wides}, false, dynamic, []string{`{"a":1,"b":"one"}`, `{"a":2,"b":"two"}`},
			`file1: not the schema of the first input: field "a" is std::int64_t, not std::int32_t`},
		{"missing", [][]byte{bases, poors}, false, static, []base{{1, "one"}, {2, "two"}},
			`file1: not the schema of the first input: there is no field "b" of type std::string: `},
		{"missing, dynamic", [][]byte{bases, poors}, false, dynamic, []string{`{"a":1,"b":"one"}`, `{"a":2,"b":"two"}`},
			`file1: not the schema of the first input: there is no field "b" of type std::string: `},
		{"missing on request", [][]byte{bases, poors, bases}, true, static,
			[]base{{1, "one"}, {2, "two"}, {4, ""}, {1, "one"}, {2, "two"}}, ""},
		{"missing on request, dynamic", [][]byte{bases, poors}, true, dynamic,
			[]string{`{"a":1,"b":"one"}`, `{"a":2,"b":"two"}`, `{"a":4,"b":null}`}, ""},
		{"does not fit", [][]byte{bases, others}, true, static, []base{{1, "one"}, {2, "two"}},
			`file1: not the schema of the first input: field "b" is std::vector<std::int32_t>, not std::string: `},
		{"does not fit the first", [][]byte{others, bases}, false, static, []base(nil),
			`file0: the Go type does not fit the RNTuple: `},
		{"missing in the first", [][]byte{poors, bases}, false, static, []base(nil),
			`file0: the Go type does not fit the RNTuple: no field "b"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var s shelf
			got, err := test.read(chainOf(t, s.inputs(test.files...),
				&rntuple.ReadOptions{Workers: 1, AllowMissing: test.missing}))
			if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.HasPrefix(err.Error(), test.err)) {
				t.Errorf("error %v\nwant  %s", err, test.err)
			}
			if test.err == "" && !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
			var input *rntuple.InputError
			if err != nil && !errors.As(err, &input) {
				t.Errorf("a %T", err)
			}
			var schema *rntuple.SchemaError
			if errors.As(err, &schema) != strings.Contains(test.err, "not the schema") {
				t.Errorf("a %T in a %T", input.Err, err)
			}
			if missing := strings.Contains(test.err, "no field"); missing != errors.Is(err, rntuple.ErrNoField) {
				t.Errorf("ErrNoField is expected: %v, error %v", missing, err)
			}
		})
	}
}

// TestChainSpellings joins a file whose type names are those of ROOT 6.34 with one
// of today's (ROOT issue 22130). Dynamic values need the same types.
func TestChainSpellings(t *testing.T) {
	build := func(typ string, x int32) []byte {
		b := newBuilder(t)
		f := b.regular().field(-1, "link", typ, envelope.RoleRecord)
		b.regular().column(b.regular().field(f, "index", "std::int32_t", envelope.RolePlain), column.Int32)
		b.cluster(1, chunk(0, page(b, column.Int32, x)))
		return b.bytes(edits{})
	}
	old := build("ElementLink<DataVector<xAOD::Jet_v1> >", 1)
	today := build("ElementLink<DataVector<xAOD::Jet_v1>>", 2)
	other := build("ElementLink<DataVector<xAOD::Muon_v1>>", 3)
	read := func(files ...[]byte) (all []string, err error) {
		var s shelf
		v, err := rntuple.RecordsOf(chainOf(t, s.inputs(files...), nil), "link")
		if err != nil {
			return nil, err
		}
		for _, r := range v.All() {
			all = append(all, string(value.AppendJSON(nil, r)))
		}
		return all, v.Err()
	}
	want := []string{`{"link":{"index":1}}`, `{"link":{"index":2}}`, `{"link":{"index":1}}`}
	if got, err := read(old, today, old); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	var schema *rntuple.SchemaError
	if _, err := read(old, other); !errors.As(err, &schema) {
		t.Errorf("links to other objects: %v", err)
	}
}

// TestChainFaults makes sure that a file that is not there, is broken, or changes
// between two uses is named.
func TestChainFaults(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for i := range 3 {
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("%d.root", i)))
		if err := os.WriteFile(paths[i], fileOf(t, hits(i*10, 10), 4), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name  string
		fault func() error
		want  error
	}{
		{"gone", func() error { return os.Remove(paths[1]) }, os.ErrNotExist},
		{"no ROOT file", func() error { return os.WriteFile(paths[1], bytes.Repeat([]byte("no"), 1000), 0o666) },
			rntuple.ErrCorrupt},
		{"cut short", func() error { return os.WriteFile(paths[1], fileOf(t, hits(10, 10), 4)[:900], 0o666) },
			rntuple.ErrCorrupt},
		{"no RNTuple", func() error {
			file, err := os.ReadFile("../testdata/dimuon.root")
			return errors.Join(err, os.WriteFile(paths[1], file, 0o666))
		}, rntuple.ErrNotFound},
		{"fewer entries", func() error { return os.WriteFile(paths[1], fileOf(t, hits(10, 9), 4), 0o666) }, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := os.WriteFile(paths[1], fileOf(t, hits(10, 10), 4), 0o666); err != nil {
				t.Fatal(err)
			}
			c, err := rntuple.OpenChain("set", paths, &rntuple.ReadOptions{MaxOpen: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if test.want == nil { // it was known before
				if _, err := c.NumEntries(); err != nil {
					t.Fatal(err)
				}
			}
			if err := test.fault(); err != nil {
				t.Fatal(err)
			}
			v, err := rntuple.ViewOf[hit](c, "")
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for i, h := range v.Range(rntuple.EntryRange{End: 10}) {
				if !reflect.DeepEqual(h, hits(int(i), 1)[0]) {
					t.Fatalf("entry %d is %v", i, h)
				}
				n++
			}
			if v.Err() != nil || n != 10 {
				t.Fatalf("%d entries, %v", n, v.Err())
			}
			_, err = v.At(10)
			var input *rntuple.InputError
			if !errors.As(err, &input) || input.Index != 1 || input.Path != paths[1] ||
				!strings.Contains(err.Error(), paths[1]) {
				t.Errorf("error %v", err)
			}
			if test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
			if _, err := c.NumEntries(); (err == nil) != (test.want == nil) {
				t.Errorf("number of entries: %v", err)
			}
		})
	}
	if _, err := rntuple.OpenChain("set", nil, nil); err == nil {
		t.Error("a chain of no files was opened")
	}
	ctx, cancel := context.WithCancel(t.Context())
	var s shelf
	c := chainOf(t, s.inputs(fileOf(t, hits(0, 9), 4), fileOf(t, hits(0, 9), 4)), nil).WithContext(ctx)
	cancel()
	if _, err := c.NumEntries(); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context's end: %v", err)
	}
}

// TestSharing has many goroutines share a Reader, a Chain and Joins of them, with
// fewer files open than goroutines read.
func TestSharing(t *testing.T) {
	var files [][]byte
	var want []hit
	for i := range 12 {
		files = append(files, fileOf(t, hits(len(want), 200+i), 64))
		want = append(want, hits(len(want), 200+i)...)
	}
	var s shelf
	chain := chainOf(t, s.inputs(files...), &rntuple.ReadOptions{MaxOpen: 3})
	single := readerOf(t, fileOf(t, want, 300), nil)
	join, err := rntuple.NewJoin(chain, rntuple.Friend("twin", single), rntuple.Match("same", chain, "id"))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 16 {
		random := rand.New(rand.NewPCG(uint64(g), 0))
		wg.Go(func() {
			for _, s := range []rntuple.Source{single, chain, join} {
				first := random.IntN(len(want))
				end := min(len(want), first+500)
				at := first
				for h, err := range rntuple.EntriesIn[hit](s, rntuple.EntryRange{First: int64(first), End: int64(end)}, nil) {
					if err != nil || !reflect.DeepEqual(*h, want[at]) {
						t.Errorf("entry %d is %v, %v", at, h, err)
						return
					}
					at++
				}
				if at != end {
					t.Errorf("entries from %d to %d, want %d", first, at, end)
				}
			}
			type all struct {
				ID   int32    `rntuple:"id"`
				Twin string   `rntuple:"twin.tag"`
				Mass *float64 `rntuple:"same.mass"`
			}
			v, err := rntuple.ViewOf[all](join, "")
			if err != nil {
				t.Error(err)
				return
			}
			for range 20 {
				at := random.IntN(len(want))
				a, err := v.At(int64(at))
				if h := want[at]; err != nil || a.ID != h.ID || a.Twin != h.Tag || a.Mass == nil || *a.Mass != h.Mass {
					t.Errorf("entry %d is %v, %v, want %v", at, a, err, h)
					return
				}
			}
		})
	}
	wg.Wait()
	if n := s.most.Load(); n > 3 {
		t.Errorf("%d files were open at a time", n)
	}
}
