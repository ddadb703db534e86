// Package histogram has the command draw of rnt, which fills histograms of expressions and draws
// them: with characters, as pictures, or as their bins.
package histogram
