// Package lz4 encodes blocks of LZ4 (LZ4 Block Format Description), for pages.
//
// Pages consist of byte planes with low entropy and of incompressible planes. In the former,
// matches of four bytes are ubiquitous but save hardly anything over the three bytes that a match
// takes; it is matches of six, eight or more bytes that determine the ratio. The encoder therefore
// hashes each of these lengths, follows chains only for matches of at least eight bytes, and skips
// quickly over incompressible data.
package lz4
