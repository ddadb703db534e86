// Package pagesource reads the pages of columns: the layer between the envelopes
// of an RNTuple and the elements of its columns.
//
// A Source locates the clusters of an RNTuple and the pages of a column in them. A Column decodes
// these pages into elements, and a ReadAhead prefetches them for several columns. Blobs fetches and
// verifies single pages and envelopes.
//
// A Source is safe for concurrent use; a Column and a ReadAhead must be used by one goroutine at a
// time.
package pagesource
