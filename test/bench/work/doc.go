// Package work contains what the Go programs of the benchmarks share: the entry types of the data
// sets, sums over them, and the protocol with the driver.
package work
