package rntuple_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/internal/test/golden"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
	"github.com/go-rntuple/go-rntuple/value"
)

// TestTyped reads every field of ROOT's files into the Go type that mirrors it, alone and as a
// member of a struct, also in memory that is used again, and compares with the dynamic values,
// which TestGood compares with ROOT's.
func TestTyped(t *testing.T) {
	names, err := filepath.Glob("../testdata/good/*.root")
	if err != nil || len(names) == 0 {
		t.Fatal("no files", err)
	}
	for _, name := range names {
		infos, err := rntuple.ListFile(context.Background(), name, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range infos {
			t.Run(filepath.Base(name)+":"+info.Path, func(t *testing.T) {
				t.Parallel()
				r, err := rntuple.Open(name, info.Path, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				testTyped(t, r)
			})
		}
	}
}

func testTyped(t *testing.T, r *rntuple.Reader) {
	entry := &schema.Field{Shape: schema.Record, Children: r.Schema().Fields}
	records, err := rntuple.RecordsOf(r)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]value.Record, r.NumEntries())
	if _, err := records.Read(want, 0); err != nil && r.NumEntries() > 0 {
		t.Fatal(err)
	}
	compile := func(chain []*schema.Field, typ reflect.Type) *field.Plan {
		plan, err := field.Compile(r.Source(), chain, typ, field.Options{Budget: 1 << 30})
		if err != nil {
			t.Fatalf("%v: %v", chain, err)
		}
		return plan
	}
	read := func(chain []*schema.Field, typ reflect.Type) reflect.Value {
		plan := compile(chain, typ)
		all := reflect.MakeSlice(reflect.SliceOf(typ), int(r.NumEntries()), int(r.NumEntries()))
		if err := plan.Read(context.Background(), 0, r.NumEntries(), all.UnsafePointer()); err != nil {
			t.Fatalf("%v: %v", typ, err)
		}
		return all
	}
	compare := func(f *schema.Field, i int, got reflect.Value, want any) {
		g, w := golden.Append(nil, f, sorted(dynamic(f, got))), golden.Append(nil, f, sorted(want))
		if !bytes.Equal(g, w) {
			t.Errorf("entry %d, field %s as %v:\n%.300s, want\n%.300s", i, f.Name, got.Type(), g, w)
		}
	}
	structs := read(nil, goType(entry))
	for m, f := range r.Schema().Fields {
		alone := read([]*schema.Field{f}, goType(f))
		for i := range want {
			compare(f, i, alone.Index(i), want[i].Values[m])
			compare(f, i, structs.Index(i).Field(m), want[i].Values[m])
		}
		for _, wide := range widerTypes(f) {
			wider := read([]*schema.Field{f}, wide)
			for i := range want {
				if fmt.Sprint(wider.Index(i)) != fmt.Sprint(reflect.ValueOf(want[i].Values[m]).Convert(wide)) {
					t.Errorf("entry %d, field %s as %v: %v, want %v", i, f.Name, wide, wider.Index(i), want[i].Values[m])
				}
			}
		}
	}

	var memory field.Memory
	plan, some := compile(nil, goType(entry)), reflect.MakeSlice(structs.Type(), 3, 3)
	for first := 0; first < len(want); first += some.Len() {
		memory.Reset()
		some.Clear()
		n := min(some.Len(), len(want)-first)
		if err := plan.ReadWith(context.Background(), &memory, int64(first), int64(n), some.UnsafePointer()); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			for m, f := range r.Schema().Fields {
				compare(f, first+i, some.Index(i).Field(m), want[first+i].Values[m])
			}
		}
	}
}

var goKinds = map[cpptype.Kind]reflect.Type{
	cpptype.Bool: reflect.TypeFor[bool](), cpptype.Char: reflect.TypeFor[int8](), cpptype.Byte: reflect.TypeFor[byte](),
	cpptype.Int8: reflect.TypeFor[int8](), cpptype.Int16: reflect.TypeFor[int16](),
	cpptype.Int32: reflect.TypeFor[int32](), cpptype.Int64: reflect.TypeFor[int64](),
	cpptype.UInt8: reflect.TypeFor[uint8](), cpptype.UInt16: reflect.TypeFor[uint16](),
	cpptype.UInt32: reflect.TypeFor[uint32](), cpptype.UInt64: reflect.TypeFor[uint64](),
	cpptype.Float32: reflect.TypeFor[float32](), cpptype.Float64: reflect.TypeFor[float64](),
}

// goType returns the Go type that mirrors a field.
func goType(f *schema.Field) reflect.Type {
	switch f.Shape {
	case schema.Scalar:
		return goKinds[f.Kind()]
	case schema.String:
		return reflect.TypeFor[string]()
	case schema.Streamer:
		return reflect.TypeFor[[]byte]()
	case schema.Bitset:
		return reflect.ArrayOf(int(f.ArraySize), reflect.TypeFor[bool]())
	case schema.Cardinality:
		return reflect.TypeFor[uint64]()
	case schema.Array:
		return reflect.ArrayOf(int(f.ArraySize), goType(f.Children[0]))
	case schema.Wrapper:
		return goType(f.Children[0])
	case schema.Optional:
		return reflect.PointerTo(goType(f.Children[0]))
	case schema.Collection:
		if f.IsMap() && !f.Kind().IsMulti() {
			pair := f.Children[0].Children
			return reflect.MapOf(goType(pair[0]), goType(pair[1]))
		}
		return reflect.SliceOf(goType(f.Children[0]))
	case schema.Record:
		var fields []reflect.StructField
		for i, child := range f.Children {
			tag := reflect.StructTag(fmt.Sprintf("rntuple:%q", child.Name))
			fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: goType(child), Tag: tag})
		}
		return reflect.StructOf(fields)
	}
	return reflect.TypeFor[any]()
}

