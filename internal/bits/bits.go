// Package bits holds the loops that turn the bytes of a page into elements and
// back: plain little-endian words, the split, zigzag and delta encodings, bit
// packing, and half floats. They keep no state and are safe for concurrent use.
// Destination and source do not overlap.
//
// Callers make sure that a page has the bytes that its elements need; a page
// that is too short panics with an index out of range.
//
// On amd64 and arm64 most of the work is done by kernels in assembly. They take
// whole blocks, looking at nothing outside of them; Go does the rest, and
// all of it elsewhere or if the build tag purego is set.
//
// Source: specification, section "Column Description".
package bits

import "encoding/binary"

// Word is an element without its meaning: as many bits as its type says.
type Word interface {
	uint8 | uint16 | uint32 | uint64
}

var le = binary.LittleEndian

// head returns the first n elements of s. Unlike s[:n] it panics if these are
// not within the length of s.
func head[T any](s []T, n int) []T { return s[:n:len(s)] }

// blocks returns how many of n bytes are in blocks.
func blocks(n int) int { return n - n%block }
