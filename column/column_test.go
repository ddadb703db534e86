package column_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/frame"
)

// A row is what the specification says about a column type, section "Column
// Description".
type row struct {
	id     uint16
	lo, hi uint16 // bits
	name   string
	goType any // of the elements, by the package's documentation
	coding string
}

var rows = []row{
	{0x00, 1, 1, "Bit", false, ""},
	{0x01, 8, 8, "Byte", uint8(0), ""},
	{0x02, 8, 8, "Char", int8(0), ""},
	{0x03, 8, 8, "Int8", int8(0), ""},
	{0x04, 8, 8, "UInt8", uint8(0), ""},
	{0x05, 16, 16, "Int16", int16(0), ""},
	{0x06, 16, 16, "UInt16", uint16(0), ""},
	{0x07, 32, 32, "Int32", int32(0), ""},
	{0x08, 32, 32, "UInt32", uint32(0), ""},
	{0x09, 64, 64, "Int64", int64(0), ""},
	{0x0A, 64, 64, "UInt64", uint64(0), ""},
	{0x0B, 16, 16, "Real16", float32(0), ""},
	{0x0C, 32, 32, "Real32", float32(0), ""},
	{0x0D, 64, 64, "Real64", float64(0), ""},
	{0x0E, 32, 32, "Index32", uint32(0), ""},
	{0x0F, 64, 64, "Index64", uint64(0), ""},
	{0x10, 96, 96, "Switch", column.Tagged{}, ""},
	{0x11, 16, 16, "SplitInt16", int16(0), "zigzag split"},
	{0x12, 16, 16, "SplitUInt16", uint16(0), "split"},
	{0x13, 32, 32, "SplitInt32", int32(0), "zigzag split"},
	{0x14, 32, 32, "SplitUInt32", uint32(0), "split"},
	{0x15, 64, 64, "SplitInt64", int64(0), "zigzag split"},
	{0x16, 64, 64, "SplitUInt64", uint64(0), "split"},
	{0x17, 16, 16, "SplitReal16", float32(0), "split"},
	{0x18, 32, 32, "SplitReal32", float32(0), "split"},
	{0x19, 64, 64, "SplitReal64", float64(0), "split"},
	{0x1A, 32, 32, "SplitIndex32", uint32(0), "delta split"},
	{0x1B, 64, 64, "SplitIndex64", uint64(0), "delta split"},
	{0x1C, 10, 31, "Real32Trunc", float32(0), ""},
	{0x1D, 1, 32, "Real32Quant", float64(0), ""},
}

// formats returns the formats of a row: all widths, and for quantized columns some ranges.
func (r row) formats() (all []column.Format) {
	for bits := r.lo; bits <= r.hi; bits++ {
		f := column.Format{Type: column.Type(r.id), Bits: bits}
		if f.Type != column.Real32Quant {
			all = append(all, f)
			continue
		}
		for _, span := range [][2]float64{{0, 1}, {-1, 1}, {-math.Pi, math.E}, {1e-300, 1e300}, {1, 1 + 1e-9},
			{0.1, 0.7}, {-0.3, 2.9}} {
			f.Min, f.Max = span[0], span[1]
			all = append(all, f)
		}
	}
	return all
}

// word is the pattern of an element, lowest 64 bits first.
type word [2]uint64

func (w word) bit(i int) byte { return byte(w[i/64]>>(i%64)) & 1 }

// layout puts the patterns of elements into a page, by the definition: one
// after the other in a stream of bits, lowest first, which for whole bytes is
// little-endian; or, split, byte k of all elements, for every k.
func layout(words []word, bits int, split bool) []byte {
	page := make([]byte, (len(words)*bits+7)/8)
	for i, w := range words {
		for b := range bits {
			at := i*bits + b
			if split {
				at = 8*(b/8*len(words)+i) + b%8
			}
			page[at/8] |= w.bit(b) << (at % 8)
		}
	}
	return page
}

