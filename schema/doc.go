// Package schema interprets the descriptors of an RNTuple: it builds the tree of
// fields from header and footer, checks it against the specification, and hides
// the fields that this library does not know. It also works the other way: a
// Document, which can be written by hand as JSON, becomes descriptors.
//
// A Schema does not change after Build and is safe for concurrent use.
package schema
