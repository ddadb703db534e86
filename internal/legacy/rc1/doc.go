// Package rc1 reads the envelopes of "RNTuple Reference Specifications (WIP)",
// the first full specification, which ROOT 6.26 to 6.30 followed as release
// candidate 1. It reads everything that the document defines, including column groups
// and sharded clusters, which ROOT never wrote. The exception is user meta-data, which
// ROOT never wrote either.
//
// Source: that document and, where ROOT differs, ROOT's RNTupleSerializer.
package rc1
