// Package interop compares what this library reads with what ROOT and uproot read,
// on files that ROOT writes for the purpose, and has ROOT, uproot and jsroot read
// what this library writes, and what reading files far away takes each of them. The
// tests need Python 3, g++ and npm, and xrootd for some, install the rest in an
// environment of their own, and take minutes. They run on demand only:
//
//	RNTUPLE_INTEROP=1 go test ./test/interop/...
package interop
