package field_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/rntuple/cpp"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

type (
	columns map[string]elements
	list    = []any
	point   struct{ X, Y int32 }
	reverse struct{ Y, X int32 }
	onlyX   struct{ X int16 }
)

func ptr[T any](v T) *T { return &v }

// A shape is a field of some shape, called f, the elements of its columns, and the
// values that these stand for, as slices of every Go type that fits.
type shape struct {
	name    string
	doc     *schema.FieldDocument // nil: a field of the type name
	columns columns
	both    []any // read and written
	read    []any // read only
	misfits []any // values of types that do not fit either way
	unread  []any // values of types that can be written, but not read
	fits    string
}

func shapes() []shape {
	record := func(names []string, values ...any) value.Record { return value.Record{Names: names, Values: values} }
	xy := []string{"X", "Y"}
	pairs := map[string]elements{"f/0": of[uint64](2, 2, 3), "f._0._0/0": of[uint64](1, 3, 4),
		"f._0._0/1": characters("abcd"), "f._0._1/0": of[int32](1, 2, 3)}
	byChar := value.Map{StringKeys: true, Elements: []value.KeyValue{{Key: "a", Value: int32(1)},
		{Key: "bc", Value: int32(2)}}}
	oneChar := value.Map{StringKeys: true, Elements: []value.KeyValue{{Key: "d", Value: int32(3)}}}
	return []shape{
		{name: "std::string",
			columns: columns{"f/0": of[uint64](1, 1, 4), "f/1": characters("a\xffcd")},
			both:    list{[]string{"a", "", "\xffcd"}, [][]byte{{'a'}, {}, {255, 'c', 'd'}}, list{"a", "", "\xffcd"}},
			misfits: list{int8(0), []int8{}, [1]byte{}, point{}}, fits: "string"},
		{name: "std::vector<std::int32_t>",
			columns: columns{"f/0": of[uint64](1, 1, 4), "f._0/0": of[int32](1, -2, 3, 4)},
			both: list{[][]int32{{1}, nil, {-2, 3, 4}}, [][]int64{{1}, nil, {-2, 3, 4}},
				[]cpp.RVec[int8]{{1}, nil, {-2, 3, 4}}, list{list{int32(1)}, list(nil), list{int32(-2), int32(3), int32(4)}}},
			read: list{[][]*int32{{ptr[int32](1)}, nil, {ptr[int32](-2), ptr[int32](3), ptr[int32](4)}},
				[][]any{{int32(1)}, nil, {int32(-2), int32(3), int32(4)}}},
			misfits: list{int32(0), [3]int32{}, "", map[int32]int32{}}, fits: "[]int32"},
		{name: "std::vector<std::vector<float>>",
			columns: columns{"f/0": of[uint64](2, 2, 3), "f._0/0": of[uint64](1, 1, 4), "f._0._0/0": of[float32](1, 2, 3, 4)},
			both: list{[][][]float32{{{1}, nil}, nil, {{2, 3, 4}}}, [][][]float64{{{1}, nil}, nil, {{2, 3, 4}}},
				list{list{list{float32(1)}, list(nil)}, list(nil), list{list{float32(2), float32(3), float32(4)}}}},
			misfits: list{[]float32{}, [][]int32{}, [][][]float32{}}, fits: "[][]float32"},
		{name: "std::array<std::int16_t,2>",
			columns: columns{"f._0/0": of[int16](1, 2, 3, -4)},
			both: list{[][2]int16{{1, 2}, {3, -4}}, [][]int16{{1, 2}, {3, -4}}, [][2]int{{1, 2}, {3, -4}},
				list{list{int16(1), int16(2)}, list{int16(3), int16(-4)}}},
			misfits: list{[1]int16{}, [3]int16{}, int16(0), [2]float32{}}, fits: "[2]int16"},
		{name: "std::array<std::string,2>",
			columns: columns{"f._0/0": of[uint64](1, 3, 3, 4), "f._0/1": characters("abbc")},
			both:    list{[][2]string{{"a", "bb"}, {"", "c"}}, [][]string{{"a", "bb"}, {"", "c"}}},
			misfits: list{[2]int8{}, "", [2]point{}}, fits: "[2]string"},
		{name: "std::bitset<3>",
			columns: columns{"f/0": of(true, false, false, false, true, true)},
			both: list{[][3]bool{{true, false, false}, {false, true, true}},
				[][]bool{{true, false, false}, {false, true, true}},
				list{value.Bits{true, false, false}, value.Bits{false, true, true}}},
			misfits: list{[2]bool{}, [3]uint8{}, uint8(0), []int8{}}, fits: "[3]bool"},
		{name: "std::optional<std::int32_t>",
			columns: columns{"f/0": of[uint64](1, 1, 2), "f._0/0": of[int32](7, 0)},
			both: list{[]*int32{ptr[int32](7), nil, ptr[int32](0)}, []*int64{ptr[int64](7), nil, ptr[int64](0)},
				list{int32(7), nil, int32(0)}},
			read:    list{[][]int32{{7}, nil, {0}}},
			misfits: list{int32(0), [1]int32{}, ptr("")}, fits: "*int32"},
		{name: "std::unique_ptr<std::string>",
			columns: columns{"f/0": of[uint64](0, 1), "f._0/0": of[uint64](2), "f._0/1": characters("ab")},
			both:    list{[]*string{nil, ptr("ab")}, []cpp.UniquePtr[string]{{}, {Value: ptr("ab")}}, list{nil, "ab"}},
			read:    list{[]**string{nil, ptr(ptr("ab"))}},
			misfits: list{"", ptr(ptr(ptr(""))), int8(0)}, fits: "*string"},
		{name: "std::optional<std::optional<std::int32_t>>",
			columns: columns{"f/0": of[uint64](1, 2, 2), "f._0/0": of[uint64](1, 1), "f._0._0/0": of[int32](5)},
			both:    list{[]**int32{ptr(ptr[int32](5)), ptr[*int32](nil), nil}, list{int32(5), value.Some{}, nil}},
			misfits: list{ptr[int32](0), int32(0)}, fits: "**int32"},
		{name: "std::pair<std::int32_t,std::string>",
			columns: columns{"f._0/0": of[int32](1, 2), "f._1/0": of[uint64](1, 2), "f._1/1": characters("ab")},
			both: list{[]cpp.Pair[int32, string]{{First: 1, Second: "a"}, {First: 2, Second: "b"}},
				list{list{int32(1), "a"}, list{int32(2), "b"}},
				[]value.Record{record([]string{"_0", "_1"}, int32(1), "a"), record([]string{"_0", "_1"}, int32(2), "b")}},
			misfits: list{int32(0), []int32{}, "", cpp.Pair[string, int32]{}}, fits: "a struct with the fields _0, _1"},
		{name: "std::map<std::string,std::int32_t>",
			columns: pairs,
			both: list{[]map[string]int32{{"a": 1, "bc": 2}, {}, {"d": 3}}, []map[string]int{{"a": 1, "bc": 2}, {}, {"d": 3}},
				[][]cpp.Pair[string, int32]{{{First: "a", Second: 1}, {First: "bc", Second: 2}}, nil, {{First: "d", Second: 3}}},
				list{byChar, value.Map{StringKeys: true}, oneChar}},
			misfits: list{map[int32]int32{}, map[string]string{}, []string{}, "", [3]cpp.Pair[string, int32]{}},
			fits:    "map[string]int32"},
		{name: "std::set<std::int32_t>",
			columns: columns{"f/0": of[uint64](2, 2), "f._0/0": of[int32](3, 8)},
			both:    list{[]cpp.Set[int32]{{3, 8}, nil}, list{list{int32(3), int32(8)}, list(nil)}},
			read:    list{[]map[int32]struct{}{{3: {}, 8: {}}, {}}, []map[int64]struct{}{{3: {}, 8: {}}, {}}},
			misfits: list{map[int32]int32{}, map[bool]struct{}{}, int32(0)}, fits: "[]int32"},
		{name: "std::multimap<std::int32_t,bool>",
			columns: columns{"f/0": of[uint64](2), "f._0._0/0": of[int32](4, 4), "f._0._1/0": of(true, false)},
			both: list{[][]cpp.Pair[int32, bool]{{{First: 4, Second: true}, {First: 4}}},
				list{value.Map{Elements: []value.KeyValue{{Key: int32(4), Value: true}, {Key: int32(4), Value: false}}}}},
			unread: list{map[int32]bool{}}, misfits: list{[]int32{}}, fits: "[]a struct with the fields _0, _1"},
		{name: "std::variant<std::int32_t,std::string>",
			columns: columns{"f/0": of(column.Tagged{Tag: 2}, column.Tagged{}, column.Tagged{Tag: 1},
				column.Tagged{Index: 1, Tag: 2}),
				"f._0/0": of[int32](7), "f._1/0": of[uint64](1, 2), "f._1/1": characters("ab")},
			both: list{list{value.Alternative{Index: 1, Value: "a"}, nil, value.Alternative{Value: int32(7)},
				value.Alternative{Index: 1, Value: "b"}}},
			misfits: list{int32(0), "", point{}}, fits: "any"},
		{name: "std::atomic<std::int32_t>",
			columns: columns{"f._0/0": of[int32](1, 2)},
			both:    list{[]int32{1, 2}, []int64{1, 2}, []cpp.Atomic[int32]{{Value: 1}, {Value: 2}}, list{int32(1), int32(2)}},
			misfits: list{"", float32(0), []int32{}}, fits: "int32"},
		{name: "untyped record", doc: record2(),
			columns: columns{"f.X/0": of[int32](1, 3), "f.Y/0": of[int32](2, 4)},
			both: list{[]point{{1, 2}, {3, 4}}, []reverse{{2, 1}, {4, 3}},
				[]value.Record{record(xy, int32(1), int32(2)), record(xy, int32(3), int32(4))},
				list{record(xy, int32(1), int32(2)), record(xy, int32(3), int32(4))}},
			read:    list{[]onlyX{{1}, {3}}, []struct{}{{}, {}}},
			misfits: list{int32(0), []int32{}, map[string]int32{}}, fits: "a struct with the fields X, Y"},
		{name: "untyped collection", doc: vector("f", record2()),
			columns: columns{"f/0": of[uint64](2, 2), "f._0.X/0": of[int32](1, 3), "f._0.Y/0": of[int32](2, 4)},
			both: list{[][]point{{{1, 2}, {3, 4}}, nil},
				list{list{record(xy, int32(1), int32(2)), record(xy, int32(3), int32(4))}, list(nil)}},
			read:    list{[][]onlyX{{{1}, {3}}, nil}},
			misfits: list{point{}, [2]point{}}, fits: "[]a struct with the fields X, Y"},
		{name: "streamer", doc: &schema.FieldDocument{Type: "TObject", Role: "streamer"},
			columns: columns{"f/0": of[uint64](2, 2, 3), "f/1": of[uint8](1, 2, 3)},
			both:    list{[][]byte{{1, 2}, {}, {3}}, list{[]byte{1, 2}, []byte{}, []byte{3}}},
			misfits: list{"", uint8(0), []int8{}}, fits: "[]byte"},
	}
}

