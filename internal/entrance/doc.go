// Package entrance lets a package above rntuple make a rntuple.Reader of an RNTuple that it has
// opened by means of package ntuple: package surgery evaluates conditions on the very files that it
// copies pages from, with the page lists that it has read. An exported function of package rntuple
// would be one that nobody else can call. It also takes the options of package rntuple.
package entrance
