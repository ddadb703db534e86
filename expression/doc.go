// Package expression evaluates expressions over the entries of a source, in the language of
// github.com/expr-lang/expr:
//
//	nMuon == 2 && all(Muon_pt, # > 20)
//	any(Electron_eta, abs(#) < 1.4) or MET.pt > 100
//	sum(Jet_pt) / len(Jet_pt) > 30 and "HLT_Mu17" in triggers
//
// Expressions are parsed (Parse), checked against the fields of a source, and evaluated column
// by column: as conditions (Expression.Condition) or for values in batches (Compile). The
// repository's docs/expressions.md says what they mean where the language leaves it open.
//
// The variables are the top-level fields; $env["a:b"] is one whose name is not a word
// of the language. Their values are:
//
//	bool                                   bool
//	integers, characters, bytes            int, 64 bits; a larger value is an error
//	float, double                          float, 64 bits
//	std::string                            string
//	enum, std::atomic                      the type of the underlying value
//	vector, RVec, sets, arrays, bitset     array: len, any, all, filter, sum, x[0], x[-1] ...
//	pair, tuple                            array of the members
//	classes, untyped records               their members: vertex.x
//	maps with strings as keys              map: m["key"], "key" in m; nil for a key that is not there
//	other maps                             array of records with the members key and value
//	optional, unique_ptr, variant          the value, or nil, which is missing; ?? gives a default
//	other sources of a Join                records; members of matched ones are optional
//
// What is missing, such as x[0] of an empty array, makes arithmetic and functions of it missing,
// and comparisons false; a condition that is missing is false.
//
// Conditions pass over clusters that zone maps rule out; see package zonemap.
package expression
