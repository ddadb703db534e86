package surgery

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A late entry has i items in V, the entry i of its file.
type late struct {
	X float32
	V []float32
}

// lateClusters has the entries of the clusters that writeLate writes, and the representation.
var lateClusters = []struct{ entries, representation int }{{3, 0}, {2, 1}, {3, 0}, {4, 1}}

// lateEntries returns the entries that writeLate writes. Those in the second representation do not
// fit into the first one, of 16 bits.
func lateEntries() (all []late) {
	for _, c := range lateClusters {
		for range c.entries {
			i := len(all)
			x := float32(i) + float32(c.representation)*0x1p-14
			e := late{X: x}
			for k := range i {
				e.V = append(e.V, x+float32(k))
			}
			all = append(all, e)
		}
	}
	return all
}

// writeLate writes an RNTuple with some of the fields of late. The second representation of a field
// comes with the second cluster.
func writeLate(t *testing.T, path string, withX, withV bool) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	half := [][]schema.ColumnDocument{{{Type: "Real16", Bits: 16}}}
	doc := &schema.Document{Name: "n"}
	if withX {
		doc.Fields = append(doc.Fields, &schema.FieldDocument{Name: "X", Type: "float", Columns: half})
	}
	if withV {
		doc.Fields = append(doc.Fields, &schema.FieldDocument{Name: "V", Type: "std::vector<float>",
			Fields: []*schema.FieldDocument{{Name: "_0", Type: "float", Columns: half}}})
	}
	f, w := createRaw(t, path, doc)
	buffers := map[schema.ColumnID]*pagesink.Buffer[float32]{}
	var ends *pagesink.Buffer[uint64]
	write := func(f *schema.Field, representation int, values ...float32) {
		t.Helper()
		c := f.Columns[representation][0]
		if buffers[c.ID] == nil {
			b, err := pagesink.NewBuffer[float32](w.Sink, c)
			check(err)
			buffers[c.ID] = b
		}
		buffers[c.ID].AddAll(values)
	}
	if withV {
		v := w.Schema.Fields[len(w.Schema.Fields)-1]
		var err error
		ends, err = pagesink.NewBuffer[uint64](w.Sink, v.Columns[0][0])
		check(err)
	}
	entries, items := lateEntries(), 0
	for k, c := range lateClusters {
		if k == 1 { // the columns of the second representation begin here
			var ext envelope.Schema
			add := func(f *schema.Field, first int) {
				ext.Columns = append(ext.Columns, envelope.Column{Type: column.Real32, Bits: 32, Field: uint32(f.ID),
					Representation: 1, Flags: envelope.ColumnDeferred, FirstElement: -int64(first)})
			}
			if withX {
				add(w.Schema.Fields[0], c.entries+1)
			}
			if withV {
				add(w.Schema.Fields[len(w.Schema.Fields)-1].Children[0], items)
				w.Features = envelope.Features{1 << envelope.FeatureNestedDeferred}
			}
			check(w.Extend(&ext))
		}
		fields := w.Schema.Fields
		if k > 0 && withX {
			w.Sink.Activate(fields[0], c.representation)
		}
		if k > 0 && withV {
			w.Sink.Activate(fields[len(fields)-1].Children[0], c.representation)
		}
		inCluster := 0
		for _, e := range entries[:c.entries] {
			if withX {
				write(fields[0], c.representation, e.X)
			}
			if withV {
				inCluster += len(e.V)
				items += len(e.V)
				ends.Add(uint64(inCluster))
				write(fields[len(fields)-1].Children[0], c.representation, e.V...)
			}
		}
		entries = entries[c.entries:]
		check(errors.Join(w.Sink.EndEntries(int64(c.entries)), w.Sink.CommitCluster()))
	}
	check(errors.Join(w.Close(), f.Close()))
	sound(t, path, path)
}

// createRaw creates a file with an RNTuple whose columns are to be filled one by one.
func createRaw(t *testing.T, path string, doc *schema.Document) (*ntuple.File, *ntuple.Writer) {
	t.Helper()
	o := ntuple.NewWriteOptions()
	o.Derive()
	o.File.NoSync = true
	f, err := ntuple.CreateFile(path, o)
	if err != nil {
		t.Fatal(err)
	}
	w, err := f.Create(doc.Name, headerOf(t, doc), o)
	if err != nil {
		t.Fatal(err)
	}
	return f, w
}

func headerOf(t *testing.T, doc *schema.Document) *envelope.Header {
	t.Helper()
	s, err := doc.Describe(true)
	if err != nil {
		t.Fatal(err)
	}
	return &envelope.Header{Name: doc.Name, Writer: ntuple.WriterName(), Schema: *s}
}

