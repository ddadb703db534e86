package rntuple_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/cpp"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// stored returns a reader of an RNTuple with the given entries; a cluster ends
// after every entry for which ends is true.
func stored[T any](t testing.TB, entries []T, ends func(i int) bool, opts *rntuple.ReadOptions) *rntuple.Reader {
	t.Helper()
	var m memory
	f, err := rntuple.NewFile(&m, "evolve.root", fixed)
	if err != nil {
		t.Fatal(err)
	}
	w, err := rntuple.NewWriter[T](f, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		w.Write(&entries[i])
		if ends != nil && ends(i) {
			w.CommitCluster()
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.NewReader(bytes.NewReader(m.b), int64(len(m.b)), "", opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// readAs reads all values of a field as a type; nil if the field does not fit it.
func readAs(t *testing.T, r *rntuple.Reader, path string, typ reflect.Type) (reflect.Value, error) {
	t.Helper()
	chain, err := r.Schema().Lookup(path)
	if err != nil {
		t.Fatal(err)
	}
	all := reflect.MakeSlice(reflect.SliceOf(typ), int(r.NumEntries()), int(r.NumEntries()))
	plan, err := field.Compile(r.Source(), chain, typ, field.Options{Budget: 1 << 30})
	if err == nil {
		err = plan.Read(context.Background(), 0, r.NumEntries(), all.UnsafePointer())
	}
	return all, err
}

func isMismatch(err error) bool {
	var m *schema.MismatchError
	return errors.As(err, &m)
}

// numberEntry has a field of every type that holds one number.
type numberEntry struct {
	Bool     bool                `rntuple:"bool"`
	Char     cpp.Char            `rntuple:"char"`
	Byte     cpp.Byte            `rntuple:"byte"`
	I8       int8                `rntuple:"i8"`
	U8       uint8               `rntuple:"u8"`
	I16      int16               `rntuple:"i16"`
	U16      uint16              `rntuple:"u16"`
	I32      int32               `rntuple:"i32"`
	U32      uint32              `rntuple:"u32"`
	I64      int64               `rntuple:"i64"`
	U64      uint64              `rntuple:"u64"`
	Enum     int16               `rntuple:"enum,enum=Color"`
	Atomic   cpp.Atomic[int64]   `rntuple:"atomic"`
	F32      float32             `rntuple:"f32"`
	F64      float64             `rntuple:"f64"`
	D32      cpp.Double32        `rntuple:"d32"`
	AtomicF  cpp.Atomic[float64] `rntuple:"atomicf"`
	AtomicI8 cpp.Atomic[int8]    `rntuple:"atomici8"`
}

// interesting are the borders of all integer types, and what lies next to them.
func interesting() (all []*big.Int) {
	for _, bits := range []uint{0, 7, 8, 15, 16, 31, 32, 63, 64} {
		for _, d := range []int64{-1, 0, 1} {
			v := new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), bits), big.NewInt(d))
			all = append(all, v, new(big.Int).Neg(v))
		}
	}
	return all
}

// class returns what kinds of numbers can be read as each other.
func class(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "integral"
	case reflect.Float32, reflect.Float64:
		return "real"
	}
	return t.String()
}

// exactly returns v as a value of type t, if t has it.
func exactly(v *big.Int, t reflect.Type) (reflect.Value, bool) {
	out := reflect.New(t).Elem()
	switch {
	case t.Kind() == reflect.Bool:
		out.SetBool(v.Sign() != 0)
		return out, v.Sign() == 0 || v.Cmp(big.NewInt(1)) == 0
	case out.CanInt():
		if v.IsInt64() && !out.OverflowInt(v.Int64()) {
			out.SetInt(v.Int64())
			return out, true
		}
	case out.CanUint():
		if v.IsUint64() && !out.OverflowUint(v.Uint64()) {
			out.SetUint(v.Uint64())
			return out, true
		}
	}
	return out, false
}

type (
	myInt   int32
	myBool  bool
	myFloat float32
)

