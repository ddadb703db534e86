package field_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/schema"
)

type (
	myInt   int
	myFloat float32
	myBool  bool
)

// scalarTypes lists the C++ types of scalars and the Go types of their values.
var scalarTypes = []struct {
	name string
	typ  reflect.Type
	fits string
}{
	{"bool", reflect.TypeFor[bool](), "bool"}, {"char", reflect.TypeFor[int8](), "int8"},
	{"std::byte", reflect.TypeFor[uint8](), "byte"},
	{"std::int8_t", reflect.TypeFor[int8](), "int8"}, {"std::uint8_t", reflect.TypeFor[uint8](), "uint8"},
	{"std::int16_t", reflect.TypeFor[int16](), "int16"}, {"std::uint16_t", reflect.TypeFor[uint16](), "uint16"},
	{"std::int32_t", reflect.TypeFor[int32](), "int32"}, {"std::uint32_t", reflect.TypeFor[uint32](), "uint32"},
	{"std::int64_t", reflect.TypeFor[int64](), "int64"}, {"std::uint64_t", reflect.TypeFor[uint64](), "uint64"},
	{"float", reflect.TypeFor[float32](), "float32"}, {"double", reflect.TypeFor[float64](), "float64"},
}

var goTypes = []reflect.Type{
	reflect.TypeFor[bool](), reflect.TypeFor[myBool](), reflect.TypeFor[int](), reflect.TypeFor[myInt](),
	reflect.TypeFor[uint](),
	reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](), reflect.TypeFor[int64](),
	reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64](),
	reflect.TypeFor[float32](), reflect.TypeFor[myFloat](), reflect.TypeFor[float64](),
	reflect.TypeFor[uintptr](), reflect.TypeFor[string](), reflect.TypeFor[complex64](), reflect.TypeFor[struct{}](),
	reflect.TypeFor[[]int8](), reflect.TypeFor[error](),
}

func isBool(t reflect.Type) bool  { return t.Kind() == reflect.Bool }
func isFloat(t reflect.Type) bool { return t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64 }
func isInt(t reflect.Type) bool {
	return t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64
}

// limits returns the range of an integer type, or of bool as one.
func limits(t reflect.Type) (lo, hi *big.Int) {
	lo, hi = big.NewInt(0), big.NewInt(2)
	switch {
	case isBool(t):
	case t.Kind() <= reflect.Int64:
		hi.Lsh(big.NewInt(1), uint(t.Bits()-1))
		lo.Neg(hi)
	default:
		hi.Lsh(big.NewInt(1), uint(t.Bits()))
	}
	return lo, hi.Sub(hi, big.NewInt(1))
}

// number returns an integer as a value of type t, which must hold it.
func number(t reflect.Type, n *big.Int) reflect.Value {
	v := reflect.New(t).Elem()
	switch {
	case isBool(t):
		v.SetBool(n.Sign() != 0)
	case v.CanInt():
		v.SetInt(n.Int64())
	case v.CanUint():
		v.SetUint(n.Uint64())
	default:
		f, _ := n.Float64()
		v.SetFloat(f)
	}
	return v
}

// encoded returns numbers as the columns of uncompressed data have them: the bits
// in their order, or the bytes with the lowest first.
func encoded(t reflect.Type, numbers []*big.Int) elements {
	return elements{n: len(numbers), encode: func(f column.Format) (page []byte, err error) {
		page = make([]byte, f.PageSize(uint32(len(numbers))))
		for i, n := range numbers {
			word := binary.LittleEndian.AppendUint64(nil, new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64())
			switch size := int(f.Bits) / 8; {
			case isBool(t):
				page[i/8] |= byte(n.Sign()) << (i % 8)
			case t.Kind() == reflect.Float32:
				binary.LittleEndian.PutUint32(page[4*i:], math.Float32bits(float32(number(t, n).Float())))
			case t.Kind() == reflect.Float64:
				binary.LittleEndian.PutUint64(page[8*i:], math.Float64bits(number(t, n).Float()))
			default:
				copy(page[size*i:], word[:size])
			}
		}
		return page, nil
	}}
}

