package field_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/test/randtest"
	"github.com/go-rntuple/go-rntuple/rntuple/cpp"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// TestRandom writes random dynamic values of random types and reads them again.
func TestRandom(t *testing.T) {
	m := randtest.Maker{Rand: rand.New(rand.NewPCG(7, 8))}
	for range 300 {
		name := m.Type(3)
		s := build(t, fieldOf(t, "f", name))
		values := make([]any, 20)
		for i := range values {
			values[i] = m.Value(s.Fields[0])
		}
		w, o := newSink(s)
		if err := write(o, w, s.Fields[0], values); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := read(t, w.source(t), "f", reflect.TypeFor[any](), options)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, want := range values {
			// NaNs differ; as JSON all are the same.
			if have := got.Index(i).Interface(); string(value.AppendJSON(nil, have)) != string(value.AppendJSON(nil, want)) ||
				reflect.TypeOf(have) != reflect.TypeOf(want) {
				t.Fatalf("%s: read %v, wrote %v", name, have, want)
			}
		}
	}
}

// TestDynamicErrors writes dynamic values of other types than a field has.
func TestDynamicErrors(t *testing.T) {
	rec := func(names ...string) value.Record {
		return value.Record{Names: names, Values: make([]any, len(names))}
	}
	two := record("", fieldOf(t, "x", "bool"), fieldOf(t, "y", "bool"))
	for _, test := range []struct {
		doc    *schema.FieldDocument
		values []any
		want   string
	}{
		{fieldOf(t, "f", "std::int32_t"), list{int64(1), nil, "", 1}, "does not fit std::int32_t"},
		{fieldOf(t, "f", "std::string"), list{[]byte("a"), nil}, "does not fit std::string"},
		{fieldOf(t, "f", "std::bitset<2>"), list{[]bool{true, false}, list{true, false}}, "does not fit std::bitset<2>"},
		{fieldOf(t, "f", "std::bitset<2>"), list{value.Bits{true}}, "1 items in an array of 2"},
		{fieldOf(t, "f", "std::array<bool,2>"), list{list{true}, list{true, true, true}, nil}, "items in an array of 2"},
		{fieldOf(t, "f", "std::vector<bool>"), list{list{true, 1}, true, []bool{true}}, "does not fit"},
		{fieldOf(t, "f", "std::optional<bool>"), list{1, value.Some{Value: 1}}, "a value of type int does not fit bool"},
		{fieldOf(t, "f", "std::map<bool,bool>"), list{list{}, map[bool]bool{}}, "does not fit std::map<bool,bool>"},
		{fieldOf(t, "f", "std::map<bool,bool>"), list{value.Map{Elements: []value.KeyValue{{Key: 1, Value: true}}}},
			"a value of type int does not fit bool"},
		{fieldOf(t, "f", "std::pair<bool,bool>"), list{list{true}}, "1 values for 2 members"},
		{two, list{list{true, true}}, "2 values for 2 members"},
		{two, list{value.Record{Names: []string{"x"}, Values: list{true}}}, `a record without the members ["y"]`},
		{two, list{value.Record{Names: []string{"x", "y"}, Values: list{true}},
			value.Record{Names: []string{"x", "y"}, Values: list{true, true, true}}}, "a record of 2 names and"},
		{two, list{rec("x", "z")}, "does not fit bool"},
		{two, list{value.Record{Names: []string{"z", "y"}, Values: list{true, true}}},
			`other members, ["z"], and without ["x"]`},
		{two, list{true, nil}, "does not fit untyped record"},
		{fieldOf(t, "f", "std::variant<bool,bool>"), list{true},
			"alternatives 0 and 1 of std::variant<bool,bool> take this bool"},
		{fieldOf(t, "f", "std::variant<bool,char>"), list{"", 1}, "does not fit std::variant<bool,char>"},
		{fieldOf(t, "f", "std::variant<bool,char>"), list{value.Alternative{Index: 2}, value.Alternative{Index: -1}},
			"there is no alternative"},
	} {
		test.doc.Name = "f"
		s := build(t, test.doc)
		for _, v := range test.values {
			w, o := newSink(s)
			if err := write(o, w, s.Fields[0], list{v}); err == nil || !strings.Contains(err.Error(), test.want) ||
				!strings.Contains(err.Error(), `field "f`) {
				t.Errorf("%T to %s: error %v, want %s", v, test.doc.Type, err, test.want)
			}
		}
	}
}

