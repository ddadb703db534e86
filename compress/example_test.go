package compress_test

import (
	"bytes"
	"fmt"

	"github.com/go-rntuple/go-rntuple/compress"
)

// A page is compressed and read back. Its uncompressed length is known from the
// metadata.
func Example() {
	page := bytes.Repeat([]byte("muon"), 1000)
	settings, err := compress.ParseSettings("zstd:5")
	if err != nil {
		fmt.Println(err)
		return
	}
	stored, err := compress.Append(nil, page, settings)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(settings, len(stored) < len(page))

	// The length may come from a hostile file: check it before allocating.
	n := 4000
	if err := compress.Check(stored, int64(n)); err != nil {
		fmt.Println(err)
		return
	}
	got := make([]byte, n)
	err = compress.Decompress(got, stored)
	fmt.Println(bytes.Equal(got, page), err)

	fmt.Println(compress.Decompress(got, stored[:8]))
	// Output:
	// zstd 5 true
	// true <nil>
	// block[0] at offset 0x0: corrupt data: block header needs 9 bytes, have 8
}
