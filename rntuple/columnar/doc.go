// Package columnar has values in columnar form: an Array holds those of one field in a range of
// entries, as a tree of plain slices that have the same layout whatever the file's pages are like.
//
// Loops over batches of package rntuple yield Arrays, and its writers take them; bridges convert
// them to and from the columns of other libraries without a step for each value.
package columnar
