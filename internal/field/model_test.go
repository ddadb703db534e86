package field_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/rntuple/cpp"
	"github.com/go-rntuple/go-rntuple/schema"
)

// TestModel makes sure that the field for a Go type is that of the C++ type that it stands for.
func TestModel(t *testing.T) {
	for want, typ := range map[string]reflect.Type{
		"bool": reflect.TypeFor[bool](), "float": reflect.TypeFor[float32](), "double": reflect.TypeFor[float64](),
		"std::int64_t": reflect.TypeFor[int](), "std::uint64_t": reflect.TypeFor[uint](),
		"std::string": reflect.TypeFor[string](), "std::byte": reflect.TypeFor[cpp.Byte](),
		"char": reflect.TypeFor[cpp.Char](), "Double32_t": reflect.TypeFor[cpp.Double32](),
		"std::vector<float>":                           reflect.TypeFor[[]float32](),
		"std::array<float,3>":                          reflect.TypeFor[[3]float32](),
		"std::array<std::vector<bool>,2>":              reflect.TypeFor[[2][]bool](),
		"std::optional<float>":                         reflect.TypeFor[*float32](),
		"std::map<std::string,float>":                  reflect.TypeFor[map[string]float32](),
		"ROOT::VecOps::RVec<float>":                    reflect.TypeFor[cpp.RVec[float32]](),
		"std::set<std::string>":                        reflect.TypeFor[cpp.Set[string]](),
		"std::unordered_multiset<char>":                reflect.TypeFor[cpp.UnorderedMultiSet[cpp.Char]](),
		"std::multimap<std::int32_t,bool>":             reflect.TypeFor[cpp.MultiMap[int32, bool]](),
		"std::pair<std::int32_t,std::string>":          reflect.TypeFor[cpp.Pair[int32, string]](),
		"std::tuple<bool,std::vector<double>,float>":   reflect.TypeFor[cpp.Tuple3[bool, []float64, float32]](),
		"std::atomic<std::int16_t>":                    reflect.TypeFor[cpp.Atomic[int16]](),
		"std::unique_ptr<std::string>":                 reflect.TypeFor[cpp.UniquePtr[string]](),
		"std::vector<std::unique_ptr<std::set<bool>>>": reflect.TypeFor[[]cpp.UniquePtr[cpp.Set[bool]]](),
		"std::variant<std::int32_t,std::atomic<bool>>": reflect.TypeFor[cpp.Variant2[int32, cpp.Atomic[bool]]](),
	} {
		got, err := field.Model("n", reflect.StructOf([]reflect.StructField{{Name: "F", Type: typ}}))
		if err != nil {
			t.Errorf("%v: %v", typ, err)
			continue
		}
		f := fieldOf(t, "F", want)
		if !reflect.DeepEqual(got.Fields, []*schema.FieldDocument{f}) {
			t.Errorf("%v: %+v, want %+v", typ, *got.Fields[0], *f)
		}
	}
}

// TestModelEncodings makes sure that an encoding is that of the only leaf, wherever it is.
func TestModelEncodings(t *testing.T) {
	trunc := schema.ColumnDocument{Type: "Real32Trunc", Bits: 16}
	for _, typ := range []reflect.Type{reflect.TypeFor[float32](), reflect.TypeFor[[]float32](),
		reflect.TypeFor[[2]float32](), reflect.TypeFor[[][]float32](), reflect.TypeFor[*float32](),
		reflect.TypeFor[cpp.RVec[float32]](), reflect.TypeFor[[]cpp.Atomic[float32]]()} {
		doc, err := field.Model("n", reflect.StructOf([]reflect.StructField{{Name: "F", Type: typ,
			Tag: `rntuple:"f,trunc=16"`}}))
		if err != nil {
			t.Errorf("%v: %v", typ, err)
			continue
		}
		f := doc.Fields[0]
		for len(f.Fields) > 0 {
			if f.Columns != nil {
				t.Errorf("%v: columns %v of %s", typ, f.Columns, f.Type)
			}
			f = f.Fields[0]
		}
		if want := [][]schema.ColumnDocument{{trunc}}; !reflect.DeepEqual(f.Columns, want) {
			t.Errorf("%v: columns %v, want %v", typ, f.Columns, want)
		}
	}
	doc, err := field.Model("n", reflect.TypeFor[struct {
		S []string `rntuple:"s,encoding=SplitIndex32"`
	}]())
	if err != nil {
		t.Fatal(err)
	}
	want := [][]schema.ColumnDocument{{{Type: "SplitIndex32"}, {Type: "Char", Bits: 8}}}
	if got := doc.Fields[0].Fields[0].Columns; !reflect.DeepEqual(got, want) {
		t.Errorf("strings: columns %v, want %v", got, want)
	}
	_, err = field.Model("n", reflect.TypeFor[struct {
		P []cpp.Pair[float32, float32] `rntuple:"p,trunc=16"`
	}]())
	if err == nil || !strings.Contains(err.Error(), "p: the tag chooses an encoding, but the field has several leaves") {
		t.Errorf("a pair: error %v", err)
	}
}

