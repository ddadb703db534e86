// Package lzma decodes LZMA2 streams that are whole in memory and whose
// uncompressed length is known. Matches refer to the destination itself, so there
// is no dictionary besides it.
//
// Specification: "LZMA specification" (lzma-specification.txt, draft of 2015-06-14),
// whose names are used here. It describes the symbols; chunks are as liblzma has them.
package lzma
