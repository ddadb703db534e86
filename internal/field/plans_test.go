package field_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/rntuple/cpp"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// nested returns a source of two clusters with a collection of records, an array
// and a variant.
func nested(t *testing.T) *schema.Schema {
	return build(t, vector("v", record("", fieldOf(t, "x", "float"), fieldOf(t, "s", "std::string"))),
		fieldOf(t, "a", "std::array<std::vector<bool>,2>"),
		fieldOf(t, "o", "std::variant<bool,std::vector<bool>>"), record("r", fieldOf(t, "n", "std::uint8_t")))
}

// TestPaths reads fields below others: a collection or array on the way adds a
// slice, an optional a pointer, a record nothing. No way leads through a variant.
func TestPaths(t *testing.T) {
	s := nested(t)
	in := func(x ...float32) cluster {
		return cluster{2, columns{
			"v/0": of(uint64(len(x)), uint64(len(x))), "v._0.x/0": of(x...), "v._0.s/0": of(make([]uint64, len(x))...),
			"a._0/0": of[uint64](1, 1, 2, 2), "a._0._0/0": of(true, false), "r.n/0": of[uint8](8, 9),
			"o/0": of(column.Tagged{}, column.Tagged{}),
		}}
	}
	src := source(t, s, in(1, 2, 3, 4), in(5))
	for _, test := range []struct {
		path string
		want any
	}{
		{"v._0.x", [][]float32{{1, 2, 3, 4}, nil, {5}, nil}},
		{"v._0.x", [][]float64{{1, 2, 3, 4}, nil, {5}, nil}},
		{"v._0.s", [][]string{{"", "", "", ""}, nil, {""}, nil}},
		{"a._0", [][2][]bool{{{true}, nil}, {{false}, nil}, {{true}, nil}, {{false}, nil}}},
		{"a._0._0", [][][]bool{{{true}, nil}, {{false}, nil}, {{true}, nil}, {{false}, nil}}},
		{"r.n", []uint8{8, 9, 8, 9}},
		{"v._0.x", list{list{float32(1), float32(2), float32(3), float32(4)}, list(nil), list{float32(5)}, list(nil)}},
	} {
		got, err := read(t, src, test.path, reflect.TypeOf(test.want).Elem(), options)
		if err != nil || !reflect.DeepEqual(got.Interface(), test.want) {
			t.Errorf("%s: %v, error %v, want %v", test.path, got, err, test.want)
		}
	}
	for _, test := range []struct {
		path string
		typ  any
		want string
	}{
		{"v._0.x", []string{}, `field "v._0.x": float does not fit string, float32 would`},
		{"v._0", [][]float32{},
			`items of field "v": untyped record does not fit []float32, a struct with the fields x, s would`},
		{"o._0", false, `field "o._0": paths do not lead through a variant`},
		{"", 5, "the Go type does not fit the RNTuple: an entry does not fit int, a struct with the fields v, a, o, r would"},
		{"", struct{ None int8 }{}, "None"},
		{"", struct {
			R int8 `rntuple:"r"`
			V int8 `rntuple:"v"`
		}{}, `field "r": untyped record does not fit int8, a struct with the fields n would; field "v": untyped collection does not fit int8`},
	} {
		_, err := read(t, src, test.path, reflect.TypeOf(test.typ), options)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s as %T: error %v, want %s", test.path, test.typ, err, test.want)
		}
	}
	// The entry itself is no field.
	if _, err := read(t, src, "", reflect.TypeOf(struct{ None int8 }{}), options); !errors.Is(err, schema.ErrNoField) ||
		strings.Contains(err.Error(), `field ""`) {
		t.Errorf("error %v", err)
	}
}

