package cpptype

// A Kind is a type, or a template, with a meaning of its own in RNTuple.
type Kind uint8

// The predicates below depend on the order.
const (
	User Kind = iota // every other type: classes, enums, and "" of untyped fields
	Bool
	Char
	Byte
	Int8
	UInt8
	Int16
	UInt16
	Int32
	UInt32
	Int64
	UInt64
	Float32
	Float64 // also Double32_t
	String
	Vector
	RVec
	Array
	Bitset
	Atomic
	Optional
	UniquePtr
	Variant
	Pair
	Tuple
	Set
	UnorderedSet
	MultiSet
	UnorderedMultiSet
	Map
	UnorderedMap
	MultiMap
	UnorderedMultiMap
	Cardinality
)

const rvec, cardinality = "ROOT::VecOps::RVec", "ROOT::RNTupleCardinality"

// table lists the known types; the first row of a kind has its name. args are the
// template arguments that the canonical name keeps: T is a type, N a number, * any
// number of types. Further arguments (allocators, comparators, hashes) are dropped.
var table = []row{
	{"bool", "", Bool},
	{"char", "", Char},
	{"std::byte", "", Byte},
	{"std::int8_t", "", Int8},
	{"std::uint8_t", "", UInt8},
	{"std::int16_t", "", Int16},
	{"std::uint16_t", "", UInt16},
	{"std::int32_t", "", Int32},
	{"std::uint32_t", "", UInt32},
	{"std::int64_t", "", Int64},
	{"std::uint64_t", "", UInt64},
	{"float", "", Float32},
	{"double", "", Float64},
	{"Double32_t", "", Float64},
	{"std::string", "", String},
	{"std::vector", "T", Vector},
	{rvec, "T", RVec},
	{"std::array", "TN", Array},
	{"std::bitset", "N", Bitset},
	{"std::atomic", "T", Atomic},
	{"std::optional", "T", Optional},
	{"std::unique_ptr", "T", UniquePtr},
	{"std::variant", "*", Variant},
	{"std::pair", "TT", Pair},
	{"std::tuple", "*", Tuple},
	{"std::set", "T", Set},
	{"std::unordered_set", "T", UnorderedSet},
	{"std::multiset", "T", MultiSet},
	{"std::unordered_multiset", "T", UnorderedMultiSet},
	{"std::map", "TT", Map},
	{"std::unordered_map", "TT", UnorderedMap},
	{"std::multimap", "TT", MultiMap},
	{"std::unordered_multimap", "TT", UnorderedMultiMap},
	{cardinality, "T", Cardinality},
	{"std::basic_string", "T", User},
}

type row struct {
	name, args string
	kind       Kind
}

var rows = func() map[string]row {
	m := make(map[string]row, len(table))
	for _, r := range table {
		m[r.name] = r
	}
	return m
}()

// aliases holds other names of known types. Those of several words are in
// fundamentals.
var aliases = map[string]string{
	"Bool_t": "bool", "Char_t": "char", "UChar_t": "std::uint8_t",
	"Short_t": "std::int16_t", "UShort_t": "std::uint16_t",
	"Int_t": "std::int32_t", "UInt_t": "std::uint32_t",
	"Long_t": "std::int64_t", "ULong_t": "std::uint64_t",
	"Long64_t": "std::int64_t", "ULong64_t": "std::uint64_t",
	"Float_t": "float", "Double_t": "double",
	"__int64": "std::int64_t",
	"size_t":  "std::uint64_t", "std::size_t": "std::uint64_t",
	"ptrdiff_t": "std::int64_t", "std::ptrdiff_t": "std::int64_t",
	"ROOT::RVec": rvec, "ROOT::Vec": rvec,
	"ROOT::Experimental::RNTupleCardinality": cardinality,
}

// Kind classifies a type. It is User for a known name with the wrong template
// arguments, so that callers can rely on the arguments of every other kind: one
// type, two for pairs and maps, a type and a Uint for arrays, a Uint for bitsets.
func (t Type) Kind() Kind {
	r := rows[t.Name]
	switch {
	case t.Scope != nil, (t.Args == nil) != (r.args == ""):
		return User
	case r.args == "*":
		return r.kind
	case len(t.Args) != len(r.args):
		return User
	}
	for i, arg := range t.Args {
		if _, isNumber := arg.Uint(); isNumber != (r.args[i] == 'N') {
			return User
		}
	}
	return r.kind
}

// String returns the name of the type without template arguments.
func (k Kind) String() string {
	for _, r := range table {
		if r.kind == k && k != User {
			return r.name
		}
	}
	return "user type"
}

// IsInteger reports whether k is a standard integer; Bool, Char and Byte are not.
func (k Kind) IsInteger() bool { return Int8 <= k && k <= UInt64 }

// IsSigned reports whether k is a signed integer.
func (k Kind) IsSigned() bool { return k.IsInteger() && (k-Int8)%2 == 0 }

// IsFloat reports whether k is float or double.
func (k Kind) IsFloat() bool { return k == Float32 || k == Float64 }

// IsSet reports whether k is one of the four sets.
func (k Kind) IsSet() bool { return Set <= k && k <= UnorderedMultiSet }

// IsMap reports whether k is one of the four maps.
func (k Kind) IsMap() bool { return Map <= k && k <= UnorderedMultiMap }

// IsMulti reports whether k is a set or map that may hold equal keys.
func (k Kind) IsMulti() bool { return (k.IsSet() || k.IsMap()) && (k-Set)&2 != 0 }

// IsUnordered reports whether k is a set or map that has no order.
func (k Kind) IsUnordered() bool { return (k.IsSet() || k.IsMap()) && (k-Set)&1 != 0 }
