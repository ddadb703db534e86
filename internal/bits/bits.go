package bits

import "encoding/binary"

// A Word holds the bits of an element, whatever they mean.
type Word interface {
	uint8 | uint16 | uint32 | uint64
}

var le = binary.LittleEndian

// head returns the first n elements of s. Unlike s[:n] it panics if these are
// not within the length of s.
func head[T any](s []T, n int) []T { return s[:n:len(s)] }

// blocks returns the number of bytes, of n, that fill whole blocks.
func blocks(n int) int { return n - n%block }
