// Package cpp defines Go types for C++ types without a counterpart in Go. Structs that
// package rntuple reads or writes can have fields of these types:
//
//	type Event struct {
//		Tags   cpp.Set[string]                     // std::set<std::string>
//		Grade  cpp.Char                            // char
//		Weight cpp.Double32                        // Double32_t: a double stored as float
//		Result cpp.Variant2[int32, string]         // std::variant<std::int32_t,std::string>
//		Range  cpp.Pair[float32, float32]          // std::pair<float,float>
//	}
//
// C++ types with a number or a name are specified by tags instead, see package rntuple: a [8]bool
// with `type=std::bitset<8>`, an integer with `enum=Color`, a struct with `class=Point`.
package cpp
