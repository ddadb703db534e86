package value_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-rntuple/go-rntuple/value"
)

type kv = value.KeyValue

func TestAppendJSON(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	alt := func(v any) any { return value.Alternative{Index: 1, Value: v} }
	member := func(v any) value.Record { return value.Record{Names: []string{"x"}, Values: []any{v}} }
	for _, test := range []struct {
		v    any
		want string
	}{
		{nil, `null`}, {true, `true`}, {false, `false`},
		// Integers exactly, to 64 bits.
		{int8(math.MinInt8), `-128`}, {uint8(math.MaxUint8), `255`},
		{int16(math.MinInt16), `-32768`}, {uint16(math.MaxUint16), `65535`},
		{int32(math.MinInt32), `-2147483648`}, {uint32(math.MaxUint32), `4294967295`},
		{int64(math.MinInt64), `-9223372036854775808`}, {int64(math.MaxInt64), `9223372036854775807`},
		{uint64(math.MaxUint64), `18446744073709551615`}, {int8(0), `0`},
		// Floats in the shortest form of their width.
		{float32(0.1), `0.1`}, {0.1, `0.1`}, {float64(float32(0.1)), `0.10000000149011612`},
		{0.0, `0`}, {math.Copysign(0, -1), `-0.0`}, {float32(math.Copysign(0, -1)), `-0.0`},
		{value.Some{Value: math.Copysign(0, -1)}, `-0.0`},
		{1.0, `1`}, {float32(16777216), `16777216`}, {1e15, `1000000000000000`}, {-2.5e-3, `-0.0025`},
		{math.MaxFloat64, `1.7976931348623157e+308`}, {5e-324, `5e-324`}, {float32(math.MaxFloat32), `3.4028235e+38`},
		{float32(1e-45), `1e-45`},
		{nan, `"NaN"`}, {float32(nan), `"NaN"`}, {inf, `"Infinity"`}, {-inf, `"-Infinity"`}, {float32(-inf), `"-Infinity"`},
		// Strings; what is not UTF-8 becomes a lone surrogate.
		{"", `""`}, {"a b", `"a b"`}, {"é, 字, 😀, \u2028, \ufffd", "\"é, 字, 😀, \u2028, \ufffd\""}, {"<&>\x7f", "\"<&>\x7f\""},
		{`"\/`, `"\"\\/"`}, {"\b\t\n\f\r", `"\b\t\n\f\r"`}, {"\x00\x1f\x0b", `"\u0000\u001f\u000b"`},
		{"\xff", `"\udcff"`}, {"a\x80b", `"a\udc80b"`}, {"\xc3", `"\udcc3"`}, {"\xc3\xc3\xa9", `"\udcc3é"`},
		{"\xed\xa0\x80", `"\udced\udca0\udc80"`}, {"\xf5\x80\x80\x80", `"\udcf5\udc80\udc80\udc80"`},
		{"\xc0\x80", `"\udcc0\udc80"`},
		// Collections.
		{[]any{}, `[]`}, {[]any(nil), `[]`}, {[]any{uint8(1), nil, []any{"x"}}, `[1,null,["x"]]`},
		{value.Bits{}, `""`}, {value.Bits{true, false, false, true, true, false}, `"011001"`},
		{[]byte{}, `""`}, {[]byte{0, 0xff, 0x10}, `"AP8Q"`},
		{value.Record{}, `{}`},
		{value.Record{Names: []string{"b", "a", ":_0"}, Values: []any{int8(1), "x", member(true)}},
			`{"b":1,"a":"x",":_0":{"x":true}}`},
		{value.Record{Names: []string{"\"\n"}, Values: []any{nil}}, `{"\"\n":null}`},
		// Maps: objects if the keys are strings that do not repeat.
		{value.Map{StringKeys: true}, `{}`}, {value.Map{}, `[]`},
		{value.Map{StringKeys: true, Elements: []kv{{"b", int8(1)}, {"a", nil}, {"", inf}}},
			`{"b":1,"a":null,"":"Infinity"}`},
		{value.Map{StringKeys: true, Elements: []kv{{"b", int8(1)}, {"a", nil}, {"b", int8(2)}}},
			`[["b",1],["a",null],["b",2]]`},
		{value.Map{StringKeys: true, Elements: []kv{{"\xff", true}, {"\xfe", false}}}, `{"\udcff":true,"\udcfe":false}`},
		{value.Map{Elements: []kv{{int32(-1), "x"}, {int32(2), "y"}}}, `[[-1,"x"],[2,"y"]]`},
		{value.Map{Elements: []kv{{[]any{int8(1)}, member(nan)}}}, `[[[1],{"x":"NaN"}]]`},
		{value.Map{Elements: []kv{{uint8(1), value.Map{StringKeys: true, Elements: []kv{{"k", []any{}}}}}}},
			`[[1,{"k":[]}]]`},
		// Variants: a point tells floats from integers, at any depth.
		{alt(int32(3)), `3`}, {alt(nil), `null`}, {alt("3"), `"3"`}, {alt(3.0), `3.0`},
		{alt(float32(-16777216)), `-16777216.0`}, {alt(0.5), `0.5`},
		{alt(math.Copysign(0, -1)), `-0.0`}, {alt(1e20), `100000000000000000000.0`}, {alt(1e21), `1e+21`},
		{alt(1e-7), `1e-07`}, {alt(nan), `"NaN"`}, {alt(inf), `"Infinity"`},
		{[]any{1.0, alt([]any{int8(1), 1.0, member(2.0), alt(float32(3)), value.Some{Value: nil}}), 4.0},
			`[1,[1,1.0,{"x":2.0},3.0,null],4]`},
		{alt(value.Map{Elements: []kv{{1.0, 2.0}}}), `[[1.0,2.0]]`},
		{alt(value.Map{StringKeys: true, Elements: []kv{{"k", 1.0}}}), `{"k":1.0}`},
		{value.Some{}, `null`}, {value.Some{Value: value.Some{}}, `null`}, {value.Some{Value: 1.0}, `1`},
		{alt(value.Some{Value: 1.0}), `1.0`},
	} {
		got := string(value.AppendJSON([]byte("before "), test.v))
		if got != "before "+test.want {
			t.Errorf("%T %v: got %s, want %s", test.v, test.v, got, test.want)
		}
		if !json.Valid([]byte(test.want)) || !utf8.ValidString(got) {
			t.Errorf("%s is no JSON", got)
		}
	}
	defer func() {
		if err := recover(); err == nil || !strings.Contains(fmt.Sprint(err), "chan int") {
			t.Errorf("a channel: %v", err)
		}
	}()
	value.AppendJSON(nil, []any{make(chan int)})
}

