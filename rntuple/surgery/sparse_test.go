package surgery

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// sparse is an entry with columns in which every entry has the same number of elements, but
// that are stored in all kinds of ways.
type sparse struct {
	ID   int64
	Flat float64
	Bit  bool
	Name string // 5 characters
	List []float32
	Deep [][]int32 // 2 of 3
	Four [4]int16
	Some *uint32
	Rec  struct{ A, B float32 }
}

// elements is the number of elements that an entry has in each column of a field.
var elements = map[string][2]int64{
	"ID": {1}, "Flat": {1}, "Bit": {1}, "Name": {1, 5}, "List": {1}, "List._0": {3}, "Deep": {1},
	"Deep._0": {2}, "Deep._0._0": {6},
	"Four": {}, "Four._0": {4}, "Some": {1}, "Some._0": {1}, "Rec": {}, "Rec.A": {1}, "Rec.B": {1},
}

// sparseEntry returns entry i.
func sparseEntry(i int64) *sparse {
	u := uint32(i)
	e := &sparse{ID: i, Flat: float64(i) / 3, Bit: i%3 == 0,
		Name: string([]byte{'a', byte('a' + i%26), 'x', byte('a' + i/26%26), 'z'}), Some: &u}
	for k := range 3 {
		e.List = append(e.List, float32(i*7%1000)+float32(k))
	}
	for k := range int32(2) {
		e.Deep = append(e.Deep, []int32{int32(i) * 31 % 977, k, -k})
	}
	e.Four = [4]int16{int16(i), int16(i >> 4), 3, 4}
	e.Rec.A, e.Rec.B = float32(i), float32(-i)
	return e
}

