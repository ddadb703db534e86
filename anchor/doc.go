// Package anchor reads and writes the ROOT::RNTuple object of a ROOT file, which locates the header
// and the footer of an RNTuple, and payloads that are split into chunks because they exceed the
// maximum size of a key.
//
// Errors about malformed input are of type *frame.FormatError. All functions are safe for
// concurrent use.
//
// Source: specification, sections "ROOT File embedding" and "Anchor schema".
package anchor
