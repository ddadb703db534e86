// Package inflate decodes DEFLATE streams that are whole in memory and whose
// uncompressed length is known. It reads eight bytes at a time and writes
// straight into the destination, which a decoder of io.Readers cannot do.
//
// Specification: RFC 1951, "DEFLATE Compressed Data Format". Section numbers in
// comments are those of the RFC, except for the Adler-32 checksum of RFC 1950.
package inflate
