// Package checksum computes the checksum that follows an RNTuple's anchor,
// envelopes and pages: 64-bit XXH3 with the default secret and seed 0.
package checksum
