package jsonl_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/go-rntuple/go-rntuple/internal/jsonl"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// same reports whether two dynamic values are of the same types and equal.
// Floats are compared by their bits, except NaNs.
func same(a, b any) bool {
	switch a := a.(type) {
	case float32:
		b, ok := b.(float32)
		return ok && (math.Float32bits(a) == math.Float32bits(b) || a != a && b != b)
	case float64:
		b, ok := b.(float64)
		return ok && (math.Float64bits(a) == math.Float64bits(b) || a != a && b != b)
	case value.Bits:
		b, ok := b.(value.Bits)
		return ok && slices.Equal(a, b)
	case []byte:
		b, ok := b.([]byte)
		return ok && bytes.Equal(a, b)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case value.Map:
		b, ok := b.(value.Map)
		return ok && a.StringKeys == b.StringKeys && slices.EqualFunc(a.Elements, b.Elements, func(a, b value.KeyValue) bool {
			return same(a.Key, b.Key) && same(a.Value, b.Value)
		})
	case value.Record:
		b, ok := b.(value.Record)
		return ok && slices.Equal(a.Names, b.Names) && slices.EqualFunc(a.Values, b.Values, same)
	case value.Alternative:
		b, ok := b.(value.Alternative)
		return ok && a.Index == b.Index && same(a.Value, b.Value)
	}
	return a == b
}

// hasVariant reports whether f is a variant or has one below it.
func hasVariant(f *schema.Field) bool {
	return f.Shape == schema.Variant || slices.ContainsFunc(f.Children, hasVariant)
}

