// Package lz4 encodes blocks of LZ4 (LZ4 Block Format Description), for pages.
//
// Pages are planes of bytes of low entropy beside planes that cannot be compressed. In the
// former, places where four bytes recur are everywhere and hardly worth the three bytes of a
// match; what counts is to find those where six, eight or more do. The encoder looks up the last
// place for each of these lengths, follows chains of places only where eight bytes or more recur,
// and passes quickly over bytes that never do.
package lz4
