// Package pagesource reads the pages of columns: the layer between the envelopes
// of an RNTuple and the elements of its columns.
//
// A Source finds the clusters of an RNTuple and the pages of a column in them. A
// Column decodes these pages into elements, and a ReadAhead does so for several
// columns before the elements are asked for. Blobs fetches and verifies single
// pages and envelopes.
//
// A Source may be used by several goroutines; a Column, and the calls of a
// ReadAhead, belong to one.
package pagesource