// Every float reads back to the same bits, and nothing shorter in digits does.
func TestFloatsReadBack(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	digits := func(s string) int {
		mantissa, _, _ := strings.Cut(s, "e")
		return len(strings.Trim(strings.NewReplacer("-", "", ".", "").Replace(mantissa), "0"))
	}
	check := func(v any, x float64, bits int) {
		t.Helper()
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return
		}
		text := string(value.AppendJSON(nil, v))
		back, err := strconv.ParseFloat(text, bits)
		if err != nil || math.Float64bits(back) != math.Float64bits(x) || !json.Valid([]byte(text)) {
			t.Fatalf("%T %x: wrote %s, reads as %g, %v", v, math.Float64bits(x), text, back, err)
		}
		if n := digits(text); n > 1 {
			shorter, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', n-2, bits), bits)
			if shorter == x {
				t.Fatalf("%T %s: %d digits would do", v, text, n-1)
			}
		}
		if len(text) > 26 {
			t.Fatalf("%T: %s is long", v, text)
		}
	}
	for i := range 50_000 {
		u := rnd.Uint64()
		if i%2 == 0 { // near the numbers where the form changes
			u = math.Float64bits([]float64{1e-7, 1e-6, 1, 1e20, 1e21, 1e22}[rnd.IntN(6)]) + uint64(rnd.IntN(1000)) - 500
		}
		x := math.Float64frombits(u)
		check(x, x, 64)
		y := math.Float32frombits(uint32(u >> 32))
		if i%2 == 0 {
			y = float32(x)
		}
		check(y, float64(y), 32)
	}
}

// Nothing of a string is lost: a reader that turns the lone surrogates back
// into bytes has what was stored.
func TestStringsReadBack(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"a", `"`, `\`, "\x00", "\x1f", "\n", "é", "字", "😀", "\ufffd", "\xff", "\x80", "\xed\xb2\x80",
		"\xf0\x9f", "\xc3", "u", "\u2029"}
	for range 20_000 {
		var want string
		for range rnd.IntN(8) {
			want += pieces[rnd.IntN(len(pieces))]
		}
		text := string(value.AppendJSON(nil, want))
		if !json.Valid([]byte(text)) || !utf8.ValidString(text) ||
			strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
			t.Fatalf("%q: %s is no JSON", want, text)
		}
		if got := unescape(t, text); got != want {
			t.Fatalf("%q: wrote %s, reads as %q", want, text, got)
		}
		var got string
		if err := json.Unmarshal([]byte(text), &got); err != nil || utf8.ValidString(want) && got != want {
			t.Fatalf("%q: package json reads %s as %q, %v", want, text, got, err)
		}
	}
}

// unescape reads a JSON string; the surrogates from U+DC80 on become bytes.
func unescape(t *testing.T, text string) string {
	var b []byte
	text = text[1 : len(text)-1]
	for text != "" {
		if text[0] != '\\' {
			b, text = append(b, text[0]), text[1:]
			continue
		}
		if i := strings.IndexByte(`"\/bfnrt`, text[1]); i >= 0 {
			b, text = append(b, "\"\\/\b\f\n\r\t"[i]), text[2:]
			continue
		}
		u, err := strconv.ParseUint(text[2:6], 16, 16)
		if err != nil || text[1] != 'u' || u >= 0x80 && (u < 0xdc80 || u > 0xdcff) {
			t.Fatalf("%s: %v", text, err)
		}
		b, text = append(b, byte(u)), text[6:]
	}
	return string(b)
}

func TestRecordGet(t *testing.T) {
	r := value.Record{Names: []string{"a", "b"}, Values: []any{int8(1), nil}}
	if r.Get("a") != int8(1) || r.Get("b") != nil || r.Get("c") != nil {
		t.Errorf("got %v, %v, %v", r.Get("a"), r.Get("b"), r.Get("c"))
	}
}
