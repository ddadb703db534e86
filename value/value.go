// Package value defines the dynamic values of fields, for programs that do not know
// the schema in advance, and formats them as JSON.
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
// Readers return exactly these types, and writers accept them. Writers also accept
// the value of a variant without the Alternative around it, if only one alternative
// can hold it.
package value

// A Record is the value of a field with named members.
type Record struct {
	Names  []string // shared by all values of the field; do not change
	Values []any    // one for each name
}

// Get returns the value of the member with the given name, nil if there is none.
func (r Record) Get(name string) any {
	for i, n := range r.Names {
		if n == name {
			return r.Values[i]
		}
	}
	return nil
}

// A Map is the value of a map, in the order of the file.
type Map struct {
	StringKeys bool       // the keys are strings; also set if there are no elements
	Elements   []KeyValue // keys may repeat, as in a multimap
}

// KeyValue is an element of a Map.
type KeyValue struct{ Key, Value any }

// An Alternative is the value of a variant that is not valueless.
type Alternative struct {
	Index int // of the alternative, from 0, as std::variant::index returns it
	Value any // of the alternative's type
}

// Some is the value of an optional that holds nil or a Some, the value of another
// optional or of a variant. Any other value stands by itself for the optional that
// holds it:
//
//	std::optional<std::optional<int>>{}                       nil
//	std::optional<std::optional<int>>{std::optional<int>{}}   Some{nil}
//	std::optional<std::optional<int>>{5}                      int32(5)
type Some struct{ Value any }

// Bits is the value of a bitset, lowest bit first.
type Bits []bool

// String returns the bits as the digits 0 and 1, highest bit first, as std::bitset
// prints them.
func (b Bits) String() string {
	s := make([]byte, len(b))
	for i, bit := range b {
		s[len(b)-1-i] = '0'
		if bit {
			s[len(b)-1-i] = '1'
		}
	}
	return string(s)
}
