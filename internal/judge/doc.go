// Package judge compares what we read from an RNTuple with what ROOT or uproot
// read from it. It is for tests only.
//
// The others' values come as JSON Lines, an object an entry, written by the
// scripts in testdata/gen. The form is that of value.AppendJSON, but for what
// would lose or hide something:
//
//   - floats are strings with their bits, "0x7fc00001", so that NaNs and -0
//     count;
//   - the items of unordered sets and maps are sorted by their JSON text, and
//     unordered maps are always arrays of [key,value]: they have no order that
//     could be compared.
package judge
