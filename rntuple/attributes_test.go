package rntuple_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/internal/test/golden"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// TestAttributeSets compares the attribute sets that ROOT has written, and which
// attributes hold for what, with the ranges in testdata/gen/special.C.
func TestAttributeSets(t *testing.T) {
	const dir = "../testdata/good/"
	all, err := golden.Manifest(dir + "special_manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, e := range all {
		if e.AttrSet == "" {
			continue
		}
		found++
		r, err := rntuple.Open(dir+e.File, e.Ntuple, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		a, err := r.OpenAttributes(e.AttrSet)
		if err != nil {
			t.Fatal(err)
		}
		if a.Name() != e.AttrSet || int64(a.Len()) != e.Entries {
			t.Errorf("set %q of %d attributes, want %q of %d", a.Name(), a.Len(), e.AttrSet, e.Entries)
		}
		if err := golden.Compare(a.Reader(), filepath.Join(dir, e.JSONL)); err != nil {
			t.Errorf("%s: %v", e.AttrSet, err)
		}
	}
	if found != 2 {
		t.Errorf("%d sets", found)
	}

	r, err := rntuple.Open(dir+"special_attributes.root", "main", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	a, err := r.OpenAttributes("first") // [0,3) [5,7) [3,7) [7,7)
	if err != nil {
		t.Fatal(err)
	}
	for entry, want := range [][]int{{0}, {0}, {0}, {2}, {2}, {1, 2}, {1, 2}, nil, nil, nil} {
		if got := a.Holding(int64(entry)); !slices.Equal(got, want) {
			t.Errorf("entry %d has the attributes %v, want %v", entry, got, want)
		}
	}
	if got := a.Fields(); len(got) != 2 || got[0].Name != "name" || got[1].CppType() != "std::vector<float>" {
		t.Errorf("fields %v", got)
	}
	view, err := rntuple.AttributesOf[value.Record](a)
	if err != nil {
		t.Fatal(err)
	}
	var text string
	for e, record := range view.Covering(rntuple.EntryRange{First: 5, End: 7}) {
		text += fmt.Sprintf("%v %s ", e, value.AppendJSON(nil, record))
	}
	if want := `[5, 7) {"name":"z: five and six é","vec":[]} [3, 7) {"name":"y: three to six","vec":[-1]} `; text != want || view.Err() != nil {
		t.Errorf("got %s, %v", text, view.Err())
	}
}

// withAttributes returns an RNTuple of 100 entries with one attribute set, whose
// attributes have their numbers as values.
func withAttributes(t testing.TB, ranges []rntuple.EntryRange) *rntuple.Reader {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var m memory
	out, err := rntuple.NewFile(&m, "x.root", fixed)
	check(err)
	w, err := rntuple.NewWriter[Point](out, "n", nil)
	check(err)
	a, err := rntuple.NewAttributes[struct{ Number int }](w, "numbers", nil)
	check(err)
	check(w.WriteBatch(make([]Point, 100)))
	for i, e := range ranges {
		check(a.Write(e, struct{ Number int }{i}))
	}
	check(w.Close())
	check(out.Close())
	r, err := rntuple.NewReader(bytes.NewReader(m.b), int64(len(m.b)), "n", nil)
	check(err)
	return r
}

// TestAttributeRanges compares what the index finds in ranges of all kinds with
// what a look at every range does.
func TestAttributeRanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 15, 16, 17, 255, 256, 257, 300, 5000} {
		ranges := make([]rntuple.EntryRange, n)
		for i := range ranges {
			first := rng.Int64N(100)
			ranges[i] = rntuple.EntryRange{First: first, End: first + max(0, rng.Int64N([]int64{3, 30, 150}[rng.IntN(3)])-1)}
		}
		if n == 300 { // nested
			for i := range ranges {
				ranges[i] = rntuple.EntryRange{First: int64(i % 100), End: 200 - int64(i%100)}
			}
		}
		if n == 17 {
			ranges[3] = rntuple.EntryRange{First: 7, End: math.MaxInt64}
		}
		r := withAttributes(t, ranges)
		a, err := r.OpenAttributes("numbers")
		if err != nil {
			t.Fatal(err)
		}
		want := func(keep func(e rntuple.EntryRange) bool) (all []int) {
			for i, e := range ranges {
				if e.First < e.End && keep(e) {
					all = append(all, i)
				}
			}
			return all
		}
		var wait sync.WaitGroup
		for range 2 { // share a
			wait.Go(func() {
				view, err := rntuple.AttributesOf[struct{ Number int }](a)
				if err != nil {
					t.Error(err)
					return
				}
				check := func(what string, got []int, values func(func(rntuple.EntryRange, struct{ Number int }) bool),
					keep func(e rntuple.EntryRange) bool) {
					want := want(keep)
					if !slices.Equal(got, want) {
						t.Errorf("%d ranges, %s: %v, want %v", n, what, got, want)
					}
					var read []int
					for e, v := range values {
						if read = append(read, v.Number); e != ranges[v.Number] {
							t.Errorf("%d ranges, %s: attribute %d has %v, want %v", n, what, v.Number, e, ranges[v.Number])
						}
					}
					if !slices.Equal(read, want) || view.Err() != nil {
						t.Errorf("%d ranges, %s: read %v, %v; want %v", n, what, read, view.Err(), want)
					}
				}
				for entry := int64(-1); entry < 252; entry += 1 + int64(n)/16 {
					check(fmt.Sprintf("entry %d", entry), a.Holding(entry), view.Holding(entry),
						func(e rntuple.EntryRange) bool { return e.First <= entry && entry < e.End })
					for _, end := range []int64{entry - 1, entry, entry + 1, entry + 5, entry + 60, math.MaxInt64} {
						e := rntuple.EntryRange{First: entry, End: end}
						check(fmt.Sprint("covering ", e), a.Covering(e), view.Covering(e),
							func(f rntuple.EntryRange) bool { return e.First < e.End && f.First <= e.First && e.End <= f.End })
						check(fmt.Sprint("within ", e), a.Within(e), view.Within(e),
							func(f rntuple.EntryRange) bool { return e.First < e.End && e.First <= f.First && f.End <= e.End })
					}
				}
				i := 0
				for e, v := range view.All() {
					if e != ranges[i] || v.Number != i || a.Range(i) != e {
						t.Errorf("attribute %d is %d of %v, want %v", i, v.Number, e, ranges[i])
					}
					i++
				}
				if i != n || view.Err() != nil || a.Len() != n {
					t.Errorf("%d of %d attributes, %v", i, n, view.Err())
				}
			})
		}
		wait.Wait()
	}
}

