package convert

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
	"testing"
)

var kinds = []reflect.Kind{
	reflect.Bool, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16,
	reflect.Uint32, reflect.Uint64,
	reflect.Float32, reflect.Float64,
}

// limits returns the range of a kind of integers, or of bool as one.
func limits(k reflect.Kind) (lo, hi *big.Int) {
	power := func(n uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), n) }
	bits := map[reflect.Kind]uint{
		reflect.Bool: 1, reflect.Int8: 7, reflect.Int16: 15, reflect.Int32: 31, reflect.Int64: 63,
		reflect.Uint8: 8, reflect.Uint16: 16, reflect.Uint32: 32, reflect.Uint64: 64,
	}[k]
	lo = new(big.Int)
	if k >= reflect.Int8 && k <= reflect.Int64 {
		lo.Neg(power(bits))
	}
	return lo, new(big.Int).Sub(power(bits), big.NewInt(1))
}

// integers returns the values of a kind that are next to powers of two.
func integers(k reflect.Kind) (all []*big.Int) {
	lo, hi := limits(k)
	for n := range uint(65) {
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

// run converts the numbers of a slice into every other element of a slice of
// another kind, and returns that. Without gaps there, and with gaps between the
// numbers of the first slice, the results must be the same.
func run(t *testing.T, convert Func, from, to reflect.Kind, src reflect.Value) (dst reflect.Value, lost int) {
	t.Helper()
	size, n := Type(to).Size(), src.Len()
	dst = reflect.MakeSlice(reflect.SliceOf(Type(to)), 2*n, 2*n)
	memory := Memory{dst.UnsafePointer(), 2 * size}
	numbers := Memory{src.UnsafePointer(), Type(from).Size()}
	lost = convert(memory, numbers, n)
	apart := reflect.MakeSlice(src.Type(), 3*n, 3*n)
	for i := range n {
		apart.Index(3 * i).Set(src.Index(i))
	}
	for _, again := range []struct {
		name   string
		src    Memory
		stride uintptr
	}{
		{"without gaps", numbers, size},
		{"from numbers with gaps", Memory{apart.UnsafePointer(), 3 * numbers.Stride}, size},
		{"with gaps in both", Memory{apart.UnsafePointer(), 3 * numbers.Stride}, 2 * size},
	} {
		memory := Memory{reflect.MakeSlice(dst.Type(), 2*n, 2*n).UnsafePointer(), again.stride}
		if l := convert(memory, again.src, n); l != lost {
			t.Fatalf("%v to %v: loses number %d, and number %d %s", from, to, lost, l, again.name)
		}
		for i := range n {
			if a, b := dst.Index(2*i).Interface(), memory.Value(to, i); lost < 0 && a != b && a == a {
				t.Fatalf("%v to %v: number %d is %v, and %v %s", from, to, i, a, b, again.name)
			}
		}
	}
	for i := range n {
		if between := dst.Index(2*i + 1); !between.IsZero() {
			t.Fatalf("%v to %v: writes %v behind number %d", from, to, between, i)
		}
	}
	return dst, lost
}

// TestIntegers converts bools and integers of all kinds to each other, with
// results by arithmetic.
func TestIntegers(t *testing.T) {
	for _, from := range kinds[:9] {
		values := integers(from)
		src := reflect.MakeSlice(reflect.SliceOf(Type(from)), len(values), len(values))
		for i, v := range values {
			switch e := src.Index(i); {
			case from == reflect.Bool:
				e.SetBool(v.Sign() != 0)
			case e.CanInt():
				e.SetInt(v.Int64())
			default:
				e.SetUint(v.Uint64())
			}
		}
		for _, to := range kinds[:9] {
			convert := Between(from, to)
			lo, hi := limits(to)
			fits := func(v *big.Int) bool { return to == reflect.Bool || v.Cmp(lo) >= 0 && v.Cmp(hi) <= 0 }
			firstLost, exact := -1, to != reflect.Bool || from == reflect.Bool
			for i, v := range values {
				dst, lost := run(t, convert, from, to, src.Slice(i, i+1))
				want := v.String()
				if to == reflect.Bool {
					want = fmt.Sprint(v.Sign() != 0)
				}
				switch {
				case !fits(v):
					if lost != 0 {
						t.Errorf("%v %v to %v: not lost", from, v, to)
					}
					if exact = false; firstLost < 0 {
						firstLost = i
					}
				case lost >= 0 || fmt.Sprint(dst.Index(0)) != want:
					t.Errorf("%v %v to %v: %v, lost %d", from, v, to, dst.Index(0), lost)
				}
			}
			if _, lost := run(t, convert, from, to, src); lost != firstLost {
				t.Errorf("%v to %v: number %d of all is lost, want %d", from, to, lost, firstLost)
			}
			if IsExact(from, to) != exact {
				t.Errorf("%v to %v: exact is %v, want %v", from, to, !exact, exact)
			}
		}
	}
}

// TestFloats converts to the nearest value, which must be finite if it was.
func TestFloats(t *testing.T) {
	inf := math.Inf(1)
	half := math.Ldexp(1, 103) // of the last place of the greatest float32
	for _, test := range []struct {
		v, want float64
		lost    bool
	}{
		{v: 0}, {v: math.Copysign(0, -1), want: math.Copysign(0, -1)}, {v: -1.5, want: -1.5}, {v: inf, want: inf},
		{v: -inf, want: -inf}, {v: math.NaN(), want: math.NaN()},
		{v: math.MaxFloat32, want: math.MaxFloat32}, {v: math.SmallestNonzeroFloat32, want: math.SmallestNonzeroFloat32},
		{v: 1 + math.Ldexp(1, -24), want: 1}, {v: 1 + math.Ldexp(3, -24), want: 1 + math.Ldexp(1, -22)}, // ties to even
		{v: 1e-300}, {v: math.MaxFloat32 + half/2, want: math.MaxFloat32},
		{v: math.MaxFloat32 + half, lost: true}, {v: -math.MaxFloat32 - half, lost: true}, {v: math.MaxFloat64, lost: true},
	} {
		same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b }
		dst, lost := run(t, Between(reflect.Float64, reflect.Float32), reflect.Float64, reflect.Float32,
			reflect.ValueOf([]float64{1, test.v}))
		if test.lost != (lost == 1) || !test.lost && (lost >= 0 || !same(dst.Index(2).Float(), test.want)) {
			t.Errorf("%g: %g, lost %d, want %g", test.v, dst.Index(2).Float(), lost, test.want)
		}
		same64 := Between(reflect.Float64, reflect.Float64)
		dst, lost = run(t, same64, reflect.Float64, reflect.Float64, reflect.ValueOf([]float64{test.v}))
		if lost >= 0 || !same(dst.Index(0).Float(), test.v) {
			t.Errorf("%g to itself: %g, lost %d", test.v, dst.Index(0).Float(), lost)
		}
		if test.lost || float64(float32(test.v)) != test.v {
			continue
		}
		for _, to := range []reflect.Kind{reflect.Float32, reflect.Float64} {
			dst, lost = run(t, Between(reflect.Float32, to), reflect.Float32, to, reflect.ValueOf([]float32{float32(test.v)}))
			if lost >= 0 || !same(dst.Index(0).Float(), test.v) {
				t.Errorf("float32 %g to %v: %g, lost %d", test.v, to, dst.Index(0).Float(), lost)
			}
		}
	}
	if !IsExact(reflect.Float32, reflect.Float64) || IsExact(reflect.Float64, reflect.Float32) {
		t.Error("only float32 to float64 is exact")
	}
}

// TestRefused makes sure that there is nothing between numbers and other kinds, nor
// between integers and floats.
func TestRefused(t *testing.T) {
	class := func(k reflect.Kind) string {
		switch {
		case k == reflect.Float32 || k == reflect.Float64:
			return "float"
		case k == reflect.Bool || k >= reflect.Int8 && k <= reflect.Int64 || k >= reflect.Uint8 && k <= reflect.Uint64:
			return "integer"
		}
		return ""
	}
	for from := reflect.Invalid; from <= reflect.UnsafePointer+1; from++ {
		for to := reflect.Invalid; to <= reflect.UnsafePointer+1; to++ {
			want := class(from) != "" && class(from) == class(to)
			if got := Between(from, to) != nil; got != want {
				t.Errorf("%v to %v: %v, want %v", from, to, got, want)
			}
			if from != to && !want && IsExact(from, to) {
				t.Errorf("%v to %v is exact", from, to)
			}
		}
	}
}

func TestKindOf(t *testing.T) {
	type named uint
	for _, test := range []struct {
		v    any
		want map[uintptr]reflect.Kind
	}{
		{0, map[uintptr]reflect.Kind{4: reflect.Int32, 8: reflect.Int64}},
		{named(0), map[uintptr]reflect.Kind{4: reflect.Uint32, 8: reflect.Uint64}},
		{int8(0), map[uintptr]reflect.Kind{1: reflect.Int8}},
		{uintptr(0), map[uintptr]reflect.Kind{4: reflect.Uintptr, 8: reflect.Uintptr}},
		{"", map[uintptr]reflect.Kind{8: reflect.String, 16: reflect.String}},
	} {
		typ := reflect.TypeOf(test.v)
		if got := KindOf(typ); got != test.want[typ.Size()] {
			t.Errorf("%v: %v", typ, got)
		}
	}
}
