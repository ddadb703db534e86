package column_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/frame"
)

// limits returns the range of the integers and of bool, as one.
func limits(v any) (lo, hi *big.Int) {
	power := func(n uint, less int64) *big.Int {
		p := new(big.Int).Lsh(big.NewInt(1), n)
		return p.Sub(p, big.NewInt(less))
	}
	bits := map[string]uint{"bool": 1, "int8": 7, "uint8": 8, "int16": 15, "uint16": 16, "int32": 31, "uint32": 32,
		"int64": 63, "uint64": 64}[fmt.Sprintf("%T", v)]
	if lo = new(big.Int); strings.HasPrefix(fmt.Sprintf("%T", v), "int") {
		lo.Neg(power(bits, 0))
	}
	return lo, power(bits, 1)
}

// integers returns the values about all powers of two that lie in [lo, hi].
func integers(lo, hi *big.Int) (all []*big.Int) {
	for n := range uint(66) {
		for _, sign := range []int64{1, -1} {
			for _, more := range []int64{-1, 0, 1} {
				v := new(big.Int).Lsh(big.NewInt(sign), n)
				if v.Add(v, big.NewInt(more)); v.Cmp(lo) >= 0 && v.Cmp(hi) <= 0 {
					all = append(all, v)
				}
			}
		}
	}
	return all
}

func isFloat(v any) bool {
	switch v.(type) {
	case float32, float64:
		return true
	}
	return false
}

func isTagged(v any) bool { _, ok := v.(column.Tagged); return ok }

// readAs reads columns of all types as T. Supplement, section 5: booleans,
// characters and integers as each other if the value fits, as bool if not 0;
// floats as each other unless they become infinite; nothing else, and bytes
// only as what they are.
func readAs[T column.Element](t *testing.T) {
	to := any(*new(T))
	for _, r := range rows {
		f := r.formats()[0]
		sameType := fmt.Sprintf("%T", to) == fmt.Sprintf("%T", r.goType)
		allowed := sameType || isFloat(to) && isFloat(r.goType) ||
			!isFloat(to) && !isTagged(to) && !isFloat(r.goType) && !isTagged(r.goType) && r.name != "Byte"
		d, err := column.NewDecoder[T](f)
		if (err == nil) != allowed || err != nil && !errors.Is(err, frame.ErrUnsupported) {
			t.Errorf("%s as %T: %v", r.name, to, err)
			continue
		}
		if _, err := column.Append(f, nil, make([]T, 1)); (err == nil) != sameType {
			t.Errorf("%T to a column of type %s: %v", to, r.name, err)
		}
		switch {
		case !allowed || isTagged(to):
		case isFloat(to):
			if f.Type != column.Real32Quant && f.Type != column.Real32Trunc {
				floatsAs(t, f, r, d)
			}
		default:
			integersAs(t, f, r, d)
		}
	}
}

func integersAs[T column.Element](t *testing.T, f column.Format, r row, d *column.Decoder[T]) {
	to := any(*new(T))
	fromLo, fromHi := limits(r.goType)
	toLo, toHi := limits(to)
	_, toBool := to.(bool)
	for _, v := range integers(fromLo, fromHi) {
		// Two zeros come first; the page has the value as third element.
		x := new(big.Int).Set(v)
		switch {
		case strings.HasPrefix(r.coding, "zigzag") && v.Sign() < 0:
			x.Neg(x.Add(x.Lsh(x, 1), big.NewInt(1)))
		case strings.HasPrefix(r.coding, "zigzag"):
			x.Lsh(x, 1)
		case v.Sign() < 0:
			x.Add(x, new(big.Int).Lsh(big.NewInt(1), uint(f.Bits)))
		}
		page := layout([]word{{}, {}, {x.Uint64()}}, int(f.Bits), strings.Contains(r.coding, "split"))
		got := make([]T, 3)
		err := d.Decode(got, page)
		fits := toBool || v.Cmp(toLo) >= 0 && v.Cmp(toHi) <= 0
		if !fits {
			if !errors.Is(err, column.ErrRange) || !strings.Contains(err.Error(), "element 2:") ||
				!strings.Contains(err.Error(), v.String()) {
				t.Errorf("%s %v as %T: %v, %v", r.name, v, to, got[2], err)
			}
			continue
		}
		want := v.String()
		if toBool {
			want = fmt.Sprint(v.Sign() != 0)
		}
		if err != nil || fmt.Sprint(got[2]) != want {
			t.Errorf("%s %v as %T: %v, %v", r.name, v, to, got[2], err)
		}
	}
}

