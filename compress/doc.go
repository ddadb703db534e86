// Package compress reads and writes ROOT's compression blocks, in which the
// pages and envelopes of an RNTuple and the payloads of ROOT's keys are stored.
//
// The metadata that refer to such a buffer give its compressed and its
// uncompressed length. If the two are equal, the data are stored as they are.
// Otherwise they are a series of blocks: a header of 9 bytes with the algorithm
// and two sizes, then the compressed data.
//
// Decoders of zstd, DEFLATE and LZMA2 and the encoder of zstd are made for pages. With
// the build tag stockcodecs, the standard library and modules replace them.
//
// All functions of the package are safe for concurrent use.
//
// Specification: "Compression Block".
package compress
