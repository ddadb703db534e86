// Package rc1 reads the envelopes of "RNTuple Reference Specifications (WIP)",
// the first full specification, which ROOT 6.26 to 6.30 followed as release
// candidate 1. It reads everything that the document defines, although ROOT wrote
// no column groups, no sharded clusters and no envelopes with user meta-data.
//
// Source: that document and, where ROOT differs, ROOT's RNTupleSerializer.
package rc1
