package surgery

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

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
	"ID": {1}, "Flat": {1}, "Bit": {1}, "Name": {1, 5}, "List": {1}, "List._0": {3}, "Deep": {1}, "Deep._0": {2}, "Deep._0._0": {6},
	"Four": {}, "Four._0": {4}, "Some": {1}, "Some._0": {1}, "Rec": {}, "Rec.A": {1}, "Rec.B": {1},
}

// sparseEntry returns entry i.
func sparseEntry(i int64) *sparse {
	u := uint32(i)
	e := &sparse{ID: i, Flat: float64(i) / 3, Bit: i%3 == 0, Name: string([]byte{'a', byte('a' + i%26), 'x', byte('a' + i/26%26), 'z'}), Some: &u}
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

// TestSkimReads skims files in which all pages are damaged that no chosen entry needs: those
// of columns that the condition does not read, and that hold none.
func TestSkimReads(t *testing.T) {
	const n = 60_000
	path := filepath.Join(t.TempDir(), "in.root")
	w, err := rntuple.Create[sparse](path, "n", rntuple.MaxUnzippedPageSize(4<<10), rntuple.SharePages(false))
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(n) {
		w.Write(sparseEntry(i))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
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
	for _, chosen := range []rntuple.EntryRange{{}, {First: 0, End: 1}, {First: 31_000, End: 31_060}, {First: n - 7, End: n}} {
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
			_, err := Skim(all, out, []Input{in}, rntuple.WhereFunc(func(e *id) bool { return e.ID >= chosen.First && e.ID < chosen.End }), Read(rntuple.ReadWorkers(workers)))
			if err != nil {
				t.Fatalf("%v, %d workers: %v", chosen, workers, err)
			}
			got, err := rntuple.Open(out, "")
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
