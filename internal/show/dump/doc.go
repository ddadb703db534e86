// Package dump describes the records of an RNTuple, and of the ROOT file around it,
// byte by byte, for readers who have the specification at hand. It learns the
// meaning of the bytes from the walks that read the records.
package dump
