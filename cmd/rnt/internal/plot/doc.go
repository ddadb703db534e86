// Package plot draws the histograms of package draw as PNG, SVG or PDF, with gonum/plot, for rnt
// draw.
package plot