// reference encodes elements in the plainest way.
func reference[T column.Element](f column.Format, coding string, src []T) []byte {
	words := make([]word, len(src))
	mask := ^uint64(0) >> (64 - min(f.Bits, 64))
	for i, v := range src {
		w := pattern(f, v)
		switch {
		case strings.HasPrefix(coding, "zigzag"):
			// 2x if x is positive, -(2x+1) if it is negative; in N bits.
			x := int64(w[0])
			w[0] = uint64(2*x) & mask
			if x < 0 {
				w[0] = uint64(-(2*x + 1)) & mask
			}
		case strings.HasPrefix(coding, "delta") && i > 0:
			w[0] = (w[0] - pattern(f, src[i-1])[0]) & mask
		}
		words[i] = w
	}
	return layout(words, int(f.Bits), strings.Contains(coding, "split"))
}

// pattern is an element as an integer, signed ones extended to 64 bits.
func pattern[T column.Element](f column.Format, v T) word {
	switch v := any(v).(type) {
	case bool:
		if v {
			return word{1}
		}
		return word{0}
	case float32:
		switch f.Type {
		case column.Real16, column.SplitReal16:
			return word{uint64(half(v))}
		case column.Real32Trunc: // the top bits, not rounded
			return word{uint64(math.Float32bits(v)) >> (32 - f.Bits)}
		}
		return word{uint64(math.Float32bits(v))}
	case float64:
		if f.Type == column.Real32Quant { // supplement, 4.5
			return word{uint64(uint32(0.5 + float64((v-f.Min)*(float64(uint64(1)<<f.Bits-1)/(f.Max-f.Min)))))}
		}
		return word{math.Float64bits(v)}
	case column.Tagged:
		return word{v.Index, uint64(v.Tag)}
	}
	if r := reflect.ValueOf(v); r.CanInt() {
		return word{uint64(r.Int())}
	} else {
		return word{r.Uint()}
	}
}

// half is the IEEE-754 binary16 nearest to v, ties to even.
func half(v float32) uint16 {
	sign, x := uint16(0), math.Abs(float64(v))
	if math.Signbit(float64(v)) {
		sign = 1 << 15
	}
	switch {
	case math.IsNaN(x): // a NaN with the top of the payload
		payload := uint16(math.Float32bits(v) >> 13 & 0x3ff)
		return sign | 0x7c00 | max(payload, 1)
	case x == 0:
		return sign
	case x >= 65520:
		return sign | 0x7c00
	}
	_, exp := math.Frexp(x) // x is in [2^(exp-1), 2^exp)
	exp = max(exp-1, -14)
	// In units of the last place; 1024 or more is a normal number.
	return sign + uint16(exp+14)<<10 + uint16(math.RoundToEven(math.Ldexp(x, 10-exp)))
}

// decoded is the element that v becomes by being stored.
func decoded[T column.Element](f column.Format, v T) T {
	var got any = v
	switch x := any(v).(type) {
	case float32:
		switch f.Type {
		case column.Real16, column.SplitReal16:
			h := half(x)
			exp, frac := int(h>>10&0x1f), float64(h&0x3ff)
			y := math.Ldexp(1024+frac, exp-25)
			switch exp {
			case 0:
				y = math.Ldexp(frac, -24)
			case 0x1f:
				got = math.Float32frombits(uint32(h>>15)<<31 | 0xff<<23 | uint32(h&0x3ff)<<13)
				return got.(T)
			}
			got = float32(y)
			if h>>15 != 0 {
				got = float32(math.Copysign(y, -1))
			}
		case column.Real32Trunc:
			got = math.Float32frombits(math.Float32bits(x) &^ (1<<(32-f.Bits) - 1))
		}
	case float64:
		if f.Type == column.Real32Quant {
			q := float64(uint32(pattern(f, v)[0]))
			got = min(f.Max, float64(q*((f.Max-f.Min)/float64(uint64(1)<<f.Bits-1)))+f.Min)
		}
	}
	return got.(T)
}

