// Package golden compares the values that this library reads from an RNTuple with those read by
// ROOT or uproot. It is for tests only.
//
// The expected values are JSON Lines, one object per entry, written by the scripts in testdata/gen.
// The format is that of value.AppendJSON, except where that would hide differences:
//
//   - floats are strings with their bits, "0x7fc00001", so that NaNs and -0
//     count;
//   - the items of unordered sets and maps are sorted by their JSON text, and
//     unordered maps are always arrays of [key,value]: they have no order that
//     could be compared.
package golden
