// Package inflate decodes DEFLATE streams that are entirely in memory and have a known uncompressed
// length. It reads eight bytes at a time and writes directly to the destination, which a decoder
// that reads from an io.Reader cannot do.
//
// Specification: RFC 1951, "DEFLATE Compressed Data Format". Section numbers in
// comments are those of the RFC, except for the Adler-32 checksum of RFC 1950.
package inflate
