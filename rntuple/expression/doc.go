// Package expression evaluates expressions over the entries of a source:
//
//	nMuon == 2 && all(Muon_pt, # > 20)
//	any(Electron_eta, abs(#) < 1.4) or MET.pt > 100
//	sum(Jet_pt) / len(Jet_pt) > 30 and "HLT_Mu17" in triggers
//
// Expressions are parsed (Parse), checked against the fields of a source, and evaluated: as
// conditions (Expression.Condition) or for values in batches (Compile). The repository's
// docs/reference/expressions.md defines the language, and docs/reference/functions.md its
// functions.
//
// The variables are the top-level fields; $env["a:b"] refers to a field whose name is not an
// identifier. A value is a bool, a 64-bit integer, a 64-bit float, a string, an array, a record or
// a map. Expressions are statically typed: all types are checked before anything is read.
//
// A value can be missing, such as x[0] of an empty array. Arithmetic and functions of a missing
// value are missing, and comparisons with it are false; a missing condition is false.
//
// Conditions do not read clusters for which a zone map determines the result; see package zonemap.
package expression
