package locator_test

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/locator"
)

// A page in a file gets the short form, one beyond 2 GiB the long one.
func Example() {
	for _, size := range []uint64{128, 3 << 30} {
		b, err := locator.At(0x1000, size).Append(nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		l, n, err := locator.Parse(b)
		fmt.Printf("% x: %d bytes, %v locator, %v, %v\n", b, n, l.Type, l, err)
	}
	_, _, err := locator.Parse([]byte{1, 2, 3})
	fmt.Println(err)
	// Output:
	// 80 00 00 00 00 10 00 00 00 00 00 00: 12 bytes, File locator, 128 bytes at offset 0x1000, <nil>
	// ec ff ff fe 00 00 00 c0 00 00 00 00 00 10 00 00 00 00 00 00: 20 bytes, Large locator, 3221225472 bytes at offset 0x1000, <nil>
	// locator.head at offset 0x0: corrupt data: need 4 bytes, have 3
}