// TestVariantOrder reads variants with items in another order than that of the entries, as no
// writer has them.
func TestVariantOrder(t *testing.T) {
	var tags []column.Tagged
	want := []any{}
	for _, index := range []uint64{5, 4, 3, 0, 1, 2, 2, 5, 0} {
		tags = append(tags, column.Tagged{Tag: 1, Index: index})
		want = append(want, value.Alternative{Value: int32(10 * index)})
	}
	src := source(t, build(t, fieldOf(t, "f", "std::variant<std::int32_t,bool>")),
		cluster{len(tags), columns{"f/0": of(tags...), "f._0/0": of[int32](0, 10, 20, 30, 40, 50)}})
	got, err := read(t, src, "f", reflect.TypeFor[any](), options)
	if err != nil || !reflect.DeepEqual(got.Interface(), want) {
		t.Errorf("%v, error %v, want %v", got, err, want)
	}
}

// TestVariantOfRecords writes records that only one alternative takes, by the names of its members or by
// their types.
func TestVariantOfRecords(t *testing.T) {
	doc := &schema.FieldDocument{Name: "f", Type: "std::variant<A,B,C>", Role: "variant", Fields: []*schema.FieldDocument{
		class("_0", "A", fieldOf(t, "X", "std::int32_t")), class("_1", "B", fieldOf(t, "X", "std::string")),
		class("_2", "C", fieldOf(t, "Y", "std::int32_t"))}}
	s := build(t, doc)
	of := func(name string, v any) value.Record { return value.Record{Names: []string{name}, Values: list{v}} }
	values := list{of("X", int32(1)), of("X", "two"), of("Y", int32(3)), of("X", "four")}
	w, o := newSink(s)
	if err := write(o, w, s.Fields[0], values); err != nil {
		t.Fatal(err)
	}
	got, err := read(t, w.source(t), "f", reflect.TypeFor[any](), options)
	if err != nil {
		t.Fatal(err)
	}
	for i, index := range []int{0, 1, 2, 1} {
		want := value.Alternative{Index: index, Value: values[i]}
		if have := got.Index(i).Interface(); !reflect.DeepEqual(have, any(want)) {
			t.Errorf("value %d: %v, want %v", i, have, want)
		}
	}
	w, o = newSink(s)
	if err := write(o, w, s.Fields[0], list{of("Y", "five")}); err == nil {
		t.Error("no error of a record that no alternative takes")
	}
}

// TestWriteErrors writes values of which one number does not fit, at any depth.
func TestWriteErrors(t *testing.T) {
	const large = 1 << 15
	for _, test := range []struct {
		cppType string
		values  any
	}{
		{"std::int16_t", []int32{large}},
		{"std::vector<std::int16_t>", [][]int32{{1}, {2, large}}},
		{"std::array<std::int16_t,2>", [][2]int32{{1, 2}, {3, large}}},
		{"std::array<std::int16_t,2>", [][]int32{{1, 2}, {3, large}}},
		{"std::array<std::array<std::int16_t,1>,2>", [][2][]int32{{{1}, {2}}, {{3}, {large}}}},
		{"std::vector<std::array<std::int16_t,2>>", [][][]int32{{{1, 2}}, {{2, 3}, {large, 4}}}},
		{"std::optional<std::int16_t>", []*int32{nil, ptr[int32](large)}},
		{"std::pair<bool,std::int16_t>", []cpp.Pair[bool, int32]{{Second: 1}, {Second: large}}},
		{"std::pair<bool,std::array<std::int16_t,1>>", []cpp.Pair[bool, [1]int32]{{Second: [1]int32{large}}}},
		{"std::map<bool,std::int16_t>", []map[bool]int32{{true: 1, false: large}}},
		{"std::atomic<std::int16_t>", []int32{large}},
	} {
		s := build(t, fieldOf(t, "f", test.cppType))
		for _, f := range []*schema.Field{s.Fields[0], nil} { // alone, and as a member of entries
			values := test.values
			if f == nil {
				values = entriesOf(reflect.ValueOf(values)).Interface()
			}
			w, o := newSink(s)
			if err := write(o, w, f, values); !errors.Is(err, column.ErrRange) {
				t.Errorf("%T to %s: error %v", values, test.cppType, err)
			}
		}
	}
}

