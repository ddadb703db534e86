package cpptype

import "strings"

// meant maps names that Go, NumPy and others have for fundamental types to the
// C++ types that RNTuple stores.
var meant = map[string]string{
	"boolean": "bool",
	"int8":    "std::int8_t", "int16": "std::int16_t", "int32": "std::int32_t", "int64": "std::int64_t",
	"uint8": "std::uint8_t", "uint16": "std::uint16_t", "uint32": "std::uint32_t", "uint64": "std::uint64_t",
	"uint": "std::uint32_t", "rune": "std::int32_t",
	"float32": "float", "float64": "double",
	"str": "std::string",
}

// Suggest returns the C++ type that was probably meant by a name with the names
// of other languages in it: "std::vector<float>" for "vector<float32>". It is ""
// if there are none.
func Suggest(name string) string {
	t, err := Parse(name)
	if err != nil || !t.translate() {
		return ""
	}
	return t.String()
}

// translate puts C++ types in place of names of other languages and reports
// whether there were any.
func (t *Type) translate() (changed bool) {
	if c := meant[strings.TrimPrefix(t.Name, "std::")]; c != "" && t.Scope == nil && t.Args == nil {
		t.Name = c
		return true
	}
	if t.Scope != nil && t.Scope.translate() {
		changed = true
	}
	for i := range t.Args {
		if t.Args[i].translate() {
			changed = true
		}
	}
	return changed
}
