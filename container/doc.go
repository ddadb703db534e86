// Package container reads the container format of ROOT files: objects with keys, in directories.
// Programs that read objects of classes other than RNTuple, such as trees, use it to locate and
// read the bytes of these objects, and decode them on their own.
//
// Errors about malformed input are of type *frame.FormatError.
//
// Source: ROOT classes TFile, TDirectory and TKey.
package container
