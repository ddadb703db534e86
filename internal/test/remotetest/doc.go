// Package remotetest supports tests of remote files: file servers that count requests, a simulated
// slow link, comparisons with local reads, and a check for leaked goroutines. It is for tests only.
package remotetest
