// Package metadata represents the metadata of an RNTuple, header and footer, in the form of format
// 1. It parses the current format; package legacy converts older ones.
package metadata