// TestAlternatives writes values into variants without saying which alternative is
// meant: the only one that takes the value.
func TestAlternatives(t *testing.T) {
	alternatives := []string{"bool", "std::string", "std::bitset<2>", "std::optional<float>", "std::array<std::int8_t,2>",
		"std::vector<std::int16_t>",
		"std::map<bool,bool>", "std::pair<bool,std::string>", "std::variant<std::uint8_t,std::uint16_t>",
		"std::atomic<std::int64_t>"}
	name := "std::variant<" + strings.Join(alternatives, ",") + ">"
	s := build(t, fieldOf(t, "f", name))
	for _, test := range []struct {
		v    any
		want int // alternative, -1 if none or several take it
	}{
		{true, 0}, {"a", 1}, {value.Bits{true, false}, 2}, {value.Bits{true}, -1}, {float32(1), 3},
		{value.Some{Value: float32(2)}, 3}, {value.Some{Value: true}, -1},
		{list{int8(1), int8(2)}, 4}, {list{int8(1)}, -1}, {list{int16(1), int16(2), int16(3)}, 5}, {list{}, 5},
		{value.Map{Elements: []value.KeyValue{{Key: true, Value: true}}}, 6},
		{value.Map{Elements: []value.KeyValue{{Key: "", Value: true}}}, -1},
		{list{true, "x"}, 7}, {list{true}, -1}, {list{true, "x", "y"}, -1}, {uint16(3), 8},
		{value.Alternative{Index: 8, Value: value.Alternative{Index: 1, Value: uint16(1)}}, 8},
		{int64(4), 9}, {int32(4), -1}, {[]byte{}, -1}, {value.Record{}, -1},
	} {
		w, o := newSink(s)
		err := write(o, w, s.Fields[0], list{test.v})
		if test.want < 0 {
			if err == nil || !strings.Contains(err.Error(), `field "f"`) {
				t.Errorf("%#v: error %v", test.v, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%#v: %v", test.v, err)
			continue
		}
		if got := stored(t, w.source(t), "f/0", 0); got != fmt.Sprintf("[{0 %d}]", test.want+1) {
			t.Errorf("%#v: %v, want alternative %d", test.v, got, test.want)
		}
	}
	// Records and objects of streamers, which have no type name that says it all.
	doc := &schema.FieldDocument{Name: "f", Type: "std::variant<A,B>", Role: "variant", Fields: []*schema.FieldDocument{
		class("_0", "A", fieldOf(t, "x", "bool")), {Name: "_1", Type: "B", Role: "streamer"},
	}}
	s = build(t, doc)
	w, o := newSink(s)
	if err := write(o, w, s.Fields[0], list{[]byte{1},
		value.Record{Names: []string{"x"}, Values: list{true}}}); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, w.source(t), "f/0", 0); got != "[{0 2} {0 1}]" {
		t.Errorf("%v", got)
	}
}

// TestMapOrder writes Go maps in the order of their keys.
func TestMapOrder(t *testing.T) {
	pair := func(cppType string) *schema.FieldDocument { return fieldOf(t, "f", "std::map<"+cppType+",bool>") }
	for _, test := range []struct {
		doc     *schema.FieldDocument
		v       any
		columns map[string]string
	}{
		{pair("std::int32_t"), map[int32]bool{5: true, -7: false, 0: true},
			map[string]string{"f._0._0/0": "[-7 0 5]", "f._0._1/0": "[false true true]"}},
		{pair("std::uint8_t"), map[uint]bool{5: true, 255: false}, map[string]string{"f._0._0/0": "[5 255]"}},
		{pair("double"), map[float32]bool{2: true, -1: false}, map[string]string{"f._0._0/0": "[-1 2]"}},
		{pair("std::string"), map[string]bool{"b": true, "a": false},
			map[string]string{"f._0._0/0": "[1 2]", "f._0._0/1": "[97 98]", "f/0": "[2]"}},
		{pair("std::pair<std::int8_t,std::int8_t>"), map[struct {
			A int8 `rntuple:"_0"`
			B int8 `rntuple:"_1"`
		}]bool{{2, 1}: true, {1, 2}: false}, map[string]string{"f._0._0._0/0": "[1 2]"}},
	} {
		s := build(t, test.doc)
		values := reflect.Append(reflect.MakeSlice(reflect.SliceOf(reflect.TypeOf(test.v)), 0, 1),
			reflect.ValueOf(test.v)).Interface()
		w, o := newSink(s)
		if err := write(o, w, s.Fields[0], values); err != nil {
			t.Errorf("%T: %v", test.v, err)
			continue
		}
		src := w.source(t)
		for name, want := range test.columns {
			if got := stored(t, src, name, 0); got != want {
				t.Errorf("%T: column %s has %s, want %s", test.v, name, got, want)
			}
		}
	}
}

// TestEntries makes sure that entries to be written have all fields, and slices
// the length of their arrays.
func TestEntries(t *testing.T) {
	s := build(t, fieldOf(t, "a", "std::array<bool,2>"), fieldOf(t, "b", "bool"))
	for _, test := range []struct {
		entries any
		want    string
	}{
		{[]struct{ B bool }{{}}, `struct { B bool } has no field for "a"`},
		{[]int{5}, "does not fit int"},
		{[]struct {
			A []bool `rntuple:"a"`
			B bool   `rntuple:"b"`
		}{{}}, `field "a": 0 items in an array of 2`},
		{[]struct {
			A any `rntuple:"a"`
			B any `rntuple:"b"`
		}{{list{true, true}, 5}}, `field "b": a value of type int`},
		{[]value.Record{{Names: []string{"a", "b"}, Values: list{list{true, true}, nil}}},
			`field "b": a value of type <nil>`},
	} {
		w, o := newSink(s)
		if err := write(o, w, nil, test.entries); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%T: error %v, want %s", test.entries, err, test.want)
		}
	}
	var mismatch *schema.MismatchError
	_, o := newSink(s)
	_, err := o.CompileEntries(s.Fields, reflect.TypeFor[struct{}]())
	if !errors.As(err, &mismatch) || len(mismatch.Mismatches) != 2 {
		t.Errorf("error %v", err)
	}
}

