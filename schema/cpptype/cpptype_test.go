package cpptype

import (
	"reflect"
	"strings"
	"testing"
)

// Both tables map a name to its canonical spelling.

// fromROOT is what ROOT 6.40.00 made of these names:
// RFieldBase.Create("f", name).Unwrap().GetTypeName(), with dictionaries for
// Event, Tpl, P1, Outer, ns::V and so on.
var fromROOT = map[string]string{
	"const pair<size_t, array<class Event, 2>>": "std::pair<std::uint64_t,std::array<Event,2>>", // spec
	"Tpl<Long64_t,3>":                      "Tpl<std::int64_t,3>",
	"Tpl<const int,3>":                     "Tpl<const std::int32_t,3>",
	"Tpl<int const,3>":                     "Tpl<const std::int32_t,3>",
	"const std::vector<long>":              "std::vector<std::int64_t>",
	"std::string const":                    "std::string",
	"volatile int":                         "std::int32_t",
	"unsigned short int":                   "std::uint16_t",
	"long":                                 "std::int64_t",
	"unsigned long long int":               "std::uint64_t",
	"unsigned":                             "std::uint32_t",
	"unsigned long":                        "std::uint64_t",
	"long long":                            "std::int64_t",
	"long int":                             "std::int64_t",
	"signed":                               "std::int32_t",
	"signed long":                          "std::int64_t",
	"__int64":                              "std::int64_t",
	"Long64_t":                             "std::int64_t",
	"ULong64_t":                            "std::uint64_t",
	"Int_t":                                "std::int32_t",
	"UInt_t":                               "std::uint32_t",
	"Short_t":                              "std::int16_t",
	"UShort_t":                             "std::uint16_t",
	"Char_t":                               "char",
	"UChar_t":                              "std::uint8_t",
	"Bool_t":                               "bool",
	"Float_t":                              "float",
	"Double_t":                             "double",
	"Long_t":                               "std::int64_t",
	"ULong_t":                              "std::uint64_t",
	"signed char":                          "std::int8_t",
	"unsigned char":                        "std::uint8_t",
	"byte":                                 "std::byte",
	"size_t":                               "std::uint64_t",
	"std::size_t":                          "std::uint64_t",
	"ptrdiff_t":                            "std::int64_t",
	"std::ptrdiff_t":                       "std::int64_t",
	"int8_t":                               "std::int8_t",
	"uint64_t":                             "std::uint64_t",
	"vector<size_t>":                       "std::vector<std::uint64_t>",
	"int[2][3]":                            "std::array<std::array<std::int32_t,3>,2>",
	"std::string[4]":                       "std::array<std::string,4>",
	"const int[2]":                         "std::array<std::int32_t,2>",
	"vector<int>[2]":                       "std::array<std::vector<std::int32_t>,2>",
	"int[2u]":                              "std::array<std::int32_t,2>",
	"std::vector<int,std::allocator<int>>": "std::vector<std::int32_t>",
	"std::set<int,std::less<int>>":         "std::set<std::int32_t>",
	"std::set<int,std::greater<int>>":      "std::set<std::int32_t>",
	"std::unique_ptr<int,std::default_delete<int>>": "std::unique_ptr<std::int32_t>",
	"ROOT::RVec<int>":                          "ROOT::VecOps::RVec<std::int32_t>",
	"ROOT::RNTupleCardinality<unsigned>":       "ROOT::RNTupleCardinality<std::uint32_t>",
	"Outer<int>::Inner<float>":                 "Outer<std::int32_t>::Inner<float>",
	"Outer<int>::Plain":                        "Outer<std::int32_t>::Plain",
	"Outer<long>::Inner<const float>":          "Outer<std::int64_t>::Inner<const float>",
	"::Event":                                  "Event",
	"::std::vector<int>":                       "std::vector<std::int32_t>",
	"class Event":                              "Event",
	"struct Hit":                               "Hit",
	"enum Col":                                 "Col",
	"bitset<16u>":                              "std::bitset<16>",
	"std::array<int,3ul>":                      "std::array<std::int32_t,3>",
	"TB<true>":                                 "TB<true>",
	"TU<18446744073709551615>":                 "TU<18446744073709551615u>",
	"TU<9223372036854775807>":                  "TU<9223372036854775807>",
	"TU<9223372036854775808u>":                 "TU<9223372036854775808u>",
	"TU<5u>":                                   "TU<5>",
	"TL<-5>":                                   "TL<-5>",
	"TL<010>":                                  "TL<8>",
	"ns::V<ns::V<long long>>":                  "ns::V<ns::V<std::int64_t>>",
	"P1<vector<long,allocator<long> > >":       "P1<std::vector<std::int64_t>>",
	"P1<int[3]>":                               "P1<std::array<std::int32_t,3>>",
	"P1<const int[2]>":                         "P1<const std::array<std::int32_t,2>>",
	"P1<int const[2]>":                         "P1<const std::array<std::int32_t,2>>",
	"P1<const vector<int>>":                    "P1<const std::vector<std::int32_t>>",
	"P1<long double>":                          "P1<long double>",
	"P1<::Event>":                              "P1<Event>",
	"P1<volatile const int>":                   "P1<const volatile std::int32_t>",
	"P1<std::pair<const int,float>>":           "P1<std::pair<std::int32_t,float>>",
	"P1<std::vector<P1<const int>>>":           "P1<std::vector<P1<const std::int32_t>>>",
	"PV<int,  long >":                          "PV<std::int32_t,std::int64_t>",
	"std::vector<std::vector<const float>>":    "std::vector<std::vector<float>>",
	"std::tuple<int const,volatile char>":      "std::tuple<std::int32_t,char>",
	"std::atomic<const int>":                   "std::atomic<std::int32_t>",
	"unordered_multiset<unsigned char>":        "std::unordered_multiset<std::uint8_t>",
	"std::multimap<short,char>":                "std::multimap<std::int16_t,char>",
	"variant<int,string>":                      "std::variant<std::int32_t,std::string>",
	" std::vector< float > ":                   "std::vector<float>",
	"map<string,vector<pair<int,float> > >":    "std::map<std::string,std::vector<std::pair<std::int32_t,float>>>",
	"ROOT::RNTupleCardinality<std::uint32_t>":  "ROOT::RNTupleCardinality<std::uint32_t>",
	"P1<const std::vector<std::int32_t>>":      "P1<const std::vector<std::int32_t>>",
	"ROOT::VecOps::RVec<Event>":                "ROOT::VecOps::RVec<Event>",
	"std::vector<bool>":                        "std::vector<bool>",
	"std::array<std::array<std::int32_t,2>,3>": "std::array<std::array<std::int32_t,2>,3>",
}

