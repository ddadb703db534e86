// Package checksum computes the checksum that RNTuple has behind its anchor,
// envelopes and pages: XXH3 of 64 bits, with the default secret and seed 0.
package checksum
