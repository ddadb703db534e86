// Package container reads the container that ROOT files are: objects with keys, in directories.
// Programs that read objects of other classes than RNTuple, such as trees, find the bytes of these
// objects with it, and decode them on their own.
//
// Bad input gives errors of type *frame.FormatError.
//
// Source: ROOT classes TFile, TDirectory and TKey.
package container