// TestAttributesRefused links sets that are not as they should be.
func TestAttributesRefused(t *testing.T) {
	type data struct{ Good bool }
	type set struct {
		Start uint64 `rntuple:"_rangeStart"`
		Len   uint64 `rntuple:"_rangeLen"`
		Data  data   `rntuple:"_userData"`
	}
	type more struct {
		set
		More float32
	}
	ok := []set{{3, 5, data{true}}}
	for _, test := range []struct {
		what string
		file []byte // with the RNTuple "set"
		edit func(*envelope.AttributeSet)
		name string
		want error
	}{
		{what: "good", file: plainFile(t, ok)},
		{what: "newer", file: plainFile(t, []more{{set: ok[0]}}), edit: func(s *envelope.AttributeSet) { s.SchemaMinor = 1 }},
		{what: "newer major", file: plainFile(t, ok), edit: func(s *envelope.AttributeSet) { s.SchemaMajor = 2 },
			want: rntuple.ErrUnsupported},
		{what: "older major", file: plainFile(t, ok), edit: func(s *envelope.AttributeSet) { s.SchemaMajor = 0 },
			want: rntuple.ErrUnsupported},
		{what: "more fields than the version has", file: plainFile(t, []more{{set: ok[0]}}), want: rntuple.ErrCorrupt},
		{what: "fewer fields", file: plainFile(t, []struct {
			Start uint64 `rntuple:"_rangeStart"`
		}{{1}}), edit: func(s *envelope.AttributeSet) { s.SchemaMinor = 1 }, want: rntuple.ErrCorrupt},
		{what: "other order", file: plainFile(t, []struct {
			Len   uint64 `rntuple:"_rangeLen"`
			Start uint64 `rntuple:"_rangeStart"`
			Data  data   `rntuple:"_userData"`
		}{{1, 2, data{}}}), want: rntuple.ErrCorrupt},
		{what: "a start that is no number", file: plainFile(t, []struct {
			Start string `rntuple:"_rangeStart"`
			Len   uint64 `rntuple:"_rangeLen"`
			Data  data   `rntuple:"_userData"`
		}{{"1", 2, data{}}}), want: &schema.MismatchError{}},
		{what: "other name", file: plainFile(t, ok), edit: func(s *envelope.AttributeSet) { s.Name = "sat" }, name: "sat",
			want: rntuple.ErrCorrupt},
		{what: "unknown name", file: plainFile(t, ok), name: "sat", want: rntuple.ErrNotFound},
		{what: "start of 2^63", file: plainFile(t, []set{ok[0], {1 << 63, 0, data{}}}), want: rntuple.ErrCorrupt},
		{what: "end of 2^63", file: plainFile(t, []set{{1, math.MaxInt64, data{}}}), want: rntuple.ErrCorrupt},
		{what: "end of 2^64", file: plainFile(t, []set{{1, math.MaxUint64, data{}}}), want: rntuple.ErrCorrupt},
		{what: "far away", file: plainFile(t, ok), edit: func(s *envelope.AttributeSet) { s.Anchor.Offset = 1 << 60 },
			want: rntuple.ErrCorrupt},
		{what: "compressed anchor of wrong length", file: plainFile(t, ok),
			edit: func(s *envelope.AttributeSet) { s.AnchorLength++ }, want: rntuple.ErrCorrupt},
		{what: "large anchor", file: plainFile(t, ok),
			edit: func(s *envelope.AttributeSet) { s.AnchorLength = math.MaxUint32 }, want: rntuple.ErrCorrupt},
		{what: "object store", file: plainFile(t, ok), edit: func(s *envelope.AttributeSet) {
			s.Anchor = locator.Locator{Type: locator.Object, Payload: "012345678901"}
		}, want: rntuple.ErrUnsupported},
	} {
		r := linked(t, test.file, test.edit)
		if test.name == "" {
			test.name = "set"
		}
		a, err := r.OpenAttributes(test.name)
		switch want := test.want.(type) {
		case nil:
			if err != nil || !slices.Equal(a.Holding(4), []int{0}) {
				t.Errorf("%s: %v", test.what, err)
			}
		case *schema.MismatchError:
			if !errors.As(err, &want) {
				t.Errorf("%s: %v, want %T", test.what, err, want)
			}
		default:
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", test.what, err, want)
			}
		}
	}
	r := linked(t, plainFile(t, ok), nil, nil)
	if _, err := r.OpenAttributes("set"); !errors.Is(err, rntuple.ErrCorrupt) {
		t.Errorf("two sets of a name: %v", err)
	}
	r = linked(t, plainFile(t, ok), nil)
	a, err := r.OpenAttributes("set")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := linked(t, plainFile(t, slices.Repeat(ok, 100)), nil).OpenAttributes("set"); err != nil {
		t.Error(err)
	}
	few := &rntuple.ReadOptions{Limits: rntuple.Limits{EntryBytes: 2000}}
	if _, err := linkedWith(t, plainFile(t, slices.Repeat(ok, 100)), few, nil).OpenAttributes("set"); !errors.Is(err,
		rntuple.ErrUnsupported) {
		t.Errorf("100 attributes in 2000 bytes: %v", err)
	}
	if _, err := rntuple.AttributesOf[struct{ Good, Bad bool }](a); !errors.As(err, new(*schema.MismatchError)) {
		t.Errorf("an attribute that is not there: %v", err)
	}
	if view, err := rntuple.AttributesOf[struct{}](a); err != nil ||
		!reflect.DeepEqual(slices.Collect(keys(view.All())), []rntuple.EntryRange{{First: 3, End: 8}}) {
		t.Errorf("no attribute wanted: %v", err)
	}
}