// TestFiles prints the entries of files and reads them back.
func TestFiles(t *testing.T) {
	files, err := filepath.Glob("../../testdata/good/*.root")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	shared, _ := filepath.Glob("../../../shared/testdata/root/*.root")
	if len(shared) == 0 {
		t.Log("the public files are not there")
	}
	files = append(append(files, "../../testdata/dimuon.root"), shared...)
	for _, file := range files {
		infos, err := rntuple.ListFile(context.Background(), file, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range infos {
			t.Run(filepath.Base(file)+":"+info.Path, func(t *testing.T) { t.Parallel(); testFile(t, file, info.Path) })
		}
	}
}

func testFile(t *testing.T, file, ntuple string) {
	r, err := rntuple.Open(file, ntuple, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.NumEntries() > 1e6 {
		t.Skipf("%d entries take too long", r.NumEntries())
	}
	all, err := rntuple.RecordsOf(r)
	if err != nil {
		t.Fatal(err)
	}
	text, feed := io.Pipe()
	defer text.Close()
	go func() {
		var line []byte
		for _, entry := range all.All() {
			line = append(value.AppendJSON(line[:0], entry), '\n')
			if _, err := feed.Write(line); err != nil {
				return
			}
		}
		feed.CloseWithError(all.Err())
	}()
	// RecordsOf reads it a second time, as a view serves one goroutine.
	again, err := rntuple.RecordsOf(r)
	if err != nil {
		t.Fatal(err)
	}
	fields := r.Schema().Fields
	in := jsonl.NewReader(text, fields)
	for i, want := range again.All() {
		got, err := in.Read()
		if err != nil {
			t.Fatalf("entry %d: %v", i, err)
		}
		n := 0
		for j, f := range fields {
			if f.Source != nil {
				continue
			}
			if n >= len(got.Names) || got.Names[n] != f.Name {
				t.Fatalf("entry %d has the members %q, %q is missing", i, got.Names, f.Name)
			}
			w, g := value.AppendJSON(nil, want.Values[j]), value.AppendJSON(nil, got.Values[n])
			switch {
			case !bytes.Equal(w, g):
				t.Errorf("entry %d, %s: got %s, want %s", i, f.Name, g, w)
			case same(want.Values[j], got.Values[n]):
			case string(g) == "null" && slices.Contains([]string{"opt_opt_int32", "uptr_uptr_int32", "var_nested"}, f.Name):
				// JSON does not tell which of the optionals and variants is empty.
			default:
				t.Errorf("entry %d, %s: got %#v, want %#v", i, f.Name, got.Values[n], want.Values[j])
			}
			n++
		}
		if n != len(got.Names) || n != len(got.Values) {
			t.Errorf("entry %d has the members %q", i, got.Names)
		}
	}
	if _, err := in.Read(); err != io.EOF {
		t.Errorf("after the last entry: %v", err)
	}
}

func dict(stringKeys bool, keysAndValues ...any) value.Map {
	m := value.Map{StringKeys: stringKeys}
	for i := 0; i < len(keysAndValues); i += 2 {
		m.Elements = append(m.Elements, value.KeyValue{Key: keysAndValues[i], Value: keysAndValues[i+1]})
	}
	return m
}

func record(namesAndValues ...any) value.Record {
	var r value.Record
	for i := 0; i < len(namesAndValues); i += 2 {
		r.Names, r.Values = append(r.Names, namesAndValues[i].(string)), append(r.Values, namesAndValues[i+1])
	}
	return r
}

// one reads the value of a field from JSON.
func one(tb testing.TB, typ, json string) (any, error) {
	tb.Helper()
	r := jsonl.NewReader(strings.NewReader(`{"f":`+json+"}"), fields(tb, "f", typ))
	entry, err := r.Read()
	if err != nil {
		return nil, err
	}
	if _, err := r.Read(); err != io.EOF {
		tb.Errorf("%s: %s: after the entry: %v", typ, json, err)
	}
	return entry.Values[0], nil
}

func TestValues(t *testing.T) {
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	list := func(v ...any) []any { return v }
	alt := func(index int, v any) any { return value.Alternative{Index: index, Value: v} }
	for _, test := range []struct {
		typ, json string
		want      any
	}{
		{"bool", "true", true}, {"bool", " \t\r\n false \n", false},
		{"char", "-128", int8(-128)}, {"std::byte", "255", uint8(255)}, {"Enum", "-3", int16(-3)},
		{"std::atomic<bool>", "true", true},
		{"std::int8_t", "127", int8(127)}, {"std::uint8_t", "0", uint8(0)}, {"std::int16_t", "-32768", int16(math.MinInt16)},
		{"std::uint16_t", "65535", uint16(math.MaxUint16)},
		{"std::int32_t", "-2147483648", int32(math.MinInt32)}, {"std::int32_t", "2147483647", int32(math.MaxInt32)},
		{"std::uint32_t", "4294967295", uint32(math.MaxUint32)},
		{"std::int64_t", "-9223372036854775808", int64(math.MinInt64)},
		{"std::int64_t", "9223372036854775807", int64(math.MaxInt64)},
		{"std::uint64_t", "18446744073709551615", uint64(math.MaxUint64)}, {"std::uint64_t", "-0", uint64(0)},
		// Rounded once: 1+2^-24+2^-60 is nearer to 1+2^-23, but as a double it is 1+2^-24.
		{"float", "1.000000059604644776230803939", float32(1.0000001)}, {"float", "0.1", float32(0.1)},
		{"float", "-0", float32(zero)}, {"float", "1e-999", float32(0)},
		{"float", `"NaN"`, float32(nan)}, {"float", `"-Infinity"`, float32(-inf)},
		{"float", "3.4028235e+38", float32(math.MaxFloat32)}, {"float", "1e-45", float32(1e-45)},
		{"double", "0.1", 0.1}, {"double", "-0.0", zero}, {"double", "1E3", 1000.0}, {"double", "5e-324", 5e-324},
		{"double", `"Infinity"`, inf}, {"double", `"\u004eaN"`, nan},
		{"std::string", `""`, ""}, {"std::string", `"a\"\\\/\b\f\n\r\té字😀"`, "a\"\\/\b\f\n\r\té字😀"},
		{"std::string", `"\u0041\u00E9\u5b57\uD83D\ude00\u0000"`, "Aé字😀\x00"},
		{"std::string", `"\udc80\udcff\udCC3\udca9"`, "\x80\xff\xc3\xa9"}, {"std::string", `"\ud800\udc80"`, "\U00010080"},
		{"std::string", "\"\xff\xed\xb2\x80\"", "\xff\xed\xb2\x80"},
		{"std::bitset<3>", `"011"`, value.Bits{true, true, false}}, {"std::bitset<0>", `""`, value.Bits{}},
		{"TObject", `"AP8Q"`, []byte{0, 255, 16}}, {"TObject", `""`, []byte{}},
		{"std::vector<std::uint8_t>", "[ 1 , 2 ]", list(uint8(1), uint8(2))}, {"std::set<std::string>", "[]", list()},
		{"std::vector<std::vector<bool>>", "[[],[true]]", list(list(), list(true))},
		{"std::array<char,2>", "[1,2]", list(int8(1), int8(2))}, {"std::array<std::string,0>", "[]", list()},
		{"std::tuple<>", "[]", list()},
		{"std::pair<bool,float>", "[true,1]", list(true, float32(1))},
		{"std::tuple<std::int8_t,std::string,std::pair<bool,bool>>", `[1,"",[true,false]]`,
			list(int8(1), "", list(true, false))},
		{"std::map<std::string,bool>", `{}`, dict(true)}, {"std::map<std::string,bool>", `[]`, dict(true)},
		{"std::map<std::string,bool>", `{"b":true,"\udcff":false}`, dict(true, "b", true, "\xff", false)},
		{"std::multimap<std::string,bool>", `[["a",true],["a",false]]`, dict(true, "a", true, "a", false)},
		{"std::multimap<std::string,bool>", `{"a":true,"a":false}`, dict(true, "a", true, "a", false)},
		{"std::map<Enum,std::vector<bool>>", `[[1,[]],[-1,[true]]]`, dict(false, int16(1), list(), int16(-1), list(true))},
		{"std::optional<double>", "null", nil}, {"std::optional<double>", "2", 2.0},
		{"std::vector<std::optional<Enum>>", "[null,2]", list(nil, int16(2))},
		{"Empty", "{ }", record()}, {"Point", `{"x":1,"y":2}`, record("x", float32(1), "y", float32(2))},
		{"Point", ` { "y" : 2 , "x" : 1 } `, record("x", float32(1), "y", float32(2))},
		{"Jet", `{"pt":1,":_0":{"y":1,"x":2},"hits":[],"\"odd\"\u002e\udcff":true}`,
			record(":_0", record("x", float32(2), "y", float32(1)), "pt", 1.0, "hits", list(), "\"odd\".\xff", true)},

		// Of nested optionals, null is the outermost.
		{"std::optional<std::optional<bool>>", "null", nil}, {"std::optional<std::optional<bool>>", "true", true},
		{"std::optional<std::variant<bool>>", "null", nil},

		// Variants: the first that prints the same.
		{"std::variant<bool>", "null", nil}, {"std::variant<std::int32_t,std::string>", `"5"`, alt(1, "5")},
		{"std::variant<std::int8_t,std::int32_t,std::uint64_t>", "128", alt(1, int32(128))},
		{"std::variant<std::int8_t,std::int32_t,std::uint64_t>", "18446744073709551615", alt(2, uint64(math.MaxUint64))},
		{"std::variant<std::int32_t,std::int64_t>", "5", alt(0, int32(5))},
		{"std::variant<std::int32_t,double>", "3", alt(0, int32(3))},
		{"std::variant<std::int32_t,double>", "3.0", alt(1, 3.0)}, {"std::variant<std::int32_t,double>", "3e0", alt(1, 3.0)},
		{"std::variant<std::int32_t,double>", "-0", alt(1, zero)},
		{"std::variant<std::int32_t,double>", "-0.0", alt(1, zero)},
		{"std::variant<std::int32_t,double>", "2147483648", alt(1, 2147483648.0)},
		{"std::variant<double,std::int32_t>", "3", alt(1, int32(3))},
		{"std::variant<double,std::int32_t>", "3.0", alt(0, 3.0)}, {"std::variant<double,std::int8_t>", "300", alt(0, 300.0)},
		{"std::variant<std::vector<double>,std::vector<Enum>>", "[1,2]", alt(1, list(int16(1), int16(2)))},
		{"std::variant<std::vector<Enum>,std::vector<double>>", "[1.0,2.0]", alt(1, list(1.0, 2.0))},
		{"std::variant<double,std::int64_t>", "9007199254740993", alt(1, int64(9007199254740993))},
		{"std::variant<float,std::int64_t>", "9007199254740993", alt(1, int64(9007199254740993))},
		{"std::variant<float,double>", "0.1", alt(0, float32(0.1))},
		{"std::variant<float,double>", "0.10000000149011612", alt(1, float64(float32(0.1)))},
		{"std::variant<float,double>", "1.50", alt(0, float32(1.5))},
		{"std::variant<float,double>", "1.2345678901e-05", alt(1, 1.2345678901e-05)},
		{"std::variant<float,double>", "12345678901234567000000000", alt(1, 1.2345678901234567e25)},
		{"std::variant<float,double>", "1e300", alt(1, 1e300)},
		{"std::variant<float,double>", `"NaN"`, alt(0, float32(nan))},
		{"std::variant<std::vector<float>,std::vector<double>>", "[1,0.1,16777217]", alt(1, list(1.0, 0.1, 16777217.0))},
		{"std::variant<std::vector<float>,std::vector<double>>", "[]", alt(0, list())},
		{"std::variant<std::vector<std::int8_t>,std::string,std::vector<std::vector<bool>>>", "[[true]]",
			alt(2, list(list(true)))},
		{"std::variant<float,std::string>", `"NaN"`, alt(0, float32(nan))},
		{"std::variant<float,std::string>", `"nan"`, alt(1, "nan")},
		{"std::variant<std::bitset<2>,std::string>", `"10"`, alt(0, value.Bits{false, true})},
		{"std::variant<std::bitset<2>,std::string>", `"100"`, alt(1, "100")},
		{"std::variant<TObject,std::string>", `"a"`, alt(1, "a")}, {"Maybe", `{"b":true}`, record("a", nil, "b", true)},
		{"std::variant<Point,Reversed>", `{"x":1,"y":2}`, alt(0, record("x", float32(1), "y", float32(2)))},
		{"std::variant<Point,Reversed>", `{"y":1,"x":2}`, alt(1, record("y", float32(1), "x", float32(2)))},
		{"std::variant<Point,std::map<std::string,float>>", `{"x":1,"z":2}`,
			alt(1, dict(true, "x", float32(1), "z", float32(2)))},
		{"std::variant<std::map<std::string,bool>,std::vector<std::pair<std::string,bool>>>", `[["a",true]]`,
			alt(1, list(list("a", true)))},
		{"std::variant<std::map<std::string,bool>,std::vector<std::pair<std::string,bool>>>", `[["a",true],["a",true]]`,
			alt(0, dict(true, "a", true, "a", true))},
		{"std::variant<std::int32_t,std::variant<float,std::string>>", `1.5`, alt(1, alt(0, float32(1.5)))},
		{"std::variant<std::variant<std::int32_t,float>,double>", "0.123456789", alt(1, 0.123456789)},
		{"std::variant<std::variant<float,std::int32_t>,std::int64_t>", "5", alt(0, alt(1, int32(5)))},
		{"std::variant<std::variant<float,bool>,std::int64_t>", "5", alt(1, int64(5))},
		{"std::variant<std::optional<Enum>,bool>", "7", alt(0, int16(7))},
		{"std::variant<bool,std::optional<Enum>>", "null", nil},
		// None prints the same: the first that loses nothing, otherwise the first.
		{"std::variant<float,double>", "16777217", alt(1, 16777217.0)},
		{"std::variant<float,double>", "2", alt(0, float32(2))},
		{"std::variant<float,bool,std::string>", "16777217", alt(0, float32(16777216))},
		{"std::variant<std::vector<float>,std::array<double,2>>", "[16777217]", alt(0, list(float32(16777216)))},
		{"std::vector<std::variant<float,double>>", "[16777217,1,-0]",
			list(alt(1, 16777217.0), alt(0, float32(1)), alt(0, float32(zero)))},
	} {
		got, err := one(t, test.typ, test.json)
		if err != nil || !same(got, test.want) {
			t.Errorf("%s: %s: got %#v, %v, want %#v", test.typ, test.json, got, err, test.want)
		}
	}
}

func TestErrors(t *testing.T) {
	const eof = "unexpected EOF"
	for _, test := range []struct{ typ, json, want string }{
		{"bool", `1`, "f: expected true or false, found `1`"},
		{"bool", `"true"`, "f: expected true or false, found `\"true\"`"}, {"bool", `trve`, "f: expected true, found `trve`"},
		{"bool", `truely`, "expected ',' or '}', found `ly`"}, {"bool", `null`, "f: expected true or false, found `null`"},
		{"bool", ``, "f: expected true or false, found `}`"},
		{"std::int8_t", `128`, "f: expected an integer from -128 to 127, found `128`"},
		{"std::int8_t", `-129`, "f: expected an integer from -128 to 127, found `-129`"},
		{"std::uint8_t", `-1`, "f: expected an integer from 0 to 255, found `-1`"},
		{"char", `"a"`, "f: expected an integer from -128 to 127, found `\"a\"`"},
		{"std::int64_t", `9223372036854775808`,
			"f: expected an integer from -9223372036854775808 to 9223372036854775807, found `9223372036854775808`"},
		{"std::uint64_t", `18446744073709551616`,
			"f: expected an integer from 0 to 18446744073709551615, found `18446744073709551616`"},
		{"std::uint64_t", `100000000000000000000000000`,
			"f: expected an integer from 0 to 18446744073709551615, found `100000000000000000000000`…"},
		{"Enum", `1.0`, "f: expected an integer from -32768 to 32767, found `1.0`"},
		{"Enum", `1e2`, "f: expected an integer from -32768 to 32767, found `1e2`"},
		{"Enum", `01`, "f: expected a number, found `01`"}, {"Enum", `-`, "f: expected a number, found `-`"},
		{"Enum", `--1`, "f: expected a number, found `--1`"},
		{"Enum", `+1`, "f: expected an integer from -32768 to 32767, found `+1`"},
		{"float", `1.`, "f: expected a number, found `1.`"}, {"float", `1.e5`, "f: expected a number, found `1.e5`"},
		{"float", `-.5`, "f: expected a number, found `-.5`"}, {"float", `1e`, "f: expected a 32-bit number, found `1e`"},
		{"float", `1e39`, "f: expected a 32-bit number, found `1e39`"},
		{"double", `-1e309`, "f: expected a 64-bit number, found `-1e309`"},
		{"double", `1.2.3`, "f: expected a 64-bit number, found `1.2.3`"},
		{"double", `NaN`, "f: expected a 64-bit number, found `NaN`"},
		{"double", `"inf"`, "f: expected a 64-bit number, found `\"inf\"`"},
		{"double", `0x10`, "expected ',' or '}', found `x10`"}, {"double", `1_0`, "expected ',' or '}', found `_0`"},
		{"std::string", `5`, "f: expected a string, found `5`"},
		{"std::string", `"a`, "f: expected the end of the string: " + eof},
		{"std::string", "\"a\nb\"", "f: expected the end of the string, found \"\\n\""},
		{"std::string", `"\x"`, "f: expected an escape sequence of JSON, found `\\x`"},
		{"std::string", `"\u12g4"`, "f: expected an escape sequence of JSON, found `\\u12g4`"},
		{"std::string", `"\u12"`, "f: expected an escape sequence of JSON, found `\\u12`"},
		{"std::string", `"\ud800"`, "f: expected an escape sequence of JSON, found `\\ud800`"},
		{"std::string", `"\udc7f"`, "f: expected an escape sequence of JSON, found `\\udc7f`"},
		{"std::string", `"\udd00"`, "f: expected an escape sequence of JSON, found `\\udd00`"},
		{"std::string", `"\ud800\u0041"`, "f: expected an escape sequence of JSON, found `\\ud800`"},
		{"std::string", `"\`, "f: expected the end of the string: " + eof},
		{"std::bitset<3>", `"01"`, "f: expected a string of 3 bits, found `\"01\"`"},
		{"std::bitset<3>", `"012"`, "f: expected a string of 3 bits, found `\"012\"`"},
		{"TObject", `"A"`, "f: expected a string in base64, found `\"A\"`"},
		{"std::vector<bool>", `[true,]`, "f[1]: expected true or false, found `]`"},
		{"std::vector<bool>", `[,true]`, "f[0]: expected true or false, found `,`"},
		{"std::vector<bool>", `[true true]`, "f: expected ',' or ']', found `true`"},
		{"std::vector<bool>", `[true`, "f: expected ',' or ']', found `}`"},
		{"std::vector<bool>", `{}`, "f: expected an array, found `{`"},
		{"std::vector<Jet>", `[{"pt":1},{":_0":{"x":"a"}}]`, "f[0]: the member \":_0\" is missing"},
		{"std::vector<Jet>", `[{"pt":1,":_0":{"x":"a"}}]`, "f[0].:_0.x: expected a 32-bit number, found `\"a\"`"},
		{"std::array<bool,2>", `[true]`, "f: expected an array of 2, found 1"},
		{"std::array<bool,2>", `[true,true,true]`, "f: expected an array of 2, found more"},
		{"std::array<bool,1000000000000>", `[true]`, "f: expected an array of 1000000000000, found 1"},
		{"std::bitset<1000000000000>", `"1"`, "f: expected a string of 1000000000000 bits, found `\"1\"`"},
		{"std::array<bool,0>", `[1]`, "f: expected an array of 0, found more"},
		{"std::pair<bool,Enum>", `[true]`, "f: expected an array of 2, found 1"},
		{"std::pair<bool,Enum>", `[true,true]`, "f[1]: expected an integer from -32768 to 32767, found `true`"},
		{"std::pair<bool,Enum>", `{"_0":true}`, "f: expected an array of 2, found `{`"},
		{"std::map<std::string,bool>", `{"a":1}`, "f[\"a\"]: expected true or false, found `1`"},
		{"std::map<std::string,bool>", `[["a"]]`, "f[0]: expected [key,value], found 1"},
		{"std::map<std::string,bool>", `{a:1}`, "f: expected a name, found `a`"},
		{"std::map<std::string,bool>", `["a"]`, "f[0]: expected [key,value], found `\"a\"`"},
		{"std::map<std::string,bool>", `{"a" true}`, "f: expected ':', found `true`"},
		{"std::map<std::string,bool>", `{"a":true,}`, "f: expected a name, found `}`"},
		{"std::map<std::string,bool>", `1`, "f: expected an object or an array of [key,value], found `1`"},
		{"std::map<Enum,bool>", `{"1":true}`, "f: expected an array of [key,value], found `{`"},
		{"std::map<Enum,bool>", `[["1",true]]`, "f[0][0]: expected an integer from -32768 to 32767, found `\"1\"`"},
		{"std::optional<bool>", `nil`, "f: expected null, found `nil`"},
		{"std::optional<bool>", `1`, "f: expected null or true or false, found `1`"},
		{"Point", `{"x":1}`, "f: the member \"y\" is missing"},
		{"Point", `{"x":1,"y":2,"z":3}`, "f: there is no member \"z\""},
		{"Point", `{"x":1,"x":2}`, "f: the member \"x\" is there twice"},
		{"Point", `[1,2]`, "f: expected an object, found `[`"},
		{"Point", `{"x":1 "y":2}`, "f: expected ',' or '}', found `\"y\"`"},
		{"Point", `{"x`, "f: expected the end of the string: " + eof},
		{"std::variant<bool,Enum>", `"a"`, "f: expected a value of std::variant<bool,Enum>, found `\"a\"`"},
		{"std::variant<bool,Enum>", `40000`, "f: expected an integer from -32768 to 32767, found `40000`"},
		{"std::variant<std::int8_t,Enum>", `40000`, "f: expected a value of std::variant<std::int8_t,Enum>, found `40000`"},
		{"std::variant<bool,std::vector<Point>>", `[{"x":1,"y":true}]`, "f[0].y: expected a 32-bit number, found `true`"},
	} {
		v, err := one(t, test.typ, test.json)
		var e *jsonl.Error
		if want := "line 1: " + test.want; !errors.As(err, &e) || err.Error() != want || e.Line != 1 {
			t.Errorf("%s: %s: got %#v, %v\nwant %s", test.typ, test.json, v, err, want)
		}
		if strings.HasSuffix(test.want, eof) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v does not wrap io.ErrUnexpectedEOF", test.json, err)
		}
	}
}

// TestStream reads several entries in any layout.
func TestStream(t *testing.T) {
	f := fields(t, "a", "std::int32_t", "b", "std::string")
	boom := errors.New("boom")
	for _, test := range []struct{ in, want, err string }{
		{"", "", "EOF"}, {" \r\n\t", "", "EOF"}, {`{"a":1,"b":"x"}`, `{"a":1,"b":"x"} `, "EOF"},
		{"{\"a\":1,\"b\":\"x\"}\n{\"b\":\"y\",\"a\":2}\n", `{"a":1,"b":"x"} {"a":2,"b":"y"} `, "EOF"},
		{"{\"a\":1,\n\"b\":\"x\"}{\n\"b\":\"\",\"a\":2}", `{"a":1,"b":"x"} {"a":2,"b":""} `, "EOF"},
		{"{\"a\":1,\n\"b\":\"x\"}\n\n{\n\"b\":\"\",\n\"a\":\n\nnull}", `{"a":1,"b":"x"} `,
			"line 8: a: expected an integer from -2147483648 to 2147483647, found `null`"},
		{"{\"a\":1,\"b\":\"\"}\n[]", `{"a":1,"b":""} `, "line 2: expected an object, found `[`"},
		{"\n{\"a\":1,\"c\":\"\"}", ``, "line 2: there is no member \"c\""},
		{"{\"a\":1,\"b\":\"\"},\n", `{"a":1,"b":""} `, "line 1: expected an object, found `,`"},
		{"\n{\"a\":1,\n\n", "", "line 4: expected a name: unexpected EOF"},
		{"\x00", "", "line 1: expected an object, found \"\\x00\""},
		{"{\"a\":12345", "", "line 1: expected ',' or '}': unexpected EOF"},
		{"{\"a\":", "", "line 1: a: expected an integer from -2147483648 to 2147483647: unexpected EOF"},
	} {
		for name, wrap := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "with EOF": iotest.DataErrReader,
			"then boom": func(r io.Reader) io.Reader { return io.MultiReader(r, iotest.ErrReader(boom)) },
		} {
			r := jsonl.NewReader(wrap(strings.NewReader(test.in)), f)
			got := ""
			for {
				entry, err := r.Read()
				if err == nil {
					got += string(value.AppendJSON(nil, entry)) + " "
					continue
				}
				want := test.err
				if name == "then boom" {
					if want == "EOF" {
						want = fmt.Sprintf("line %d: expected an object: boom", 1+strings.Count(test.in, "\n"))
					}
					want = strings.Replace(want, "unexpected EOF", "boom", 1)
					if strings.HasSuffix(want, "boom") && !errors.Is(err, boom) {
						t.Errorf("%v does not wrap the source's error", err)
					}
				}
				have := err.Error()
				if name == "bytes" { // for shorter messages
					have, _, _ = strings.Cut(have, ", found")
					want, _, _ = strings.Cut(want, ", found")
				}
				if _, again := r.Read(); got != test.want || have != want || again != err {
					t.Errorf("%q, %s: got %s and %v, then %v; want %s and %s", test.in, name, got, err, again, test.want, want)
				}
				break
			}
		}
	}
	if _, err := jsonl.NewReader(stuck{}, f).Read(); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a source that gives nothing: %v", err)
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// TestLines counts lines, and reads entries that cross the ends of many buffers.
func TestLines(t *testing.T) {
	f := fields(t, "s", "std::vector<std::string>")
	var text []byte
	var want []value.Record
	for i := range 200 {
		var s []any
		for j := range i % 7 {
			s = append(s, strings.Repeat(string(rune('a'+j)), i*i*j/10))
		}
		want = append(want, value.Record{Names: []string{"s"}, Values: []any{s}})
		text = append(value.AppendJSON(text, want[i]), '\n', '\n')
	}
	text = append(text, `{"s":[]`...)
	for name, in := range map[string]io.Reader{"whole": bytes.NewReader(text),
		"halves": iotest.HalfReader(bytes.NewReader(text)), "bytes": iotest.OneByteReader(bytes.NewReader(text))} {
		r := jsonl.NewReader(in, f)
		for i, w := range want {
			got, err := r.Read()
			if err != nil || !same(got, w) {
				t.Fatalf("%s: entry %d: %v", name, i, err)
			}
		}
		if _, err := r.Read(); err == nil || err.Error() != "line 401: expected ',' or '}': unexpected EOF" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWaits makes sure that an entry is returned as soon as its last byte has been
// read.
func TestWaits(t *testing.T) {
	in, out := io.Pipe()
	r := jsonl.NewReader(in, fields(t, "a", "Enum"))
	for i := range 3 {
		go fmt.Fprintf(out, `{"a":%d}`, i)
		if entry, err := r.Read(); err != nil || entry.Values[0] != int16(i) {
			t.Fatalf("%v, %v", entry, err)
		}
	}
}

// TestProjected reads members of projected fields.
func TestProjected(t *testing.T) {
	r, err := rntuple.Open("../../testdata/good/types_lz4_one.root", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var own, views []*schema.Field
	for _, f := range r.Schema().Fields {
		if f.Source != nil {
			views = append(views, f)
		} else {
			own = append(own, f)
		}
	}
	if len(views) == 0 {
		t.Fatal("no projected fields")
	}
	all, err := rntuple.RecordsOf(r)
	if err != nil {
		t.Fatal(err)
	}
	for i, entry := range all.All() {
		var without value.Record
		for _, f := range own {
			without.Names, without.Values = append(without.Names, f.Name), append(without.Values, entry.Get(f.Name))
		}
		for _, e := range []value.Record{entry, without} {
			got, err := jsonl.NewReader(bytes.NewReader(value.AppendJSON(nil, e)), r.Schema().Fields).Read()
			if g, w := value.AppendJSON(nil, got), value.AppendJSON(nil, without); err != nil || !bytes.Equal(g, w) {
				t.Errorf("entry %d: got %d bytes, %v, want %d others", i, len(g), err, len(w))
			}
		}
	}
}

// TestDeep reads deeply nested values and variants.
func TestDeep(t *testing.T) {
	const depth = 30 // package cpptype allows a little more
	typ, json := "bool", "true"
	for range depth {
		typ, json = "std::variant<std::vector<"+typ+">>", "["+json+"]"
	}
	if v, err := one(t, typ, json); err != nil || string(value.AppendJSON(nil, v)) != json {
		t.Errorf("%v", err)
	}
	if _, err := one(t, typ, strings.Repeat("[", 1e6)); err == nil ||
		!strings.Contains(err.Error(), "expected true or false") {
		t.Errorf("%v", err)
	}
}

// all has fields of every shape; FuzzRead reads a value of one of them.
var all = []string{
	"bool", "char", "std::byte", "std::int8_t", "std::uint16_t", "std::int32_t", "std::uint64_t", "std::int64_t", "float",
	"double", "std::string", "std::bitset<9>", "TObject", "Enum",
	"std::vector<std::int16_t>", "std::array<float,3>", "std::set<std::string>", "std::pair<bool,std::string>",
	"std::tuple<char,double,std::optional<bool>>", "Jet", "Empty",
	"std::map<std::string,std::vector<float>>", "std::multimap<std::int32_t,Point>",
	"std::optional<std::vector<std::optional<Point>>>",
	"std::variant<std::int8_t,float,double,std::string,std::uint64_t>",
	"std::variant<std::bitset<2>,TObject,std::map<std::string,float>,Point,std::vector<std::pair<std::string,float>>,Reversed>",
	"std::vector<std::variant<std::vector<float>,std::vector<double>,std::variant<float,bool,std::array<std::string,1>>,std::map<std::string,std::variant<float,double>>>>",
}

func FuzzRead(f *testing.F) {
	var namesAndTypes []string
	for _, typ := range all {
		namesAndTypes = append(namesAndTypes, "f", typ)
	}
	var each [][]*schema.Field
	for _, field := range fields(f, namesAndTypes...) {
		each = append(each, []*schema.Field{field})
	}
	for i := range all {
		for _, json := range []string{
			`true`, `-12`, `1.5e3`, `"NaN"`, `"a\u00e9\udcff\ud83d\ude00"`, `"010010110"`, `"AP8Q"`, `[]`, `[1, 2.5,-0]`,
			`["a"]`, `[true,"b"]`, `[-1,2,null]`, `null`, `{}`,
			`{":_0":{"x":1,"y":2},"pt":0.1,"hits":[{"y":1,"x":"NaN"}],"\"odd\".\udcff":true}`, `{"a":[1],"b":[]}`,
			`[[1,{"x":1,"y":2}]]`, `[null,{"x":0,"y":1e-9}]`, `[["a",1],["a",2]]`, `{"y":1,"x":0.1}`,
			`[[0.1],[0.12345678901],true,["x"],{"k":0.5}]`, "[\n{\"k\":1}]",
		} {
			f.Add(uint(i), []byte(json))
		}
	}
	f.Fuzz(func(t *testing.T, i uint, json []byte) {
		field := each[i%uint(len(each))]
		in := slices.Concat([]byte(`{"f":`), json, []byte("}"))
		r := jsonl.NewReader(bytes.NewReader(in), field)
		for {
			entry, err := r.Read()
			if err != nil {
				var e *jsonl.Error
				if err != io.EOF && (!errors.As(err, &e) || e.Line < 1 || e.Line > 1+bytes.Count(in, []byte{'\n'})) {
					t.Fatal(err)
				}
				return
			}
			printed := value.AppendJSON(nil, entry)
			again, err := jsonl.NewReader(iotest.OneByteReader(bytes.NewReader(printed)), field).Read()
			if err != nil {
				t.Fatalf("%s: printed %s: %v", in, printed, err)
			}
			if text := value.AppendJSON(nil, again); !bytes.Equal(text, printed) {
				t.Fatalf("%s: printed %s, again %s", in, printed, text)
			}
			if !hasVariant(field[0]) && !same(entry, again) {
				t.Fatalf("%s: %v, again %v", in, entry, again)
			}
		}
	})
}

// BenchmarkRead reads the entries of a file of muons.
func BenchmarkRead(b *testing.B) {
	for _, file := range []string{"../../testdata/dimuon.root", "../../testdata/good/types_none_one.root"} {
		b.Run(filepath.Base(file), func(b *testing.B) {
			r, err := rntuple.Open(file, "", nil)
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			all, err := rntuple.RecordsOf(r)
			if err != nil {
				b.Fatal(err)
			}
			var text []byte
			for _, entry := range all.All() {
				text = append(value.AppendJSON(text, entry), '\n')
			}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				in := jsonl.NewReader(bytes.NewReader(text), r.Schema().Fields)
				for {
					if _, err := in.Read(); err != nil {
						if err != io.EOF {
							b.Fatal(err)
						}
						break
					}
				}
			}
		})
	}
}