// sample returns the extremes of T and random values.
func sample[T column.Element](f column.Format, rnd *rand.Rand, n int) []T {
	s := make([]T, n)
	for i := range s {
		u := rnd.Uint64() >> rnd.IntN(64)
		if i < 5 {
			u = []uint64{0, 1, ^uint64(0), 1<<(f.Bits-1) - 1, 1 << (f.Bits - 1)}[i]
		}
		switch p := any(&s[i]).(type) {
		case *bool:
			*p = u&1 != 0
		case *float32:
			special := []float32{0, float32(math.Copysign(0, -1)), 1, float32(math.Inf(-1)), math.Float32frombits(0x7f800001),
				math.Float32frombits(0xffc12345),
				math.MaxFloat32, math.SmallestNonzeroFloat32, 65504, 65519.996, 65520, 6.1e-5, 2.98e-8, 2.99e-8, 1.0 / 3}
			if *p = math.Float32frombits(uint32(rnd.Uint64())); i < len(special) {
				*p = special[i]
			} else if i%2 == 0 { // in the range of binary16
				*p = float32(math.Ldexp(rnd.Float64(), rnd.IntN(45)-28))
			}
		case *float64:
			special := []float64{0, math.Copysign(0, -1), 1, math.Inf(1), math.Float64frombits(0x7ff0000000000001),
				math.Float64frombits(0xfff8000000012345), math.MaxFloat64, math.SmallestNonzeroFloat64}
			if *p = math.Float64frombits(rnd.Uint64()); i < len(special) {
				*p = special[i]
			}
			if f.Type == column.Real32Quant {
				*p = min(f.Max, f.Min+rnd.Float64()*(f.Max-f.Min))
				if i < 2 {
					*p = []float64{f.Min, f.Max}[i]
				}
			}
		case *column.Tagged:
			*p = column.Tagged{Index: u, Tag: uint32(rnd.Uint64())}
		default:
			if r := reflect.ValueOf(p).Elem(); r.CanInt() {
				r.SetInt(int64(u) << (64 - f.Bits) >> (64 - f.Bits))
			} else {
				r.SetUint(u & (^uint64(0) >> (64 - f.Bits)))
			}
		}
	}
	return s
}

// same compares elements, floats by their bits.
func same[T column.Element](a, b T) bool {
	switch a := any(a).(type) {
	case float32:
		return math.Float32bits(a) == math.Float32bits(any(b).(float32))
	case float64:
		return math.Float64bits(a) == math.Float64bits(any(b).(float64))
	}
	return a == b
}

func testRow[T column.Element](t *testing.T, r row) {
	rnd := rand.New(rand.NewPCG(1, uint64(r.id)))
	want := int64(reflect.TypeFor[T]().Size())
	if r.name == "Switch" {
		want = 16
	}
	if got := column.Size[T](); got != want {
		t.Errorf("elements of %d bytes, want %d", got, want)
	}
	for _, f := range r.formats() {
		if err := f.Check(); err != nil {
			t.Fatalf("%v: %v", f, err)
		}
		d, err := column.NewDecoder[T](f)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, 2, 3, 7, 8, 9, 64, 100, 3, 0, 2500} {
			src := sample[T](f, rnd, n)
			input := append([]T(nil), src...)
			want := append([]byte("before"), reference(f, r.coding, src)...)
			page, err := column.Append(f, []byte("before"), src)
			if err != nil || !bytes.Equal(page, want) {
				t.Fatalf("%v, %d elements: %v, %v\nwrote %x\nwant  %x", f, n, src, err, page, want)
			}
			page = page[len("before"):]
			if size := (n*int(f.Bits) + 7) / 8; len(page) != size || f.PageSize(uint32(n)) != int64(size) {
				t.Fatalf("%v: %d bytes for %d elements, PageSize says %d", f, len(page), n, f.PageSize(uint32(n)))
			}
			if used := n * int(f.Bits) % 8; used != 0 { // what fills the last byte does not matter
				page[len(page)-1] |= 0xff << used
			}
			got := make([]T, n)
			if err := d.Decode(got, page); err != nil {
				t.Fatalf("%v, %d elements: %v", f, n, err)
			}
			for i := range got {
				if !same(got[i], decoded(f, src[i])) {
					t.Fatalf("%v: element %d is %v, want %v, stored %v", f, i, got[i], decoded(f, src[i]), src[i])
				}
				if !same(src[i], input[i]) {
					t.Fatalf("%v: Append changes its input", f)
				}
			}
			for _, wrong := range [][]byte{append(page, 0), page[:max(len(page), 1)-1]} {
				if len(wrong) == len(page) {
					continue
				}
				if err := d.Decode(got, wrong); !errors.Is(err, frame.ErrCorrupt) {
					t.Errorf("%v: %d bytes for %d elements: %v", f, len(wrong), n, err)
				}
			}
		}
	}
}

