package column_test

import (
	"math/rand/v2"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
)

// testRanges compares DecodeRange with Decode for random pages of a format, and reports
// whether it has ranges.
func testRanges[T column.Element](t *testing.T, f column.Format) bool {
	t.Helper()
	d, err := column.NewDecoder[T](f)
	if err != nil {
		t.Fatal(err)
	}
	if !d.Ranges() {
		return false
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 7, 64, 1000} {
		page := make([]byte, f.PageSize(uint32(n)))
		for i := range page {
			page[i] = byte(rng.Uint32())
		}
		all := make([]T, n)
		if err := d.Decode(all, page); err != nil {
			t.Fatal(err)
		}
		for range 50 {
			first := rng.IntN(n + 1)
			some := make([]T, rng.IntN(n-first+1))
			if err := d.DecodeRange(some, page, n, first); err != nil {
				t.Fatal(err)
			}
			for i := range some {
				if !same(some[i], all[first+i]) {
					t.Fatalf("%v: element %d of %d: %v, want %v", f, first+i, n, some[i], all[first+i])
				}
			}
		}
		if err := d.DecodeRange(all, page[:len(page)-1], n, 0); err == nil {
			t.Errorf("%v: a page that is too short", f)
		}
	}
	return true
}

// TestRanges decodes ranges of pages of every type of column.
func TestRanges(t *testing.T) {
	have := 0
	for typ := column.Bit; typ.Known(); typ++ {
		least, _ := typ.BitRange()
		for _, old := range []bool{false, true} {
			f := column.Format{Type: typ, Bits: least, Max: 1, PreRelease: old}
			if f.Check() != nil {
				continue
			}
			yes := map[string]func(*testing.T, column.Format) bool{
				"bool": testRanges[bool], "int8": testRanges[int8], "uint8": testRanges[uint8], "int16": testRanges[int16],
				"uint16": testRanges[uint16],
				"int32":  testRanges[int32], "uint32": testRanges[uint32], "int64": testRanges[int64], "uint64": testRanges[uint64],
				"float32": testRanges[float32], "float64": testRanges[float64], "struct": testRanges[column.Tagged],
			}[f.Kind().String()](t, f)
			if yes {
				have++
			}
		}
	}
	if have < 40 {
		t.Errorf("%d formats have ranges", have)
	}
}
