package rntarrow_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow"
	"github.com/go-rntuple/go-rntuple/bridge/rntarrow/internal/arrowtest"
	"github.com/go-rntuple/go-rntuple/internal/test/randtest"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/value"
)

// all returns the entries of an RNTuple in a form that can be compared.
func all(t *testing.T, path string) string {
	t.Helper()
	r, err := rntuple.Open(path, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return allOf(t, r)
}

// allOf is all for an RNTuple that is open.
func allOf(t *testing.T, r *rntuple.Reader) string {
	t.Helper()
	v, err := rntuple.RecordsOf(r)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range r.Schema().Fields {
		fmt.Fprintln(&b, f.Name, f.CppType())
	}
	for _, e := range v.All() {
		b.Write(value.AppendJSON(nil, e))
		b.WriteByte('\n')
	}
	if v.Err() != nil {
		t.Fatal(v.Err())
	}
	return b.String()
}

// TestThereAndBack writes what was read as Arrow: the same entries are in the new RNTuple, and the
// Arrow of that is the same.
func TestThereAndBack(t *testing.T) {
	for seed := range arrowtest.Seeds(150) {
		r := random(t, randtest.Maker{Rand: rand.New(rand.NewPCG(seed, 2))}, 3, 3, 40, 15)
		to := filepath.Join(t.TempDir(), "to.root")
		o := rntarrow.Options{Binary: false, BatchSize: int(seed%20) + 1}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			records, err := rntarrow.NewReader(r, &o)
			if err != nil {
				t.Fatal(err)
			}
			defer records.Release()
			n, err := rntarrow.Create(to, "random", records, nil, nil)
			if err != nil && strings.Contains(err.Error(), "is not UTF-8") {
				t.Skip("random bytes are no text in Arrow")
			}
			if err != nil || n != 40 {
				t.Fatalf("%v: %d entries, %v", records.Schema(), n, err)
			}
			if got, want := all(t, to), allOf(t, r); got != want {
				t.Errorf("%v\n%.2000s, want\n%.2000s", records.Schema(), got, want)
			}
			again, err := rntarrow.NewReader(r, &o)
			if err != nil {
				t.Fatal(err)
			}
			defer again.Release()
			if n, err := rntarrow.Append(to, "random", again, nil); err != nil || n != 40 {
				t.Fatalf("appending %d entries, %v", n, err)
			}
			if got, want := all(t, to), allOf(t, r); got != want+want[strings.Index(want, "{"):] {
				t.Errorf("appended: %.2000s, want twice\n%.2000s", got, want)
			}
		})
	}
}