func TestTable(t *testing.T) {
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if k := column.Type(r.id); k.String() != r.name || !k.Known() || k.IsIndex() != strings.Contains(r.name, "Index") {
				t.Errorf("type %#x is %v", r.id, k)
			}
			switch r.goType.(type) {
			case bool:
				testRow[bool](t, r)
			case int8:
				testRow[int8](t, r)
			case uint8:
				testRow[uint8](t, r)
			case int16:
				testRow[int16](t, r)
			case uint16:
				testRow[uint16](t, r)
			case int32:
				testRow[int32](t, r)
			case uint32:
				testRow[uint32](t, r)
			case int64:
				testRow[int64](t, r)
			case uint64:
				testRow[uint64](t, r)
			case float32:
				testRow[float32](t, r)
			case float64:
				testRow[float64](t, r)
			case column.Tagged:
				testRow[column.Tagged](t, r)
			}
		})
	}
}

// Some pages by hand.
func TestPagesByHand(t *testing.T) {
	check := func(f column.Format, got []byte, err error, want ...byte) {
		t.Helper()
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v: %x, %v, want %x", f, got, err, want)
		}
	}
	format := func(id column.Type, bits uint16) column.Format { return column.Format{Type: id, Bits: bits} }
	f := format(column.SplitIndex32, 32) // the specification's vector<float> with 1, 0 and 2 elements
	b, err := column.Append(f, nil, []uint32{1, 1, 3})
	check(f, b, err, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	f = format(column.SplitInt16, 16) // zigzag: 0, 1, 2, 0xffff
	b, err = column.Append(f, nil, []int16{0, -1, 1, math.MinInt16})
	check(f, b, err, 0, 1, 2, 0xff, 0, 0, 0, 0xff)
	f = format(column.Switch, 96)
	b, err = column.Append(f, nil, []column.Tagged{{Index: 0x0102030405060708, Tag: 0x090a0b0c}})
	check(f, b, err, 8, 7, 6, 5, 4, 3, 2, 1, 0xc, 0xb, 0xa, 9)
	f = format(column.Real16, 16)
	b, err = column.Append(f, nil, []float32{1, -2, 1e6})
	check(f, b, err, 0x00, 0x3c, 0x00, 0xc0, 0x00, 0x7c)
	f = format(column.Real32Trunc, 12) // 1 is 0x3f800000, -2 is 0xc0000000: 3f8, c00
	b, err = column.Append(f, nil, []float32{1, -2})
	check(f, b, err, 0xf8, 0x03, 0xc0)
	f = column.Format{Type: column.Real32Quant, Bits: 2, Min: 0, Max: 3} // 0, 1, 2 (of 1.5), 3
	b, err = column.Append(f, nil, []float64{0, 1.49, 1.5, 3})
	check(f, b, err, 0b11_10_01_00)
}

