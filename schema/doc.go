// Package schema interprets the descriptors of an RNTuple: it builds the tree of fields from header
// and footer, validates it against the specification, and hides fields that this library does not
// support. Conversely, it converts a Document, which can be written by hand as JSON, to
// descriptors.
//
// A Schema does not change after Build and is safe for concurrent use.
package schema
