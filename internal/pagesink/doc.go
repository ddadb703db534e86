// Package pagesink writes the pages of columns: it cuts the elements of the columns
// into pages, seals these (encodes and compresses them and adds their checksums),
// and puts them together to clusters and cluster groups.
//
// Several goroutines fill clusters of one RNTuple with forks of its sink.
//
// Elements come through a Buffer for each column. AppendCluster instead makes a
// cluster of pages that somebody else provides.
package pagesink
