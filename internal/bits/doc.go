// Package bits converts the bytes of a page to elements and back: plain little-endian words, the
// split, zigzag and delta encodings, bit packing, and half floats. The functions are stateless and
// safe for concurrent use. Destination and source must not overlap.
//
// A page must have all bytes of its elements: the functions panic with an index out of range if it
// is too short.
//
// On amd64 and arm64, assembly kernels process whole blocks and never read outside of them; Go code
// handles the remainder. On other architectures, or with the build tag purego, everything is Go
// code.
//
// Source: specification, section "Column Description".
package bits
