// Package zstd decodes and encodes zstd frames whose content, a page, is entirely in memory.
//
// Source and destination are slices, so neither side needs a window: matches refer directly to the
// destination when decoding, and to the source when encoding.
//
// Specification: RFC 8878, "Zstandard Compression and the 'application/zstd'
// Media Type". Section numbers in comments are those of the RFC:
//
//	3.1.1      frames                   decode.go, encode.go
//	3.1.1.2    blocks                   decode.go, encode.go, encode_cut.go
//	3.1.1.3.1  literals section         decode_huffman.go, encode_literals.go
//	3.1.1.3.2  sequences section        decode_sequences.go, encode_sequences.go
//	3.1.1.4    sequence execution       decode_execute.go, encode_match.go
//	3.1.1.5    repeat offsets           decode_sequences.go, encode_match.go
//	3.1.2      skippable frames         decode.go
//	4.1        FSE                      decode_fse.go, encode_fse.go
//	4.2        Huffman coding           decode_huffman.go, encode_huffman.go
//	5          dictionaries             not supported
package zstd
