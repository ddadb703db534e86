// Package interop compares what this library reads with what ROOT and uproot
// read, on files that ROOT writes for the purpose. Its tests need Python 3 and
// g++, fetch ROOT into an environment of their own, and take minutes, so they
// run on demand only:
//
//	RNTUPLE_INTEROP=1 go test ./interop/...
//
// With RNTUPLE_INTEROP=all they also have ROOT, uproot and jsroot read what this
// library writes; some of that does not hold yet.
package interop