func floatsAs[T column.Element](t *testing.T, f column.Format, r row, d *column.Decoder[T]) {
	inf := math.Inf(1)
	// in all widths
	values := []float64{0, math.Copysign(0, -1), 1, -1.5, inf, -inf, math.NaN(), math.Ldexp(1, -14),
		math.Ldexp(1, -24), 65504,
		math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, float64(float32(0.1)), // not in 16 bits
		0.1, 1.0 / 3, 1e-300, math.MaxFloat64, -1e300, // not in 32
		// 2^103 is half of the last place
		math.MaxFloat32 + math.Ldexp(1, 102), math.MaxFloat32 + math.Ldexp(1, 103), -math.MaxFloat32 - math.Ldexp(1, 103)}
	switch f.Bits {
	case 16:
		values = values[:10]
	case 32:
		values = values[:14]
	}
	_, to32 := any(*new(T)).(float32)
	for _, v := range values {
		w := word{math.Float64bits(v)}
		switch f.Bits {
		case 16:
			w[0] = uint64(half(float32(v)))
		case 32:
			w[0] = uint64(math.Float32bits(float32(v)))
		}
		page := layout([]word{{}, w}, int(f.Bits), strings.Contains(r.coding, "split"))
		got := make([]T, 2)
		err := d.Decode(got, page)
		want, value := v, math.NaN()
		switch x := any(got[1]).(type) {
		case float32:
			want, value = float64(float32(v)), float64(x)
		case float64:
			value = x
		}
		if to32 && math.Abs(v) != inf && math.Abs(want) == inf {
			if !errors.Is(err, column.ErrRange) || !strings.Contains(err.Error(), "element 1:") {
				t.Errorf("%s %g as float32: %v, %v", r.name, v, value, err)
			}
			continue
		}
		if err != nil || math.Float64bits(value) != math.Float64bits(want) && !(math.IsNaN(value) && math.IsNaN(want)) {
			t.Errorf("%s %g as %T: %g, %v", r.name, v, got[1], value, err)
		}
	}
}

func TestConversions(t *testing.T) {
	readAs[bool](t)
	readAs[int8](t)
	readAs[uint8](t)
	readAs[int16](t)
	readAs[uint16](t)
	readAs[int32](t)
	readAs[uint32](t)
	readAs[int64](t)
	readAs[uint64](t)
	readAs[float32](t)
	readAs[float64](t)
	readAs[column.Tagged](t)
}

// TestKinds decodes pages without a type at compile time: as values, as pages of
// other formats, and to check the range. A page of another length is refused before
// there is memory for the elements.
func TestKinds(t *testing.T) {
	from, to := column.Format{Type: column.Int32, Bits: 32}, column.Format{Type: column.SplitUInt16, Bits: 16}
	page := []byte{1, 0, 0, 0, 0xff, 0xff, 0, 0}
	tooLarge := []byte{1, 0, 0, 0, 0, 0, 1, 0}
	values, err := from.Values(page, 2)
	if err != nil || fmt.Sprint(values) != "[1 65535]" || fmt.Sprintf("%T", values[0]) != "int32" {
		t.Errorf("%v, error %v", values, err)
	}
	tags, err := column.Format{Type: column.Switch, Bits: 96}.Values([]byte{5, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0}, 1)
	if err != nil || tags[0] != any(column.Tagged{Index: 5, Tag: 2}) {
		t.Errorf("%v, error %v", tags, err)
	}
	r, err := column.NewRecoder(from, to)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.Append([]byte{9}, page, 2); err != nil || string(got) != "\x09\x01\xff\x00\xff" {
		t.Errorf("%x, error %v", got, err)
	}
	same, err := column.NewRecoder(from, column.Format{Type: column.SplitInt32, Bits: 32})
	if err != nil {
		t.Fatal(err)
	}
	// Zigzag makes 2 and 131070 of them.
	if got, err := same.Append(nil, page, 2); err != nil || string(got) != "\x02\xfe\x00\xff\x00\x01\x00\x00" {
		t.Errorf("%x, error %v", got, err)
	}
	if _, err := r.Append(nil, tooLarge, 2); !errors.Is(err, column.ErrRange) ||
		!strings.Contains(err.Error(), "element 1: value out of range: 65536 does not fit a column of type SplitUInt16") {
		t.Errorf("error %v", err)
	}
	for k, want := range map[reflect.Kind]error{reflect.Int32: nil, reflect.Int64: nil, reflect.Bool: nil,
		reflect.Uint16: column.ErrRange, reflect.Float32: frame.ErrUnsupported, reflect.Struct: frame.ErrUnsupported} {
		if err := from.CheckRange(k, tooLarge, 2); !errors.Is(err, want) {
			t.Errorf("%v: error %v, want %v", k, err, want)
		}
	}
	// All elements of a page are checked in the place of one.
	if err := (column.Format{Type: column.Int8, Bits: 8}).CheckRange(reflect.Int64,
		make([]byte, 1<<22), 1<<22); err != nil {
		t.Error(err)
	}
	for _, f := range []column.Format{{Type: column.Byte, Bits: 8}, {Type: column.Real32, Bits: 32}} {
		_, err1 := column.NewRecoder(from, f)
		_, err2 := column.NewRecoder(f, to)
		if !errors.Is(err1, frame.ErrUnsupported) || !errors.Is(err2, frame.ErrUnsupported) {
			t.Errorf("%v: errors %v, %v", f, err1, err2)
		}
	}
	const many = math.MaxInt32
	_, err1 := from.Values(page, many)
	_, err2 := r.Append(nil, page, many)
	for _, err := range []error{err1, err2, from.CheckRange(reflect.Int8, page, many),
		from.CheckRange(reflect.Int32, page, many)} {
		if !errors.Is(err, frame.ErrCorrupt) {
			t.Errorf("error %v", err)
		}
	}
}

