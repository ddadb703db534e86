// Package parallel runs a loop in several goroutines.
package parallel
