// Package cpptype parses C++ type names and writes them in the one spelling
// that RNTuple stores. It is the only place of the library that looks into the
// spelling of type names.
//
// Spec: "Type Name Normalization". A parser of names has no dictionary, so two
// of the rules are left to the caller: only the typedefs of C++ and ROOT are
// resolved, and default template arguments of user classes are not added.
// Double32_t keeps its name, because the column encoding depends on it; ROOT
// stores it as the alias of a double.
package cpptype
