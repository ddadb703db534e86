// Fromtree converts trees for the tests in test/interop:
//
//	fromtree OUTDIR FILE…
//
// For each tree in the files, it writes OUTDIR/NAME.root. NAME is that of the file, followed by
// that of the tree, without directories, if the file has several trees. Comma-separated files are a
// chain; its name has no number. For each tree it prints a line of JSON with the result or the
// error.
package main
