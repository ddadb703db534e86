// Package draw fills histograms with the values of expressions and draws them as text for a
// terminal, for rnt draw and the page of module viewer.
//
// Results do not depend on the number of goroutines: Fill computes a sum for each range of entries
// and adds these sums in the order of the entries.
package draw
