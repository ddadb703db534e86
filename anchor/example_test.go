package anchor_test

import (
	"bytes"
	"fmt"

	"github.com/go-rntuple/go-rntuple/anchor"
)

// An anchor is written and read again.
func Example() {
	a := &anchor.Anchor{
		ClassVersion: anchor.ClassVersion, Epoch: anchor.Epoch, Minor: 1,
		SeekHeader: 0x100, NBytesHeader: 120, LenHeader: 300,
		SeekFooter: 0x900, NBytesFooter: 80, LenFooter: 148,
		MaxKeySize: 1 << 30,
	}
	b, err := a.Append(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	got, err := anchor.Parse(b)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(b), "bytes")
	fmt.Println(got)
	fmt.Println(got.Supported())
	// Output:
	// 78 bytes
	// RNTuple 1.0.1.0: header of 300 bytes, stored as 120 bytes at offset 0x100; footer of 148 bytes, stored as 80 bytes at offset 0x900
	// <nil>
}

// A payload of 50 bytes is stored in keys of at most 32. The first one ends with
// the offset of the second.
func ExampleWriteBlob() {
	const maxKeySize = 32
	var file []byte
	write := func(parts ...[]byte) (int64, error) {
		offset := int64(len(file))
		for _, p := range parts {
			file = append(file, p...)
		}
		return offset, nil
	}
	payload := bytes.Repeat([]byte("RNTuple... "), 5)[:50]
	offset, err := anchor.WriteBlob(payload, maxKeySize, write)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(file), "bytes in the file, the first chunk at offset", offset)

	got := make([]byte, len(payload))
	err = anchor.ReadBlob(bytes.NewReader(file), got, offset, maxKeySize)
	fmt.Println(bytes.Equal(got, payload), err)
	// Output:
	// 58 bytes in the file, the first chunk at offset 26
	// true <nil>
}
