package column_test

import (
	"errors"
	"fmt"

	"github.com/go-rntuple/go-rntuple/column"
)

// Three offsets become a page and are read again, also into a narrower type.
func Example() {
	format := column.Format{Type: column.SplitIndex64, Bits: 64}
	if err := format.Check(); err != nil {
		fmt.Println(err)
		return
	}
	page, err := column.Append(format, nil, []uint64{1, 3, 300})
	if err != nil {
		fmt.Println(err)
		return
	}
	// The differences 1, 2, 297, lowest bytes first.
	fmt.Printf("%v: % x...\n", format, page[:6])

	decoder, err := column.NewDecoder[uint64](format)
	if err != nil {
		fmt.Println(err)
		return
	}
	offsets := make([]uint64, 3)
	err = decoder.Decode(offsets, page)
	fmt.Println(offsets, err)

	narrow, err := column.NewDecoder[uint8](format)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = narrow.Decode(make([]uint8, 3), page)
	fmt.Println(err, errors.Is(err, column.ErrRange))
	// Output:
	// SplitIndex64: 01 02 29 00 00 01...
	// [1 3 300] <nil>
	// element 2: value out of range: 300 does not fit uint8 true
}

// An Encoder converts: here floats become integers of 12 bits on storage.
func ExampleEncoder() {
	format := column.Format{Type: column.Real32Quant, Bits: 12, Min: -1, Max: 1}
	encoder, err := column.NewEncoder[float32](format)
	if err != nil {
		fmt.Println(err)
		return
	}
	page, err := encoder.Append(nil, []float32{-1, 0, 0.25, 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	decoder, err := column.NewDecoder[float32](format)
	if err != nil {
		fmt.Println(err)
		return
	}
	values := make([]float32, 4)
	err = decoder.Decode(values, page)
	fmt.Printf("%v: %d bytes, %.3f, %v\n", format, len(page), values, err)
	// Output:
	// Real32Quant(12)[-1,1]: 6 bytes, [-1.000 0.000 0.250 1.000], <nil>
}
