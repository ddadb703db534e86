// Package wire reads and writes the basic types of the RNTuple metadata and of
// the ROOT file container: integers, floats and strings of either byte order.
//
// A record is described once, by a function that walks a Codec over its members;
// the same walk reads and writes it. The Codec keeps the first error, with the
// offset and the path of the member at fault, so that descriptions need no error
// handling.
package wire
