package rntuple_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/test/golden"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// recordsOf returns the entries of an RNTuple, as text too.
func recordsOf(t *testing.T, path, name string) (records []value.Record, lines []string) {
	t.Helper()
	r, err := rntuple.Open(path, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var paths []string
	entry := &schema.Field{Shape: schema.Record}
	for _, f := range r.Schema().Fields {
		if f.Source == nil { // the others are written with their sources
			paths, entry.Children = append(paths, f.Name), append(entry.Children, f)
		}
	}
	v, err := rntuple.RecordsOf(r, paths...)
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range v.All() {
		records, lines = append(records, record), append(lines, string(golden.Append(nil, entry, record)))
	}
	if err := v.Err(); err != nil {
		t.Fatal(err)
	}
	return records, lines
}

// TestAppendFiles appends the entries of files of ROOT's to themselves: deferred
// columns, several representations and projections go on.
func TestAppendFiles(t *testing.T) {
	files, err := filepath.Glob("../testdata/good/*.root")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	done := 0
	for _, path := range append(files, "../testdata/dimuon.root") {
		infos, err := rntuple.ListFile(context.Background(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range infos {
			r, err := rntuple.Open(path, info.Path, nil)
			if err != nil {
				continue
			}
			n, hidden := r.NumEntries(), len(r.Schema().Hidden)
			r.Close()
			if hidden > 0 || n > 1e5 {
				continue
			}
			name := filepath.Base(path) + ":" + info.Path
			records, lines := recordsOf(t, path, info.Path)
			into := filepath.Join(t.TempDir(), "into.root")
			copyTo(t, path, into)
			w, err := rntuple.AppendRecords(into, info.Path, &rntuple.WriteOptions{Workers: 1})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			for i := range records {
				if err = w.Write(&records[i]); err != nil {
					break
				}
			}
			closeErr := w.Close()
			if err == nil {
				err = closeErr
			}
			if err != nil {
				if !errors.Is(err, rntuple.ErrRange) || !strings.Contains(path, "late") {
					t.Errorf("%s: %v", name, err) // else zeros from before a field was added lie outside of its range
				}
				continue
			}
			base, _, _ := strings.Cut(info.Path, ";")
			_, got := recordsOf(t, into, base)
			want := append(slices.Clone(lines), lines...)
			if strings.Contains(path, "multirep") { // what is added is written in the first one, a narrow one
				got, want = got[:len(lines)], lines
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: the entries differ", name)
			}
			done++
		}
	}
	if done < 20 {
		t.Errorf("%d RNTuples", done)
	}
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestAppend(t *testing.T) {
	type event struct {
		X    int32
		Tags []string
	}
	type set struct{ S string }
	path := filepath.Join(t.TempDir(), "f.root")
	w, err := rntuple.Create[event](path, "dir/n", &rntuple.WriteOptions{Compression: 404, MaxKeySize: 5000})
	if err != nil {
		t.Fatal(err)
	}
	entry := func(i int) *event { return &event{int32(i), slices.Repeat([]string{"tag"}, i%3)} }
	for i := range 3000 {
		w.Write(entry(i))
	}
	a, err := rntuple.NewAttributes[set](w, "first", nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Write(rntuple.EntryRange{First: 0, End: 3000}, set{"old"})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	// What cannot be leaves the file as it is.
	before, _ := os.ReadFile(path)
	if _, err := rntuple.Append[struct{ X int32 }](path, "dir/n", nil); err == nil {
		t.Error("a field is missing")
	}
	if _, err := rntuple.Append[struct {
		X    string
		Tags []string
	}](path, "dir/n", nil); !errors.As(err, new(*schema.MismatchError)) {
		t.Error(err)
	}
	if _, err := rntuple.Append[event](path, "dir/none", nil); !errors.Is(err, rntuple.ErrNotFound) {
		t.Error(err)
	}
	if now, _ := os.ReadFile(path); !slices.Equal(before, now) {
		t.Error("the file has changed")
	}

	if w, err = rntuple.Append[event](path, "dir/n", nil); err != nil {
		t.Fatal(err)
	}
	if w.NumEntries() != 3000 {
		t.Errorf("%d entries", w.NumEntries())
	}
	for i := range 1000 {
		w.Write(entry(3000 + i))
		if i == 500 {
			w.CommitCluster()
		}
	}
	if _, err := rntuple.NewAttributes[set](w, "first", nil); err == nil {
		t.Error("two attribute sets of one name")
	}
	b, err := rntuple.NewAttributes[set](w, "second", nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Write(rntuple.EntryRange{First: 3000, End: 4000}, set{"new"})
	if err := w.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	w.Write(entry(4000))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]int{"dir/n": 4001, "dir/n;1": 3000} {
		r, err := rntuple.Open(path, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		i := 0
		for e, err := range rntuple.Entries[event](r) {
			if err != nil {
				t.Fatal(err)
			}
			if want := entry(i); e.X != want.X || !slices.Equal(e.Tags, want.Tags) {
				t.Fatalf("%s: entry %d is %v", name, i, *e)
			}
			i++
		}
		if i != n || len(r.AttributeSets()) != 1+(n-3000)/1001 {
			t.Errorf("%s: %d entries, attribute sets %v", name, i, r.AttributeSets())
		}
		inspected, err := r.Inspect(nil)
		if err != nil || len(inspected.Compression()) != 1 || inspected.Compression()[0] != 404 {
			t.Error(inspected.Compression(), err)
		}
	}
	if now, _ := os.ReadFile(path); !slices.Equal(before[1000:2000], now[1000:2000]) {
		t.Error("pages have changed")
	}
}

// More entries are written to an RNTuple that is there.
func ExampleAppend() {
	path, remove := inTemp("events.root")
	defer remove()
	type event struct{ Run, Event int32 }
	w, err := rntuple.Create[event](path, "Events", nil)
	if err != nil {
		log.Fatal(err)
	}
	w.Write(&event{1, 1})
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	if w, err = rntuple.Append[event](path, "Events", nil); err != nil {
		log.Fatal(err)
	}
	w.Write(&event{1, 2})
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	r, err := rntuple.Open(path, "Events", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for e, err := range rntuple.Entries[event](r) {
		fmt.Println(*e, err)
	}
	// Output:
	// {1 1} <nil>
	// {1 2} <nil>
}

// TestAppendColumns appends slices to what a Writer has written, and reads all of it.
func TestAppendColumns(t *testing.T) {
	type event struct {
		X    int32
		Tags []int16
	}
	path := filepath.Join(t.TempDir(), "f.root")
	w, err := rntuple.Create[event](path, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []event{{1, []int16{1}}, {2, nil}, {3, []int16{5, 6}}, {4, []int16{7}}}
	if err := errors.Join(w.Write(&want[0]), w.Write(&want[1]), w.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := rntuple.AppendColumns(path, "n", &rntuple.WriteOptions{ExtendSchema: true}); err == nil {
		t.Error("no error of ExtendSchema")
	}
	if _, err := rntuple.AppendColumns(path, "none", nil); !errors.Is(err, rntuple.ErrNotFound) {
		t.Error(err)
	}
	c, err := rntuple.AppendColumns(path, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(rntuple.Put(c, "X", []int32{3, 4}),
		rntuple.PutJagged(c, "Tags", []int64{0, 2, 3}, []int16{5, 6, 7}), c.End(2), c.Close())
	if err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.Open(path, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got []event
	for e, err := range rntuple.Entries[event](r) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, *e)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestAppendSets appends with a zone map to an RNTuple that has one, between other attribute sets: each set
// is listed once.
func TestAppendSets(t *testing.T) {
	type event struct{ X int32 }
	type set struct{ S string }
	for _, before := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "f.root")
		o := &rntuple.WriteOptions{ZoneMap: []string{"*"}}
		w, err := rntuple.Create[event](path, "n", o)
		if err != nil {
			t.Fatal(err)
		}
		if before {
			a, err := rntuple.NewAttributes[set](w, "other", nil)
			if err != nil {
				t.Fatal(err)
			}
			a.Write(rntuple.EntryRange{First: 0, End: 1}, set{"old"})
		}
		if err := errors.Join(w.Write(&event{1}), w.Close()); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			if w, err = rntuple.Append[event](path, "n", o); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(w.Write(&event{int32(i)}), w.Close()); err != nil {
				t.Fatal(err)
			}
		}
		r, err := rntuple.Open(path, "n", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		names := map[string]int{}
		for _, s := range r.Footer().AttributeSets {
			names[s.Name]++
		}
		want := map[string]int{zonemap.SetName: 1}
		if before {
			want["other"] = 1
		}
		if !maps.Equal(names, want) {
			t.Errorf("attribute sets %v, want %v", names, want)
		}
	}
}
