// Package wiretest checks Wire methods against bytes: writing a record reproduces the bytes it was
// read from, every strict prefix is rejected, bytes added by a newer version are preserved, and
// corrupt input causes neither panics nor allocations out of proportion to its size. It is for
// tests only.
package wiretest
