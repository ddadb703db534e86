// Package envelope reads and writes the header, footer and page-list envelopes
// that hold RNTuple's metadata. Every descriptor is a plain struct that mirrors the
// stored bytes; package schema interprets them.
//
// Envelopes are read and written uncompressed, see package compress. Parsing
// returns errors of type *frame.FormatError, with offsets in bytes from the start
// of the uncompressed envelope. All functions are safe for concurrent use.
//
// The methods named Wire describe single records for the codecs of package frame,
// for reading and for writing. Members named Extra hold the bytes that newer
// versions of the format append to a record; they are written back as they were
// read.
//
// Source: specification, section "Envelopes"; ROOT class RNTupleSerializer.
package envelope
