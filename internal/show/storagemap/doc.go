// Package storagemap draws where the bytes of an RNTuple lie: a treemap of what its
// fields and columns need, and a strip of the file with a row for each column.
//
// [Treemap] and [Marks] compute where things go, and [Picture] writes them as SVG. The
// functions are safe for concurrent use, and give the same result for the same input.
package storagemap
