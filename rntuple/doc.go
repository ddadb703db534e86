// Package rntuple reads and writes RNTuples, the columnar data sets of CERN's
// ROOT, without ROOT.
//
// Create writes an RNTuple from structs; CreateRecords and CreateColumns from
// dynamic values and from slices. Open gives a Reader of one RNTuple in a file. What it holds is read
//
//   - field by field, with ViewOf and JaggedOf: values of a Go type, or for
//     collections one flat slice and the bounds of the entries in it;
//   - entry by entry into a struct, with Entries;
//   - without Go types, as the dynamic values of package value, with RecordsOf,
//     or with the type any in place of every other one.
//
// All of them read as well from several files: from a Chain of them, one after the
// other, and from a Join, side by side or matched by the values of fields.
//
// Fields and Go types go together like this:
//
//	bool, std::int8_t … std::uint64_t      bool, int8 … uint64
//	char, std::byte                        int8, byte
//	float, double, Double32_t              float32, float64, float64
//	enum, std::atomic                      the type of the underlying value
//	std::string                            string, []byte
//	vector, RVec, sets, collections        []T; set, unordered_set: map[T]struct{}, too
//	std::array, T[N]                       [N]T, []T
//	std::bitset                            [N]bool, []bool, lowest bit first
//	optional, unique_ptr                   *T, []T
//	map, unordered_map                     map[K]V, or []struct with `rntuple:"_0"`, `rntuple:"_1"`
//	multimaps                              []struct as above
//	pair, tuple                            struct with `rntuple:"_0"`, `rntuple:"_1"` …
//	classes, untyped records               struct; base classes are `rntuple:":_0"` …
//	ROOT::RNTupleCardinality               uint64
//	objects written by ROOT's streamers    []byte
//	variant, and all of the above          any
//
// Types may differ from these as ROOT allows it, see docs/evolution.md: any integer
// type or bool takes any integer, a float type any float, *T a plain value. A value
// that gets lost is a *ConversionError, which names the entry.
//
// Bad input gives errors of type *FormatError that wrap ErrCorrupt, ErrChecksum
// or ErrUnsupported.
package rntuple