// TestNumbers reads every type of numbers as every Go type: all at the borders of
// integer types, one by one and together. The rules are ROOT's: integers and bool
// go into each other where the value fits, any but 0 being true; reals too;
// nothing else does.
func TestNumbers(t *testing.T) {
	targets := []reflect.Type{
		reflect.TypeFor[bool](), reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](),
		reflect.TypeFor[int64](), reflect.TypeFor[int](),
		reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64](),
		reflect.TypeFor[uint](),
		reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[string](), reflect.TypeFor[[]byte](),
		reflect.TypeFor[myInt](), reflect.TypeFor[myBool](), reflect.TypeFor[myFloat](), reflect.TypeFor[cpp.Atomic[int16]](),
	}
	members := reflect.TypeFor[numberEntry]()
	for i := range members.NumField() {
		m := members.Field(i)
		from, path := m.Type, strings.Split(m.Tag.Get("rntuple"), ",")[0]
		if from.Kind() == reflect.Struct {
			from = from.Field(0).Type
		}
		// The values of the field, and the entries with them.
		var values []*big.Int
		var entries []numberEntry
		for _, v := range interesting() {
			e := numberEntry{}
			at := reflect.ValueOf(&e).Elem().Field(i)
			if at.Kind() == reflect.Struct {
				at = at.Field(0)
			}
			x, ok := exactly(v, from)
			if class(from) == "real" {
				f, _ := v.Float64()
				x, ok = reflect.ValueOf(float32(f)), true
				v, _ = big.NewFloat(float64(float32(f))).Int(nil)
			}
			if ok {
				at.Set(x.Convert(at.Type()))
				values, entries = append(values, v), append(entries, e)
			}
		}
		r := stored(t, entries, nil, nil)
		for _, to := range targets {
			t.Run(fmt.Sprintf("%s as %v", path, to), func(t *testing.T) {
				into := to
				if into.Kind() == reflect.Struct {
					into = into.Field(0).Type
				}
				fits := class(from) == class(into)
				if path == "byte" { // ROOT has it as itself only; what loses nothing is allowed here
					fits = fits && into.Kind() != reflect.Bool && into.Kind() != reflect.Int8
				}
				all, err := readAs(t, r, path, to)
				if isMismatch(err) == fits {
					t.Fatalf("error %v, it fits: %v", err, fits)
				}
				if !fits {
					return
				}
				firstLost := -1
				for e, v := range values {
					want, ok := exactly(v, into)
					if class(into) == "real" {
						f, _ := v.Float64()
						want, ok = reflect.ValueOf(f).Convert(into), true
					}
					ok = ok || into.Kind() == reflect.Bool
					if !ok && firstLost < 0 {
						firstLost = e
					}
					one := reflect.New(to)
					err := viewAt(r, path, one, int64(e))
					var lost *schema.ConversionError
					switch {
					case ok && err != nil:
						t.Errorf("entry %d, %v: %v", e, v, err)
					case ok && fmt.Sprint(one.Elem()) != fmt.Sprint(want) && fmt.Sprint(one.Elem()) != fmt.Sprintf("{%v}", want):
						t.Errorf("entry %d, %v: read %v, want %v", e, v, one.Elem(), want)
					case !ok && (!errors.As(err, &lost) || !errors.Is(err, rntuple.ErrRange)):
						t.Errorf("entry %d, %v: error %v", e, v, err)
					case !ok && (lost.Entry != int64(e) || fmt.Sprint(lost.Value) != v.String() || lost.Go != into ||
						!strings.HasPrefix(lost.Path, path)):
						t.Errorf("entry %d, %v: error %+v", e, v, lost)
					}
				}
				var lost *schema.ConversionError
				if firstLost < 0 && err != nil || firstLost >= 0 && (!errors.As(err, &lost) || lost.Entry != int64(firstLost)) {
					t.Errorf("reading all: error %v, the first value lost is in entry %d", err, firstLost)
				}
				_ = all
			})
		}
	}
}

// viewAt reads one entry of a field to where p points.
func viewAt(r *rntuple.Reader, path string, p reflect.Value, entry int64) error {
	chain, err := r.Schema().Lookup(path)
	if err != nil {
		return err
	}
	plan, err := field.Compile(r.Source(), chain, p.Type().Elem(), field.Options{Budget: 1 << 30})
	if err != nil {
		return err
	}
	return plan.Read(context.Background(), entry, 1, p.UnsafePointer())
}

// TestRound makes sure that only finite doubles beyond float are refused.
func TestRound(t *testing.T) {
	type entry struct{ X float64 }
	last := math.Nextafter(math.MaxFloat32+math.Exp2(103), 0) // the greatest that rounds down
	kept := []entry{{math.Inf(1)}, {math.Inf(-1)}, {math.NaN()}, {last}, {-last}, {math.Pi}, {1e-300}}
	v, err := rntuple.ViewOf[float32](stored(t, kept, nil, nil), "X")
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range v.All() {
		if want := float32(kept[i].X); math.Float32bits(x) != math.Float32bits(want) {
			t.Errorf("%g read as %g, want %g", kept[i].X, x, want)
		}
	}
	if v.Err() != nil {
		t.Error(v.Err())
	}
	for _, x := range []float64{1e39, -math.MaxFloat64, math.Nextafter(last, math.Inf(1))} {
		_, err := readAs(t, stored(t, []entry{{1}, {x}}, nil, nil), "X", reflect.TypeFor[float32]())
		var lost *schema.ConversionError
		if !errors.As(err, &lost) || *lost != (schema.ConversionError{Path: "X", Entry: 1, Value: x,
			Go: reflect.TypeFor[float32]()}) {
			t.Errorf("%g: error %v", x, err)
		}
	}
}

