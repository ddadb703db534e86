// Package drawtest provides sample histograms for tests of renderers.
package drawtest
