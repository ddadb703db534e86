package cli

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Bytes is the value of a flag, a number of bytes.
type Bytes int64

// byteUnits are the letters that may follow a number of bytes, each 1024 times the last.
const byteUnits = "KMGT"

func (b *Bytes) Set(s string) error {
	number, shift := s, 0
	if n := len(s); n > 0 {
		if i := strings.IndexByte(byteUnits, s[n-1]&^('a'-'A')); i >= 0 {
			number, shift = s[:n-1], 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || bits.Len64(uint64(n))+shift > 63 {
		return fmt.Errorf(`want a number of bytes, such as "2G", "512M" or "1000000"`)
	}
	*b = Bytes(n << shift)
	return nil
}

func (b *Bytes) String() string {
	if *b == 0 {
		return "" // so that help shows no default
	}
	return strconv.FormatInt(int64(*b), 10)
}

func (b *Bytes) Type() string { return "SIZE" }
