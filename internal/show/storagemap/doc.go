// Package storagemap draws the storage of an RNTuple: a treemap of the sizes of its fields and
// columns, and a strip of the file offsets with a row for each column.
//
// [Treemap] and [Marks] compute the layout, and [Picture] writes it as SVG. The functions are safe
// for concurrent use and deterministic.
package storagemap