// TestScalars reads scalars of all types into all Go types, and writes them from
// all. What is not allowed does not fit; a number out of range is an error that
// names the entry.
func TestScalars(t *testing.T) {
	for _, from := range scalarTypes {
		s := build(t, fieldOf(t, "x", from.name))
		for _, to := range append(goTypes, from.typ) {
			what := fmt.Sprintf("%s and %v", from.name, to)
			numbers := []*big.Int{big.NewInt(0), big.NewInt(1), big.NewInt(0), big.NewInt(1), big.NewInt(1)}
			src := source(t, s, cluster{2, columns{"x/0": encoded(from.typ, numbers[:2])}},
				cluster{3, columns{"x/0": encoded(from.typ, numbers[2:])}})
			readable := isFloat(from.typ) && isFloat(to) || !isFloat(from.typ) && (isBool(to) || isInt(to))
			writable := isFloat(from.typ) && isFloat(to) || isBool(from.typ) && isBool(to) || isInt(from.typ) && isInt(to)
			if from.name == "std::byte" {
				lo, hi := new(big.Int), new(big.Int)
				if isInt(to) {
					lo, hi = limits(to)
				}
				readable = isInt(to) && lo.Sign() <= 0 && hi.Cmp(big.NewInt(255)) >= 0
			}
			got, err := read(t, src, "x", to, options)
			if refused(t, what, from.fits, readable, err); readable && err == nil {
				for i, n := range numbers {
					if want := number(to, n); !reflect.DeepEqual(got.Index(i).Interface(), want.Interface()) {
						t.Errorf("%s: read %v, want %v", what, got.Index(i), want)
					}
				}
			}
			w, o := newSink(s)
			values := reflect.MakeSlice(reflect.SliceOf(to), 0, 5)
			if writable {
				for _, n := range numbers {
					values = reflect.Append(values, number(to, n))
				}
			}
			err = write(o, w, s.Fields[0], values.Interface())
			if refused(t, what, from.fits, writable, err); writable && err == nil {
				want := make([]any, len(numbers))
				for i, n := range numbers {
					want[i] = number(from.typ, n).Interface()
				}
				if got := stored(t, w.source(t), "x/0", 0); got != fmt.Sprint(want) {
					t.Errorf("%s: wrote %s, want %v", what, got, want)
				}
			}
			if !isBool(to) && isInt(to) && !isFloat(from.typ) && readable {
				extremes(t, from.name, from.typ, to, writable)
			}
		}
	}
}

// refused checks the error for a scalar called x that fits a Go type or does not.
func refused(t *testing.T, what, fits string, ok bool, err error) {
	t.Helper()
	var mismatch *schema.MismatchError
	switch {
	case ok && err != nil:
		t.Errorf("%s: %v", what, err)
	case !ok && (!errors.As(err, &mismatch) || !strings.HasSuffix(err.Error(), ", "+fits+" would") ||
		mismatch.Mismatches[0].Path != "x"):
		t.Errorf("%s: error %v, want one that %s would fit", what, err, fits)
	}
}

