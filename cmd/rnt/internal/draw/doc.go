// Package draw fills histograms with the values of expressions and draws them, as
// characters for a terminal or with gonum/plot as PNG, SVG or PDF, for rnt draw.
//
// Everything is independent of the number of goroutines: Fill sums up every range of
// entries apart and adds the sums in the order of the entries.
package draw
