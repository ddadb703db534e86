// Package rntparquet writes RNTuples as Parquet files, and reads Parquet files as Arrow record
// batches, of which package rntarrow makes RNTuples.
//
// The types are those of rntarrow with Options.Parquet: variants become structs with one nullable
// member per alternative, and nullable arrays become lists. List items are named "element", or
// Options.Item. Floating-point columns use the byte stream split encoding, which is smaller and
// faster than dictionaries for them.
package rntparquet