// TestModelErrors makes sure that a type or tag without a field is an error.
func TestModelErrors(t *testing.T) {
	for _, test := range []struct {
		of   any
		want string
	}{
		{struct {
			A int32 `rntuple:"a,type=std::int32_t<"`
		}{}, "a: "},
		{struct {
			A []int32 `rntuple:"a,type=std::vector<None>"`
		}{}, "None"},
		{struct{ A chan int }{}, "A: values of type chan int cannot be written"},
		{struct{ A any }{}, "A: a field of type interface {} needs a C++ type"},
		{struct{ A []func() }{}, "A: values of type func() cannot be written"},
		{struct{ A map[string]chan int }{}, "A: values of type chan int cannot be written"},
		{5, "int is not a struct"},
	} {
		_, err := field.Model("n", reflect.TypeOf(test.of))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%T: error %v, want %s", test.of, err, test.want)
		}
	}
}

// TestInfallible makes sure which values can be written without an error: those that need no
// conversion and whose type fixes the lengths of arrays.
func TestInfallible(t *testing.T) {
	for _, test := range []struct {
		cppType string
		typ     reflect.Type
		want    bool
	}{
		{"std::int16_t", reflect.TypeFor[int16](), true},
		{"std::int16_t", reflect.TypeFor[int32](), false},
		{"std::string", reflect.TypeFor[string](), true},
		{"std::string", reflect.TypeFor[any](), false},
		{"std::vector<std::int16_t>", reflect.TypeFor[[]int16](), true},
		{"std::vector<std::int16_t>", reflect.TypeFor[[]int32](), false},
		{"std::array<std::int16_t,2>", reflect.TypeFor[[2]int16](), true},
		{"std::array<std::int16_t,2>", reflect.TypeFor[[]int16](), false},
		{"std::array<std::string,2>", reflect.TypeFor[[2]string](), true},
		{"std::array<std::string,2>", reflect.TypeFor[[]string](), false},
		{"std::bitset<3>", reflect.TypeFor[[3]bool](), true},
		{"std::bitset<3>", reflect.TypeFor[[]bool](), false},
		{"std::pair<bool,std::array<std::int16_t,2>>", reflect.TypeFor[cpp.Pair[bool, [2]int16]](), true},
		{"std::pair<std::array<std::int16_t,2>,bool>", reflect.TypeFor[cpp.Pair[[]int16, bool]](), false},
	} {
		s := build(t, fieldOf(t, "f", test.cppType))
		_, o := newSink(s)
		plan, err := o.CompileField(s.Fields[0], test.typ)
		if err != nil || plan.Infallible != test.want {
			t.Errorf("%v to %s: infallible %v, error %v", test.typ, test.cppType, plan.Infallible, err)
		}
	}
}

// TestBatchErrors reads damaged fields as Arrays: wherever they are, the error is reported.
func TestBatchErrors(t *testing.T) {
	bad := columns{"/0": of[uint64](2, 1), "._0/0": of(true, true)} // the second one ends before it begins
	for prefix, doc := range map[string]*schema.FieldDocument{
		"f":             fieldOf(t, "f", "std::vector<bool>"),
		"f.v":           record("f", fieldOf(t, "v", "std::vector<bool>")),
		"f.v.w":         record("f", record("v", fieldOf(t, "w", "std::vector<bool>"))),
		"f._0":          fieldOf(t, "f", "std::array<std::vector<bool>,1>"),
		"f._0 optional": fieldOf(t, "f", "std::optional<std::vector<bool>>"),
		"f._0 vector":   fieldOf(t, "f", "std::vector<std::vector<bool>>"),
	} {
		prefix, above, _ := strings.Cut(prefix, " ")
		all := columns{}
		for name, e := range bad {
			all[prefix+name] = e
		}
		if above != "" {
			all["f/0"] = of[uint64](1, 2)
		}
		src := source(t, build(t, doc), cluster{2, all})
		b, err := field.CompileBatches(src, [][]*schema.Field{lookup(t, src.Schema, "f")}, false, options)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.Read(t.Context(), 0, 2); err == nil || !strings.Contains(err.Error(), `field "`+prefix) {
			t.Errorf("%s %s: error %v", prefix, above, err)
		}
	}
}
