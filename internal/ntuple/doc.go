// Package ntuple opens and writes RNTuples in ROOT files, below the level of Go
// types and values: it finds the anchor, reads and writes header and footer, and
// connects the pages of an RNTuple with the file that it lies in.
//
// Packages rntuple, surgery, verify, rescue and compare are built on it.
package ntuple