// sparseFile makes a file with n entries.
func sparseFile(t *testing.T, n int64, opts *rntuple.WriteOptions) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "in.root")
	w, err := rntuple.Create[sparse](path, "n", opts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		w.Write(sparseEntry(i))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSkimReads skims files in which all pages are damaged that no chosen entry needs: those
// of columns that the condition does not read, and that hold none.
func TestSkimReads(t *testing.T) {
	const n = 60_000
	path := sparseFile(t, n, &rntuple.WriteOptions{MaxUnzippedPageSize: 4 << 10, NoSharing: true})
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := openRaw(t, Input{Path: path})
	in := Input{Path: filepath.Join(t.TempDir(), "bad.root")}
	clusters, err := r.Source.Clusters(all)
	if err != nil || len(clusters) != 1 {
		t.Fatal(len(clusters), err)
	}
	for _, chosen := range []rntuple.EntryRange{{}, {First: 0, End: 1}, {First: 31_000, End: 31_060},
		{First: n - 7, End: n}} {
		bad := append([]byte{}, good...)
		damaged, kept := 0, 0
		for _, c := range r.Source.Schema.Columns {
			k := elements[c.Owner.Path()][c.Index]
			if k == 0 {
				t.Fatalf("field %q, column %d", c.Owner.Path(), c.Index)
			}
			first, end := chosen.First*k, chosen.End*k
			if c.Type.IsIndex() && first > 0 && chosen.Len() > 0 {
				first-- // tells where the first collection begins
			}
			at := int64(0)
			for _, p := range clusters[0].Columns()[c.ID].Pages {
				begin := at
				at += int64(p.NumElements)
				if c.Owner.Path() == "ID" || begin < end && first < at {
					kept++
					continue
				}
				damaged++
				bad[p.Locator.Offset] ^= 0xff
			}
		}
		if kept == 0 || damaged < 5*kept && damaged < 300 {
			t.Fatalf("%d pages damaged, %d not", damaged, kept)
		}
		if err := os.WriteFile(in.Path, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, workers := range []int{1, 3} {
			out := filepath.Join(t.TempDir(), "out.root")
			type id struct{ ID int64 }
			_, err := Skim(all, out, []Input{in},
				rntuple.WhereFunc(func(e *id) bool { return e.ID >= chosen.First && e.ID < chosen.End }),
				&SkimOptions{Options: Options{Read: rntuple.ReadOptions{Workers: workers}}})
			if err != nil {
				t.Fatalf("%v, %d workers: %v", chosen, workers, err)
			}
			got, err := rntuple.Open(out, "", nil)
			if err != nil || got.NumEntries() != chosen.Len() {
				t.Fatal(err)
			}
			i := chosen.First
			for e, err := range rntuple.Entries[sparse](got) {
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(e, sparseEntry(i)) {
					t.Fatalf("entry %d: %+v", i, e)
				}
				i++
			}
			got.Close()
		}
	}
}

// TestSkimCopies skims runs of entries that begin and end within clusters. Pages of which all
// elements are chosen are copied as they are stored, wherever clusters of the output end.
func TestSkimCopies(t *testing.T) {
	const n = 60_000
	path := sparseFile(t, n, &rntuple.WriteOptions{MaxUnzippedPageSize: 4 << 10, ClusterSize: 200_000})
	in := openRaw(t, Input{Path: path})
	clusters, err := in.Source.Clusters(all)
	if err != nil || len(clusters) < 4 {
		t.Fatal(len(clusters), err)
	}
	middle := clusters[1]
	for _, chosen := range [][]rntuple.EntryRange{
		{{First: middle.First + 1, End: middle.End - 1}},
		{{First: 5, End: middle.First - 5}, {First: middle.First, End: middle.First + 3000},
			{First: middle.First + 3001, End: middle.End - 1}, {First: n - 2000, End: n}},
	} {
		holds := func(i int64) bool {
			return slices.ContainsFunc(chosen, func(r rntuple.EntryRange) bool { return r.First <= i && i < r.End })
		}
		var want []int64
		for i := range int64(n) {
			if holds(i) {
				want = append(want, i)
			}
		}
		for _, limit := range []int64{0, 200_000, 30_000} {
			for _, workers := range []int{1, 3} {
				out := filepath.Join(t.TempDir(), "out.root")
				type id struct{ ID int64 }
				report, err := Skim(all, out, []Input{{Path: path}}, rntuple.WhereFunc(func(e *id) bool { return holds(e.ID) }),
					&SkimOptions{
						Options: Options{Read: rntuple.ReadOptions{Workers: workers}, Write: rntuple.WriteOptions{ClusterSize: limit}}})
				if err != nil {
					t.Fatal(err)
				}
				got := openRaw(t, Input{Path: out})
				stored := pagesOf(t, got)
				ends, err := got.Source.Clusters(all)
				if err != nil {
					t.Fatal(err)
				}
				copied, missing := 0, 0
				for _, cluster := range clusters {
					for _, c := range in.Source.Schema.Columns {
						k, at := elements[c.Owner.Path()][c.Index], int64(0)
						for _, p := range cluster.Columns()[c.ID].Pages {
							begin, end := cluster.First*k+at, cluster.First*k+at+int64(p.NumElements)
							at += int64(p.NumElements)
							inside := slices.ContainsFunc(chosen,
								func(r rntuple.EntryRange) bool { return r.First*k <= begin && end <= r.End*k })
							if c.Type.IsIndex() || !inside {
								continue
							}
							b := make([]byte, p.StoredSize())
							if err := in.Source.StoredPage(t.Context(), c.Format(), p, b); err != nil {
								t.Fatal(err)
							}
							if copied++; !stored[c.ID][string(b)] {
								missing++
							}
						}
					}
				}
				// Where a cluster of the output ends, a page of each column may be cut.
				if copied < 250 || 2*missing > copied || missing > 0 &&
					(limit == 0 || missing > len(ends)*len(in.Source.Schema.Columns)) {
					t.Errorf("%v, clusters of %d bytes: of %d pages %d are not copied", chosen, limit, copied, missing)
				}
				if n := int(report.Levels[Copy].Pages + report.Levels[Clone].Pages); n < copied-missing {
					t.Errorf("%d pages are copied according to the report, %d are", n, copied-missing)
				}
				r, err := rntuple.Open(out, "", nil)
				if err != nil {
					t.Fatal(err)
				}
				i := 0
				for e, err := range rntuple.Entries[sparse](r) {
					if err != nil || !reflect.DeepEqual(e, sparseEntry(want[i])) {
						t.Fatalf("entry %d: %+v, %v", i, e, err)
					}
					i++
				}
				if r.Close(); i != len(want) {
					t.Errorf("%d entries, want %d", i, len(want))
				}
			}
		}
	}

	// A page is verified before it is copied.
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flat := in.Source.Schema.Fields[1].Columns[0][0].ID
	file[middle.Columns()[flat].Pages[1].Locator.Offset]++
	if err := os.WriteFile(path, file, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Skim(all, filepath.Join(t.TempDir(), "out.root"), []Input{{Path: path}},
		rntuple.WhereFunc(func(e *struct{ ID int64 }) bool { return e.ID > middle.First }), nil)
	if err == nil || !strings.Contains(err.Error(), `field "Flat": `) {
		t.Errorf("damaged page: %v", err)
	}
}

// pagesOf returns the pages of an RNTuple, as they are stored, by column.
func pagesOf(t *testing.T, r *ntuple.Reader) []map[string]bool {
	t.Helper()
	clusters, err := r.Source.Clusters(all)
	if err != nil {
		t.Fatal(err)
	}
	pages := make([]map[string]bool, len(r.Source.Schema.Columns))
	for _, c := range r.Source.Schema.Columns {
		pages[c.ID] = map[string]bool{}
		for _, cluster := range clusters {
			for _, p := range cluster.Columns()[c.ID].Pages {
				b := make([]byte, p.StoredSize())
				if err := r.Source.StoredPage(t.Context(), c.Format(), p, b); err != nil {
					t.Fatal(err)
				}
				pages[c.ID][string(b)] = true
			}
		}
	}
	return pages
}
