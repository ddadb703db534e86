// Package pagesink writes the pages of columns: it divides the elements of columns into pages,
// seals them (encodes, compresses and adds checksums), and combines them into clusters and cluster
// groups.
//
// Several goroutines can fill clusters of one RNTuple, each with a fork of its sink.
//
// Elements are written through a Buffer for each column. AppendCluster instead writes a cluster of
// pages provided by the caller.
package pagesink