// TestOrder reads entries one by one in order, and then some again.
func TestOrder(t *testing.T) {
	const n = 40
	s := build(t, fieldOf(t, "v", "std::vector<std::uint16_t>"), fieldOf(t, "w", "std::vector<std::uint16_t>"))
	var clusters []cluster
	for c := range 3 {
		ends, items := make([]uint64, n), []uint16{}
		for i := range ends {
			items = append(items, make([]uint16, i%4)...)
			for j := range i % 4 {
				items[len(items)-1-j] = uint16(c*n + i)
			}
			ends[i] = uint64(len(items))
		}
		clusters = append(clusters, cluster{n,
			columns{"v/0": of(ends...), "v._0/0": of(items...), "w/0": of(ends...), "w._0/0": of(items...)}})
	}
	src := source(t, s, clusters...)
	src.Budget, src.Workers = 1<<20, 2
	type both struct {
		V []uint16 `rntuple:"v"`
		W []uint16 `rntuple:"w"`
	}
	plan, err := field.Compile(src, nil, reflect.TypeFor[both](), options)
	if err != nil {
		t.Fatal(err)
	}
	check := func(i int64) {
		var got both
		if err := plan.Read(context.Background(), i, 1, unsafe.Pointer(&got)); err != nil {
			t.Fatal(err)
		}
		want := strings.Repeat(fmt.Sprint(i, " "), int(i%n%4))
		if have := strings.Trim(fmt.Sprint(got.V), "[]"); have != strings.TrimSpace(want) ||
			!reflect.DeepEqual(got.V, got.W) {
			t.Errorf("entry %d: %v", i, got)
		}
	}
	plan.InOrder(0, 3*n)
	for i := range int64(3 * n) {
		check(i)
	}
	plan.Stop()
	for _, i := range []int64{2 * n, 3*n - 1, 5, 6, 3, 0} {
		check(i)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := plan.Read(ctx, 0, 3*n, unsafe.Pointer(unsafe.SliceData(make([]both, 3*n)))); !errors.Is(err,
		context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestBudget makes sure that batches shrink until their memory is allowed, and that
// an entry which needs too much is an error.
func TestBudget(t *testing.T) {
	s := build(t, fieldOf(t, "v", "std::vector<std::int64_t>"))
	const n = 50
	ends, items := make([]uint64, n), make([]int64, 0)
	for i := range ends {
		items = append(items, make([]int64, i)...)
		ends[i] = uint64(len(items))
	}
	src := source(t, s, cluster{n, columns{"v/0": of(ends...), "v._0/0": of(items...)}})
	got, err := read(t, src, "v", reflect.TypeFor[[]int64](), field.Options{Budget: 8 * (n - 1)})
	if err != nil || got.Index(n-1).Len() != n-1 {
		t.Errorf("error %v", err)
	}
	_, err = read(t, src, "v", reflect.TypeFor[[]int64](), field.Options{Budget: 8*(n-1) - 1})
	if !errors.Is(err, frame.ErrUnsupported) || !strings.Contains(err.Error(), fmt.Sprintf("entry %d of at least", n-1)) {
		t.Errorf("error %v", err)
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[any](), reflect.TypeFor[[]*int64](), reflect.TypeFor[*[]int64]()} {
		if _, err := read(t, src, "v", typ, field.Options{Budget: 100}); !errors.Is(err, frame.ErrUnsupported) {
			t.Errorf("%v: error %v", typ, err)
		}
	}

	for _, test := range []struct {
		cppType string
		columns columns // of one entry
		typ     reflect.Type
		need    int64 // bytes
	}{
		{"std::string", columns{"f/0": of[uint64](10), "f/1": characters("0123456789")}, reflect.TypeFor[string](), 10},
		{"std::string", columns{"f/0": of[uint64](10), "f/1": characters("0123456789")}, reflect.TypeFor[[]byte](), 10},
		{"std::vector<std::string>",
			columns{"f/0": of[uint64](2), "f._0/0": of[uint64](3, 7), "f._0/1": characters("0123456")},
			reflect.TypeFor[[]string](), 2*int64(unsafe.Sizeof("")) + 7},
		{"std::array<std::int16_t,3>", columns{"f._0/0": of[int16](1, 2, 3)}, reflect.TypeFor[[]int16](), 3 * 2},
		{"std::bitset<9>", columns{"f/0": of(make([]bool, 9)...)}, reflect.TypeFor[[]bool](), 9},
		{"std::optional<std::int64_t>", columns{"f/0": of[uint64](1), "f._0/0": of[int64](1)}, reflect.TypeFor[*int64](), 8},
		{"std::optional<std::int64_t>", columns{"f/0": of[uint64](1), "f._0/0": of[int64](1)}, reflect.TypeFor[[]int64](), 8},
		// Two anys, and what they point to.
		{"std::pair<std::int8_t,std::int16_t>", columns{"f._0/0": of[int8](1), "f._1/0": of[int16](2)},
			reflect.TypeFor[value.Record](), 2*int64(unsafe.Sizeof(any(nil))) + 1 + 2},
	} {
		src := source(t, build(t, fieldOf(t, "f", test.cppType)), cluster{1, test.columns})
		for missing := range int64(2) {
			_, err := read(t, src, "f", test.typ, field.Options{Budget: test.need - missing})
			if errors.Is(err, frame.ErrUnsupported) != (missing > 0) {
				t.Errorf("%s as %v, %d bytes without %d: error %v", test.cppType, test.typ, test.need, missing, err)
			}
		}
	}
}

// TestModerateBatches makes sure that batches shrink if they need more than 4 MiB, even where all of
// it is allowed, and grow if they need little.
func TestModerateBatches(t *testing.T) {
	const n = 2560
	ends := make([]uint64, n)
	for i := range ends {
		ends[i] = uint64(i + 1)
	}
	src := source(t, build(t, vector("v", vector("", record("", fieldOf(t, "X", "std::int8_t"))))),
		cluster{n, columns{"v/0": of(ends...), "v._0/0": of(ends...), "v._0._0.X/0": of(make([]int8, n)...)}})
	type large struct { // 1024 of them need 6 MiB
		X int8
		_ [6<<10 - 1]byte
	}
	type small struct{ X int8 }
	for typ, want := range map[reflect.Type]string{
		reflect.TypeFor[[]large](): "[1024 512 512 512]", reflect.TypeFor[[]small](): "[1024 1536]"} {
		j, err := field.CompileJagged(src, lookup(t, src.Schema, "v"), typ, field.Options{Budget: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		var batches []int64
		err = j.Read(t.Context(), 0, n, make([]int64, n), func(lo, hi int64) unsafe.Pointer {
			batches = append(batches, hi-lo)
			return reflect.MakeSlice(reflect.SliceOf(typ), int(hi-lo), int(hi-lo)).UnsafePointer()
		})
		if j.Stop(); err != nil || fmt.Sprint(batches) != want {
			t.Errorf("%v: batches of %v entries, want %s, error %v", typ, batches, want, err)
		}
	}
}

// TestCorrupt reads elements that contradict each other, in every form.
func TestCorrupt(t *testing.T) {
	ints := func(n int) elements { return of(make([]int32, n)...) }
	for _, test := range []struct {
		cppType string
		entries int
		columns columns
		types   []any
		want    string
	}{
		{"std::vector<std::int32_t>", 3, columns{"f/0": of[uint64](1, 3, 2), "f._0/0": ints(3)},
			list{[]int32{}, []any{}, any(nil)}, "the collection of item 2 ends at 2, before it begins at 3"},
		{"std::vector<std::int32_t>", 1, columns{"f/0": of[uint64](math.MaxInt64 + 1), "f._0/0": ints(3)},
			list{[]int32{}, any(nil)}, "a collection ends at 9223372036854775808"},
		{"std::optional<std::int32_t>", 2, columns{"f/0": of[uint64](1, 3), "f._0/0": ints(3)},
			list{ptr[int32](0), []int32{}, any(nil)}, "item 1 has 2 values, expected one at most"},
		{"std::map<std::int32_t,std::int32_t>", 2,
			columns{"f/0": of[uint64](0, 2), "f._0._0/0": ints(2), "f._0._1/0": ints(2)}, list{map[int32]int32{}},
			"item 1: 2 keys, of which 1 are different"},
		{"std::variant<std::int32_t,bool>", 1, columns{"f/0": of(column.Tagged{Tag: 3}), "f._0/0": ints(1)}, list{any(nil)},
			"item 0 has the tag 3, there are 2 alternatives"},
		{"std::variant<std::int32_t,bool>", 1, columns{"f/0": of(column.Tagged{Tag: 1, Index: 5}), "f._0/0": ints(1)},
			list{any(nil)}, ""},
		{"std::string", 1, columns{"f/0": of[uint64](5), "f/1": characters("four")}, list{"", []byte{}, any(nil)}, ""},
		{"std::vector<std::int32_t>", 1, columns{"f/0": of[uint64](4), "f._0/0": ints(3)},
			list{[]int32{}, []int64{}, any(nil)}, ""},
	} {
		s := build(t, fieldOf(t, "f", test.cppType))
		for _, v := range test.types {
			typ := reflect.TypeOf(v)
			if typ == nil {
				typ = reflect.TypeFor[any]()
			}
			_, err := read(t, source(t, s, cluster{test.entries, test.columns}), "f", typ, options)
			if !errors.Is(err, frame.ErrCorrupt) || !strings.Contains(err.Error(), test.want) ||
				!strings.Contains(err.Error(), `field "f`) {
				t.Errorf("%s as %v: error %v, want %s", test.cppType, typ, err, test.want)
			}
		}
	}
	s := build(t, fieldOf(t, "f", "std::map<std::vector<bool>,bool>"))
	src := source(t, s, cluster{1, columns{"f/0": of[uint64](1), "f._0._0/0": of[uint64](0), "f._0._1/0": of(true)}})
	if _, err := read(t, src, "f", reflect.TypeFor[map[any]bool](), options); err == nil ||
		!strings.Contains(err.Error(), "keys of map[interface {}]bool cannot be []interface {}") {
		t.Errorf("error %v", err)
	}
}

// TestCardinality reads the sizes of collections into all integers.
func TestCardinality(t *testing.T) {
	size := func(bits int) *schema.FieldDocument {
		return &schema.FieldDocument{Name: fmt.Sprint("n", bits),
			Type: fmt.Sprintf("ROOT::RNTupleCardinality<std::uint%d_t>", bits), Role: "plain", Source: "v"}
	}
	s := build(t, fieldOf(t, "v", "std::vector<bool>"), size(32), size(64))
	const n = 300 // more than are converted at once
	ends := make([]uint64, n)
	for i := range ends {
		ends[i] = uint64(i * (i + 1) / 2) // sizes 0, 1, 2, ...
	}
	src := source(t, s, cluster{n, columns{"v/0": of(ends...), "v._0/0": of(make([]bool, ends[n-1])...)}})
	for _, typ := range goTypes {
		hi := uint64(n)
		if isInt(typ) {
			_, most := limits(typ)
			hi = most.Uint64()
		}
		got, err := read(t, src, "n32", typ, options)
		var lost *schema.ConversionError
		var mismatch *schema.MismatchError
		switch {
		case !isInt(typ) && typ.Kind() != reflect.Uintptr:
			if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), ", uint64 would") {
				t.Errorf("%v: error %v", typ, err)
			}
		case hi < n-1:
			if !errors.As(err, &lost) || lost.Entry != int64(hi)+1 || lost.Value != hi+1 {
				t.Errorf("%v: error %v", typ, err)
			}
		case err != nil || fmt.Sprint(got.Index(n-1)) != fmt.Sprint(n-1):
			t.Errorf("%v: %v, error %v", typ, got, err)
		}
	}
	got, err := read(t, src, "n64", reflect.TypeFor[any](), options)
	if err != nil || got.Index(299).Interface() != uint64(299) {
		t.Errorf("%v, error %v", got, err)
	}
	src = source(t, s, cluster{2, columns{"v/0": of[uint64](7, 7+1<<32)}})
	if _, err := read(t, src, "n32", reflect.TypeFor[int](), options); !errors.Is(err, frame.ErrCorrupt) ||
		!strings.HasSuffix(err.Error(), "item 1: a collection of 4294967296 items, the type holds at most 4294967295") {
		t.Errorf("error %v", err)
	}
	if got, err := read(t, src, "n64", reflect.TypeFor[int64](), options); err != nil || got.Index(1).Int() != 1<<32 {
		t.Errorf("%v, error %v", got, err)
	}
}

// TestDense reads optionals of pre-release formats: an item each, and a bit that
// says whether it counts.
func TestDense(t *testing.T) {
	h := envelope.Header{Name: "n", Schema: envelope.Schema{
		Fields: []envelope.Field{
			{Name: "o", TypeName: "std::optional<std::int16_t>", Role: envelope.RoleCollection},
			{Name: "_0", TypeName: "std::int16_t"},
		},
		Columns: []envelope.Column{{Type: column.Bit, Bits: 1, PreRelease: true}, {Type: column.Int16, Bits: 16, Field: 1}},
	}}
	s, err := schema.Build(&h, nil)
	if err != nil || len(s.Hidden) > 0 {
		t.Fatal(err, s.Hidden)
	}
	// The elements of format 1 are the same here.
	src := source(t, s, cluster{3, columns{
		"o/0":    {n: 3, encode: func(column.Format) ([]byte, error) { return []byte{0b101}, nil }},
		"o._0/0": {n: 3, encode: func(column.Format) ([]byte, error) { return []byte{4, 0, 5, 0, 6, 0}, nil }},
	}})
	for _, want := range []any{[]*int16{ptr[int16](4), nil, ptr[int16](6)}, []*int64{ptr[int64](4), nil, ptr[int64](6)},
		[][]int16{{4}, nil, {6}}, list{int16(4), nil, int16(6)}} {
		got, err := read(t, src, "o", reflect.TypeOf(want).Elem(), options)
		if err != nil || !reflect.DeepEqual(got.Interface(), want) {
			t.Errorf("%v, error %v, want %v", got, err, want)
		}
	}
	if _, err := read(t, src, "o", reflect.TypeFor[int16](), options); err == nil ||
		!strings.Contains(err.Error(), "*int16 would") {
		t.Errorf("error %v", err)
	}
	if _, err := read(t, src, "o._0", reflect.TypeFor[*int16](), field.Options{Budget: 2}); !errors.Is(err,
		frame.ErrUnsupported) {
		t.Errorf("error %v", err)
	}
	for budget, want := range map[int64]error{2: frame.ErrUnsupported, 3: nil} { // a bool and an item
		b, err := field.CompileBatches(src, [][]*schema.Field{lookup(t, s, "o")}, false, field.Options{Budget: budget})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.Read(t.Context(), 0, 3); !errors.Is(err, want) {
			t.Errorf("%d bytes for an entry: error %v", budget, err)
		}
	}
	if _, err := field.CompileJagged(src, lookup(t, s, "o"), reflect.TypeFor[int16](), options); !errors.Is(err,
		frame.ErrUnsupported) {
		t.Errorf("error %v", err)
	}
}

// TestJagged reads and writes the items of collections as one array.
func TestJagged(t *testing.T) {
	s := build(t, record("r", fieldOf(t, "v", "std::vector<std::pair<std::int32_t,float>>")), fieldOf(t, "x", "float"))
	in := func(first int32) cluster {
		return cluster{3, columns{"r.v/0": of[uint64](2, 2, 3), "r.v._0._0/0": of(first, first+1, first+2),
			"r.v._0._1/0": of[float32](1, 2, 3), "x/0": of[float32](0, 0, 0)}}
	}
	src := source(t, s, in(1), in(4))
	type pair = cpp.Pair[int64, float32]
	for path, typ := range map[string]reflect.Type{"r.v._0._0": reflect.TypeFor[int64](), "r.v": reflect.TypeFor[pair]()} {
		j, err := field.CompileJagged(src, lookup(t, s, path), typ, options)
		if err != nil {
			t.Fatal(err)
		}
		ends, all := make([]int64, 4), reflect.MakeSlice(reflect.SliceOf(typ), 4, 4)
		err = j.Read(context.Background(), 1, 4, ends, func(lo, hi int64) unsafe.Pointer {
			if hi > 4 {
				t.Fatalf("items to %d", hi)
			}
			return all.Index(int(lo)).Addr().UnsafePointer()
		})
		want := map[string]string{"r.v._0._0": "[3 4 5 0]", "r.v": "[{3 3} {4 1} {5 2} {0 0}]"}[path]
		if err != nil || fmt.Sprint(ends) != "[0 1 3 3]" || fmt.Sprint(all) != want {
			t.Errorf("%s: items %v, ends %v, error %v", path, all, ends, err)
		}
		j.Stop()
	}
	calls := 0
	many := numberedSource(t, 5000) // needs no memory but that of the caller, who is called once
	j, err := field.CompileJagged(many, lookup(t, many.Schema, "v"), reflect.TypeFor[int32](), options)
	if err != nil {
		t.Fatal(err)
	}
	err = j.Read(t.Context(), 0, 5000, make([]int64, 5000), func(lo, hi int64) unsafe.Pointer {
		calls++
		return unsafe.Pointer(unsafe.SliceData(make([]int32, hi-lo)))
	})
	if j.Stop(); err != nil || calls != 1 {
		t.Errorf("%d calls, error %v", calls, err)
	}
	if _, err := field.CompileJagged(src, lookup(t, s, "x"), reflect.TypeFor[float32](), options); err == nil ||
		!strings.Contains(err.Error(), `field "x" of type float is no collection`) {
		t.Errorf("error %v", err)
	}

	s = build(t, fieldOf(t, "v", "std::vector<std::int32_t>"), fieldOf(t, "o", "std::optional<bool>"))
	w, o := newSink(s)
	plan, err := o.CompileJagged(s.Fields[0], reflect.TypeFor[int64]())
	if err != nil {
		t.Fatal(err)
	}
	items := []int64{0, 1, 2, 3, 4}
	if err := plan.Write([]int64{1, 3, 3, 5}, unsafe.Pointer(&items[1])); err != nil {
		t.Error(err)
	}
	if err := plan.Write([]int64{2, 1}, unsafe.Pointer(&items[0])); err == nil || err.Error() != "offset 1 is 1, after 2" {
		t.Errorf("error %v", err)
	}
	if err := plan.Write([]int64{7, 7}, nil); err != nil {
		t.Error(err)
	}
	if err := w.EndEntries(4); err != nil {
		t.Fatal(err)
	}
	written := w.source(t)
	if ends, numbers := stored(t, written, "v/0", 0), stored(t, written, "v._0/0", 0); ends != "[2 2 4 4]" ||
		numbers != "[1 2 3 4]" {
		t.Errorf("wrote %s, %s", ends, numbers)
	}
	if _, err := o.CompileJagged(s.Fields[1], reflect.TypeFor[bool]()); err == nil ||
		!strings.Contains(err.Error(), "is no collection") {
		t.Errorf("error %v", err)
	}
	if _, err := o.CompileJagged(s.Fields[0], reflect.TypeFor[string]()); err == nil ||
		!strings.Contains(err.Error(), "does not fit string") {
		t.Errorf("error %v", err)
	}
	src = source(t, s, cluster{2, columns{"v/0": of[uint64](0, 0), "o/0": of[uint64](0, 2), "o._0/0": of(true, true)}})
	j, err = field.CompileJagged(src, lookup(t, s, "o"), reflect.TypeFor[bool](), options)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Read(context.Background(), 0, 2, make([]int64, 2), nil); !errors.Is(err, frame.ErrCorrupt) ||
		!strings.Contains(err.Error(), "item 1 has 2 values") {
		t.Errorf("error %v", err)
	}
	src = source(t, s, cluster{4, columns{"v/0": of[uint64](0, 0, 0, 0), "o/0": of[uint64](1, 1, 2, 3),
		"o._0/0": of(true, false, true)}})
	if j, err = field.CompileJagged(src, lookup(t, s, "o"), reflect.TypeFor[bool](), options); err != nil {
		t.Fatal(err)
	}
	ends, valid := make([]int64, 4), make([]bool, 3)
	err = j.Read(t.Context(), 0, 4, ends, func(lo, hi int64) unsafe.Pointer {
		return unsafe.Pointer(unsafe.SliceData(valid[lo:hi]))
	})
	if fmt.Sprint(ends, valid) != "[1 1 2 3] [true false true]" || err != nil {
		t.Errorf("ends %v, values %v, error %v", ends, valid, err)
	}
	s = nested(t)
	for _, path := range []string{"a", "a._0", "o", "r", "r.n"} { // arrays and variants have other items
		if _, err := field.CompileJagged(source(t, s), lookup(t, s, path), reflect.TypeFor[bool](), options); err == nil ||
			!strings.Contains(err.Error(), "is no collection") {
			t.Errorf("%s: error %v", path, err)
		}
	}
}

// TestTimeKeys makes sure that maps with times as keys, which can be read, are not written.
func TestTimeKeys(t *testing.T) {
	s := build(t, fieldOf(t, "m", "std::map<std::int64_t,bool>"), fieldOf(t, "s", "std::set<std::int64_t>"))
	_, o := newSink(s)
	for i, typ := range []reflect.Type{reflect.TypeFor[map[time.Time]bool](), reflect.TypeFor[map[time.Time]struct{}]()} {
		_, err := o.CompileField(s.Fields[i], typ)
		var mismatch *schema.MismatchError
		if !errors.As(err, &mismatch) || len(mismatch.Mismatches) != 1 || mismatch.Mismatches[0].Go != typ ||
			!strings.Contains(err.Error(), fmt.Sprintf("field %q: a time.Time cannot be the key of a map", s.Fields[i].Name)) {
			t.Errorf("%v: error %v", typ, err)
		}
	}
}

// TestGather copies what was read from other entries to where it belongs.
func TestGather(t *testing.T) {
	type item struct {
		N int32
		S string
	}
	type entry struct {
		Before int8
		Item   *item
		Any    any
		After  int8
	}
	members := []field.Member{
		{Name: "item", Type: reflect.TypeFor[*item](), Offset: unsafe.Offsetof(entry{}.Item)},
		{Name: "any", Type: reflect.TypeFor[any](), Offset: unsafe.Offsetof(entry{}.Any)},
	}
	g, err := field.NewGather(members, false)
	if err != nil {
		t.Fatal(err)
	}
	items := reflect.MakeSlice(reflect.SliceOf(g.Item()), 2, 2)
	for i, v := range []any{int32(5), value.Some{}} {
		items.Index(i).Field(0).Set(reflect.ValueOf(item{int32(i), "x"}))
		items.Index(i).Field(1).Set(reflect.ValueOf(v))
	}
	for i := range members {
		if typ, offset := g.Member(i); typ != g.Item().Field(i).Type || offset != g.Item().Field(i).Offset {
			t.Errorf("member %d: %v at %d", i, typ, offset)
		}
	}
	all := []entry{{Before: 1, After: 2}, {Item: new(item), Any: 1}, {}}
	g.Copy(unsafe.Pointer(&all[0]), unsafe.Sizeof(all[0]), []int32{1, -1, 0}, items.UnsafePointer())
	want := []entry{{1, &item{1, "x"}, value.Some{Value: value.Some{}}, 2}, {}, {Item: &item{0, "x"}, Any: int32(5)}}
	if !reflect.DeepEqual(all, want) {
		t.Errorf("%v", all)
	}

	type plain struct {
		N int32
		S string
	}
	members = []field.Member{{Name: "N", Type: reflect.TypeFor[int32]()},
		{Name: "S", Type: reflect.TypeFor[string](), Offset: unsafe.Offsetof(plain{}.S)}}
	if _, err := field.NewGather(members, false); err == nil ||
		!strings.Contains(err.Error(),
			`field "N": a field without a value in some entries does not fit int32, *int32 would`) {
		t.Errorf("error %v", err)
	}
	if g, err = field.NewGather(members, true); err != nil {
		t.Fatal(err)
	}
	items = reflect.MakeSlice(reflect.SliceOf(g.Item()), 1, 1)
	items.Index(0).Field(0).SetInt(7)
	items.Index(0).Field(1).SetString("seven")
	some := []plain{{1, "one"}, {2, "two"}}
	g.Copy(unsafe.Pointer(&some[0]), unsafe.Sizeof(some[0]), []int32{-1, 0}, items.UnsafePointer())
	if fmt.Sprint(some) != "[{0 } {7 seven}]" {
		t.Errorf("%v", some)
	}
}