// beyondROOT is what ROOT 6.40 refuses, resolves with a dictionary, or spells
// against the rules of the specification.
var beyondROOT = map[string]string{
	"::int":                             "std::int32_t", // not C++, but what it means is clear
	"":                                  "",
	" ":                                 "",
	"_collection0":                      "_collection0",
	"Größe":                             "Größe",
	"Double32_t":                        "Double32_t",
	"std::vector<Double32_t>":           "std::vector<Double32_t>",
	"int unsigned short":                "std::uint16_t",
	"long unsigned int long":            "std::uint64_t",
	"char const unsigned":               "std::uint8_t",
	"optional<int>":                     "std::optional<std::int32_t>",
	"std :: vector\t<\nint >":           "std::vector<std::int32_t>",
	"vector":                            "vector",
	"ns::vector<int>":                   "ns::vector<std::int32_t>",
	"string<int>":                       "string<std::int32_t>",
	"std::basic_string<char>":           "std::string",
	"std::tuple<>":                      "std::tuple<>",
	"T< >":                              "T<>",
	"std::basic_string<char>::iterator": "std::string::iterator",
	"std::basic_string<wchar_t,std::char_traits<wchar_t>>":                          "std::basic_string<wchar_t>",
	"std::__cxx11::basic_string<char,std::char_traits<char>,std::allocator<char>>":  "std::string",
	"std::__1::vector<int, std::__1::allocator<int> >":                              "std::vector<std::int32_t>",
	"std::map<int,float,std::less<int>,std::allocator<std::pair<const int,float>>>": "std::map<std::int32_t,float>",
	"unordered_map<int,int,hash<int>,equal_to<int>>":                                "std::unordered_map<std::int32_t,std::int32_t>",
	"std::vector<int>::iterator":                                                    "std::vector<std::int32_t>::iterator",
	"ROOT::Experimental::RNTupleCardinality":                                        "ROOT::RNTupleCardinality<std::uint64_t>",
	"ROOT::Experimental::RNTupleCardinality<uint32_t>":                              "ROOT::RNTupleCardinality<std::uint32_t>",
	"ROOT::VecOps::RVec<const Event>":                                               "ROOT::VecOps::RVec<Event>",
	"Tpl<Long64_t, 0x3>":                                                            "Tpl<std::int64_t,3>",
	"TL<-0X1Fll>":                                                                   "TL<-31>",
	"TL<- 5>":                                                                       "TL<-5>",
	"TL<-0>":                                                                        "TL<0>",
	"TL<0b101>":                                                                     "TL<5>",
	"TL<1'000>":                                                                     "TL<1000>",
	"TL<-9223372036854775808>":                                                      "TL<-9223372036854775808>",
	"TC<(char)97>":                                                                  "TC<97>",
	"TC<(unsigned char) 0>":                                                         "TC<0>",
	"P1<int*>":                                                                      "P1<std::int32_t*>",
	"P1<const std::string * const>":                                                 "P1<const std::string*const>",
	"std::vector<const Event*const volatile>":                                       "std::vector<const Event*>",
	"P1<int const &>":                                                               "P1<const std::int32_t&>",
	"P1<Event&&>":                                                                   "P1<Event&&>",
	"int*[2]":                                                                       "std::array<std::int32_t*,2>",
	"A<int>::B<A<char>::C>::D<2>":                                                   "A<std::int32_t>::B<A<char>::C>::D<2>",
	"const struct Event volatile":                                                   "Event",
	"P1<struct Event const>":                                                        "P1<const Event>",
}