// dynamic turns a value of the type that goType returns into a dynamic one.
func dynamic(f *schema.Field, v reflect.Value) any {
	items := func() any {
		var all []any
		for i := range v.Len() {
			all = append(all, dynamic(f.Children[0], v.Index(i)))
		}
		return all
	}
	switch f.Shape {
	case schema.Wrapper:
		return dynamic(f.Children[0], v)
	case schema.Bitset:
		var bits value.Bits
		for i := range v.Len() {
			bits = append(bits, v.Index(i).Bool())
		}
		return bits
	case schema.Array:
		return items()
	case schema.Optional:
		if v.IsNil() {
			return nil
		}
		return dynamic(f.Children[0], v.Elem())
	case schema.Collection:
		if !f.IsMap() {
			return items()
		}
		pair := f.Children[0].Children
		m := value.Map{StringKeys: pair[0].Shape == schema.String}
		if v.Kind() == reflect.Map {
			for k, e := range v.Seq2() {
				m.Elements = append(m.Elements, value.KeyValue{Key: dynamic(pair[0], k), Value: dynamic(pair[1], e)})
			}
		} else {
			for i := range v.Len() {
				m.Elements = append(m.Elements, value.KeyValue{Key: dynamic(pair[0], v.Index(i).Field(0)),
					Value: dynamic(pair[1], v.Index(i).Field(1))})
			}
		}
		return m
	case schema.Record:
		var r value.Record
		for i, child := range f.Children {
			r.Names, r.Values = append(r.Names, child.Name), append(r.Values, dynamic(child, v.Field(i)))
		}
		if f.IsTuple() {
			return r.Values
		}
		return r
	}
	return v.Interface()
}

// sorted puts the elements of all maps within v into an order of its own, since
// Go's maps have none.
func sorted(v any) any {
	switch v := v.(type) {
	case []any:
		all := slices.Clone(v)
		for i := range all {
			all[i] = sorted(all[i])
		}
		return all
	case value.Record:
		values, _ := sorted(v.Values).([]any)
		return value.Record{Names: v.Names, Values: values}
	case value.Map:
		m := value.Map{StringKeys: v.StringKeys}
		for _, kv := range v.Elements {
			m.Elements = append(m.Elements, value.KeyValue{Key: sorted(kv.Key), Value: sorted(kv.Value)})
		}
		slices.SortFunc(m.Elements, func(a, b value.KeyValue) int {
			return bytes.Compare(value.AppendJSON(nil, []any{a.Key, a.Value}), value.AppendJSON(nil, []any{b.Key, b.Value}))
		})
		return m
	}
	return v
}

// widerTypes returns the wider types that the numbers of f can be read into.
func widerTypes(f *schema.Field) []reflect.Type {
	int64s, uint64s, float64s := reflect.TypeFor[int64](), reflect.TypeFor[uint64](), reflect.TypeFor[float64]()
	ints, uints := reflect.TypeFor[int](), reflect.TypeFor[uint]()
	switch f.Kind() {
	case cpptype.Int8, cpptype.Char:
		return []reflect.Type{int64s, reflect.TypeFor[int16](), reflect.TypeFor[int32]()}
	case cpptype.Int16, cpptype.Int32:
		return []reflect.Type{int64s, ints}
	case cpptype.Int64, cpptype.UInt64:
		if ints.Size() == 8 {
			return map[bool][]reflect.Type{true: {ints}, false: {uints}}[f.Kind() == cpptype.Int64]
		}
	case cpptype.UInt8:
		return []reflect.Type{int64s, uint64s, reflect.TypeFor[uint16](), reflect.TypeFor[int16](), reflect.TypeFor[uint32](),
			reflect.TypeFor[int32]()}
	case cpptype.UInt16, cpptype.UInt32:
		return []reflect.Type{int64s, uint64s, uints}
	case cpptype.Float32:
		return []reflect.Type{float64s}
	}
	return nil
}

// TestMismatch makes sure that all fields that do not fit are named at once,
// with what the file has and what would fit.
func TestMismatch(t *testing.T) {
	r, err := rntuple.Open("../testdata/dimuon.root", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	type event struct {
		Pt       []float64 `rntuple:"Muon_pt"` // fits
		Eta      float32   `rntuple:"Muon_eta"`
		Charge   []float32 `rntuple:"Muon_charge"`
		NMuon    string    `rntuple:"nMuon"`
		Muon_Phi []float32
		Other    int `rntuple:"other"`
	}
	for _, err := range rntuple.Entries[event](r) {
		var mismatch *schema.MismatchError
		if !errors.As(err, &mismatch) || !errors.Is(err, rntuple.ErrNoField) || len(mismatch.Mismatches) != 5 {
			t.Fatalf("error %v", err)
		}
		want := "the Go type does not fit the RNTuple: " +
			`field "Muon_eta": ROOT::VecOps::RVec<float> does not fit float32, []float32 would; ` +
			`items of field "Muon_charge": std::int32_t does not fit float32, int32 would; ` +
			`field "nMuon": ROOT::RNTupleCardinality<std::uint32_t> does not fit string, uint64 would; ` +
			`no field "Muon_Phi" in RNTuple "Events"; did you mean "Muon_phi"?; ` +
			`no field "other" in RNTuple "Events"`
		if err.Error() != want {
			t.Errorf("%s\nwant\n%s", err, want)
		}
	}
	if _, err := rntuple.Open("../testdata/dimuon.root", "Event", nil); !errors.Is(err, rntuple.ErrNotFound) ||
		!strings.Contains(err.Error(), "the file has Events") {
		t.Errorf("error %v", err)
	}
}
