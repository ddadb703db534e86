// Package golden compares what this library reads from an RNTuple with what ROOT or
// uproot reads. It is for tests only.
//
// The expected values are JSON Lines, an object for each entry, which the scripts
// in testdata/gen write. The form is that of value.AppendJSON, except where that
// would hide a difference:
//
//   - floats are strings with their bits, "0x7fc00001", so that NaNs and -0
//     count;
//   - the items of unordered sets and maps are sorted by their JSON text, and
//     unordered maps are always arrays of [key,value]: they have no order that
//     could be compared.
package golden
