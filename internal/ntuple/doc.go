// Package ntuple opens and writes RNTuples in ROOT files, below the level of Go types and values:
// it finds the anchor, reads and writes the header and footer, and connects the pages of an RNTuple
// to its file.
//
// Packages rntuple, surgery, verify, rescue and compare are built on it.
package ntuple
