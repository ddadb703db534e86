// Package zstd has zstd frames of pages: decoding and encoding of whole blocks
// in memory.
//
// Both ends of a frame are slices, so there is no window to keep: what matches
// refer to is found in the slice itself.
//
// Specification: RFC 8878, "Zstandard Compression".
package zstd
