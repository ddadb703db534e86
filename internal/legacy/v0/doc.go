// Package v0 reads the metadata of RNTuples that ROOT 6.20 to 6.24 wrote, before
// there was a specification: a header with all fields and columns, and a footer
// with the locations of all pages. There are no envelopes and no page lists.
//
// Source: ROOT 6.22, RNTupleDescriptor.cxx, whose comment on frames is the only
// documentation; the terms are those of the first draft of the specification.
package v0
