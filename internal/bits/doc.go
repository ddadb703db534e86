// Package bits holds the loops that turn the bytes of a page into elements and
// back: plain little-endian words, the split, zigzag and delta encodings, bit
// packing, and half floats. They keep no state and are safe for concurrent use.
// Destination and source do not overlap.
//
// A page must have the bytes that its elements need. The functions panic with an index
// out of range if it is too short.
//
// On amd64 and arm64 most of the work is done by kernels in assembly. They take whole
// blocks and read nothing outside them. Go code does the rest, and everything on other
// machines or with the build tag purego.
//
// Source: specification, section "Column Description".
package bits
