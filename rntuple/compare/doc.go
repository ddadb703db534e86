// Package compare reports how two RNTuples differ: in their schemas, in the values
// of their entries, within tolerances, and in how they are stored.
//
// Entries are compared by number and fields by name, regardless of clusters,
// encodings and compression. The memory needed does not depend on the number of
// entries.
package compare
