//go:build cgo

// Command librntuple is a C library, built by
//
//	bash bridge/librntuple/build.sh librntuple.so
//
// that reads and writes RNTuples by the Arrow C data and stream interfaces. Its header, rntuple.h, documents
// it; docs/guides/inprocess.md introduces it.
//
// Each function of the header is one in C, in api.c, which makes sure that Go code may run, and one in Go with
// the prefix go_, which a panic does not leave.
package main
