package field_test

import (
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// TestEntryBytes estimates the memory of entries by what was written: 16 bytes of an any for each
// value, 24 of a slice header for each string, slice and set of bits, and what is in them.
func TestEntryBytes(t *testing.T) {
	for _, test := range []struct {
		cppType string
		doc     *schema.FieldDocument // if not nil: the field
		written any
		want    int64
	}{
		{cppType: "std::int32_t", written: []int32{1}, want: 16 + 4},
		{cppType: "std::atomic<std::int32_t>", written: []int32{1}, want: 16 + 4},
		{cppType: "std::string", written: []string{"", "abc", "d"}, want: 16 + 24 + 3},
		{cppType: "std::bitset<3>", written: [][3]bool{{}}, want: 16 + 24 + 3},
		{cppType: "std::array<std::int16_t,2>", written: [][2]int16{{}}, want: 16 + 24 + 2*(16+2)},
		{cppType: "std::vector<std::int32_t>", written: [][]int32{{1}, {1, 2, 3}}, want: 16 + 24 + 3*(16+4)},
		{cppType: "std::vector<std::int32_t>", written: [][]int32{}, want: 16 + 24},
		// The longest inner slice has 2 items, but there are only 3, not 2 * 2.
		{cppType: "std::vector<std::vector<std::int32_t>>", written: [][][]int32{{{1}, {2, 3}}},
			want: 16 + 24 + 2*(16+24) + 3*(16+4)},
		{cppType: "std::vector<std::vector<std::int32_t>>", written: [][][]int32{{{1}, {2, 3}}, {{4}, {5}}, {{}, {6}}},
			want: 16 + 24 + 2*(16+24) + 4*(16+4)},
		{cppType: "std::map<std::string,std::int64_t>", written: []map[string]int64{{"ab": 1, "c": 2}, {"def": 3}},
			want: 16 + 24 + 2*(16+24) + 6 + 2*(16+8)},
		{cppType: "std::optional<std::int64_t>", written: []*int64{ptr[int64](1), nil}, want: 16 + 16 + 8},
		{cppType: "std::optional<std::int64_t>", written: []*int64{nil}, want: 16},
		// The names and the values of a record are slices.
		{doc: record("f", fieldOf(t, "X", "std::int32_t"), fieldOf(t, "Y", "std::int64_t")),
			written: []struct {
				X int32
				Y int64
			}{{}}, want: 16 + 2*24 + 16 + 4 + 16 + 8},
		{cppType: "std::variant<std::int32_t,std::string>",
			written: []any{value.Alternative{Index: 1, Value: "ab"}, value.Alternative{Value: int32(1)}},
			want:    16 + 40 + 16 + 4 + 16 + 24 + 2},
	} {
		if test.doc == nil {
			test.doc = fieldOf(t, "f", test.cppType)
		}
		s := build(t, test.doc)
		w, o := newSink(s)
		if err := write(o, w, s.Fields[0], test.written); err != nil {
			t.Errorf("%s: %v", test.cppType, err)
			continue
		}
		w.CommitCluster() // elements are counted then
		if got := o.EntryBytes(s.Fields); got != test.want {
			t.Errorf("%s, %T: %d bytes, want %d", test.cppType, test.written, got, test.want)
		}
	}

	s := build(t, fieldOf(t, "v", "std::vector<std::int32_t>"),
		&schema.FieldDocument{Name: "n", Type: "ROOT::RNTupleCardinality<std::uint32_t>", Role: "plain", Source: "v"})
	w, o := newSink(s)
	if got := o.EntryBytes(s.Fields[1:]); got != 16+8 {
		t.Errorf("a count: %d bytes", got)
	}
	fork := &sink{Sink: w.Fork(), schema: s}
	fork.Begin(0)
	forked := field.NewOutlets(fork.Sink)
	if err := write(forked, fork, s.Fields[0], [][]int32{{1, 2}}); err != nil {
		t.Fatal(err)
	}
	if err := fork.End(); err != nil {
		t.Fatal(err)
	}
	w.CommitCluster()
	none := field.NewOutlets(w.Sink) // that have written nothing
	if none.Merge(forked); none.EntryBytes(s.Fields[:1]) != 16+24+2*(16+4) {
		t.Errorf("2 items of a fork: %d bytes", none.EntryBytes(s.Fields[:1]))
	}
	for _, other := range [][]int32{{1}, {1, 2, 3, 4, 5}} {
		if err := write(o, w, s.Fields[0], [][]int32{other}); err != nil {
			t.Fatal(err)
		}
		w.CommitCluster()
		o.Merge(forked)
		if got, want := o.EntryBytes(s.Fields[:1]), int64(16+24+max(2, len(other))*(16+4)); got != want {
			t.Errorf("%d items, and 2 of a fork: %d bytes, want %d", len(other), got, want)
		}
	}
}