// fuzzAs decodes a page as T. If T is the column's own type, encoding gives the
// page again.
func fuzzAs[T column.Element](t *testing.T, f column.Format, n int, page []byte) {
	d, err := column.NewDecoder[T](f)
	if err != nil {
		if !errors.Is(err, frame.ErrUnsupported) {
			t.Errorf("%v as %T: %v", f, *new(T), err)
		}
		return
	}
	got := make([]T, n)
	err = d.Decode(got, page)
	switch right := int64(len(page)) == f.PageSize(uint32(n)); {
	case !right && !errors.Is(err, frame.ErrCorrupt), right && err != nil && !errors.Is(err, column.ErrRange):
		t.Errorf("%v as %T: %d elements in %d bytes: %v", f, *new(T), n, len(page), err)
		return
	case err != nil:
		return
	}
	back, err := column.Append(f, nil, got)
	if err != nil || f.Type == column.Real32Quant { // another type; or rounded
		return
	}
	page = append([]byte(nil), page...)
	if used := n * int(f.Bits) % 8; used != 0 {
		page[len(page)-1] &= 1<<used - 1
	}
	if string(back) != string(page) {
		t.Errorf("%v: %v\nread  %x\nwrote %x", f, got, page, back)
	}
}

func FuzzColumnDecode(f *testing.F) {
	for _, r := range rows {
		page := make([]byte, 48)
		for i := range page {
			page[i] = byte(i * 37)
		}
		f.Add(r.id, r.hi, -1.0, 1.0, uint16(48*8/r.hi), page)
		f.Add(r.id, r.lo, 0.0, 1e300, uint16(7), page)
	}
	f.Fuzz(func(t *testing.T, id, bits uint16, lo, hi float64, n uint16, page []byte) {
		format := column.Format{Type: column.Type(id), Bits: bits, Min: lo, Max: hi}
		_ = format.String()
		if format.Check() != nil {
			return
		}
		for range 2 {
			fuzzAs[bool](t, format, int(n), page)
			fuzzAs[int8](t, format, int(n), page)
			fuzzAs[uint8](t, format, int(n), page)
			fuzzAs[int16](t, format, int(n), page)
			fuzzAs[uint16](t, format, int(n), page)
			fuzzAs[int32](t, format, int(n), page)
			fuzzAs[uint32](t, format, int(n), page)
			fuzzAs[int64](t, format, int(n), page)
			fuzzAs[uint64](t, format, int(n), page)
			fuzzAs[float32](t, format, int(n), page)
			fuzzAs[float64](t, format, int(n), page)
			fuzzAs[column.Tagged](t, format, int(n), page)
			// Then with the number of elements that the page has.
			n = uint16(min(8*len(page)/int(bits), math.MaxUint16))
			page = page[:format.PageSize(uint32(n))]
		}
	})
}
