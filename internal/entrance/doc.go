// Package entrance lets packages above rntuple wrap an RNTuple opened with package ntuple in a
// rntuple.Reader: package surgery evaluates conditions on the same open files that it copies pages
// from, with the page lists already read. Package rntuple cannot export such a function, because
// its parameters have internal types. It also converts the options of package rntuple.
package entrance
