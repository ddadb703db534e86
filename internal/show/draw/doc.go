// Package draw fills histograms with the values of expressions and draws them as
// characters for a terminal: for rnt draw, and for the page of module viewer.
//
// Everything is independent of the number of goroutines: Fill sums up every range of
// entries apart and adds the sums in the order of the entries.
package draw
