// Package work is what the Go programs of the benchmarks share: the entries of
// the data sets, sums over them, and how a program serves the driver.
package work