// shapeEntry has what an int32 can be nested in.
type shapeEntry struct {
	Plain     int32                              `rntuple:"plain"`
	Enum      int32                              `rntuple:"enum,enum=Color"`
	Atomic    cpp.Atomic[int32]                  `rntuple:"atomic"`
	Vector    []int32                            `rntuple:"vector"`
	RVec      cpp.RVec[int32]                    `rntuple:"rvec"`
	Set       cpp.Set[int32]                     `rntuple:"set"`
	USet      cpp.UnorderedSet[int32]            `rntuple:"uset"`
	MultiSet  cpp.MultiSet[int32]                `rntuple:"multiset"`
	UMultiSet cpp.UnorderedMultiSet[int32]       `rntuple:"umultiset"`
	Enums     []int32                            `rntuple:"enums,enum=Color"`
	Atomics   []cpp.Atomic[int32]                `rntuple:"atomics"`
	Optional  *int32                             `rntuple:"optional"`
	Unique    cpp.UniquePtr[int32]               `rntuple:"unique"`
	Array     [3]int32                           `rntuple:"array"`
	Arrays    [][3]int32                         `rntuple:"arrays"`
	Map       map[int32]int32                    `rntuple:"map"`
	UMap      cpp.UnorderedMap[int32, int32]     `rntuple:"umap"`
	MultiMap  cpp.MultiMap[int32, int32]         `rntuple:"multimap"`
	Pairs     []cpp.Pair[int32, int32]           `rntuple:"pairs"`
	PairSet   cpp.Set[cpp.Pair[int32, int32]]    `rntuple:"pairset"`
	Pair      cpp.Pair[int32, int32]             `rntuple:"pair"`
	Tuple     cpp.Tuple2[int32, int32]           `rntuple:"tuple"`
	Record    struct{ A, B int32 }               `rntuple:"record"`
	Records   []struct{ A, B int32 }             `rntuple:"records"`
	String    string                             `rntuple:"string"`
	Chars     []cpp.Char                         `rntuple:"chars"`
	Bits      [3]bool                            `rntuple:"bits,type=std::bitset<3>"`
	Byte      cpp.Byte                           `rntuple:"byte"`
	Float     []float32                          `rntuple:"float"`
	Variant   cpp.Variant2[int32, string]        `rntuple:"variant"`
	Doubles   map[float64]int32                  `rntuple:"doubles"`
	PairMap   map[string]cpp.Pair[int32, uint64] `rntuple:"pairmap"`
}

// scalarAt is the scalar of entry i, and itemsAt are those of its collections.
func scalarAt(i int) int32 { return int32(i % 100) }

func itemsAt(i int) (all []int32) {
	for k := range i % 5 {
		all = append(all, scalarAt(i)+int32(k))
	}
	return all
}

func manyShapes(n int) []shapeEntry {
	all := make([]shapeEntry, n)
	for i := range all {
		e, x := &all[i], scalarAt(i)
		e.Plain, e.Enum, e.Atomic.Value = x, x, x
		v := itemsAt(i)
		e.Vector, e.RVec, e.Set, e.USet, e.MultiSet, e.UMultiSet, e.Enums = v, v, v, v, v, v, v
		e.Array = [3]int32{x, x + 1, x + 2}
		e.Arrays = [][3]int32{e.Array, e.Array}
		if i%2 == 1 {
			e.Optional, e.Unique.Value = &x, &x
		}
		e.Map = map[int32]int32{}
		for _, y := range v {
			e.Atomics = append(e.Atomics, cpp.Atomic[int32]{Value: y})
			p := cpp.Pair[int32, int32]{First: y, Second: x}
			e.Map[y] = x
			e.UMap, e.MultiMap, e.Pairs, e.PairSet = append(e.UMap, p), append(e.MultiMap, p),
				append(e.Pairs, p), append(e.PairSet, p)
			e.Records = append(e.Records, struct{ A, B int32 }{y, x})
		}
		e.Pair.First, e.Pair.Second = x, x+1
		e.Tuple.V0, e.Tuple.V1 = x, x+1
		e.Record.A, e.Record.B = x, x+1
		e.Variant.Value = value.Alternative{Index: 0, Value: x}
	}
	return all
}

func ptr[T any](v T) *T { return &v }

// list converts the items of entry i.
func list[T any](i int, convert func(int32) T) (all []T) {
	for _, v := range itemsAt(i) {
		all = append(all, convert(v))
	}
	return all
}

func dict[K comparable, V any](i int, convert func(int32) (K, V)) map[K]V {
	all := map[K]V{}
	for _, v := range itemsAt(i) {
		k, v := convert(v)
		all[k] = v
	}
	return all
}

