// Package value defines dynamic values of fields, for programs that do not know the schema at
// compile time, and formats them as JSON.
//
// The Go type of a value depends on the field:
//
//	bool, std::int8_t … std::uint64_t     bool, int8 … uint64
//	float, double                         float32, float64
//	char, std::byte                       int8, uint8
//	enum, std::atomic                     the value of the inner type
//	std::string                           string, of any bytes
//	ROOT::RNTupleCardinality              uint64
//	std::bitset                           Bits
//	vector, RVec, array, sets, untyped    []any
//	pair, tuple                           []any
//	maps                                  Map
//	optional, unique_ptr                  the value, Some, or nil if empty
//	variant                               Alternative, or nil if valueless
//	classes, untyped records              Record
//	objects written by ROOT's streamers   []byte, as ROOT streamed them
//
// Readers return exactly these types, and writers accept them. Writers also accept the bare value
// of a variant, without an Alternative, if only one alternative can represent it.
package value
