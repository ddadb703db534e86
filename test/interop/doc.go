// Package interop tests interoperability: it compares what this library and ROOT and uproot read
// from files written by ROOT, lets ROOT, uproot and jsroot read files written by this library, and
// compares the cost of reading remote files. The tests require Python 3, g++ and npm, and some
// xrootd; they install everything else into their own environment, take minutes, and run only on
// demand:
//
//	RNTUPLE_INTEROP=1 go test ./test/interop/...
package interop
