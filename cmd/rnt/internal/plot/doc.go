// Package plot renders the histograms of package draw as PNG, SVG or PDF with gonum/plot.
package plot
