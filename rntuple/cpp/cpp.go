package cpp

import "reflect"

// Char is char; Byte is std::byte.
type (
	Char int8
	Byte uint8
)

// Double32 is Double32_t: a double in memory, stored as a float.
type Double32 float64

// Collections other than std::vector, which is []T. A std::map is map[K]V.
type (
	RVec[T any]                 []T
	Set[T any]                  []T
	UnorderedSet[T any]         []T
	MultiSet[T any]             []T
	UnorderedMultiSet[T any]    []T
	UnorderedMap[K, V any]      []Pair[K, V]
	MultiMap[K, V any]          []Pair[K, V]
	UnorderedMultiMap[K, V any] []Pair[K, V]
)

// Pair is std::pair.
type Pair[A, B any] struct {
	First  A `rntuple:"_0"`
	Second B `rntuple:"_1"`
}

// Tuples are std::tuple.
type (
	Tuple1[A any] struct {
		V0 A `rntuple:"_0"`
	}
	Tuple2[A, B any] struct {
		V0 A `rntuple:"_0"`
		V1 B `rntuple:"_1"`
	}
	Tuple3[A, B, C any] struct {
		V0 A `rntuple:"_0"`
		V1 B `rntuple:"_1"`
		V2 C `rntuple:"_2"`
	}
	Tuple4[A, B, C, D any] struct {
		V0 A `rntuple:"_0"`
		V1 B `rntuple:"_1"`
		V2 C `rntuple:"_2"`
		V3 D `rntuple:"_3"`
	}
)

// Atomic is std::atomic.
type Atomic[T any] struct{ Value T }

// UniquePtr is std::unique_ptr; a std::optional is *T.
type UniquePtr[T any] struct{ Value *T }

// Variants are std::variant. Value is a value.Alternative, or nil if the variant is
// valueless; package value says what else writers accept.
type (
	Variant2[A, B any]       struct{ Value any }
	Variant3[A, B, C any]    struct{ Value any }
	Variant4[A, B, C, D any] struct{ Value any }
)

// CppTemplate returns the name of the C++ type, without template arguments.
func (Char) CppTemplate() string                    { return "char" }
func (Byte) CppTemplate() string                    { return "std::byte" }
func (Double32) CppTemplate() string                { return "Double32_t" }
func (RVec[T]) CppTemplate() string                 { return "ROOT::VecOps::RVec" }
func (Set[T]) CppTemplate() string                  { return "std::set" }
func (UnorderedSet[T]) CppTemplate() string         { return "std::unordered_set" }
func (MultiSet[T]) CppTemplate() string             { return "std::multiset" }
func (UnorderedMultiSet[T]) CppTemplate() string    { return "std::unordered_multiset" }
func (UnorderedMap[K, V]) CppTemplate() string      { return "std::unordered_map" }
func (MultiMap[K, V]) CppTemplate() string          { return "std::multimap" }
func (UnorderedMultiMap[K, V]) CppTemplate() string { return "std::unordered_multimap" }
func (Pair[A, B]) CppTemplate() string              { return "std::pair" }
func (Tuple1[A]) CppTemplate() string               { return "std::tuple" }
func (Tuple2[A, B]) CppTemplate() string            { return "std::tuple" }
func (Tuple3[A, B, C]) CppTemplate() string         { return "std::tuple" }
func (Tuple4[A, B, C, D]) CppTemplate() string      { return "std::tuple" }
func (Atomic[T]) CppTemplate() string               { return "std::atomic" }
func (UniquePtr[T]) CppTemplate() string            { return "std::unique_ptr" }
func (Variant2[A, B]) CppTemplate() string          { return "std::variant" }
func (Variant3[A, B, C]) CppTemplate() string       { return "std::variant" }
func (Variant4[A, B, C, D]) CppTemplate() string    { return "std::variant" }

// CppAlternatives returns the Go types of the alternatives of a variant.
func (Variant2[A, B]) CppAlternatives() []reflect.Type { return types[A, B, B, B](2) }

// CppAlternatives returns the Go types of the alternatives of a variant.
func (Variant3[A, B, C]) CppAlternatives() []reflect.Type { return types[A, B, C, C](3) }

// CppAlternatives returns the Go types of the alternatives of a variant.
func (Variant4[A, B, C, D]) CppAlternatives() []reflect.Type { return types[A, B, C, D](4) }

func types[A, B, C, D any](n int) []reflect.Type {
	return []reflect.Type{reflect.TypeFor[A](), reflect.TypeFor[B](), reflect.TypeFor[C](), reflect.TypeFor[D]()}[:n]
}