// TestRepresentations writes clusters in different representations and reads them
// as one field.
func TestRepresentations(t *testing.T) {
	doc := fieldOf(t, "x", "double")
	doc.Columns = [][]schema.ColumnDocument{{{Type: "Real64"}}, {{Type: "Real32"}}}
	s := build(t, doc)
	w, o := newSink(s)
	plan, err := o.CompileField(s.Fields[0], reflect.TypeFor[float32]())
	if err != nil {
		t.Fatal(err)
	}
	for i, representation := range []int{0, 1, 0} {
		o.Activate(s.Fields[0], representation)
		v := []float32{float32(i), 0.5}
		if err := plan.Write(reflect.ValueOf(v).UnsafePointer(), 2); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.EndEntries(2), w.CommitCluster()); err != nil {
			t.Fatal(err)
		}
	}
	src := w.source(t)
	clusters, err := src.Clusters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range clusters {
		if columns := c.Columns(); columns[0].IsSuppressed() != (i == 1) || columns[1].IsSuppressed() != (i != 1) {
			t.Errorf("cluster %d: wrong column", i)
		}
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[float64](), reflect.TypeFor[float32](), reflect.TypeFor[any]()} {
		if got, err := read(t, src, "x", typ, options); err != nil || fmt.Sprint(got) != "[0 0.5 1 0.5 2 0.5]" {
			t.Errorf("%v: %v, error %v", typ, got, err)
		}
	}
}
