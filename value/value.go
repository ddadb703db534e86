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
