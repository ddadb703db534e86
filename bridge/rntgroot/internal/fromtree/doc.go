// Fromtree converts trees for the tests in folder interop:
//
//	fromtree OUTDIR FILE…
//
// For each tree in the files, it makes OUTDIR/NAME.root. The name is that of the file; if it has
// several trees, that of the tree follows, without folders. Files joined by commas are a chain,
// whose name has no number. For each it prints a line of JSON that says what was converted, or why
// not.
package main
