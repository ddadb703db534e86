// Package rc2 reads the header and the footer of RNTuple format 0.2.0.0, release candidate 2, which
// ROOT 6.32 wrote. Envelopes, frames, locators, page lists and the descriptors of aliases and
// cluster groups are already those of format 1. The development versions after ROOT 6.32 have the
// same format version; flags indicate where their records are longer, so one description covers
// all.
//
// Source: ROOT 6.32 and 6.33, RNTupleSerializer.
package rc2
