package columnar

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/schema"
)

// TestAppend appends random spans of numbers of all sizes and of collections, and sets the result
// beside that of one value after the other.
func TestAppend(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := random.IntN(100)
		bytes, singles, doubles, lists := &Array{Shape: schema.Scalar}, &Array{Shape: schema.Scalar},
			&Array{Shape: schema.Scalar}, &Array{Shape: schema.Collection, Len: n, Offsets: []int64{0}}
		var a []uint8
		var b []float32
		var c []int64
		for i := range n {
			a, b, c = append(a, uint8(i+1)), append(b, float32(i+1)), append(c, int64(i+1))
			lists.Offsets = append(lists.Offsets, lists.Offsets[i]+int64(random.IntN(4)*random.IntN(8)))
		}
		items := make([]float32, lists.Offsets[n])
		for i := range items {
			items[i] = float32(i + 1)
		}
		item := &Array{Shape: schema.Scalar}
		SetValues(bytes, a)
		SetValues(singles, b)
		SetValues(doubles, c)
		SetValues(item, items)
		lists.Children = []*Array{item}

		var spans []Span
		var rows []int64 // -1 for none
		for at := int64(0); at < int64(n); {
			s := Span{First: at, N: 1 + int64(random.IntN(1+random.IntN(40)))}
			if s.N = min(s.N, int64(n)-at); random.IntN(10) == 0 {
				s.First = -1
			}
			spans = append(spans, s)
			for i := range s.N {
				if s.First < 0 {
					i = 0
				}
				rows = append(rows, s.First+i)
			}
			at += s.N + int64(random.IntN(3))
		}
		for _, from := range []*Array{bytes, singles, doubles, lists} {
			to := Like(from)
			if err := to.Append(&Budget{Left: math.MaxInt64}, from, spans); err != nil {
				t.Fatal(err)
			}
			if to.Len != len(rows) {
				t.Fatalf("%d values, want %d", to.Len, len(rows))
			}
			for i, row := range rows {
				if got, want := valuesAt(to, int64(i)), valuesAt(from, row); !slices.Equal(got, want) {
					t.Fatalf("value %d of %v is %v, want %v", i, spans, got, want)
				}
			}
		}
	}
}

// TestAppendBudget appends values of all shapes, and those that are missing, with just the memory
// that they need, and with a byte less.
func TestAppendBudget(t *testing.T) {
	numbers := func(n int) *Array {
		a := &Array{Shape: schema.Scalar}
		SetValues(a, make([]int16, n))
		return a
	}
	bits := &Array{Shape: schema.Bitset, Size: 5}
	SetValues(bits, make([]bool, 20))
	bits.Len = 4
	// of returns 4 values; those of variable length have 1, 2, 0 and 4 items.
	of := func(shape schema.Shape, children ...*Array) *Array {
		a := &Array{Shape: shape, Len: 4, Children: children, Valid: make([]bool, 4)}
		a.Tags, a.Index = []int32{0, 1, 0, -1}, []int64{0, 0, 1, 0}
		a.Offsets, a.Bytes = []int64{0, 1, 3, 3, 7}, make([]byte, 7)
		return a
	}
	pairs := of(schema.Array, numbers(8))
	pairs.Size = 2
	spans := []Span{{First: 1, N: 3}, {First: -1, N: 2}, {First: 1, N: 1}} // rows 1, 2, 3, none, none, 1
	for _, test := range []struct {
		name string
		a    *Array
		need int64
	}{
		{"numbers", numbers(4), 6 * 2},
		{"bitset", bits, 6 * 5},
		{"string", of(schema.String), 6*8 + 2 + 0 + 4 + 2},
		{"streamer", of(schema.Streamer), 6*8 + 2 + 0 + 4 + 2},
		{"collection", of(schema.Collection, numbers(7)), 6*8 + (2+0+4+2)*2},
		{"array", pairs, 6 * 2 * 2},
		{"record", of(schema.Record, numbers(4), bits), 6 * (2 + 5)},
		{"record without members", of(schema.Record), 6},
		{"optional", of(schema.Optional, numbers(4)), 6 * (1 + 2)},
		{"variant", of(schema.Variant, numbers(2), bits), 6*(4+8) + 5 + 2 + 5},
	} {
		if err := Append(Like(test.a), test.a, spans, test.need); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		var limit *frame.LimitError
		if err := Append(Like(test.a), test.a, spans, test.need-1); !errors.As(err, &limit) {
			t.Errorf("%s, with a byte less: %v", test.name, err)
		}
	}
}

// valuesAt returns the value of a row of numbers, or the items of one of collections; zero or none
// of row -1.
func valuesAt(a *Array, row int64) []float64 {
	if a.Shape == schema.Collection {
		if row < 0 {
			return nil
		}
		var all []float64
		for i := a.Offsets[row]; i < a.Offsets[row+1]; i++ {
			all = append(all, valuesAt(a.Children[0], i)...)
		}
		return all
	}
	if row < 0 {
		return []float64{0}
	}
	switch v := a.Values().(type) {
	case []uint8:
		return []float64{float64(v[row])}
	case []float32:
		return []float64{float64(v[row])}
	}
	return []float64{float64(a.Values().([]int64)[row])}
}
