package rntuple_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// TestExtend adds fields while writing.
func TestExtend(t *testing.T) {
	var m memory
	f, err := rntuple.NewFile(&m, "late.root", fixed)
	if err != nil {
		t.Fatal(err)
	}
	fieldOf := func(name, typ string) *schema.FieldDocument {
		f, err := schema.FieldOf(name, typ)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	doc := &schema.Document{Name: "late", Fields: []*schema.FieldDocument{fieldOf("x", "std::int32_t")}}
	w, err := rntuple.NewRecordWriter(f, "late", doc, nil)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"x"}
	put := func(values ...any) {
		t.Helper()
		if err := w.Write(&value.Record{Names: names, Values: values}); err != nil {
			t.Fatal(err)
		}
	}
	put(int32(1))
	w.CommitCluster()
	put(int32(2))
	put(int32(3))
	if err := w.Extend(fieldOf("a", "std::array<std::int32_t,2>"), fieldOf("v", "std::vector<float>"),
		fieldOf("s", "std::string"), fieldOf("var", "std::variant<bool,double>")); err != nil {
		t.Fatal(err)
	}
	names = append(names, "a", "v", "s", "var")
	put(int32(4), []any{int32(5), int32(6)}, []any{float32(7)}, "eight", 9.5)
	w.CommitCluster()
	put(int32(5), []any{int32(7), int32(8)}, []any{}, "", true)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.NewReader(bytes.NewReader(m.b), int64(len(m.b)), "late", nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := lines(r)
	want := `[{"x":1,"a":[0,0],"v":[],"s":"","var":null} {"x":2,"a":[0,0],"v":[],"s":"","var":null} {"x":3,"a":[0,0],"v":[],"s":"","var":null}` +
		` {"x":4,"a":[5,6],"v":[7],"s":"eight","var":9.5} {"x":5,"a":[7,8],"v":[],"s":"","var":true}]`
	if s := fmt.Sprint(got); err != nil || s != want {
		t.Errorf("read %s, %v\nwant %s", s, err, want)
	}
}

// TestUse changes the representation of a field from cluster to cluster.
func TestUse(t *testing.T) {
	var m memory
	f, err := rntuple.NewFile(&m, "use.root", fixed)
	if err != nil {
		t.Fatal(err)
	}
	two := [][]schema.ColumnDocument{{{Type: "SplitReal32", Bits: 32}}, {{Type: "Real16", Bits: 16}}}
	doc := &schema.Document{Fields: []*schema.FieldDocument{
		{Name: "x", Type: "float", Columns: two},
		{Name: "v", Type: "std::vector<float>", Fields: []*schema.FieldDocument{{Name: "_0", Type: "float", Columns: two}}},
	}}
	w, err := rntuple.NewColumnWriter(f, "n", doc, nil)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i, use := range []int{0, 1, 1, 0, 1} {
		for _, path := range []string{"x", "v._0"} {
			if err := w.Use(path, use); err != nil {
				t.Fatal(err)
			}
		}
		x := float32(1 + 1.0/4096) // more digits than Real16 has
		rntuple.Put(w, "x", []float32{x})
		rntuple.PutJagged(w, "v", []int64{0, 2}, []float32{x, x})
		if err := w.End(1); err != nil {
			t.Fatal(i, err)
		}
		want = append(want, []string{`{"x":1.0002441,"v":[1.0002441,1.0002441]}`, `{"x":1,"v":[1,1]}`}[use])
	}
	if err := w.Use("x", 2); err == nil {
		t.Error("a representation that is not there")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.NewReader(bytes.NewReader(m.b), int64(len(m.b)), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := lines(r); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("read %v, %v\nwant %v", got, err, want)
	}
}
