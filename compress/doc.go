// Package compress reads and writes ROOT's compression blocks, which store the pages and envelopes
// of an RNTuple and the payloads of ROOT's keys.
//
// The metadata that refers to such a buffer contains its compressed and its uncompressed length. If
// they are equal, the data is stored uncompressed. Otherwise it is a sequence of blocks: a 9-byte
// header with the algorithm and two sizes, followed by the compressed data.
//
// The decoders of zstd, DEFLATE and LZMA2 and the encoder of zstd are optimized for pages. The
// build tag stockcodecs replaces them with the standard library and third-party modules.
//
// All functions of the package are safe for concurrent use.
//
// Specification: "Compression Block".
package compress
