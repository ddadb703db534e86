// Package engine answers the requests of the page that shows a file: which RNTuples there are,
// their schemas, storage, entries, histograms, records and faults.
//
// A request is a method with parameters as JSON, and so is its answer, but for bytes. Answers hold
// numbers that JavaScript cannot hold as strings of digits. What a method takes and returns is
// described at the function of that name. One file is open at a time: opening another one ends the
// requests for the one before.
//
// Nothing here depends on JavaScript, or on how the bytes of the file are had: that is a URL for
// package remote.
package engine
