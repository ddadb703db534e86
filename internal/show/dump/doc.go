// Package dump describes the records of an RNTuple, and of the ROOT file around it, byte by byte,
// with the terms of the specification. The meaning of the bytes is derived from the same Wire
// methods that parse the records.
package dump