// Values outside of the range of a quantized column are refused.
func TestQuantRange(t *testing.T) {
	f := column.Format{Type: column.Real32Quant, Bits: 8, Min: -1, Max: 1}
	for _, v := range []float64{math.Nextafter(-1, -2), math.Nextafter(1, 2), math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, n := range []int{1, 2500} {
			_, err := column.Append(f, nil, append(make([]float64, n), v))
			if !errors.Is(err, column.ErrRange) || !strings.Contains(err.Error(), fmt.Sprintf("element %d:", n)) {
				t.Errorf("%g: %v", v, err)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	for _, r := range rows {
		for bits := uint16(0); bits < 130; bits++ {
			f := column.Format{Type: column.Type(r.id), Bits: bits, Max: 1}
			if err := f.Check(); (err == nil) != (r.lo <= bits && bits <= r.hi) || err != nil &&
				!errors.Is(err, frame.ErrUnsupported) {
				t.Errorf("%v of %d bits: %v", f.Type, bits, err)
			}
			f.PreRelease = true
			right := r.lo <= bits && bits <= r.hi
			if r.name == "Switch" {
				right = bits == 64
			}
			if err := f.Check(); (err == nil) != right {
				t.Errorf("%v of %d bits before format 1: %v", f.Type, bits, err)
			}
		}
	}
	for id, name := range map[column.Type]string{0x1e: "Type(0x1e)", 0x2a: "Type(0x2a)", 0xffff: "Type(0xffff)"} {
		if err := (column.Format{Type: id, Bits: 8}).Check(); !errors.Is(err, frame.ErrUnsupported) ||
			id.Known() || id.String() != name {
			t.Errorf("%v: %v", id, err)
		}
		if least, most := id.BitRange(); least != 0 || most != 0 || id.Kind() != reflect.Invalid {
			t.Errorf("%v has %d to %d bits and the kind %v", id, least, most, id.Kind())
		}
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, span := range [][2]float64{{0, 0}, {1, 0}, {nan, 1}, {0, nan}, {-inf, 0}, {0, inf},
		{-math.MaxFloat64, math.MaxFloat64}} {
		if err := (column.Format{Type: column.Real32Quant, Bits: 8, Min: span[0], Max: span[1]}).Check(); !errors.Is(err,
			frame.ErrCorrupt) {
			t.Errorf("range %v: %v", span, err)
		}
	}
	for f, want := range map[column.Format]string{
		{Type: column.Bit, Bits: 1}:                          "Bit",
		{Type: column.Real32Trunc, Bits: 16}:                 "Real32Trunc(16)",
		{Type: column.Real32Quant, Bits: 8, Min: -1, Max: 1}: "Real32Quant(8)[-1,1]",
		{Type: 0x2a, Bits: 7}:                                "Type(0x2a)(7)",
	} {
		if fmt.Sprint(f) != want {
			t.Errorf("%v, want %s", f, want)
		}
	}
}

// Before format 1 the integers of split columns were signed if their field was,
// without zigzag, and a Switch had 44 bits for the index below 20 for the tag.
func TestPreRelease(t *testing.T) {
	split := column.Format{Type: column.SplitInt32, Bits: 32, PreRelease: true}
	ints := make([]int32, 2)
	d, err := column.NewDecoder[int32](split)
	if err != nil {
		t.Fatal(err)
	}
	// -2 and 0x01020304, first bytes first.
	if err := d.Decode(ints, []byte{0xfe, 4, 0xff, 3, 0xff, 2, 0xff, 1}); err != nil || ints[0] != -2 ||
		ints[1] != 0x01020304 {
		t.Errorf("got %d, %v", ints, err)
	}
	if _, err := column.Append(split, nil, ints); err == nil {
		t.Error("a page of a pre-release format is written")
	}

	tags := make([]column.Tagged, 2)
	e, err := column.NewDecoder[column.Tagged](column.Format{Type: column.Switch, Bits: 64, PreRelease: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []column.Tagged{{Index: 0x0fffffffffff, Tag: 1}, {Index: 2, Tag: 0xfffff}}
	if err := e.Decode(tags, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0x1f, 0, 0, 2, 0, 0, 0, 0, 0xf0, 0xff,
		0xff}); err != nil || !slices.Equal(tags, want) {
		t.Errorf("got %x, %v", tags, err)
	}
	for _, f := range []column.Format{{Type: column.Switch, Bits: 64}, {Type: column.Switch, Bits: 96, PreRelease: true}} {
		if err := f.Check(); !errors.Is(err, frame.ErrUnsupported) {
			t.Errorf("%+v: %v", f, err)
		}
	}
}
