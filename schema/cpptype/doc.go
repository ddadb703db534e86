// Package cpptype parses C++ type names and formats them in the normalized form that RNTuple
// stores. It is the only package of the library that interprets type names.
//
// Specification: "Type Name Normalization". Without a dictionary, two of its rules cannot be
// applied: only the typedefs of C++ and ROOT are resolved, and default template arguments of
// user-defined classes are not added. Double32_t is not resolved, because the column encoding
// depends on it; ROOT stores it as an alias of double.
package cpptype
