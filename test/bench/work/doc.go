// Package work holds what the Go programs of the benchmarks have in common: the entries of
// the data sets, sums over them, and how a program serves the driver.
package work