// TestLateRepresentations merges and cuts files with fields that have a second representation from
// the second cluster on. All values stay, and the columns of the second representation begin where
// the fields have got to by then.
func TestLateRepresentations(t *testing.T) {
	dir := t.TempDir()
	both, x, none := Input{Path: filepath.Join(dir, "both")}, Input{Path: filepath.Join(dir, "x")},
		Input{Path: filepath.Join(dir, "none")}
	writeLate(t, both.Path, true, true)
	writeLate(t, x.Path, true, false)
	write(t, none.Path, struct{ Y int32 }{1}, struct{ Y int32 }{2})
	entries := lateEntries()
	onlyX := slices.Clone(entries)
	for i := range onlyX {
		onlyX[i].V = nil
	}
	merge := func(inputs ...Input) func(string, Level) error {
		return func(out string, least Level) error {
			_, err := Merge(t.Context(), out, inputs, &MergeOptions{Mode: Union, Options: Options{AtLeast: least}})
			return err
		}
	}
	concat := func(first, end int64) func(string, Level) error {
		return func(out string, least Level) error {
			_, err := Concat(t.Context(), out, []Piece{{Input: both, First: first, End: end}},
				&MergeOptions{Options: Options{AtLeast: least}})
			return err
		}
	}
	type firsts struct{ x, v int64 } // FirstElement of the second representations
	for _, test := range []struct {
		name              string
		do                func(out string, least Level) error
		want              []late
		copied, rewritten firsts
	}{
		// Before the second cluster there are 3 entries with 0+1+2 items.
		{"alone", merge(both), entries, firsts{-3, -3}, firsts{-3, -3}},
		{"twice", merge(both, both), slices.Concat(entries, entries), firsts{-3, -3}, firsts{-3, -3}},
		{"only X", merge(x), onlyX, firsts{-3, 0}, firsts{-3, 0}},
		{"without the first entry", concat(1, 12), entries[1:], firsts{-2, -3}, firsts{-2, -3}},
		{"without the first two entries", concat(2, 12), entries[2:], firsts{-1, -2}, firsts{-1, -2}},
		// If they are rewritten, new fields get all representations at once.
		{"V late", merge(x, both), slices.Concat(onlyX, entries), firsts{-3, -3}, firsts{-3, 0}},
		{"after 2 others", merge(none, both), slices.Concat(make([]late, 2), entries), firsts{-2, -3}, firsts{-2, 0}},
		{"X after 2 others", merge(none, x), slices.Concat(make([]late, 2), onlyX), firsts{-2 - 3, 0}, firsts{-2, 0}},
	} {
		for least := Copy; least <= Rewrite; least++ {
			what := fmt.Sprintf("%s, level %v", test.name, least)
			out, first := filepath.Join(dir, "out"), test.copied
			if least == Rewrite {
				first = test.rewritten
			}
			if err := test.do(out, least); err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			sound(t, what, out)
			r := openReader(t, out, "")
			checkLate(t, what, r, test.want)
			for _, c := range r.Schema().Columns {
				if c.Representation == 0 {
					continue
				}
				want := map[string]int64{"X": first.x, "V._0": first.v}[c.Owner.Path()]
				if c.FirstElement != want {
					t.Errorf("%s: field %q has representation 1 from element %d on, want %d", what, c.Owner.Path(),
						c.FirstElement, want)
				}
			}
			// Only a column below a collection that begins late takes the feature.
			features := openRaw(t, Input{Path: out}).Footer.Features
			nested := len(features) > 0 && features[0]&(1<<envelope.FeatureNestedDeferred) != 0
			if want := first.v != 0; nested != want {
				t.Errorf("%s: the feature of nested deferred columns is %v, want %v", what, nested, want)
			}
		}
	}
}

// checkLate makes sure that an RNTuple has some entries, but perhaps no field V.
func checkLate(t *testing.T, what string, r *rntuple.Reader, want []late) {
	t.Helper()
	x, err := rntuple.ViewOf[float32](r, "X")
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	got := make([]late, r.NumEntries())
	for i := range got {
		if got[i].X, err = x.At(int64(i)); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	if _, err := r.Schema().Lookup("V"); err == nil {
		v, err := rntuple.ViewOf[[]float32](r, "V")
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for i := range got {
			items, err := v.At(int64(i))
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			got[i].V = slices.Clone(items)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d entries, want %d", what, len(got), len(want))
	}
	for i, e := range want {
		if got[i].X != e.X || !slices.Equal(got[i].V, e.V) {
			t.Errorf("%s: entry %d is %v, want %v", what, i, got[i], e)
			return
		}
	}
}

// TestNoItems rewrites inputs with a collection that the first one lacks, and that has no items:
// the column of the items does not exist until the end, which must not end clusters.
func TestNoItems(t *testing.T) {
	dir := t.TempDir()
	first, second, out := filepath.Join(dir, "first"), filepath.Join(dir, "second"), filepath.Join(dir, "out")
	type both struct {
		Y int32
		Z []int32
	}
	write(t, first, struct{ Y int32 }{1})
	write(t, second, both{Y: 2})
	inputs := []Input{{Path: first}, {Path: second}, {Path: second}, {Path: second}}
	if _, err := Merge(t.Context(), out, inputs, &MergeOptions{Mode: Union, Options: Options{AtLeast: Rewrite}}); err != nil {
		t.Fatal(err)
	}
	r := openReader(t, out, "")
	if clusters, err := r.Clusters(); err != nil || len(clusters) != 1 {
		t.Errorf("%d clusters, error %v, want one", len(clusters), err)
	}
	want := []string{`{"Y":1,"Z":[]}`, `{"Y":2,"Z":[]}`, `{"Y":2,"Z":[]}`, `{"Y":2,"Z":[]}`}
	compareLines(t, "no items", lines(t, out, ""), want)
}

// TestLateDamage rewrites a file with a damaged page in one of its clusters: the error is not lost
// where the representation changes, and there is no output.
func TestLateDamage(t *testing.T) {
	dir := t.TempDir()
	path, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	for cluster := range lateClusters {
		writeLate(t, path, true, true)
		r, err := rntuple.Open(path, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		clusters, err := r.StoredClusters(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		x := r.Schema().Fields[0].Columns[lateClusters[cluster].representation][0]
		at := clusters[cluster].Columns()[x.ID].Pages[0].Locator.Offset
		r.Close()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b[at] ^= 1
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = Merge(t.Context(), out, []Input{{Path: path}}, &MergeOptions{Options: Options{AtLeast: Rewrite}})
		if !errors.Is(err, rntuple.ErrChecksum) {
			t.Errorf("cluster %d: error %v", cluster, err)
		}
		if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("cluster %d: there is an output: %v", cluster, err)
			os.Remove(out)
		}
	}
}