func TestNormalize(t *testing.T) {
	for _, table := range []map[string]string{fromROOT, beyondROOT} {
		for name, want := range table {
			for range 2 { // the canonical name stays as it is
				if got, err := Normalize(name); got != want || err != nil {
					t.Errorf("Normalize(%q) = %q, %v; want %q", name, got, err, want)
				}
				name = want
			}
		}
	}
}

// TestSame compares names of one type that different versions of ROOT stored, and
// names of types that are nearly the same.
func TestSame(t *testing.T) {
	for _, table := range []map[string]string{fromROOT, beyondROOT} {
		for name, canonical := range table {
			if !Same(name, canonical) || !Same(canonical, name) {
				t.Errorf("%q is not the same as %q", name, canonical)
			}
		}
	}
	for _, test := range []struct {
		a, b string
		want bool
	}{
		// ROOT issues 19442 and 22130: names of ROOT 6.34 and those of 6.36.
		{"ElementLink<DataVector<xAOD::Jet_v1> >", "ElementLink<DataVector<xAOD::Jet_v1>>", true},
		{"vector<vector<int> >", "std::vector<std::vector<std::int32_t>>", true},
		{"DataVector<int,vector<CustomStruct> >", "DataVector<std::int32_t,std::vector<CustomStruct>>", true},
		{"Float_t", "float", true},
		{"ROOT::Math::PtEtaPhiM4D<Double_t>", "ROOT::Math::PtEtaPhiM4D<double>", true},

		{"std::vector<float>", "ROOT::VecOps::RVec<float>", false},
		{"Long64_t", "std::uint64_t", false},
		{"Double32_t", "double", false},
		{"Tpl<const int>", "Tpl<int>", false},
		{"Tpl<1>", "Tpl<-1>", false},
		{"a::X", "X", false},
		{"", "float", false},
		{"std::function<void(int)>", "std::function<void(int)>", true}, // does not parse
		{"std::function<void(int)>", "std::function<void(int) >", false},
		{"float", "std::vector<float", false},
	} {
		if Same(test.a, test.b) != test.want || Same(test.b, test.a) != test.want {
			t.Errorf("Same(%q, %q) is not %v", test.a, test.b, test.want)
		}
	}
}

