package schema

import "github.com/go-rntuple/go-rntuple/internal/cpptype"

// A Kind classifies C++ types: those that have a meaning of their own in RNTuple,
// and all others. Its methods IsInteger, IsSigned, IsFloat, IsSet, IsMap, IsMulti
// and IsUnordered tell groups of kinds apart; String returns the name of the type
// without template arguments.
type Kind = cpptype.Kind

// The kinds of C++ types.
const (
	KindUser              Kind = cpptype.User // all types without a kind of their own; untyped fields
	KindBool              Kind = cpptype.Bool
	KindChar              Kind = cpptype.Char
	KindByte              Kind = cpptype.Byte
	KindInt8              Kind = cpptype.Int8
	KindUint8             Kind = cpptype.UInt8
	KindInt16             Kind = cpptype.Int16
	KindUint16            Kind = cpptype.UInt16
	KindInt32             Kind = cpptype.Int32
	KindUint32            Kind = cpptype.UInt32
	KindInt64             Kind = cpptype.Int64
	KindUint64            Kind = cpptype.UInt64
	KindFloat32           Kind = cpptype.Float32
	KindFloat64           Kind = cpptype.Float64 // double and Double32_t
	KindString            Kind = cpptype.String
	KindVector            Kind = cpptype.Vector
	KindRVec              Kind = cpptype.RVec
	KindArray             Kind = cpptype.Array
	KindBitset            Kind = cpptype.Bitset
	KindAtomic            Kind = cpptype.Atomic
	KindOptional          Kind = cpptype.Optional
	KindUniquePtr         Kind = cpptype.UniquePtr
	KindVariant           Kind = cpptype.Variant
	KindPair              Kind = cpptype.Pair
	KindTuple             Kind = cpptype.Tuple
	KindSet               Kind = cpptype.Set
	KindUnorderedSet      Kind = cpptype.UnorderedSet
	KindMultiSet          Kind = cpptype.MultiSet
	KindUnorderedMultiSet Kind = cpptype.UnorderedMultiSet
	KindMap               Kind = cpptype.Map
	KindUnorderedMap      Kind = cpptype.UnorderedMap
	KindMultiMap          Kind = cpptype.MultiMap
	KindUnorderedMultiMap Kind = cpptype.UnorderedMultiMap
	KindCardinality       Kind = cpptype.Cardinality
)