// extremes reads and writes the least and the greatest integer of a type as ones of
// another type.
func extremes(t *testing.T, name string, fieldType, goType reflect.Type, writable bool) {
	t.Helper()
	what := fmt.Sprintf("%s and %v", name, goType)
	s := build(t, fieldOf(t, "x", name))
	within := func(n *big.Int, t reflect.Type) bool {
		lo, hi := limits(t)
		return lo.Cmp(n) <= 0 && n.Cmp(hi) <= 0
	}
	lo, hi := limits(fieldType)
	for _, n := range []*big.Int{lo, hi} {
		numbers := []*big.Int{big.NewInt(0), big.NewInt(1), n, n}
		got, err := read(t, source(t, s, cluster{4, columns{"x/0": encoded(fieldType, numbers)}}), "x", goType, options)
		var lost *schema.ConversionError
		switch {
		case within(n, goType) && (err != nil || !reflect.DeepEqual(got.Index(3).Interface(), number(goType, n).Interface())):
			t.Errorf("%s: %v is read as %v, error %v", what, n, got, err)
		case !within(n, goType) && (!errors.As(err, &lost) || !errors.Is(err, column.ErrRange) || lost.Entry != 2 ||
			lost.Path != "x" || lost.Go != goType || lost.Value != number(fieldType, n).Interface()):
			t.Errorf("%s: reading %v: error %v", what, n, err)
		}
	}
	if lo, hi = limits(goType); !writable {
		return
	}
	for _, n := range []*big.Int{lo, hi} {
		w, o := newSink(s)
		values := reflect.Append(reflect.MakeSlice(reflect.SliceOf(goType), 0, 2),
			number(goType, big.NewInt(1)), number(goType, n))
		switch err := write(o, w, s.Fields[0], values.Interface()); {
		case within(n, fieldType) && err != nil, !within(n, fieldType) && !errors.Is(err, column.ErrRange):
			t.Errorf("%s: writing %v: error %v", what, n, err)
		case err == nil:
			if got, want := stored(t, w.source(t), "x/0", 0), fmt.Sprintf("[1 %v]", n); got != want {
				t.Errorf("%s: wrote %s, want %s", what, got, want)
			}
		default:
			if want := fmt.Sprintf(`field "x": value out of range: %v does not fit %v`, n, fieldType); err.Error() != want {
				t.Errorf("%s: error %v, want %s", what, err, want)
			}
		}
	}
}

// TestRounding writes and reads float64s as float32s: rounded, but not to infinity.
func TestRounding(t *testing.T) {
	tooLarge := math.MaxFloat32 + math.Ldexp(1, 103)
	s := build(t, fieldOf(t, "x", "float"))
	w, o := newSink(s)
	if err := write(o, w, s.Fields[0], []float64{1.0 / 3, math.Inf(-1)}); err != nil {
		t.Error(err)
	}
	if got, want := stored(t, w.source(t), "x/0", 0), fmt.Sprint([]float32{1.0 / 3, float32(math.Inf(-1))}); got != want {
		t.Errorf("wrote %s, want %s", got, want)
	}
	w, o = newSink(s)
	if err := write(o, w, s.Fields[0], []float64{tooLarge}); !errors.Is(err, column.ErrRange) {
		t.Errorf("wrote %g: error %v", tooLarge, err)
	}
	s = build(t, fieldOf(t, "x", "double"))
	got, err := read(t, source(t, s, cluster{1, columns{"x/0": of(1.0 / 3)}}), "x", reflect.TypeFor[float32](), options)
	if err != nil || got.Index(0).Interface() != float32(1.0/3) {
		t.Errorf("read %v, error %v", got, err)
	}
	if _, err := read(t, source(t, s, cluster{1, columns{"x/0": of(tooLarge)}}), "x", reflect.TypeFor[float32](),
		options); !errors.Is(err, column.ErrRange) {
		t.Errorf("read %g: error %v", tooLarge, err)
	}
}

// TestManyConverted writes more converted numbers at once than fit the memory for
// them, with one out of range at the end.
func TestManyConverted(t *testing.T) {
	s := build(t, fieldOf(t, "v", "std::vector<std::int16_t>"))
	v := make([]int64, 1000)
	for i := range v {
		v[i] = int64(i * i / 31)
	}
	w, o := newSink(s)
	if err := write(o, w, nil, []struct {
		V []int64 `rntuple:"v"`
	}{{v}}); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, w.source(t), "v._0/0", 0); got != fmt.Sprint(v) {
		t.Errorf("wrote %s", got)
	}
	v[999] = 1 << 15
	w, o = newSink(s)
	if err := write(o, w, s.Fields[0], [][]int64{v}); err == nil || !strings.Contains(err.Error(), `field "v._0"`) ||
		!strings.Contains(err.Error(), "32768") {
		t.Errorf("error %v", err)
	}
}