// plainFile returns a file with entries as the RNTuple "set".
func plainFile[T any](t *testing.T, entries []T) []byte {
	t.Helper()
	var m memory
	out, err := rntuple.NewFile(&m, "x.root", fixed)
	if err != nil {
		t.Fatal(err)
	}
	w, err := rntuple.NewWriter[T](out, "set", nil)
	if err != nil {
		t.Fatal(err)
	}
	w.WriteBatch(entries)
	if err := errors.Join(w.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
	return m.b
}

// linked opens an RNTuple with the RNTuple "set" of a file as an attribute set,
// as often as there are edits of the link.
func linked(t *testing.T, file []byte, edit ...func(*envelope.AttributeSet)) *rntuple.Reader {
	t.Helper()
	return linkedWith(t, file, nil, edit...)
}

func linkedWith(t *testing.T, file []byte, o *rntuple.ReadOptions,
	edit ...func(*envelope.AttributeSet)) *rntuple.Reader {
	t.Helper()
	f, err := rootfile.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	key, err := f.Find("set", anchor.ClassName)
	if err != nil {
		t.Fatal(err)
	}
	b := newBuilder(t)
	b.file = bytes.Clone(file) // container gives it another directory
	for _, edit := range edit {
		s := envelope.AttributeSet{SchemaMajor: 1, AnchorLength: key.ObjLen, Name: "set",
			Anchor: locator.At(uint64(key.SeekKey)+uint64(key.KeyLen), uint64(key.NBytes)-uint64(key.KeyLen))}
		if edit != nil {
			edit(&s)
		}
		b.footer.AttributeSets = append(b.footer.AttributeSets, s)
	}
	r, err := b.open(edits{}, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func keys[K, V any](seq func(func(K, V) bool)) func(func(K) bool) {
	return func(yield func(K) bool) { seq(func(k K, _ V) bool { return yield(k) }) }
}

// Finding what holds for an entry takes about as long among a thousand times as
// many ranges.
func BenchmarkHolding(b *testing.B) {
	for _, n := range []int{1000, 1_000_000} {
		ranges := make([]rntuple.EntryRange, n)
		for i := range ranges { // every entry has two
			ranges[i] = rntuple.EntryRange{First: int64(i) * 10, End: int64(i)*10 + 20}
		}
		ranges[0].End = 1 << 40 // and this
		a, err := withAttributes(b, ranges).OpenAttributes("numbers")
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for i := range int64(b.N) {
				if got := a.Holding(i % int64(n) * 10); len(got) > 3 {
					b.Fatal(got)
				}
			}
		})
	}
}
