// Package legacy reads RNTuples that ROOT wrote before format 1.0.0.0. It
// recognizes their dialects and converts their metadata to the form of format 1,
// so that no package above it needs to know about them. Each dialect has a package
// of its own.
//
// docs/reference/history.md describes the dialects and what became of their concepts.
package legacy