// sameArrow makes sure that a file has the schema and the values of a record batch, but for
// dictionaries and views.
func sameArrow(t *testing.T, path string, want arrow.RecordBatch) {
	t.Helper()
	r, err := rntuple.Open(path, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	records, err := rntarrow.NewReader(r, &rntarrow.Options{Lists32: true})
	if err != nil {
		t.Fatal(err)
	}
	without := map[string]arrow.DataType{ // dictionaries and views
		"s": arrow.BinaryTypes.String, "v": arrow.BinaryTypes.String,
		"l": arrow.ListOfNonNullable(arrow.PrimitiveTypes.Uint8),
		"q": arrow.ListOf(arrow.FixedSizeListOf(2, arrow.FixedWidthTypes.Time64us)),
		"w": arrow.ListOf(arrow.BinaryTypes.Binary),
	}
	for i, f := range records.Schema().Fields() {
		w := want.Schema().Field(i)
		if t := without[w.Name]; t != nil {
			w.Type = t
		}
		if f.Name != w.Name || f.Nullable != w.Nullable || !arrow.TypeEqual(f.Type, w.Type) {
			t.Errorf("field %v, want %v", f, w)
		}
	}
	if !records.Next() {
		t.Fatal(records.Err())
	}
	got, err1 := records.RecordBatch().MarshalJSON()
	expected, err2 := want.MarshalJSON()
	if err1 != nil || err2 != nil || string(got) != string(expected) {
		t.Errorf("%v, %v:\n%s\nwant\n%s", err1, err2, got, expected)
	}
}

// TestCreate writes record batches that were built by hand.
func TestCreate(t *testing.T) {
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	point := arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Float32},
		arrow.Field{Name: "y", Type: arrow.PrimitiveTypes.Int16, Nullable: true})
	s := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "s", Type: dictionary, Nullable: true},
		{Name: "p", Type: point},
		{Name: "ps", Type: arrow.ListOfNonNullable(point)},
		{Name: "np", Type: arrow.ListOf(point), Nullable: true},
		{Name: "t", Type: arrow.FixedWidthTypes.Timestamp_us},
		{Name: "h", Type: arrow.FixedWidthTypes.Float16},
		{Name: "b", Type: arrow.BinaryTypes.Binary},
		{Name: "f", Type: &arrow.FixedSizeBinaryType{ByteWidth: 2}},
		{Name: "v", Type: arrow.BinaryTypes.StringView},
		{Name: "l", Type: arrow.ListViewOfNonNullable(arrow.PrimitiveTypes.Uint8)},
		{Name: "m", Type: arrow.MapOfFields(arrow.Field{Type: arrow.BinaryTypes.String},
			arrow.Field{Type: arrow.PrimitiveTypes.Int64, Nullable: true})},
		{Name: "d", Type: arrow.FixedWidthTypes.Date32},
		{Name: "q", Type: arrow.LargeListViewOf(arrow.FixedSizeListOf(2, arrow.FixedWidthTypes.Time64us))},
		{Name: "w", Type: arrow.ListOf(arrow.BinaryTypes.BinaryView)},
		{Name: "o", Type: arrow.StructOf(arrow.Field{Name: "in", Type: arrow.FixedWidthTypes.Duration_ms, Nullable: true},
			arrow.Field{Name: "h", Type: arrow.FixedWidthTypes.Float16, Nullable: true}), Nullable: true},
	}, nil)
	rows := `[
		{"n": 1, "s": "a", "p": {"x": 1.5, "y": null}, "ps": [{"x": 1, "y": 2}, {"x": 3, "y": null}], "np": null, "t": "1970-01-01T00:00:01Z", "h": 0.5, "b": "AQI=", "f": "AwQ=", "v": "short", "l": [1, 2], "m": [{"key": "k", "value": 1}, {"key": "l", "value": null}], "d": "1970-01-03", "q": [["00:00:01", null]], "w": ["AQI=", null], "o": {"in": "5ms", "h": null}},
		{"n": null, "s": null, "p": {"x": 2.5, "y": 7}, "ps": [], "np": [null, {"x": 4, "y": 5}], "t": "1970-01-01T00:00:02Z", "h": -2, "b": "", "f": "BQY=", "v": "a string of more than twelve bytes", "l": [], "m": [], "d": "1969-12-31", "q": [], "w": [], "o": null},
		{"n": -3, "s": "a", "p": {"x": 0, "y": 0}, "ps": [{"x": 9, "y": 9}], "np": [], "t": "1969-12-31T23:59:59Z", "h": 1, "b": "/w==", "f": "AAA=", "v": "", "l": [3], "m": [{"key": "", "value": -1}], "d": "1970-01-01", "q": [["00:00:03", "00:00:04"], null], "w": ["/wAA"], "o": {"in": null, "h": 0.25}}
	]`
	whole, _, err := array.RecordFromJSON(memory.DefaultAllocator, s, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"n":1,"s":"a","p":{"x":1.5,"y":null},"ps":[{"x":1,"y":2},{"x":3,"y":null}],"np":null,"t":1000000,"h":0.5,"b":[1,2],"f":[3,4],"v":"short","l":[1,2],"m":[["k",1],["l",null]],"d":2,"q":[[1000000,null]],"w":[[1,2],null],"o":[5,null]}
{"n":null,"s":null,"p":{"x":2.5,"y":7},"ps":[],"np":[null,[4,5]],"t":2000000,"h":-2,"b":[],"f":[5,6],"v":"a string of more than twelve bytes","l":[],"m":[],"d":-1,"q":[],"w":[],"o":null}
{"n":-3,"s":"a","p":{"x":0,"y":0},"ps":[{"x":9,"y":9}],"np":[],"t":-1000000,"h":1,"b":[255],"f":[0,0],"v":"","l":[3],"m":[["",-1]],"d":0,"q":[[3000000,4000000],null],"w":[[255,0,0]],"o":[null,0.25]}
`
	for name, records := range map[string][]arrow.RecordBatch{
		"whole":  {whole},
		"slices": {whole.NewSlice(0, 1), whole.NewSlice(1, 1), whole.NewSlice(1, 3)},
	} {
		r, err := array.NewRecordReader(s, records)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "created.root")
		if n, err := rntarrow.Create(path, "events", r, nil, nil); err != nil || n != 3 {
			t.Fatalf("%s: %d, %v", name, n, err)
		}
		if got := all(t, path); got[strings.Index(got, "{"):] != want {
			t.Errorf("%s:\n%s, want\n%s", name, got, want)
		}
		sameArrow(t, path, whole)
	}
	doc, err := rntarrow.Document(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"std::optional<std::int32_t>", "std::optional<std::string>", "", "",
		"std::optional<std::vector<std::optional<std::tuple<float,std::optional<std::int16_t>>>>>",
		"std::int64_t", "float", "std::vector<std::byte>", "std::array<std::byte,2>", "std::string",
		"std::vector<std::uint8_t>", "std::vector<std::pair<std::string,std::optional<std::int64_t>>>", "std::int32_t"} {
		if doc.Fields[i].Type != want {
			t.Errorf("field %s has the type %s, want %s", doc.Fields[i].Name, doc.Fields[i].Type, want)
		}
	}
	if doc.Fields[5].Description != "(timestamp[us, tz=UTC])" {
		t.Error(doc.Fields[5].Description)
	}

	// Nulls of fields that were to have none.
	r, _ := array.NewRecordReader(s, []arrow.RecordBatch{whole})
	path := filepath.Join(t.TempDir(), "none.root")
	if _, err := rntarrow.Create(path, "events", r, &rntarrow.WriteOptions{Plain: []string{"*"}}, nil); err == nil ||
		!strings.Contains(err.Error(), `field "n": row 1 is null`) {
		t.Error(err)
	}
	if _, err := rntuple.Open(path, "", nil); err == nil {
		t.Error("a file was left")
	}

	// Types that an RNTuple does not have are named all at once.
	_, err = rntarrow.Document(arrow.NewSchema([]arrow.Field{{Name: "a",
		Type: &arrow.Decimal128Type{Precision: 5, Scale: 2}}, {Name: "ok", Type: arrow.PrimitiveTypes.Int8},
		{Name: "i", Type: arrow.ListOf(arrow.FixedWidthTypes.MonthInterval)}, {Name: "ok", Type: arrow.PrimitiveTypes.Int8},
		{Name: "z", Type: arrow.Null}}, nil), nil)
	if err == nil || strings.Count(err.Error(), "\n") != 3 {
		t.Error(err)
	}
}

// TestRelease writes lists and arrays whose memory must be released, because it may be another library's.
func TestRelease(t *testing.T) {
	m := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer m.AssertSize(t, 0)
	s := arrow.NewSchema([]arrow.Field{
		{Name: "list", Type: arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Int32))},
		{Name: "array", Type: arrow.FixedSizeListOfNonNullable(2, arrow.PrimitiveTypes.Float64)},
		{Name: "text", Type: arrow.BinaryTypes.String},
	}, nil)
	batch, _, err := array.RecordFromJSON(m, s, strings.NewReader(`[{"list":[[1,2],[]],"array":[1,2],"text":"a"},
		{"list":[],"array":[3,4],"text":"b"}]`))
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Release()
	r, err := array.NewRecordReader(s, []arrow.RecordBatch{batch})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	if n, err := rntarrow.Create(filepath.Join(t.TempDir(), "lists.root"), "lists", r, nil, nil); n != 2 || err != nil {
		t.Errorf("%d entries, %v", n, err)
	}
}
