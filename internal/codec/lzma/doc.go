// Package lzma decodes LZMA2 streams that are entirely in memory and have a known uncompressed
// length. The destination serves as the dictionary.
//
// Specification: "LZMA specification" (lzma-specification.txt, draft of 2015-06-14), the source of
// the identifiers used here. It describes the symbols; the chunk format follows liblzma.
package lzma
