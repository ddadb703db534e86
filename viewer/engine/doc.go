// Package engine answers the requests of the page that shows a file: which RNTuples there are,
// their schemas, storage, entries, histograms, records and faults.
//
// A request is a method with JSON parameters, and the answer is JSON, too, except for raw bytes.
// Integers that JavaScript numbers cannot represent are strings of digits. The parameters and
// result of a method are documented at the function of the same name. One file is open at a time:
// opening another one cancels the requests for the previous one.
//
// The package does not depend on JavaScript, nor on how the bytes of the file are obtained: files
// are identified by URLs of package remote.
package engine