// TestShapes reads everything that an integer can be nested in as everything that
// ROOT reads it as, and as much that it refuses. The rules are those of its
// document on schema evolution.
func TestShapes(t *testing.T) {
	type (
		two    struct{ B, A int64 }
		ofPair struct {
			K uint8 `rntuple:"_0"`
			V int64 `rntuple:"_1"`
		}
		first struct {
			V *uint8 `rntuple:"_0"`
		}
	)
	const n = 60
	r := stored(t, manyShapes(n), func(i int) bool { return i%25 == 0 }, nil)
	const (
		plain     = "plain enum atomic"
		sequences = "vector rvec set uset multiset umultiset enums atomics"
		sets      = "set uset"
		optionals = "optional unique"
		pairLists = "umap multimap pairs pairset"
		pairs     = "pair tuple"
	)
	for _, test := range []struct {
		paths string
		want  func(i int) any
	}{
		{plain, func(i int) any { return int8(scalarAt(i)) }},
		{plain, func(i int) any { return uint64(scalarAt(i)) }},
		{plain, func(i int) any { return myInt(scalarAt(i)) }},
		{plain, func(i int) any { return scalarAt(i) != 0 }},
		{plain, func(i int) any { return ptr(scalarAt(i)) }},
		{plain, func(i int) any { return ptr(uint8(scalarAt(i))) }},
		{plain, func(i int) any { return cpp.Atomic[int64]{Value: int64(scalarAt(i))} }},
		{plain, func(i int) any { return cpp.UniquePtr[int16]{Value: ptr(int16(scalarAt(i)))} }},

		{sequences, func(i int) any { return list(i, func(v int32) uint8 { return uint8(v) }) }},
		{sequences, func(i int) any { return list(i, func(v int32) int { return int(v) }) }},
		{sequences, func(i int) any { return list(i, func(v int32) bool { return v != 0 }) }},
		{sequences, func(i int) any { return list(i, func(v int32) *int32 { return &v }) }},
		{sequences, func(i int) any { return cpp.MultiSet[int16](list(i, func(v int32) int16 { return int16(v) })) }},
		{sequences, func(i int) any {
			return ptr(list(i, func(v int32) cpp.Atomic[int8] { return cpp.Atomic[int8]{Value: int8(v)} }))
		}},
		{sets, func(i int) any { return dict(i, func(v int32) (int8, struct{}) { return int8(v), struct{}{} }) }},
		{"float", func(i int) any { return []float64(nil) }},

		{optionals, func(i int) any {
			if i%2 == 0 {
				return (*uint8)(nil)
			}
			return ptr(uint8(scalarAt(i)))
		}},
		{optionals, func(i int) any {
			if i%2 == 0 {
				return []int64(nil)
			}
			return []int64{int64(scalarAt(i))}
		}},

		{"array", func(i int) any { x := uint8(scalarAt(i)); return [3]uint8{x, x + 1, x + 2} }},
		{"array", func(i int) any { x := scalarAt(i); return []int64{int64(x), int64(x) + 1, int64(x) + 2} }},
		{"array", func(i int) any { x := scalarAt(i); return &[3]*int32{ptr(x), ptr(x + 1), ptr(x + 2)} }},
		{"arrays", func(i int) any { x := int8(scalarAt(i)); a := []int8{x, x + 1, x + 2}; return [][]int8{a, a} }},

		{"map umap", func(i int) any {
			return dict(i,
				func(v int32) (uint8, int64) { return uint8(v), int64(scalarAt(i)) })
		}},
		{"map umap", func(i int) any { return dict(i, func(v int32) (int32, *int8) { return v, ptr(int8(scalarAt(i))) }) }},
		{"pairset", func(i int) any {
			return dict(i, func(v int32) (ofPair, struct{}) { return ofPair{uint8(v), int64(scalarAt(i))}, struct{}{} })
		}},
		{pairLists, func(i int) any { return list(i, func(v int32) ofPair { return ofPair{uint8(v), int64(scalarAt(i))} }) }},
		{pairLists, func(i int) any {
			return list(i, func(v int32) cpp.Tuple2[int8, int16] {
				return cpp.Tuple2[int8, int16]{V0: int8(v), V1: int16(scalarAt(i))}
			})
		}},

		{pairs, func(i int) any { return ofPair{uint8(scalarAt(i)), int64(scalarAt(i)) + 1} }},
		{pairs, func(i int) any {
			return cpp.Pair[int8, *int8]{First: int8(scalarAt(i)), Second: ptr(int8(scalarAt(i) + 1))}
		}},
		{pairs, func(i int) any { return first{ptr(uint8(scalarAt(i)))} }},
		{"record", func(i int) any { return two{int64(scalarAt(i)) + 1, int64(scalarAt(i))} }},
		{"record", func(i int) any { return &two{int64(scalarAt(i)) + 1, int64(scalarAt(i))} }},
		{"records", func(i int) any { return list(i, func(v int32) two { return two{int64(scalarAt(i)), int64(v)} }) }},
		{"string", func(i int) any { return ptr("") }},
		{"bits", func(i int) any { return &[3]bool{} }},
		{"variant", func(i int) any { return any(value.Alternative{Value: scalarAt(i)}) }},
	} {
		for _, path := range strings.Fields(test.paths) {
			typ := reflect.TypeOf(test.want(0))
			if path == "variant" {
				typ = reflect.TypeFor[any]()
			}
			got, err := readAs(t, r, path, typ)
			if err != nil {
				t.Errorf("%s as %v: %v", path, typ, err)
				continue
			}
			for i := range n {
				if got, want := got.Index(i).Interface(), test.want(i); !reflect.DeepEqual(got, want) {
					t.Errorf("%s as %v, entry %d: %v, want %v", path, typ, i, got, want)
					break
				}
			}
		}
	}

	type selfish *selfish
	type three struct{ A, B, C int32 }
	for _, test := range []struct {
		paths string
		types []any
	}{
		{plain + " record string optional byte",
			[]any{[3]int32{}, [1]int32{}, float64(0), float32(0), map[int32]struct{}{}, []float32{}, []int32{}[:0:0]}},
		{plain, []any{[]int32{}, "", ptr(ptr(int32(0))), two{}, selfish(nil), uintptr(0), complex64(0)}},
		{sequences, []any{[3]int32{}, [0]int32{}, int32(0), ptr(int32(0)), []float32{}, []string{}, "", two{}, [][]int32{},
			map[int32]int32{}, map[bool]struct{}{}}},
		{"vector rvec multiset umultiset enums atomics", []any{map[int32]struct{}{}}},
		{optionals, []any{int32(0), true, [1]int32{}, ptr(ptr(ptr(int32(0)))), ptr([]int32{})}},
		{"array", []any{[2]int32{}, [4]int32{}, [0]int32{}, int32(0), ptr(int32(0)), ptr([2]int32{}), map[int32]struct{}{}}},
		{"arrays", []any{[][2]int32{}, [][4]int32{}, [2][3]int32{}, []int32{}}},
		{"bits", []any{[2]bool{}, [4]bool{}, []int8{}, uint8(0), [3]uint8{}}},
		{"multimap pairs", []any{map[int32]int32{}, map[ofPair]struct{}{}}},
		{"pairset", []any{map[int32]int32{}}},
		{"map umap pairset", []any{map[bool]int32{}, map[float32]int32{}, map[[2]bool]int32{}, [3]ofPair{}, ofPair{}}},
		{"doubles", []any{map[float32]int32{}, map[bool]int32{}}},
		{pairs, []any{[]int32{}, [2]int32{}, cpp.Tuple3[int32, int32, int32]{}, map[int32]int32{}, two{}}},
		{"record", []any{three{}, ofPair{}, int32(0)}},
		{"records", []any{[]three{}, two{}, map[int32]int32{}}},
		{"string", []any{[]int8{}, []string{}, int8(0)}},
		{"chars", []any{"", []string{}, []float32{}}},
		{"byte", []any{int8(0), false}},
		{"variant", []any{int32(0), "", two{}}},
	} {
		for _, path := range strings.Fields(test.paths) {
			for _, v := range test.types {
				typ := reflect.TypeOf(v)
				if path == "optional" && typ == reflect.TypeFor[[]int32]() {
					continue
				}
				if _, err := readAs(t, r, path, typ); !isMismatch(err) {
					t.Errorf("%s as %v: error %v", path, typ, err)
				}
			}
		}
	}
}

