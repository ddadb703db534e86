package rntuple_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// TestAppendMore appends values with members for which the file has no field: an
// error that names them, or more fields.
func TestAppendMore(t *testing.T) {
	type point struct{ X float32 }
	type before struct {
		Run uint32
		P   point
	}
	type after struct {
		Run   uint32
		P     point
		Tags  []string
		Score float64 `rntuple:"score,desc=of the fit"`
		Last  *int8   `rntuple:"last,optional"`
	}
	path := filepath.Join(t.TempDir(), "f.root")
	w, err := rntuple.Create[before](path, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	w.WriteBatch([]before{{1, point{0.5}}, {2, point{1.5}}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file, _ := os.ReadFile(path)

	var mismatch *schema.MismatchError
	_, err = rntuple.Append[after](path, "n", nil)
	if !errors.As(err, &mismatch) || len(mismatch.Mismatches) != 3 || !errors.Is(err, rntuple.ErrNoField) {
		t.Errorf("three members too many: %v", err)
	}
	for i, name := range []string{"Tags", "score", "last"} {
		if mismatch != nil && (i >= len(mismatch.Mismatches) || mismatch.Mismatches[i].Path != name) ||
			!strings.Contains(err.Error(), fmt.Sprintf("no field %q", name)) {
			t.Errorf("the error %v does not name %q", err, name)
		}
	}
	// A member of a record cannot be added, nor can a member be a path.
	type deeper struct {
		Run uint32
		P   struct{ X, Y float32 }
	}
	if _, err := rntuple.Append[deeper](path, "n", &rntuple.WriteOptions{ExtendSchema: true}); !errors.Is(err,
		rntuple.ErrNoField) || !strings.Contains(err.Error(), `no field "Y" in field "P"`) {
		t.Errorf("a member too many: %v", err)
	}
	if _, err := rntuple.Append[struct {
		before
		Px float32 `rntuple:"P.X"`
	}](path, "n", nil); !errors.Is(err, rntuple.ErrNoField) {
		t.Errorf("a path: %v", err)
	}
	if now, _ := os.ReadFile(path); !bytes.Equal(file, now) {
		t.Error("the file has changed")
	}

	last := int8(-3)
	for i, entry := range []after{{3, point{2.5}, []string{"a", "b"}, 0.25, &last}, {4, point{3.5}, nil, 0.75, nil}} {
		// the second time there is nothing to add
		a, err := rntuple.Append[after](path, "n", &rntuple.WriteOptions{ExtendSchema: true})
		if err != nil {
			t.Fatal(i, err)
		}
		a.Write(&entry)
		if err := a.Close(); err != nil {
			t.Fatal(i, err)
		}
	}
	r, err := rntuple.Open(path, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := lines(r)
	want := []string{
		`{"Run":1,"P":{"X":0.5},"Tags":[],"score":0,"last":null}`, `{"Run":2,"P":{"X":1.5},"Tags":[],"score":0,"last":null}`,
		`{"Run":3,"P":{"X":2.5},"Tags":["a","b"],"score":0.25,"last":-3}`,
		`{"Run":4,"P":{"X":3.5},"Tags":[],"score":0.75,"last":null}`,
	}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("read %v, %v\nwant %v", got, err, want)
	}
	if f := r.Schema().Fields[3]; f.Description != "of the fit" || !f.Extended {
		t.Errorf("field %s, %q", f.Path(), f.Description)
	}
	if _, err := rntuple.Append[before](path, "n", &rntuple.WriteOptions{ExtendSchema: true}); !errors.As(err, &mismatch) {
		t.Errorf("fields too many: %v", err)
	}
}

// TestProjectedRecords writes the records of a file with projected fields with the
// same document, and structs that have members for them.
func TestProjectedRecords(t *testing.T) {
	type event struct {
		Pt []float32 `rntuple:"pt"`
		ID int32     `rntuple:"id"`
	}
	var m memory
	f, err := rntuple.NewFile(&m, "f.root", fixed)
	if err != nil {
		t.Fatal(err)
	}
	project := &rntuple.WriteOptions{Projections: []rntuple.Projection{{Name: "n",
		CppType: "ROOT::RNTupleCardinality<std::uint32_t>", Source: "pt"},
		{Name: "also", CppType: "std::int32_t", Source: "id"}}}
	w, err := rntuple.NewWriter[event](f, "n", project)
	if err != nil {
		t.Fatal(err)
	}
	w.WriteBatch([]event{{[]float32{1.5, 2.5}, 7}, {nil, 8}})
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.NewReader(bytes.NewReader(m.b), int64(len(m.b)), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`{"pt":[1.5,2.5],"id":7,"n":2,"also":7}`, `{"pt":[],"id":8,"n":0,"also":8}`}
	path := filepath.Join(t.TempDir(), "copy.root")
	check := func(what string, closing error) {
		t.Helper()
		if closing != nil {
			t.Errorf("%s: %v", what, closing)
			return
		}
		c, err := rntuple.Open(path, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if got, err := lines(c); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: read %v, %v, want %v", what, got, err, want)
		}
	}

	for _, paths := range [][]string{nil, {"pt", "id"}, {"n", "pt", "also", "id"}} {
		v, err := rntuple.RecordsOf(r, paths...)
		if err != nil {
			t.Fatal(err)
		}
		w, err := rntuple.CreateRecords(path, "n", r.Schema().Document(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range v.All() {
			w.Write(&record)
		}
		check(fmt.Sprint("records of ", paths), errors.Join(v.Err(), w.Close()))
	}
	type all struct {
		event
		N    uint32 `rntuple:"n"`
		Also int32  `rntuple:"also"`
	}
	a, err := rntuple.Append[all](path, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Write(&all{event{[]float32{3}, 9}, 1, 9})
	want = append(want, `{"pt":[3],"id":9,"n":1,"also":9}`)
	check("structs", a.Close())

	for _, test := range []struct {
		names []string
		err   string
	}{
		{[]string{"pt", "n"}, `the RNTuple: a record without the members ["id"]`},
		{[]string{"pt", "x", "id", "y"}, `the RNTuple: a record with other members: ["x" "y"]`},
		{[]string{"pt", "ID"}, `the RNTuple: a record with other members, ["ID"], and without ["id"]`},
		{[]string{"id", "pt"}, `the RNTuple: a record with the members ["id" "pt"], expected the order ["pt" "id"]`},
		{[]string{"pt", "id", "id"}, `expected the order ["pt" "id"]`},
	} {
		w, err := rntuple.CreateRecords(path, "n", r.Schema().Document(), nil)
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]any{"pt": []any{}, "id": int32(1)}
		record := value.Record{Names: test.names}
		for _, name := range test.names {
			record.Values = append(record.Values, values[name])
		}
		if err := w.Write(&record); err == nil || !strings.Contains(err.Error(), test.err) {
			t.Errorf("%q: %v", test.names, err)
		}
		w.Abort()
	}
}