func TestSuggest(t *testing.T) {
	for name, want := range map[string]string{
		"uint64": "std::uint64_t", "std::uint64": "std::uint64_t", "int8": "std::int8_t", "int": "", "uint": "std::uint32_t",
		"float32": "float", "float64": "double", "float": "", "bool": "", "boolean": "bool",
		"str": "std::string", "string": "",
		"vector<float32>":            "std::vector<float>",
		"std::map<str, My<uint8>>":   "std::map<std::string,My<std::uint8_t>>",
		"Event":                      "",
		"ns::uint64":                 "",
		"uint64<int>":                "",
		"std::vector<uint64":         "",
		"std::vector<std::uint64_t>": "",
		"":                           "",
	} {
		if got := Suggest(name); got != want {
			t.Errorf("Suggest(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestParseTree(t *testing.T) {
	got, err := Parse("Outer<const int*, 3>::Inner")
	want := Type{Name: "Inner", Scope: &Type{Name: "Outer", Args: []Type{
		{Name: "*", Args: []Type{{Name: "std::int32_t", CV: Const}}}, {Name: "3"},
	}}}
	if !reflect.DeepEqual(got, want) || err != nil {
		t.Errorf("got %#v, %v", got, err)
	}
	if n, ok := got.Scope.Args[1].Uint(); n != 3 || !ok {
		t.Errorf("Uint = %v, %v; want 3", n, ok)
	}
}

func TestParseErrors(t *testing.T) {
	for name, want := range map[string]string{
		"std::vector<int":                     "missing , or > at offset 15",
		"std::vector<int>>":                   "unexpected text at offset 16",
		"std::vector<,int>":                   "missing name at offset 12",
		"vector<int,>":                        "missing name at offset 11",
		"const":                               "missing name at offset 5",
		"a::::b":                              "missing name at offset 3",
		"Event Hit":                           "unexpected text at offset 6",
		"unsigned float":                      "unexpected text at offset 9",
		"short long":                          "contradictory words at offset 10",
		"long long long":                      "contradictory words at offset 14",
		"A& &":                                "unexpected text at offset 3",
		"A&*":                                 "unexpected text at offset 2",
		"A&[2]":                               "unexpected text at offset 2",
		"int[]":                               "invalid integer at offset 4",
		"int[-3]":                             "invalid array extent at offset 6",
		"int[3":                               "invalid array extent at offset 5",
		"int[T]":                              "invalid integer at offset 4",
		"3":                                   "missing name at offset 0",
		"T<3x>":                               "invalid integer at offset 2",
		"T<08>":                               "invalid integer at offset 2",
		"T<0o7>":                              "invalid integer at offset 2",
		"T<1_0>":                              "invalid integer at offset 2",
		"T<3+4>":                              "missing , or > at offset 3",
		"T<18446744073709551616>":             "invalid integer at offset 2",
		"T<-9223372036854775809>":             "invalid integer at offset 3",
		"T<(char 3>":                          "missing ) at offset 8",
		"std::function<void(int)>":            "missing , or > at offset 18",
		"T\x00":                               "unexpected text at offset 1",
		strings.Repeat("a<", maxDepth) + "a":  "nested too deeply at offset 256",
		"a" + strings.Repeat("*", maxDepth):   "nested too deeply at offset 129",
		"a" + strings.Repeat("[1]", maxDepth): "nested too deeply at offset",
		strings.Repeat("a<int>::", maxDepth) + "a":      "nested too deeply at offset",
		"a<" + strings.Repeat("(", maxDepth) + "3" + "": "missing name at offset 3",
		strings.Repeat("a<(", maxDepth) + "a":           "nested too deeply",
	} {
		if got, err := Parse(name); err == nil || !strings.Contains(err.Error(), want) || !reflect.DeepEqual(got, Type{}) {
			t.Errorf("Parse(%.40q) = %v, %v; want error %q", name, got, err, want)
		}
	}
}

// Names of half a megabyte take linear time: the whole test about a second, instead of hours.
func TestParseLong(t *testing.T) {
	const n = 1 << 19
	for _, part := range []string{
		"a", "a<", "<", "(", "a<(", "a,", "a::", "::", "std::__1::", "basic_string<char>::", "a<b>::",
		"*", "&&", "[1]", "[", " ",
		"const ", "class ", "long ", "int const ", "0", "'", "-", "\xff", "\x00", "a<a,",
	} {
		for _, prefix := range []string{"", "a<", "a<0", "a[", "a", "std::tuple<"} {
			typ, err := Parse(prefix + strings.Repeat(part, n/len(part)))
			if err != nil && len(err.Error()) > 200 {
				t.Errorf("error of %d bytes", len(err.Error()))
			}
			_ = typ.String()
		}
	}
	args := strings.Repeat("int,", n/4)
	if typ, err := Parse("std::tuple<" + args + "int>"); err != nil || len(typ.Args) != n/4+1 {
		t.Errorf("long tuple: %d arguments, %v", len(typ.Args), err)
	}
}

func TestDepthLimit(t *testing.T) {
	const n = maxDepth - 1
	name := strings.Repeat("a<", n) + "a" + strings.Repeat(">", n)
	if got, err := Normalize(name); got != name || err != nil {
		t.Errorf("depth %d: %v", maxDepth, err)
	}
}

func TestKind(t *testing.T) {
	for name, want := range map[string]Kind{
		"": User, "Event": User, "ns::vector<int>": User, "std::vector<int>::iterator": User,
		"vector": User, "std::array<int>": User, "std::array<3,int>": User, "std::array<int,-3>": User,
		"std::map<int>": User, "std::string<int>": User, "std::variant": User, "float<>": User,
		"int*": User, "long double": User, "std::basic_string<wchar_t>": User,
		"bool": Bool, "char": Char, "byte": Byte,
		"signed char": Int8, "unsigned char": UInt8, "short": Int16, "UShort_t": UInt16,
		"int": Int32, "unsigned": UInt32, "long": Int64, "size_t": UInt64,
		"float": Float32, "double": Float64, "Double32_t": Float64,
		"string": String, "vector<int>": Vector, "ROOT::RVec<int>": RVec,
		"int[3]": Array, "array<int,3>": Array, "bitset<8>": Bitset,
		"atomic<int>": Atomic, "optional<int>": Optional, "unique_ptr<int>": UniquePtr,
		"variant<int,float>": Variant, "pair<int,int>": Pair, "tuple<int,int,int>": Tuple, "tuple<>": Tuple,
		"set<int>": Set, "unordered_set<int>": UnorderedSet,
		"multiset<int>": MultiSet, "unordered_multiset<int>": UnorderedMultiSet,
		"map<int,int>": Map, "unordered_map<int,int>": UnorderedMap,
		"multimap<int,int>": MultiMap, "unordered_multimap<int,int>": UnorderedMultiMap,
		"ROOT::RNTupleCardinality<std::uint32_t>": Cardinality,
		"ROOT::Experimental::RNTupleCardinality":  Cardinality,
	} {
		typ, err := Parse(name)
		if got := typ.Kind(); got != want || err != nil {
			t.Errorf("kind of %q = %v, %v; want %v", name, got, err, want)
		}
	}
}

// The predicates rest on the order of the kinds: compare them with the names.
func TestKindPredicates(t *testing.T) {
	for k := User; k <= Cardinality+1; k++ {
		name := strings.TrimPrefix(k.String(), "std::")
		isInt := strings.Contains(name, "int") && strings.HasSuffix(name, "_t")
		isSet, isMap := strings.HasSuffix(name, "set") && k != Bitset, strings.HasSuffix(name, "map")
		for _, c := range []struct {
			predicate string
			got, want bool
		}{
			{"IsInteger", k.IsInteger(), isInt},
			{"IsSigned", k.IsSigned(), isInt && name[0] == 'i'},
			{"IsFloat", k.IsFloat(), name == "float" || name == "double"},
			{"IsSet", k.IsSet(), isSet},
			{"IsMap", k.IsMap(), isMap},
			{"IsMulti", k.IsMulti(), strings.Contains(name, "multi")},
			{"IsUnordered", k.IsUnordered(), strings.HasPrefix(name, "unordered")},
		} {
			if c.got != c.want {
				t.Errorf("%v: %s = %v", k, c.predicate, c.got)
			}
		}
	}
}

// Whatever parses has a canonical name that means the same.
func FuzzParse(f *testing.F) {
	for _, table := range []map[string]string{fromROOT, beyondROOT} {
		for name := range table {
			f.Add(name)
		}
	}
	f.Fuzz(func(t *testing.T, name string) {
		typ, err := Parse(name)
		if err != nil {
			if !reflect.DeepEqual(typ, Type{}) {
				t.Errorf("Parse(%q) = %v with error %v", name, typ, err)
			}
			return
		}
		typ.Kind()
		again, err := Parse(typ.String())
		if err != nil || !reflect.DeepEqual(again, typ) {
			t.Errorf("Parse(%q) = %#v, but Parse(%q) = %#v, %v", name, typ, typ, again, err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := Parse("std::map<std::string,std::vector<std::pair<std::int32_t,float>>>"); err != nil {
			b.Fatal(err)
		}
	}
}