// A hiderEntry has an integer wherever one can be.
type hiderEntry struct {
	Plain int32                            `rntuple:"plain"`
	Deep  [][]int32                        `rntuple:"deep"`
	Map   map[int32][]int32                `rntuple:"map"`
	Keys  map[int32]bool                   `rntuple:"keys"`
	Opt   *int32                           `rntuple:"opt"`
	Array [2]struct{ X int32 }             `rntuple:"array,class=Cell"`
	Rec   struct{ In []struct{ Y int64 } } `rntuple:"rec"`
}

// TestLost hides a value that does not fit in entries at the borders of clusters
// and batches, in the middle of many that fit, and makes sure that the error names
// that entry, however it is read, and that all others can be read.
func TestLost(t *testing.T) {
	type seen struct {
		Plain int8                            `rntuple:"plain"`
		Deep  [][]int8                        `rntuple:"deep"`
		Map   map[int32][]int8                `rntuple:"map"`
		Keys  map[int8]bool                   `rntuple:"keys"`
		Opt   *int8                           `rntuple:"opt"`
		Array [2]struct{ X int8 }             `rntuple:"array"`
		Rec   struct{ In []struct{ Y int8 } } `rntuple:"rec"`
	}
	const n = 3000
	for _, bad := range []int{0, 1, 698, 699, 700, 701, 1023, 1024, 1499, 1500, 2048, 2999} {
		all := make([]hiderEntry, n)
		for i := range all {
			e, v := &all[i], int32(i%256-128)
			if i == bad {
				v = int32(1000 + i)
			}
			e.Plain, e.Opt, e.Array[1].X = v, &v, v
			e.Deep = [][]int32{{}, {1, v}, {2}}[:1+min(1, i%3)]
			e.Map, e.Keys = map[int32][]int32{7: {v}}, map[int32]bool{v: true, 5: false}
			e.Rec.In = make([]struct{ Y int64 }, i%4)
			if i == bad {
				e.Deep = [][]int32{{}, {1, v}, {2}}
				e.Rec.In = make([]struct{ Y int64 }, 3)
				e.Rec.In[1].Y = int64(v)
			}
		}
		r := stored(t, all, func(i int) bool { return i == 699 || i == 700 || i == 1499 }, nil)
		check := func(what string, err error, paths ...string) {
			t.Helper()
			var lost *schema.ConversionError
			switch {
			case !errors.As(err, &lost):
				t.Errorf("%s: entry %d is bad, error %v", what, bad, err)
			case lost.Entry != int64(bad) || fmt.Sprint(lost.Value) != fmt.Sprint(1000+bad) ||
				lost.Go != reflect.TypeFor[int8]() || !slices.Contains(paths, lost.Path):
				t.Errorf("%s: entry %d is bad, error %+v", what, bad, lost)
			}
		}
		entries := 0
		for e, err := range rntuple.Entries[seen](r) {
			if err != nil {
				check("entries", err, "plain")
				break
			}
			if entries >= bad || e.Plain != int8(entries%256-128) {
				t.Fatalf("entry %d is bad, entry %d read as %+v", bad, entries, e)
			}
			entries++
		}
		lost[int8](t, r, bad, "plain", func(err error) { check("plain", err, "plain") })
		lost[[][]int8](t, r, bad, "deep", func(err error) { check("deep", err, "deep._0._0") })
		lost[map[int32][]int8](t, r, bad, "map", func(err error) { check("map", err, "map._0._1._0") })
		lost[map[int8]bool](t, r, bad, "keys", func(err error) { check("keys", err, "keys._0._0") })
		lost[*int8](t, r, bad, "opt", func(err error) { check("opt", err, "opt._0") })
		lost[[2]struct{ X int8 }](t, r, bad, "array", func(err error) { check("array", err, "array._0.X") })
		lost[[]int8](t, r, bad, "rec.In.Y", func(err error) { check("rec", err, "rec.In._0.Y") })

		jagged, err := rntuple.JaggedOf[int8](r, "rec.In.Y")
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = jagged.Read(make([]int64, n+1), nil, 0)
		check("jagged", err, "rec.In._0.Y")
		if items, _, err := jagged.Read(make([]int64, n-bad), nil, int64(bad)+1); err != nil && bad < n-1 ||
			len(items) == 0 && bad < n-4 {
			t.Errorf("jagged, behind entry %d: %d items, error %v", bad, len(items), err)
		}
	}
}

