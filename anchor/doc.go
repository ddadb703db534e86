// Package anchor reads and writes the ROOT::RNTuple object of a ROOT file,
// which says where the header and the footer of an RNTuple lie, and payloads that
// are split into chunks because they are too large for one key.
//
// Bad input gives errors of type *frame.FormatError. All functions are safe for
// concurrent use.
//
// Source: specification, sections "ROOT File embedding" and "Anchor schema".
package anchor