func record2() *schema.FieldDocument {
	member := func(name string) *schema.FieldDocument {
		return &schema.FieldDocument{Name: name, Type: "std::int32_t", Role: "plain"}
	}
	return record("", member("X"), member("Y"))
}

func (s *shape) schema(t *testing.T) *schema.Schema {
	t.Helper()
	if s.doc == nil {
		return build(t, fieldOf(t, "f", s.name))
	}
	s.doc.Name = "f"
	return build(t, s.doc)
}

// within returns the type of entries whose member f is of type t, with others
// around it.
func within(t reflect.Type) reflect.Type {
	other := reflect.TypeFor[int8]()
	return reflect.StructOf([]reflect.StructField{
		{Name: "A", Type: other, Tag: `rntuple:"-"`}, {Name: "F", Type: t, Tag: `rntuple:"f"`},
		{Name: "B", Type: other, Tag: `rntuple:"-"`},
	})
}

// entriesOf returns entries whose member f has the given values.
func entriesOf(values reflect.Value) reflect.Value {
	typ := within(values.Type().Elem())
	all := reflect.MakeSlice(reflect.SliceOf(typ), values.Len(), values.Len())
	for i := range all.Len() {
		all.Index(i).Field(1).Set(values.Index(i))
	}
	return all
}

// TestShapes reads and writes fields of every shape as values of every Go type that
// fits, for themselves and as members of entries, and makes sure that other types
// are refused.
func TestShapes(t *testing.T) {
	for _, s := range shapes() {
		t.Run(s.name, func(t *testing.T) {
			sc := s.schema(t)
			for _, values := range append(s.both, s.read...) {
				all := reflect.ValueOf(values)
				src := source(t, sc, cluster{all.Len(), s.columns}, cluster{all.Len(), s.columns})
				for path, want := range map[string]reflect.Value{"f": all, "": entriesOf(all)} {
					got, err := read(t, src, path, want.Type().Elem(), options)
					if want = reflect.AppendSlice(want, want); err != nil || !reflect.DeepEqual(got.Interface(), want.Interface()) {
						t.Errorf("read %v: %v, error %v, want %v", want.Type(), got, err, want)
						continue
					}
					full(t, got)
				}
				for first := range all.Len() { // items of collections do not begin with the first one
					want := reflect.AppendSlice(all.Slice(first, all.Len()), all)
					got, err := readFrom(t, src, "f", all.Type().Elem(), first)
					if err != nil || !reflect.DeepEqual(got.Interface(), want.Interface()) {
						t.Errorf("read %v from entry %d on: %v, error %v, want %v", all.Type(), first, got, err, want)
					}
				}
				s.readPointers(t, sc, all)
			}
			for _, values := range s.both {
				s.write(t, sc, values)
			}
			for _, v := range append(s.misfits, s.unread...) {
				_, err := read(t, source(t, sc), "f", reflect.TypeOf(v), options)
				s.refused(t, "read", v, err)
			}
			for _, v := range s.misfits {
				w, o := newSink(sc)
				_, err := o.CompileField(w.schema.Fields[0], reflect.TypeOf(v))
				s.refused(t, "write", v, err)
			}
		})
	}
}

