// Package metadata has the metadata of an RNTuple, header and footer, in the form of format 1. It
// parses those of the current format; package legacy converts those of older ones.
package metadata