// lost reads a field whose value in the entry bad does not fit, in several ways.
func lost[T any](t *testing.T, r *rntuple.Reader, bad int, path string, check func(error)) {
	t.Helper()
	v, err := rntuple.ViewOf[T](r, path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = v.Read(make([]T, r.NumEntries()), 0)
	check(err)
	for _, first := range []int{bad, max(0, bad-1), max(0, bad-1100)} {
		_, err = v.Read(make([]T, 1200), int64(first))
		check(err)
	}
	for i := range v.All() {
		if i >= int64(bad) {
			t.Errorf("entry %d is bad, entry %d was read", bad, i)
		}
	}
	check(v.Err())
	if n, err := v.Read(make([]T, bad), 0); err != nil || n != bad {
		t.Errorf("%s: the first %d entries: %d, %v", path, bad, n, err)
	}
	if n, err := v.Read(make([]T, 100), int64(bad)+1); n != min(100, int(r.NumEntries())-bad-1) {
		t.Errorf("%s: behind entry %d: %d, %v", path, bad, n, err)
	}
}

// TestMissing reads structs with members that a file lacks, at the top and below
// collections, into memory that was used before.
func TestMissing(t *testing.T) {
	type old struct {
		X    int32 `rntuple:"x"`
		Jets []struct {
			Pt float32 `rntuple:"pt"`
		} `rntuple:"jets"`
		More int32 `rntuple:"more"`
	}
	type newJet struct {
		Pt  float64  `rntuple:"pt"`
		Eta *float64 `rntuple:"eta,optional"`
		Tag string   `rntuple:"tag,optional"`
	}
	type strict struct {
		X    int32 `rntuple:"x"`
		Y    int32 `rntuple:"y"`
		Jets []struct {
			Eta float64 `rntuple:"eta"`
		} `rntuple:"jets"`
	}
	type lenient struct {
		Y     []int32   `rntuple:"y,optional"`
		X     int32     `rntuple:"x,optional"`
		Jets  []newJet  `rntuple:"jets"`
		Mass  []float32 `rntuple:"jets.mass,optional"`
		Label string    `rntuple:"label,optional"`
	}
	var jet struct {
		Pt float32 `rntuple:"pt"`
	}
	jet.Pt = 2.5
	all := []old{{X: 1}, {X: 2, Jets: []struct {
		Pt float32 `rntuple:"pt"`
	}{jet, jet}}}
	r := stored(t, all, nil, nil)

	_, err := rntuple.ViewOf[strict](r, "")
	var mismatch *schema.MismatchError
	if !errors.As(err, &mismatch) || len(mismatch.Mismatches) != 2 || !errors.Is(err, rntuple.ErrNoField) ||
		!strings.Contains(err.Error(), `no field "eta" in field "jets._0"`) {
		t.Errorf("error %v", err)
	}
	v, err := rntuple.ViewOf[lenient](r, "")
	if err != nil {
		t.Fatal(err)
	}
	used := make([]lenient, 2)
	used[1] = lenient{Y: []int32{1}, Mass: []float32{1}, Label: "used"}
	if _, err := v.Read(used, 0); err != nil {
		t.Fatal(err)
	}
	if want := []lenient{{X: 1}, {X: 2, Jets: []newJet{{Pt: 2.5}, {Pt: 2.5}}}}; !reflect.DeepEqual(used, want) {
		t.Errorf("read %+v, want %+v", used, want)
	}

	r = stored(t, all, nil, &rntuple.ReadOptions{AllowMissing: true})
	zeros, err := rntuple.ViewOf[strict](r, "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := zeros.At(1); err != nil || got.X != 2 || got.Y != 0 || len(got.Jets) != 2 || got.Jets[1].Eta != 0 {
		t.Errorf("read %+v, %v", got, err)
	}
	// What is there must fit all the same.
	if _, err := rntuple.ViewOf[struct {
		X string `rntuple:"x"`
	}](r, ""); !isMismatch(err) {
		t.Errorf("error %v", err)
	}
	// The option is for reading only.
	type described struct {
		Y int8 `rntuple:"y,optional,desc=what the writer says, optional"`
	}
	if f := stored(t, []described{{7}}, nil, nil).Schema().Fields[0]; f.Name != "y" || f.TypeName != "std::int8_t" ||
		f.Description != "what the writer says, optional" {
		t.Errorf("the writer made %+v", f)
	}
}

// TestBases reads members that have moved between a class and its bases, bases
// that are new and bases that are gone, by the name of the member.
func TestBases(t *testing.T) {
	type (
		Root struct{ A, B int32 }
		Mid  struct {
			Root `rntuple:":_0,class=Root"`
			M    int32
		}
		Side struct{ S, M2 int32 }
		deep struct {
			Mid  `rntuple:":_0,class=Mid"`
			Side `rntuple:":_1,class=Side"`
			D    int32
			V    []int16
		}
		flat struct {
			D, M, A, B, S int32
			V             []int16
		}
	)
	type onDeep struct {
		X deep `rntuple:"x,class=Deep"`
	}
	type onFlat struct {
		X flat `rntuple:"x,class=Deep"`
	}
	var inDeep deep
	inDeep.A, inDeep.B, inDeep.M, inDeep.S, inDeep.D, inDeep.V = 1, 2, 3, 4, 5, []int16{6}
	inFlat := flat{A: 1, B: 2, M: 3, S: 4, D: 5, V: []int16{6}}
	withBases := stored(t, []onDeep{{}, {inDeep}}, nil, nil)
	withNone := stored(t, []onFlat{{}, {inFlat}}, nil, nil)

	got1, err := at[flat](withBases, "x", 1)
	if err != nil || !reflect.DeepEqual(got1, inFlat) {
		t.Errorf("read %+v, %v", got1, err)
	}
	type lessDeep struct { // without M2, which the file lacks
		Mid  `rntuple:":_0"`
		Side struct{ S int64 } `rntuple:":_1"`
		D    int32
		V    []int32
	}
	got2, err := at[lessDeep](withNone, "x", 1)
	if want := (lessDeep{Mid: inDeep.Mid, Side: struct{ S int64 }{4}, D: 5, V: []int32{6}}); err != nil ||
		!reflect.DeepEqual(got2, want) {
		t.Errorf("read %+v, %v", got2, err)
	}
	type flattened struct { // Go's own way to have a base
		Mid2 struct {
			A int32
		} `rntuple:":_0"`
		Root
		D int32
	}
	if _, err := at[flattened](withBases, "x", 1); err == nil ||
		!strings.Contains(err.Error(), `field "x.:_0.:_0.A" is the only one`) {
		t.Errorf("error %v", err)
	}
	type embedded struct {
		Root
		D int8
	}
	got3, err := at[embedded](withBases, "x", 1)
	if want := (embedded{Root{1, 2}, 5}); err != nil || got3 != want {
		t.Errorf("read %+v, %v", got3, err)
	}
	// From one base to another, and from a class to its base.
	type swapped struct {
		Mid struct {
			D, M, A int32
		} `rntuple:":_0"`
		S int32
	}
	got4, err := at[swapped](withBases, "x", 1)
	if want := (swapped{Mid: struct{ D, M, A int32 }{5, 3, 1}, S: 4}); err != nil || got4 != want {
		t.Errorf("read %+v, %v", got4, err)
	}
	_, err = at[lessDeep](withBases, "x", 1)
	if err != nil {
		t.Errorf("error %v", err)
	}
	type missing struct {
		Mid struct{ Z int32 } `rntuple:":_0"`
		Y   int32
	}
	_, err = at[missing](withBases, "x", 1)
	if !errors.Is(err, rntuple.ErrNoField) || !strings.Contains(err.Error(), `"Z" in field "x.:_0"`) ||
		!strings.Contains(err.Error(), `"Y" in field "x"`) {
		t.Errorf("error %v", err)
	}

	// Two bases have a member of one name: neither is meant; a nearer one hides them.
	type twins struct {
		X struct {
			L Root `rntuple:":_0,class=Root"`
			R struct {
				Root `rntuple:":_0,class=Root"`
				A    int32
			} `rntuple:":_1,class=Right"`
		} `rntuple:"x,class=Twins"`
	}
	var e twins
	e.X.R.A = 9
	r := stored(t, []twins{e}, nil, nil)
	if _, err := at[struct{ B int32 }](r, "x", 0); !isMismatch(err) ||
		!strings.Contains(err.Error(), "several base classes") {
		t.Errorf("error %v", err)
	}
	if got, err := at[struct {
		R struct{ A int8 } `rntuple:":_1"`
	}](r, "x", 0); err != nil || got.R.A != 9 {
		t.Errorf("read %v, %v", got, err)
	}
}

// at reads the value of one entry.
func at[T any](r *rntuple.Reader, path string, entry int64) (value T, err error) {
	v, err := rntuple.ViewOf[T](r, path)
	if err != nil {
		return value, err
	}
	return v.At(entry)
}

// TestCardinality reads the sizes of collections as integers that can hold them,
// or not.
func TestCardinality(t *testing.T) {
	type entry struct{ V []bool }
	entries := []entry{{}, {make([]bool, 127)}, {make([]bool, 255)}, {make([]bool, 256)}, {}}
	var m memory
	f, err := rntuple.NewFile(&m, "sizes.root", fixed)
	if err != nil {
		t.Fatal(err)
	}
	w, err := rntuple.NewWriter[entry](f, "n",
		&rntuple.WriteOptions{Projections: []rntuple.Projection{{Name: "n",
			CppType: "ROOT::RNTupleCardinality<std::uint32_t>", Source: "V"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.WriteBatch(entries), w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.NewReader(bytes.NewReader(m.b), int64(len(m.b)), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		typ  reflect.Type
		lost int64 // entry
	}{
		{reflect.TypeFor[int8](), 2}, {reflect.TypeFor[uint8](), 3}, {reflect.TypeFor[int16](), -1},
		{reflect.TypeFor[uint16](), -1},
		{reflect.TypeFor[int32](), -1}, {reflect.TypeFor[int](), -1}, {reflect.TypeFor[uintptr](), -1},
		{reflect.TypeFor[*uint64](), -1},
	} {
		all, err := readAs(t, r, "n", test.typ)
		var lost *schema.ConversionError
		switch {
		case errors.As(err, &lost):
			if lost.Entry != test.lost || lost.Value != uint64(len(entries[test.lost].V)) || lost.Path != "n" {
				t.Errorf("%v: error %v", test.typ, err)
			}
		case err != nil || test.lost >= 0:
			t.Errorf("%v: error %v", test.typ, err)
		default:
			for i, e := range entries {
				if got := fmt.Sprint(reflect.Indirect(all.Index(i))); got != fmt.Sprint(len(e.V)) {
					t.Errorf("%v, entry %d: %s, want %d", test.typ, i, got, len(e.V))
				}
			}
		}
	}
}

// TestSeveral makes sure that optional values of which a file has several are an
// error in every form.
func TestSeveral(t *testing.T) {
	b := newBuilder(t)
	vector(b)
	b.header.Fields[0].TypeName = "std::optional<std::int32_t>"
	b.cluster(3, chunk(0, page[uint64](b, column.Index64, 1, 1, 3)), chunk(0, page[int32](b, column.Int32, 1, 2, 3)))
	r, err := b.open(edits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[[]int32](), reflect.TypeFor[*int64](), reflect.TypeFor[any]()} {
		if _, err := readAs(t, r, "v", typ); !errors.Is(err, rntuple.ErrCorrupt) {
			t.Errorf("%v: error %v", typ, err)
		}
	}
	j, err := rntuple.JaggedOf[int32](r, "v")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := j.Read(make([]int64, 4), nil, 0); !errors.Is(err, rntuple.ErrCorrupt) ||
		!strings.Contains(err.Error(), "item 2 has 2 values") {
		t.Errorf("error %v", err)
	}
	if items, _, err := j.Read(make([]int64, 3), nil, 0); err != nil || !slices.Equal(items, []int32{1}) {
		t.Errorf("items %v, error %v", items, err)
	}
}

func ExampleReadOptions_allowMissing() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "old.root")
	type old struct {
		Run int32 `rntuple:"run"`
	}
	w, err := rntuple.Create[old](path, "events", nil)
	if err != nil {
		log.Fatal(err)
	}
	w.Write(&old{Run: 300})
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	r, err := rntuple.Open(path, "events", &rntuple.ReadOptions{AllowMissing: true})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	type event struct {
		Run    int64   `rntuple:"run"`
		Weight float32 `rntuple:"weight"` // or `rntuple:"weight,optional"` without AllowMissing
	}
	for e, err := range rntuple.Entries[event](r) {
		fmt.Println(*e, err)
	}
	// Output: {300 0} <nil>
}

func ExampleConversionError() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "numbers.root")
	type entry struct {
		N []int32 `rntuple:"n"`
	}
	w, err := rntuple.Create[entry](path, "events", nil)
	if err != nil {
		log.Fatal(err)
	}
	w.Write(&entry{N: []int32{1, 2}})
	w.Write(&entry{N: []int32{3, 300}})
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	r, err := rntuple.Open(path, "events", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	v, err := rntuple.ViewOf[[]uint8](r, "n") // as narrow as its values allow
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range v.All() {
		fmt.Println(n)
	}
	fmt.Println(v.Err())
	var lost *schema.ConversionError
	if errors.As(v.Err(), &lost) {
		fmt.Println(lost.Entry, lost.Value)
	}
	// Output:
	// field "n._0", entry 1: value out of range: 300 does not fit uint8
	// 1 300
}
