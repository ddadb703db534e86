// Package legacy reads RNTuples that ROOT wrote before format 1.0.0.0. It detects their dialects
// and converts their metadata to the form of format 1, so that packages above it are independent of
// the dialects. Each dialect has its own package.
//
// docs/reference/history.md describes the dialects.
package legacy