// full makes sure that all slices in v are as long as their memory: what lies behind
// it may belong to another value, which append would overwrite.
func full(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Slice:
		if v.Cap() != v.Len() {
			t.Errorf("%v of %d items has room for %d", v.Type(), v.Len(), v.Cap())
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			full(t, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			full(t, v.Field(i))
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			full(t, v.Elem())
		}
	}
}

// readPointers reads pointers to values, which are all there.
func (s *shape) readPointers(t *testing.T, sc *schema.Schema, want reflect.Value) {
	typ := want.Type().Elem()
	if typ.Kind() == reflect.Pointer || sc.Fields[0].Shape == schema.Optional || sc.Fields[0].Shape == schema.Wrapper ||
		strings.HasPrefix(typ.PkgPath(), "cpp") {
		return
	}
	got, err := read(t, source(t, sc, cluster{want.Len(), s.columns}), "f", reflect.PointerTo(typ), options)
	if err != nil {
		t.Errorf("pointers to %v: %v", typ, err)
		return
	}
	for i := range want.Len() {
		if e := got.Index(i); e.IsNil() || !reflect.DeepEqual(e.Elem().Interface(), want.Index(i).Interface()) {
			t.Errorf("pointer to %v: %v, want %v", typ, e.Elem(), want.Index(i))
		}
	}
}

