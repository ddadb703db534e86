// Package columnar defines values in columnar form: an Array contains the values of one field in a
// range of entries, as a tree of plain slices whose layout does not depend on the encoding of the
// file.
//
// The batches of package rntuple consist of Arrays, and its writers accept them; bridges convert
// them to and from the columns of other libraries in bulk.
package columnar
