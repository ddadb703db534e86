// Package envelope reads and writes the header, footer and page list envelopes, which store the
// metadata of an RNTuple. Every descriptor is a plain struct that mirrors the stored bytes; package
// schema interprets them.
//
// Envelopes are read and written uncompressed, see package compress. Parsing
// returns errors of type *frame.FormatError, with offsets in bytes from the start
// of the uncompressed envelope. All functions are safe for concurrent use.
//
// The methods named Wire describe single records to the codecs of package frame, both for reading
// and writing. Members named Extra contain the bytes that newer versions of the format append to a
// record; they are preserved when the record is written.
//
// Source: specification, section "Envelopes"; ROOT class RNTupleSerializer.
package envelope