// write writes values in two ways and looks at the columns.
func (s *shape) write(t *testing.T, sc *schema.Schema, values any) {
	t.Helper()
	for _, whole := range []bool{false, true} {
		w, o := newSink(sc)
		f, values := sc.Fields[0], values
		if whole {
			f, values = nil, entriesOf(reflect.ValueOf(values)).Interface()
		}
		if err := write(o, w, f, values); err != nil {
			t.Errorf("write %T: %v", values, err)
			continue
		}
		src := w.source(t)
		for name, want := range s.columns {
			if got := stored(t, src, name, 0); got != want.text {
				t.Errorf("write %T: column %s has %v, want %v", values, name, got, want.text)
			}
		}
	}
}

// refused makes sure that the type of v does not fit.
func (s *shape) refused(t *testing.T, what string, v any, err error) {
	t.Helper()
	var mismatch *schema.MismatchError
	if !errors.As(err, &mismatch) {
		t.Errorf("%s %T: error %v", what, v, err)
		return
	}
	for _, m := range mismatch.Mismatches {
		if !strings.HasPrefix(m.Path, "f") || m.Have == "" && m.Err == nil {
			t.Errorf("%s %T: %v", what, v, err)
		}
		if m.Path == "f" && m.Have != "" && (m.Fits != s.fits ||
			!strings.HasSuffix(m.String(), fmt.Sprintf(" does not fit %v, %s would", m.Go, s.fits))) {
			t.Errorf("%s %T: %v, want that %s would fit", what, v, err, s.fits)
		}
	}
}
